// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/unwind_proof.h"

#include "loader/probes/module_name.h"
#include "loader/process/c_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

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

// Modules whose presence alone speaks against the proof, by the start of their file names.
constexpr std::string_view module_markers[] = {
    "libgcj",         "libv8",     "libnode",          "libluajit",
    "libjvm",         "libunwind", "libmono",          "libcoreclr",
    "_greenlet",      "greenlet",  "libboost_context", "libboost_coroutine",
    "libboost_fiber", "libco.",    "libcoro",          "libpth.",
    "libgo.",         "libruby"};

bool unwinds(std::string_view name) {
    return std::find(std::begin(exact_names), std::end(exact_names), name) !=
               std::end(exact_names) ||
           std::any_of(std::begin(prefixes), std::end(prefixes),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool brings_code(std::string_view name) {
    return std::find(std::begin(bringers), std::end(bringers), name) != std::end(bringers);
}

// The first import that does, or nothing.
std::string starter_in(const MappedModule& module) {
    const auto& imports = module.file->imports();
    const auto found = std::find_first_of(imports.begin(), imports.end(), std::begin(starters),
                                          std::end(starters));
    return found == imports.end()
               ? std::string()
               : fmt::format("{} uses {}", module_base_name(module.path), *found);
}

bool has_name_of_c_library(std::string_view path) {
    const std::string_view stem = module_stem(module_base_name(path));
    return stem == "libc" || stem == "ld" || stem == "ld-linux-x86-64";
}

// What speaks against one module by what it says of itself, or nothing.
std::string reason_by_names(const MappedModule& module, const std::string& name) {
    const ElfFile& file = *module.file;
    if (file.is_go())
        return name + " contains Go, which moves its stacks";
    for (std::string_view marker : module_markers)
        if (name.starts_with(marker))
            return name + " switches or unwinds stacks";
    if (file.has_section(".gcc_except_table"))
        return name + " has exception tables";
    for (std::string_view import : file.imports()) {
        if (unwinds(import))
            return name + " uses " + std::string(import);
        if (brings_code(import))
            return name + " uses " + std::string(import) +
                   ", which may bring code that was not read";
    }
    for (const ElfFunction& function : file.functions())
        if (unwinds(function.name))
            return name + " defines " + std::string(function.name);
    return {};
}

} // namespace

UnwindProof prove_no_unwinding(std::span<const MappedModule> modules,
                               const SwitchReader& read_switches) {
    if (modules.empty())
        return {false, "no module is known"};
    if (std::none_of(modules.begin(), modules.end(),
                     [](const MappedModule& module) { return module.main_program; }))
        return {false, "the main program is not known"};
    // All that is quickly seen first: to read code takes a while.
    std::vector<const MappedModule*> to_read;
    bool c_library = false;
    for (const MappedModule& module : modules) {
        std::string name(module_base_name(module.path));
        if (!module.file)
            return {false, name + " could not be read"};
        // It defines what is looked for, so only who uses it from outside counts.
        if (is_own_c_library(module.file->fd())) {
            c_library = true;
            continue;
        }
        if (has_name_of_c_library(module.path))
            return {false, name + " is not the C library that auger runs with, the only one whose "
                                  "code is known"};
        std::string reason = reason_by_names(module, name);
        if (!reason.empty())
            return {false, std::move(reason)};
        to_read.push_back(&module);
    }
    // What is not imported may be anywhere.
    if (!c_library)
        return {false, "no C library is mapped, so what is used is not known"};
    std::string other_programs;
    for (const MappedModule* module : to_read) {
        if (other_programs.empty())
            other_programs = starter_in(*module);
        const ModuleSwitches switches = read_switches(module->file);
        if (switches.verdict != ModuleSwitches::Verdict::none)
            return {false, fmt::format("{} {}", module_base_name(module->path),
                                       text_of(switches, *module->file))};
    }
    return {true, {}, std::move(other_programs)};
}

} // namespace auger
