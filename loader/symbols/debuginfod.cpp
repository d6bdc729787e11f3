// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/debuginfod.h"

#include "loader/process/message.h"
#include "loader/process/own_variables.h"
#include "loader/symbols/debuginfod_messages.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>

namespace auger {
namespace {

using Clock = std::chrono::steady_clock;
using debuginfod_messages::Fetched;

constexpr const char* urls_variable = "DEBUGINFOD_URLS";
constexpr std::chrono::seconds begin_patience{60}; // on a machine with too much to do

// Those that debuginfod_find_debuginfo(3) and the libraries below it read.
std::vector<std::string> library_variables() {
    constexpr std::string_view names[] = {
        "HOME",      "XDG_CACHE_HOME", "http_proxy", "https_proxy",   "HTTPS_PROXY", "all_proxy",
        "ALL_PROXY", "no_proxy",       "NO_PROXY",   "SSL_CERT_FILE", "SSL_CERT_DIR"};
    return own_variables(names, "DEBUGINFOD_");
}

} // namespace

Result<std::unique_ptr<Debuginfod>> Debuginfod::open(std::shared_ptr<ConfinedProcesses> readers,
                                                     DebuginfodLimits limits) {
    const char* urls = std::getenv(urls_variable);
    if (!urls || !*urls)
        return Error{"use debuginfod",
                     {},
                     "DEBUGINFOD_URLS names no server",
                     "set it, as in DEBUGINFOD_URLS=https://debuginfod.debian.net; sudo keeps it "
                     "with --preserve-env=DEBUGINFOD_URLS",
                     Error::Kind::usage};
    std::unique_ptr<Debuginfod> debuginfod(new Debuginfod(std::move(readers), limits));
    if (auto begun = debuginfod->begin(); !begun)
        return begun.error();
    return debuginfod;
}

Result<void> Debuginfod::begin() {
    const auto failed = [](std::string cause, std::string hint = {}) {
        return Error{
            "use debuginfod", {}, std::move(cause), std::move(hint), Error::Kind::unsupported};
    };
    auto made = readers_->make(debuginfod_service);
    if (!made)
        return made.error();
    const auto end = Clock::now() + begin_patience;
    const auto go_on = [&] { return Clock::now() < end; };
    const std::string request = debuginfod_messages::begin({library_variables(), limits_.bytes});
    std::optional<Message> answer;
    if (send_message(made->socket(), request, {}, go_on))
        answer = receive_message(made->socket(), debuginfod_messages::message_limit, go_on);
    if (!answer)
        return failed("its process has died");
    if (!answer->bytes.empty())
        return failed(answer->bytes, "Debian: install libdebuginfod1");
    process_.emplace(*std::move(made));
    return {};
}

Result<DebugFile> Debuginfod::fetch(const std::string& build_id, WorkProgress& progress) {
    const auto failed = [&](const std::string& cause, bool usable = false) {
        if (!usable)
            process_.reset();
        return Error{"fetch debug information of build id", build_id, cause, {}};
    };
    if (!process_)
        if (auto begun = begin(); !begun)
            return begun.error();
    const auto end = Clock::now() + limits_.time;
    const char* stopped = nullptr;
    const auto go_on = [&] {
        stopped = progress.stopped()    ? "stopped"
                  : Clock::now() >= end ? "it takes too long"
                                        : nullptr;
        return !stopped;
    };
    if (!go_on() || !send_message(process_->socket(), build_id, {}, go_on))
        return failed(stopped ? stopped : "its process has died");
    for (;;) {
        auto message =
            receive_message(process_->socket(), debuginfod_messages::message_limit, go_on);
        if (!message || !go_on())
            return failed(stopped ? stopped : "its process has died");
        const auto fetched = debuginfod_messages::fetched(message->bytes);
        const bool has_file = fetched && fetched->ended && fetched->problem.empty();
        if (!fetched || message->descriptors.size() != size_t{has_file})
            return failed("its process sent an invalid answer");
        progress.done = fetched->done;
        progress.total = fetched->total;
        if (fetched->done > limits_.bytes || fetched->total > limits_.bytes)
            return failed("the file is too large");
        if (!fetched->ended)
            continue;
        if (!fetched->problem.empty())
            return failed(fetched->problem, true);
        UniqueFd file = std::move(message->descriptors[0]);
        struct stat status;
        const int flags = fcntl(file.get(), F_GETFL);
        if (flags < 0 || (flags & (O_ACCMODE | O_PATH)) != O_RDONLY ||
            fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
            return failed("its process sent an invalid answer");
        if (static_cast<uint64_t>(status.st_size) > limits_.bytes) // it came in one piece
            return failed("the file is too large", true);
        return DebugFile{std::make_shared<const UniqueFd>(std::move(file)),
                         "debuginfod:" + build_id};
    }
}

} // namespace auger
