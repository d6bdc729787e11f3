// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/ruby_processes.h"

#include "loader/kernel/clock.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

constexpr uint64_t first_pause_ns = 10'000'000, longest_pause_ns = 5'000'000'000;
constexpr int most_late_looks = 3;

Error no_ruby_contexts(std::string cause) {
    return {"show Ruby's functions", "", std::move(cause),
            "the interpreter's own functions are shown instead"};
}

RubyProcess process_of(const RubyLayout& layout, const RubyFile& file, uint64_t bias) {
    return {layout, file.symbols + bias, file.loop.moved(bias)};
}

} // namespace

Result<uint32_t> RubyProcesses::enter(const RubyFile& file, const FileOwner& owner) {
    const auto layout = ruby_layout(file);
    if (!layout)
        return layout.error();
    const auto number = layouts_.number(*layout, owner);
    if (!number || bpf_map_update_elem(layouts_fd_, &*number, &layout->frames, BPF_ANY) < 0)
        return Error{
            "show Ruby's functions",
            fmt::format("of a Ruby of version {}.{}", file.version >> 16, file.version >> 8 & 255),
            "there are too many kinds of Ruby, or too many of this user's",
            "the interpreter's own functions are shown instead"};
    return *number;
}

Result<std::optional<wire_thread_place>> RubyProcesses::set(pid_t pid, const Use& use,
                                                            const RubyFile& file, uint64_t now_ns,
                                                            const Search& search) {
    const auto [found, is_new] = processes_.try_emplace(pid);
    Process& process = found->second;
    if (is_new || process.use != use) {
        process = {};
        process.use = use;
        names_.set_layout(
            pid, use.executed_ns,
            std::make_shared<const RubyProcess>(process_of(*layouts_[use.number], file, use.bias)));
    }
    if (process.given_up)
        return *process.given_up;
    if (process.place || now_ns < process.again_ns)
        return process.place;
    bool is_late = false;
    const auto place = search(is_late);
    process.late += is_late;
    if (!place)
        process.given_up = no_ruby_contexts(place.error().cause);
    else if (!*place && process.late >= most_late_looks)
        process.given_up = no_ruby_contexts("the process's memory could not be read in time");
    if (process.given_up)
        return *process.given_up;
    process.place = *place;
    if (!process.place) {
        process.pause_ns = std::clamp(2 * process.pause_ns, first_pause_ns, longest_pause_ns);
        process.again_ns = now_ns + process.pause_ns;
    }
    return process.place;
}

void RubyProcesses::end(pid_t pid) {
    if (processes_.erase(pid))
        names_.end(pid);
}

bool RubyProcesses::gave_up(pid_t pid) const {
    const auto process = processes_.find(pid);
    return process != processes_.end() && process->second.given_up;
}

std::optional<pid_t> RubyProcesses::starting(uint64_t now_ns) const {
    for (const auto& [pid, process] : processes_)
        if (!process.place && !process.given_up && process.again_ns <= now_ns)
            return pid;
    return std::nullopt;
}

} // namespace auger
