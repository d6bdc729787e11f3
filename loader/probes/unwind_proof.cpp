// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/unwind_proof.h"

#include "loader/arch/arch.h"
#include "loader/probes/module_name.h"
#include "loader/process/c_library.h"

#include ARCH(machine.h)

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace auger {
namespace {

// Modules whose presence alone speaks against the proof, by the start of their file names.
constexpr std::string_view module_markers[] = {
    "libgcj",         "libv8",     "libnode",          "libluajit",
    "libjvm",         "libunwind", "libmono",          "libcoreclr",
    "_greenlet",      "greenlet",  "libboost_context", "libboost_coroutine",
    "libboost_fiber", "libco.",    "libcoro",          "libpth.",
    "libgo.",         "libruby"};

bool has_name_of_c_library(std::string_view path) {
    const std::string_view stem = module_stem(module_base_name(path));
    return stem == "libc" || stem == "ld" || stem == dynamic_linker;
}

bool is_marked(std::string_view name) {
    return std::ranges::any_of(module_markers,
                               [&](std::string_view marker) { return name.starts_with(marker); });
}

UnwindProof unread(std::string_view name, const Error& error, bool not_yet) {
    if (not_yet)
        return {false, fmt::format("{} is still being read", name), {}, true};
    return {false, fmt::format("{} could not be read: {}", name, error.cause)};
}

} // namespace

UnwindProof prove_no_unwinding(std::span<const MappedModule> modules, UnwindReader& reader) {
    if (modules.empty())
        return {false, "no module is known"};
    if (std::none_of(modules.begin(), modules.end(),
                     [](const MappedModule& module) { return module.main_program; }))
        return {false, "the main program is not known"};
    // All that is quickly seen first: to read code takes a while.
    std::vector<const MappedModule*> to_read;
    std::string other_programs;
    bool c_library = false;
    for (const MappedModule& module : modules) {
        const std::string name(module_base_name(module.path));
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
        if (is_marked(name))
            return {false, name + " switches or unwinds stacks"};
        const auto facts = reader.facts_of(module.file);
        if (!facts)
            return unread(name, facts.error(), reader.not_yet());
        if (!facts->objection.empty())
            return {false, fmt::format("{} {}", name, facts->objection)};
        if (other_programs.empty() && !facts->starter.empty())
            other_programs = fmt::format("{} {}", name, facts->starter);
        to_read.push_back(&module);
    }
    // What is not imported may be anywhere.
    if (!c_library)
        return {false, "no C library is mapped, so what is used is not known"};
    for (const MappedModule* module : to_read) {
        const auto switches = reader.switches_in(module->file);
        const std::string_view name = module_base_name(module->path);
        if (!switches)
            return unread(name, switches.error(), reader.not_yet());
        if (!switches->empty())
            return {false, fmt::format("{} {}", name, *switches)};
    }
    return {true, {}, std::move(other_programs)};
}

} // namespace auger
