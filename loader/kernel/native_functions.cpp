// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/native_functions.h"

#include "loader/kernel/clock.h"
#include "loader/runtimes/php/native_function.h"
#include "loader/runtimes/python/native_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace auger {

std::optional<NativeFunctions::Place> NativeFunctions::place_of(pid_t pid, uint64_t address,
                                                                const TargetView& view) const {
    const Location location = names_.mappings().locate(pid, address, clock_ns());
    for (size_t i = 0; i < view.modules.size(); i++) {
        const FileIdentity file = view.modules[i].identity();
        if (view.modules[i].pids.contains(pid) &&
            names_.find_module(file.first, file.second) == location.module)
            return Place{i, location.address};
    }
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
    // Processes that were forked have the same function at the same place.
    std::set<uint64_t> done;
    NativeFunction answer{.problem = fmt::format("no process of the target is known to run {}",
                                                 pattern.language == "php" ? "PHP" : "Python"),
                          .may_come = view.by_name || view.everything || !view.started ||
                                      view.pids.empty() || !unwind_.settled()};
    for (const pid_t pid : view.pids) {
        const uint64_t runtime = runtime_of(pid, pattern);
        if (!runtime || done.contains(runtime))
            continue;
        const std::optional<NativeFunction> one = ask(pid, pattern);
        if (!one) {
            answer = {.problem = "the process lets us wait for its memory", .may_come = true};
            continue;
        }
        if (one->addresses.empty())
            answer = *one;
        for (const uint64_t address : one->addresses) {
            if (const auto place = place_of(pid, address, view)) {
                found.places.push_back(*place);
                done.insert(runtime);
            } else {
                answer = {.problem = "its code is in no file that the process has mapped"};
            }
        }
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
