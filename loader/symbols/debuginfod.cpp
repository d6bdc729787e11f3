// SPDX-License-Identifier: GPL-3.0-or-later
// The library is loaded when somebody asks for it: it brings some thirty others along.
#include "loader/symbols/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace auger {
namespace {

// Of one fetch, for the library's calls back.
struct Fetch {
    const DebuginfodLimits& limits;
    WorkProgress& progress;
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    const char* stopped = nullptr; // why
};

// The library calls back in the thread that called it.
thread_local Fetch* current = nullptr;

// Anything but 0 ends the transfer.
int on_progress(debuginfod_client*, long done, long total) {
    Fetch& fetch = *current;
    fetch.progress.done = static_cast<uint64_t>(std::max(done, 0L));
    fetch.progress.total = static_cast<uint64_t>(std::max(total, 0L));
    if (fetch.progress.stopped())
        fetch.stopped = "stopped";
    else if (std::chrono::steady_clock::now() - fetch.begin > fetch.limits.time)
        fetch.stopped = "it takes too long";
    else if (fetch.progress.done > fetch.limits.bytes || fetch.progress.total > fetch.limits.bytes)
        fetch.stopped = "the file is too large";
    return fetch.stopped != nullptr;
}

} // namespace

struct Debuginfod::Library {
    void* handle = nullptr;
    decltype(&debuginfod_begin) begin = nullptr;
    decltype(&debuginfod_end) end = nullptr;
    decltype(&debuginfod_find_debuginfo) find_debuginfo = nullptr;
    decltype(&debuginfod_set_progressfn) set_progressfn = nullptr;

    template <typename Function>
    bool find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle, name));
        return function != nullptr;
    }
    bool load() {
        handle = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
        return handle && find(begin, "debuginfod_begin") && find(end, "debuginfod_end") &&
               find(find_debuginfo, "debuginfod_find_debuginfo") &&
               find(set_progressfn, "debuginfod_set_progressfn");
    }
};

Debuginfod::Debuginfod(std::unique_ptr<Library> library, DebuginfodLimits limits)
    : library_(std::move(library)), limits_(limits) {}

// What was loaded stays: libraries behind it do not like to be unloaded.
Debuginfod::~Debuginfod() = default;

Result<std::unique_ptr<Debuginfod>> Debuginfod::open(DebuginfodLimits limits) {
    const char* urls = std::getenv(DEBUGINFOD_URLS_ENV_VAR);
    if (!urls || !*urls)
        return Error{"use debuginfod",
                     {},
                     "DEBUGINFOD_URLS names no server",
                     "set it, as in DEBUGINFOD_URLS=https://debuginfod.debian.net; sudo keeps it "
                     "with --preserve-env=DEBUGINFOD_URLS",
                     Error::Kind::usage};
    auto library = std::make_unique<Library>();
    if (!library->load())
        return Error{"use debuginfod",
                     {},
                     DEBUGINFOD_SONAME " cannot be loaded",
                     "Debian: install libdebuginfod1",
                     Error::Kind::unsupported};
    return std::unique_ptr<Debuginfod>(new Debuginfod(std::move(library), limits));
}

Result<DebugFile> Debuginfod::fetch(const std::string& build_id, WorkProgress& progress) {
    const auto error = [&](const std::string& cause) {
        return Error{"fetch debug information of build id", build_id, cause, {}};
    };
    const std::unique_ptr<debuginfod_client, decltype(library_->end)> client(library_->begin(),
                                                                             library_->end);
    if (!client)
        return error("out of memory");
    Fetch fetch{limits_, progress};
    current = &fetch;
    library_->set_progressfn(client.get(), on_progress);
    // Length 0: as text.
    const int found = library_->find_debuginfo(
        client.get(), reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, nullptr);
    UniqueFd file(found);
    current = nullptr;
    if (fetch.stopped)
        return error(fetch.stopped);
    if (!file)
        return error(found == -ENOENT ? "no server has it" : std::strerror(-found));
    struct stat status;
    if (fstat(file.get(), &status) != 0 || static_cast<uint64_t>(status.st_size) > limits_.bytes)
        return error("the file is too large"); // and came in one piece
    // It may be the library's own, with which its cache could be written to.
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    UniqueFd to_read(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!to_read)
        return error(std::strerror(errno));
    return DebugFile{std::make_shared<const UniqueFd>(std::move(to_read)),
                     "debuginfod:" + build_id};
}

} // namespace auger
