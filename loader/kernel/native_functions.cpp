// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/native_functions.h"

#include "loader/kernel/clock.h"
#include "loader/process/proc_maps.h"
#include "loader/runtimes/php/native_function.h"
#include "loader/runtimes/python/native_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace auger {

std::optional<NativeFunctions::Place> NativeFunctions::place_of(pid_t pid, uint64_t address,
                                                                const TargetView& view) const {
    const Location location = names_.mappings().locate(pid, address, clock_ns());
    const auto maps = read_maps(pid);
    if (location.module == unknown_module || !maps)
        return std::nullopt;
    const auto mapping = std::ranges::find_if(
        *maps, [&](const Mapping& one) { return one.start <= address && address < one.end; });
    if (mapping == maps->end())
        return std::nullopt;
    const FileIdentity file = {mapping->device, mapping->inode};
    for (size_t i = 0; i < view.modules.size(); i++)
        if (view.modules[i].mapped == file && view.modules[i].pids.contains(pid))
            return Place{i, location.address};
    return std::nullopt;
}

uint64_t NativeFunctions::runtime_of(pid_t pid, const ProbePattern& pattern) {
    if (pattern.language == "php")
        return unwind_.php_globals(pid);
    const PythonProcess* const process = names_.python().layout(pid);
    return process ? process->runtime : 0;
}

std::optional<NativeFunction> NativeFunctions::ask(pid_t pid, const ProbePattern& pattern) {
    const std::string& name = pattern.function;
    if (pattern.language == "php")
        return names_.php().ask({&pid, 1}, [name, globals = unwind_.php_globals(pid)](
                                               const ReadMemory& read, const PhpLayout& layout) {
            return std::optional(find_native_function(read, layout, globals, name));
        });
    return names_.python().ask({&pid, 1}, [name](const ReadMemory& read,
                                                 const PythonProcess& process) {
        return std::optional(find_native_function(read, *process.layout, process.runtime, name));
    });
}

NativeFunctions::Places NativeFunctions::find(const ProbePattern& pattern, const TargetView& view) {
    Places found;
    NativeFunction answer{.problem = fmt::format("no process of the target is known to run {}",
                                                 pattern.language == "php" ? "PHP" : "Python"),
                          .may_come = view.by_name || view.everything || !view.started ||
                                      view.pids.empty() || !unwind_.settled()};
    bool is_answered = false;
    // What may be there later for one process is waited for, whatever others say.
    const auto note = [&](NativeFunction problem) {
        if (!is_answered || problem.may_come || !answer.may_come)
            answer = std::move(problem);
        is_answered = true;
    };
    // Whoever has a file mapped in which it was found has it there: forked processes, above all.
    const auto is_there = [&](pid_t pid) {
        return std::ranges::any_of(found.places, [&](const Place& place) {
            return view.modules[place.module].pids.contains(pid);
        });
    };
    size_t asked = 0;
    for (size_t i = 0; i < view.pids.size() && asked < most_asked; i++) {
        const pid_t pid = view.pids[next_++ % view.pids.size()];
        if (!runtime_of(pid, pattern) || is_there(pid))
            continue;
        asked++;
        const std::optional<NativeFunction> one = ask(pid, pattern);
        if (!one)
            note({.problem = "the process's memory could not be read in time", .may_come = true});
        else if (one->addresses.empty())
            note(*one);
        else
            for (const uint64_t address : one->addresses)
                if (const auto place = place_of(pid, address, view))
                    found.places.push_back(*place);
                else
                    note({.problem = "its code is in no file that the process has mapped"});
    }
    std::ranges::sort(found.places, {},
                      [](const Place& place) { return std::pair(place.module, place.address); });
    const auto same = std::ranges::unique(found.places);
    found.places.erase(same.begin(), same.end());
    if (found.places.empty()) {
        found.error = not_found(pattern, answer.problem, answer.hint);
        found.may_come = answer.may_come;
    }
    return found;
}

} // namespace auger
