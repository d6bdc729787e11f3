// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/thread_contexts.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/clock.h"
#include "loader/kernel/thread_places.h"
#include "loader/process/proc_maps.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

constexpr size_t most_looked_at = 64; // processes, for whether there may be any
// Further ones are not told: a process may map any number of files that make no sense.
constexpr size_t most_told = 100;
// Until the dynamic linker is looked for again where it has not been: the longer the longer ago it
// was looked for first.
constexpr uint64_t first_look_ns = 20'000'000, most_look_ns = 1'000'000'000;

bool is_process_context(const Mapping& mapping) {
    return mapping.path.starts_with("[anon_shmem:OTEL_CTX") ||
           mapping.path.starts_with("[anon:OTEL_CTX") ||
           mapping.path.starts_with("/memfd:OTEL_CTX");
}

} // namespace

bool ThreadContexts::may_be_there(const TargetView& view) {
    size_t looked_at = 0;
    for (const pid_t pid : view.pids) {
        if (looked_at++ == most_looked_at)
            break;
        const auto maps = read_maps(pid);
        if (maps && std::ranges::any_of(*maps, is_process_context))
            return true;
    }
    return false;
}

void ThreadContexts::want(const TargetView& view) {
    wanted_ = true;
    // Before the first of them, so that no child is left out.
    programs_.config().reads_contexts = 1;
    update(view);
    if (!is_exported_ && !is_being_read_ && view.started && !view.pids.empty())
        tell(fmt::format("trace, span_id: no program of the target says what its threads work for "
                         "({}): they are none until one does",
                         thread_context_variable));
}

void ThreadContexts::end() {
    wanted_ = false;
    look_again_ns_ = 0;
    // First, so that no child gets any from here on.
    programs_.config().reads_contexts = 0;
    enter({});
    forget_children();
    early_.clear();
    refused_.clear();
}

// Those that have begun since the last update(): nobody here knows of them, and when they end
// nobody looks for what they have inherited.
void ThreadContexts::forget_children() {
    const int map = programs_.map_fd(MapKind::thread_contexts);
    for (uint32_t pid = 0; bpf_map_get_next_key(map, nullptr, &pid) == 0;)
        if (bpf_map_delete_elem(map, &pid) < 0)
            return;
}

void ThreadContexts::tell(const std::string& text) {
    if (told_.size() < most_told && told_.insert(text).second)
        sink_.on_notice(clock_ns(), text);
}

// What could not be read is as if it exported nothing.
std::optional<ThreadVariable> ThreadContexts::variable_of(const File& file) {
    if (const auto known = variables_.find(file); known != variables_.end())
        return known->second;
    auto variable = readers_.thread_variable(file, thread_context_variable);
    if (!variable && readers_.not_yet()) {
        is_being_read_ = true;
        return std::nullopt;
    }
    return variables_.emplace(file, variable ? *variable : std::nullopt).first->second;
}

void ThreadContexts::update(const TargetView& view) {
    if (!wanted_)
        return;
    std::map<pid_t, wire_thread_place> places;
    is_exported_ = is_being_read_ = false;
    look_again_ns_ = 0;
    // The main programs come first, and their variable is the one that others use, too.
    for (const TargetModule& module : view.modules) {
        const auto variable = variable_of(module.file);
        if (!variable)
            continue;
        is_exported_ = true;
        for (const pid_t pid : module.pids)
            if (!places.contains(pid) && !refused_.contains(pid))
                find_place(pid, module, *variable, places);
    }
    enter(std::move(places));
    std::erase_if(variables_, [](const auto& entry) { return entry.first.expired(); });
}

void ThreadContexts::find_place(pid_t pid, const TargetModule& module,
                                const ThreadVariable& variable,
                                std::map<pid_t, wire_thread_place>& places) {
    bool is_late = false;
    const bool is_program = module.main_program && executes_file(pid, module.identity());
    const auto place = find_thread_place(pid, {module.mapped, module.file->segments(), is_program},
                                         variable, is_late);
    if (is_late)
        refused_.insert(pid);
    if (!place)
        tell(fmt::format("trace, span_id: {} in {}: {}", thread_context_variable, module.path,
                         place.error().cause));
    else if (*place)
        places.emplace(pid, **place);
    else if (!refused_.contains(pid))
        look_again(pid);
}

void ThreadContexts::look_again(pid_t pid) {
    const uint64_t after = std::min(most_look_ns, first_look_ns * ++early_[pid]);
    look_again_ns_ = look_again_ns_ ? std::min(look_again_ns_, after) : after;
}

void ThreadContexts::enter(std::map<pid_t, wire_thread_place> places) {
    const int map = programs_.map_fd(MapKind::thread_contexts);
    for (const auto& [pid, place] : places_) {
        const auto key = static_cast<uint32_t>(pid);
        if (!places.contains(pid))
            bpf_map_delete_elem(map, &key);
    }
    // All of them: a process that executes another program has lost its own.
    for (const auto& [pid, place] : places) {
        const auto key = static_cast<uint32_t>(pid);
        if (update_element(map, &key, &place) < 0)
            tell(fmt::format("trace, span_id: there are more than {} processes that have them",
                             int{WIRE_CONTEXT_PROCESSES}));
        early_.erase(pid);
    }
    places_ = std::move(places);
}

void ThreadContexts::forget_process(pid_t pid) {
    early_.erase(pid);
    refused_.erase(pid);
    const auto key = static_cast<uint32_t>(pid);
    if (places_.erase(pid))
        bpf_map_delete_elem(programs_.map_fd(MapKind::thread_contexts), &key);
}

} // namespace auger
