// SPDX-License-Identifier: GPL-3.0-or-later
// The other side of Debuginfod.
#include "loader/process/message.h"
#include "loader/reader/confinement.h"
#include "loader/reader/debuginfod/debuginfod_library.h"
#include "loader/reader/network/surroundings.h"
#include "loader/reader/services.h"
#include "loader/symbols/debuginfod_messages.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>

namespace auger {
namespace {

using Clock = std::chrono::steady_clock;
using debuginfod_messages::Fetched;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

void make_folders(const std::string& path) {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        mkdir(path.substr(0, end).c_str(), 0700);
        if (end == path.npos)
            return;
    }
}

// As debuginfod_find_debuginfo(3) says. Both may be in use: what is in the old one stays there.
std::vector<std::string> cache_folders() {
    if (const std::string path = variable("DEBUGINFOD_CACHE_PATH"); !path.empty())
        return {path};
    const std::string home = variable("HOME"), base = variable("XDG_CACHE_HOME");
    std::vector<std::string> folders = {(base.empty() ? home + "/.cache" : base) +
                                        "/debuginfod_client"};
    const std::string old = home + "/.debuginfod_client_cache";
    struct stat status;
    if (stat(old.c_str(), &status) == 0)
        folders.push_back(old);
    return folders;
}

AllowedFiles needed_files() {
    AllowedFiles files = network_files();
    for (const char* name :
         {"DEBUGINFOD_HEADERS_FILE", "DEBUGINFOD_IMA_CERT_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"})
        if (const std::string path = variable(name); !path.empty())
            files.read.push_back(path);
    files.write = cache_folders();
    for (const std::string& folder : files.write)
        make_folders(folder);
    return files;
}

bool fetch(int socket, const DebuginfodLibrary& library, const std::string& build_id) {
    constexpr std::chrono::milliseconds pause{50};
    Clock::time_point next;
    bool heard = true;
    const auto on_progress = [&](uint64_t done, uint64_t total) {
        if (Clock::now() >= next) {
            next = Clock::now() + pause;
            heard = send_message(socket, debuginfod_messages::fetched({false, done, total, {}}));
        }
        return heard;
    };
    const auto file = library.fetch(build_id, on_progress);
    Fetched fetched;
    fetched.ended = true;
    if (!file) {
        fetched.problem = file.error().cause;
        return heard && send_message(socket, debuginfod_messages::fetched(fetched));
    }
    const int descriptors[] = {file->get()};
    return heard && send_message(socket, debuginfod_messages::fetched(fetched), descriptors);
}

} // namespace

void serve_debuginfod(int socket) {
    constexpr size_t build_id_limit = 256;
    const auto first = receive_message(socket, debuginfod_messages::message_limit);
    const auto begin = first ? debuginfod_messages::begin(first->bytes) : std::nullopt;
    if (!begin || !set_variables(begin->variables))
        return;
    // A file that is a little too large says so itself.
    constexpr uint64_t room = 1 << 20;
    if (!confine_with_network({}, begin->bytes + room, needed_files()))
        return;
    const auto library = DebuginfodLibrary::load();
    if (!send_message(socket, library ? "" : library.error().message()) || !library)
        return;
    while (const auto request = receive_message(socket, build_id_limit))
        if (!fetch(socket, *library, request->bytes))
            return;
}

} // namespace auger
