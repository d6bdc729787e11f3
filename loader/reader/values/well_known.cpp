// SPDX-License-Identifier: GPL-3.0-or-later
// As their manual pages say. Those that wait, move data or take memory: what a slow call is about.
#include "loader/reader/values/well_known.h"

#include <algorithm>

namespace auger {
namespace {

using Format = ValueFormat::Kind;

constexpr KnownParameter integer(std::string_view name) {
    return {name, Format::signed_number, 4};
}
constexpr KnownParameter natural(std::string_view name) {
    return {name, Format::unsigned_number, 4};
}
constexpr KnownParameter size(std::string_view name) {
    return {name, Format::unsigned_number, 8};
}
constexpr KnownParameter offset(std::string_view name) {
    return {name, Format::signed_number, 8};
}
constexpr KnownParameter pointer(std::string_view name) {
    return {name, Format::pointer, 8};
}
constexpr KnownParameter text(std::string_view name) {
    return {name, Format::string, 8};
}
constexpr KnownParameter descriptor(std::string_view name) {
    return {name, Format::descriptor, 4};
}

constexpr KnownParameter no_result{};
constexpr KnownParameter status{"ret", Format::signed_number, 4};
constexpr KnownParameter count{"ret", Format::signed_number, 8};
constexpr KnownParameter opened{"ret", Format::descriptor, 4};
constexpr KnownParameter memory{"ret", Format::pointer, 8};
constexpr KnownParameter zero_or_error{"ret", Format::error_number, 4}; // 0 or the error itself

constexpr KnownFunction functions[] = {
    {"accept", {descriptor("fd"), pointer("addr"), pointer("len")}, opened, true},
    {"accept4",
     {descriptor("fd"), pointer("addr"), pointer("len"), integer("flags")},
     opened,
     true},
    {"access", {text("path"), integer("mode")}, status, true},
    {"calloc", {size("count"), size("size")}, memory, true},
    {"clock_nanosleep",
     {integer("clock"), integer("flags"), pointer("time"), pointer("rest")},
     zero_or_error,
     false},
    {"close", {descriptor("fd")}, status, true},
    {"connect", {descriptor("fd"), pointer("addr"), natural("len")}, status, true},
    {"epoll_pwait",
     {descriptor("epfd"), pointer("events"), integer("maxevents"), integer("timeout"),
      pointer("sigmask")},
     status,
     true},
    {"epoll_wait",
     {descriptor("epfd"), pointer("events"), integer("maxevents"), integer("timeout")},
     status,
     true},
    {"fallocate",
     {descriptor("fd"), integer("mode"), offset("offset"), offset("len")},
     status,
     true},
    {"fdatasync", {descriptor("fd")}, status, true},
    {"flock", {descriptor("fd"), integer("operation")}, status, true},
    {"fopen", {text("path"), text("mode")}, memory, true},
    {"free", {pointer("ptr")}, no_result, false},
    {"fstat", {descriptor("fd"), pointer("statbuf")}, status, true},
    {"fsync", {descriptor("fd")}, status, true},
    {"ftruncate", {descriptor("fd"), offset("length")}, status, true},
    {"getaddrinfo",
     {text("node"), text("service"), pointer("hints"), pointer("res")},
     status,
     false},
    {"ioctl", {descriptor("fd"), size("request"), pointer("argument")}, status, true},
    {"lseek", {descriptor("fd"), offset("offset"), integer("whence")}, count, true},
    {"lstat", {text("path"), pointer("statbuf")}, status, true},
    {"malloc", {size("size")}, memory, true},
    {"memcpy", {pointer("dest"), pointer("src"), size("n")}, memory, false},
    {"memmove", {pointer("dest"), pointer("src"), size("n")}, memory, false},
    {"memset", {pointer("s"), integer("c"), size("n")}, memory, false},
    {"mkdir", {text("path"), natural("mode")}, status, true},
    {"mmap",
     {pointer("addr"), size("length"), integer("prot"), integer("flags"), descriptor("fd"),
      offset("offset")},
     memory,
     true},
    {"msync", {pointer("addr"), size("length"), integer("flags")}, status, true},
    {"munmap", {pointer("addr"), size("length")}, status, true},
    {"nanosleep", {pointer("time"), pointer("rest")}, status, true},
    {"open", {text("path"), integer("flags"), natural("mode")}, opened, true},
    {"open64", {text("path"), integer("flags"), natural("mode")}, opened, true},
    {"openat",
     {descriptor("dirfd"), text("path"), integer("flags"), natural("mode")},
     opened,
     true},
    {"poll", {pointer("fds"), size("nfds"), integer("timeout")}, status, true},
    {"posix_memalign", {pointer("memptr"), size("alignment"), size("size")}, zero_or_error, false},
    {"ppoll", {pointer("fds"), size("nfds"), pointer("timeout"), pointer("sigmask")}, status, true},
    {"pread", {descriptor("fd"), pointer("buf"), size("count"), offset("offset")}, count, true},
    {"pread64", {descriptor("fd"), pointer("buf"), size("count"), offset("offset")}, count, true},
    {"pthread_cond_timedwait",
     {pointer("cond"), pointer("mutex"), pointer("time")},
     zero_or_error,
     false},
    {"pthread_cond_wait", {pointer("cond"), pointer("mutex")}, zero_or_error, false},
    {"pthread_join", {pointer("thread"), pointer("result")}, zero_or_error, false},
    {"pthread_mutex_lock", {pointer("mutex")}, zero_or_error, false},
    {"pthread_mutex_timedlock", {pointer("mutex"), pointer("time")}, zero_or_error, false},
    {"pthread_mutex_trylock", {pointer("mutex")}, zero_or_error, false},
    {"pthread_mutex_unlock", {pointer("mutex")}, zero_or_error, false},
    {"pthread_rwlock_rdlock", {pointer("rwlock")}, zero_or_error, false},
    {"pthread_rwlock_unlock", {pointer("rwlock")}, zero_or_error, false},
    {"pthread_rwlock_wrlock", {pointer("rwlock")}, zero_or_error, false},
    {"pwrite", {descriptor("fd"), pointer("buf"), size("count"), offset("offset")}, count, true},
    {"pwrite64", {descriptor("fd"), pointer("buf"), size("count"), offset("offset")}, count, true},
    {"read", {descriptor("fd"), pointer("buf"), size("count")}, count, true},
    {"readv", {descriptor("fd"), pointer("iov"), integer("iovcnt")}, count, true},
    {"realloc", {pointer("ptr"), size("size")}, memory, true},
    {"recv", {descriptor("fd"), pointer("buf"), size("len"), integer("flags")}, count, true},
    {"recvfrom",
     {descriptor("fd"), pointer("buf"), size("len"), integer("flags"), pointer("addr"),
      pointer("addrlen")},
     count,
     true},
    {"recvmsg", {descriptor("fd"), pointer("msg"), integer("flags")}, count, true},
    {"rename", {text("oldpath"), text("newpath")}, status, true},
    {"select",
     {integer("nfds"), pointer("readfds"), pointer("writefds"), pointer("exceptfds"),
      pointer("timeout")},
     status,
     true},
    {"sem_timedwait", {pointer("sem"), pointer("time")}, status, true},
    {"sem_wait", {pointer("sem")}, status, true},
    {"send", {descriptor("fd"), pointer("buf"), size("len"), integer("flags")}, count, true},
    {"sendfile",
     {descriptor("out_fd"), descriptor("in_fd"), pointer("offset"), size("count")},
     count,
     true},
    {"sendmsg", {descriptor("fd"), pointer("msg"), integer("flags")}, count, true},
    {"sendto",
     {descriptor("fd"), pointer("buf"), size("len"), integer("flags"), pointer("addr"),
      natural("addrlen")},
     count,
     true},
    {"sleep", {natural("seconds")}, {"ret", Format::unsigned_number, 4}, false},
    {"stat", {text("path"), pointer("statbuf")}, status, true},
    {"unlink", {text("path")}, status, true},
    {"usleep", {natural("microseconds")}, status, true},
    {"waitpid", {integer("pid"), pointer("wstatus"), integer("options")}, status, true},
    {"write", {descriptor("fd"), pointer("buf"), size("count")}, count, true},
    {"writev", {descriptor("fd"), pointer("iov"), integer("iovcnt")}, count, true},
};

} // namespace

const KnownFunction* known_function(std::string_view name) {
    // The C library's own names of the same functions: __libc_recv, ___pthread_mutex_lock.
    for (std::string_view prefix : {"__GI_", "_", "_", "_", "libc_"})
        if (name.starts_with(prefix))
            name.remove_prefix(prefix.size());
    const auto found = std::find_if(std::begin(functions), std::end(functions),
                                    [&](const KnownFunction& known) { return known.name == name; });
    return found == std::end(functions) ? nullptr : found;
}

ValueType type_of(const KnownParameter& parameter) {
    ValueType type;
    type.size = parameter.size;
    const bool address = parameter.kind == Format::pointer || parameter.kind == Format::string;
    type.kind = address ? ValueType::Kind::pointer : ValueType::Kind::integer;
    type.is_signed = !address && parameter.kind != Format::unsigned_number;
    type.name = address ? "a pointer" : "a number";
    return type;
}

} // namespace auger
