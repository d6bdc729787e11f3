// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/unwind_facts.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace auger {
namespace {

constexpr std::string_view exact_names[] = {
    "__gxx_personality_v0", "__gcc_personality_v0", "__gnat_personality_v0", "__gdc_personality_v0",
    "__gnu_objc_personality_v0", "__objc_personality_v0", "rust_eh_personality", "__cxa_throw",
    "__cxa_rethrow", "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "_longjmp",
    "siglongjmp", "__longjmp_chk", "__libc_longjmp", "__libc_siglongjmp", "swapcontext",
    "setcontext", "getcontext", "makecontext",
    // A signal handler runs above the stack it interrupts.
    "sigaltstack", "pthread_cancel", "pthread_exit", "thrd_exit", "pthread_setcanceltype",
    "jump_fcontext", "ontop_fcontext", "make_fcontext", "coroutine_transfer", "rb_fiber_resume",
    "zend_fiber_switch_context", "co_switch", "co_create", "co_call", "co_resume", "co_yield",
    "co_swap", "runtime.rt0_go", "_cgo_topofstack", "x_cgo_init", "luaJIT_setmode",
    "luaJIT_version_2_1_0_beta3", "JNI_CreateJavaVM", "coreclr_initialize"};

// What brings code that nobody has read yet, or finds by name what is not imported: by then it is
// too late for another way out.
constexpr std::string_view bringers[] = {
    "dlopen", "dlmopen", "dlsym", "dlvsym", "__libc_dlopen_mode", "__libc_dlsym",
    // Code made at run time; `syscall` may be any of them.
    "mmap", "mmap64", "mprotect", "pkey_mprotect", "mremap", "remap_file_pages", "syscall",
    // The C library loads libgcc_s for it.
    "backtrace",
    // It loads what the system's configuration names: services for names, conversions of text.
    "getaddrinfo", "getnameinfo", "gethostbyname", "gethostbyname2", "gethostbyname_r",
    "gethostbyname2_r", "gethostbyaddr", "gethostbyaddr_r", "gethostent", "getpwnam", "getpwnam_r",
    "getpwuid", "getpwuid_r", "getpwent", "getpwent_r", "getgrnam", "getgrnam_r", "getgrgid",
    "getgrgid_r", "getgrent", "getgrent_r", "getgrouplist", "initgroups", "getspnam", "getspnam_r",
    "getspent", "getservbyname", "getservbyname_r", "getservbyport", "getservbyport_r",
    "getservent", "getprotobyname", "getprotobyname_r", "getprotobynumber", "getnetbyname",
    "getnetent", "getrpcbyname", "getrpcbynumber", "getaliasbyname", "innetgr", "setnetgrent",
    "iconv_open"};

// What catches signals: a handler gets the registers of what it interrupted, and may put others,
// with another stack, in their place.
constexpr std::string_view catchers[] = {
    "sigaction",  "__sigaction", "signal",  "__bsd_signal", "__sysv_signal",
    "bsd_signal", "sysv_signal", "ssignal", "sigset",       "sigvec"};

// What starts another program, in this process or in a child. (A child alone is what its parent
// is.)
constexpr std::string_view starters[] = {
    "execl",    "execle",  "execlp",      "execv",        "execve", "execvp",  "execvpe",
    "execveat", "fexecve", "posix_spawn", "posix_spawnp", "system", "wordexp", "popen"};

constexpr std::string_view prefixes[] = {"_Unwind_",
                                         "_ULx86_64_",
                                         "_Ux86_64_",
                                         "unw_",
                                         "lj_",
                                         "_ZN2v8",
                                         "_ZNK2v8",
                                         "mono_jit_",
                                         "luaJIT_",
                                         "st_thread_",
                                         "boost_context",
                                         "_ZN5boost7context",
                                         "_ZN5boost10coroutines",
                                         "_ZN5folly6fibers",
                                         "_ZN5bthread",
                                         "bthread_",
                                         "greenlet_"};

bool unwinds(std::string_view name) {
    return std::find(std::begin(exact_names), std::end(exact_names), name) !=
               std::end(exact_names) ||
           std::any_of(std::begin(prefixes), std::end(prefixes),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool brings_code(std::string_view name) {
    return std::find(std::begin(bringers), std::end(bringers), name) != std::end(bringers);
}

bool catches_signals(std::string_view name) {
    return std::find(std::begin(catchers), std::end(catchers), name) != std::end(catchers);
}

// The first import that does, or nothing.
std::string starter_in(const ElfFile& file) {
    const auto& imports = file.imports();
    const auto found = std::find_first_of(imports.begin(), imports.end(), std::begin(starters),
                                          std::end(starters));
    return found == imports.end() ? std::string() : "uses " + std::string(*found);
}

// What speaks against the file by what it says of itself, or nothing.
std::string objection_to(const ElfFile& file) {
    if (file.is_go())
        return "contains Go, which moves its stacks";
    if (file.has_section(".gcc_except_table"))
        return "has exception tables";
    for (std::string_view import : file.imports()) {
        if (unwinds(import))
            return "uses " + std::string(import);
        if (brings_code(import))
            return "uses " + std::string(import) + ", which may bring code that was not read";
        if (catches_signals(import))
            return "uses " + std::string(import) + ": a handler may change what it interrupts";
    }
    for (const ElfFunction& function : file.functions())
        if (unwinds(function.name))
            return "defines " + std::string(function.name);
    return {};
}

} // namespace

UnwindFacts unwind_facts(const ElfFile& file) {
    return {objection_to(file), starter_in(file)};
}

} // namespace auger
