// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/debuginfod/debuginfod_library.h"

#include <dlfcn.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace auger {
namespace {

// The library calls back in the thread that called it.
thread_local const DebuginfodLibrary::Progress* current = nullptr;

// Anything but 0 ends the transfer.
int on_progress(debuginfod_client*, long done, long total) {
    return !(*current)(static_cast<uint64_t>(std::max(done, 0L)),
                       static_cast<uint64_t>(std::max(total, 0L)));
}

template <typename Function>
bool find(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

} // namespace

// What was loaded stays: libraries behind it do not like to be unloaded.
Result<DebuginfodLibrary> DebuginfodLibrary::load() {
    DebuginfodLibrary library;
    void* handle = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!handle || !find(handle, library.begin_, "debuginfod_begin") ||
        !find(handle, library.end_, "debuginfod_end") ||
        !find(handle, library.find_debuginfo_, "debuginfod_find_debuginfo") ||
        !find(handle, library.set_progressfn_, "debuginfod_set_progressfn"))
        return Error{"load", DEBUGINFOD_SONAME, "it cannot be loaded", {}};
    return library;
}

Result<UniqueFd> DebuginfodLibrary::fetch(const std::string& build_id,
                                          const Progress& progress) const {
    const auto error = [&](int number) {
        return Error{"fetch debug information of build id",
                     build_id,
                     number == ENOENT ? "no server has it" : std::strerror(number),
                     {}};
    };
    const std::unique_ptr<debuginfod_client, decltype(end_)> client(begin_(), end_);
    if (!client)
        return error(ENOMEM);
    current = &progress;
    set_progressfn_(client.get(), on_progress);
    // Length 0: as text.
    const int found = find_debuginfo_(
        client.get(), reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, nullptr);
    current = nullptr;
    const UniqueFd file(found);
    if (!file)
        return error(-found);
    // It may be the library's own, with which its cache could be written to.
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    UniqueFd to_read(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!to_read)
        return error(errno);
    return to_read;
}

} // namespace auger
