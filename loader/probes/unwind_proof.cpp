// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/unwind_proof.h"

#include "loader/probes/module_name.h"

#include <algorithm>
#include <iterator>

namespace auger {
namespace {

// Parts of the C library: they define what is looked for, so only who uses it from outside counts.
constexpr std::string_view system_stems[] = {
    "libc",      "libm",    "libpthread", "libdl",           "librt",
    "libresolv", "libutil", "libanl",     "ld-linux-x86-64", "ld"};

constexpr std::string_view exact_names[] = {"__gxx_personality_v0",
                                            "__gcc_personality_v0",
                                            "__gnat_personality_v0",
                                            "__gdc_personality_v0",
                                            "__gnu_objc_personality_v0",
                                            "__objc_personality_v0",
                                            "rust_eh_personality",
                                            "__cxa_throw",
                                            "__cxa_rethrow",
                                            "setjmp",
                                            "_setjmp",
                                            "sigsetjmp",
                                            "__sigsetjmp",
                                            "longjmp",
                                            "_longjmp",
                                            "siglongjmp",
                                            "__longjmp_chk",
                                            "__libc_longjmp",
                                            "__libc_siglongjmp",
                                            "swapcontext",
                                            "setcontext",
                                            "getcontext",
                                            "makecontext",
                                            "pthread_cancel",
                                            "pthread_exit",
                                            "thrd_exit",
                                            "pthread_setcanceltype",
                                            "jump_fcontext",
                                            "ontop_fcontext",
                                            "make_fcontext",
                                            "coroutine_transfer",
                                            "rb_fiber_resume",
                                            "zend_fiber_switch_context",
                                            "co_switch",
                                            "co_create",
                                            "co_call",
                                            "co_resume",
                                            "co_yield",
                                            "co_swap",
                                            "runtime.rt0_go",
                                            "_cgo_topofstack",
                                            "x_cgo_init",
                                            "luaJIT_setmode",
                                            "luaJIT_version_2_1_0_beta3",
                                            "JNI_CreateJavaVM",
                                            "coreclr_initialize"};

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

bool is_system(std::string_view path) {
    std::string_view stem = module_stem(module_base_name(path));
    return std::find(std::begin(system_stems), std::end(system_stems), stem) !=
           std::end(system_stems);
}

bool is_libgcc(std::string_view path) {
    return module_stem(module_base_name(path)) == "libgcc_s";
}

bool unwinds(std::string_view name) {
    return std::find(std::begin(exact_names), std::end(exact_names), name) !=
               std::end(exact_names) ||
           std::any_of(std::begin(prefixes), std::end(prefixes),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// The reason in one module, or nothing.
std::string reason_in(const MappedModule& module) {
    std::string name(module_base_name(module.path));
    if (!module.file)
        return name + " could not be read";
    const ElfFile& file = *module.file;
    if (file.is_go())
        return name + " contains Go, which moves its stacks";
    for (std::string_view marker : module_markers)
        if (name.starts_with(marker))
            return name + " switches or unwinds stacks";
    if (is_system(module.path))
        return {};
    // libgcc_s itself defines the unwinder; whether somebody uses it shows in the others.
    if (is_libgcc(module.path))
        return {};
    if (file.has_section(".gcc_except_table"))
        return name + " has exception tables";
    for (std::string_view import : file.imports())
        if (unwinds(import))
            return name + " uses " + std::string(import);
    for (const ElfFunction& function : file.functions())
        if (unwinds(function.name))
            return name + " defines " + std::string(function.name);
    // Everything that a static program uses is in its own code, where only symbols can show it.
    if (module.main_program && (!file.dynamic() || file.needed().empty()) && !file.has_symbols())
        return name + " is linked statically and has no symbols";
    return {};
}

} // namespace

UnwindProof prove_no_unwinding(std::span<const MappedModule> modules) {
    if (modules.empty())
        return {false, "no module is known"};
    if (std::none_of(modules.begin(), modules.end(),
                     [](const MappedModule& module) { return module.main_program; }))
        return {false, "the main program is not known"};
    bool libgcc_mapped = false;
    bool libgcc_needed = false;
    for (const MappedModule& module : modules) {
        std::string reason = reason_in(module);
        if (!reason.empty())
            return {false, std::move(reason)};
        libgcc_mapped |= is_libgcc(module.path);
        for (const std::string& library : module.file->needed())
            libgcc_needed |= is_libgcc(library);
    }
    // The C library loads it by itself to cancel a thread or to take a backtrace.
    if (libgcc_mapped && !libgcc_needed)
        return {false, "libgcc_s was loaded at run time, as for cancelling threads"};
    return {true, {}};
}

} // namespace auger
