// SPDX-License-Identifier: GPL-3.0-or-later
// stacks: what all threads do now, those with equal stacks together.
#include "views/escape.h"
#include "views/format.h"
#include "views/text/draw.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace auger {

namespace {

// Of one stack.
constexpr size_t most_threads = 6, most_waits = 3;

// Threads of a process with one stack, as far as it is shown.
struct SameStack {
    std::vector<const ThreadNow*> threads;
    bool is_shown = false; // there are frames to show
    const ThreadNow& first() const { return *threads.front(); }
};

std::vector<LocationId> shown_part(const Model& model, const ThreadNow& thread,
                                   FrameChoice frames) {
    std::vector<LocationId> shown;
    for (const LocationId location : thread.stack)
        if (std::ranges::any_of(model.symbols().frames(location), [&](const FrameEntry& frame) {
                return is_chosen(model.symbols(), frame.function, frames);
            }))
            shown.push_back(location);
    return shown;
}

// The most threads first, those without a frame to show last; of as many those of a process stand
// together.
std::vector<SameStack> by_stack(const Model& model, std::span<const ThreadNow> threads,
                                FrameChoice frames) {
    // Whether it runs, and whether its stack could be read.
    using Key = std::tuple<MachineId, uint32_t, bool, bool, std::vector<LocationId>>;
    std::map<Key, SameStack> stacks;
    for (const ThreadNow& thread : threads) {
        const ThreadInfo& of = thread.thread;
        auto shown = shown_part(model, thread, frames);
        const bool is_shown = !shown.empty();
        SameStack& same =
            stacks[{of.machine, of.pid, thread.running, thread.stack.empty(), std::move(shown)}];
        same.threads.push_back(&thread);
        same.is_shown = is_shown;
    }
    std::vector<SameStack> list;
    for (auto& [key, same] : stacks)
        list.push_back(std::move(same));
    std::ranges::stable_sort(list, std::greater(), [](const SameStack& same) {
        return std::pair(same.is_shown, same.threads.size());
    });
    return list;
}

// "worker 4711, 4712; reaper 4720; and 9 more"
std::string names_of(const Model& model, const SameStack& same) {
    std::string text, last;
    const size_t named = std::min(same.threads.size(), most_threads);
    for (size_t i = 0; i < named; i++) {
        const ThreadInfo& thread = same.threads[i]->thread;
        const std::string name = model.symbols().rules().thread_name(thread.comm);
        if (i == 0 || name != last)
            text += (i == 0 ? "" : "; ") + name + fmt::format(" {}", thread.tid);
        else
            text += fmt::format(", {}", thread.tid);
        last = name;
    }
    if (named < same.threads.size())
        text += fmt::format("; and {} more", same.threads.size() - named);
    return escape_untrusted(text);
}

void add_waits(Canvas& canvas, const SameStack& same) {
    std::set<std::string> waits;
    for (const ThreadNow* thread : same.threads)
        waits.insert(thread->wait);
    size_t shown = 0;
    for (const std::string& wait : waits) {
        if (shown++ == most_waits) {
            canvas.add_line(fmt::format("and {} others", waits.size() - most_waits), Style::dim, 6);
            break;
        }
        canvas.add_line(wait_line(wait), Style::plain, 6);
    }
}

} // namespace

Canvas stacks_view(const Model& model, const ViewOptions& options,
                   std::span<const ThreadNow> threads) {
    Canvas canvas(std::max(options.width, min_width));
    canvas.add_line("stacks", Style::title);
    if (threads.empty()) {
        canvas.add_line("No thread is there.", Style::dim);
        return canvas;
    }
    const std::vector<SameStack> stacks = by_stack(model, threads, options.stack.frames);
    const size_t rows = options.limit ? std::min(options.limit, stacks.size()) : stacks.size();
    std::set<std::pair<MachineId, uint32_t>> processes;
    for (const ThreadNow& thread : threads)
        processes.emplace(thread.thread.machine, thread.thread.pid);
    canvas.add_line(
        fmt::format("{} thread{} of {} process{}, {} stack{}{}",
                    format_count(double(threads.size())), threads.size() == 1 ? "" : "s",
                    format_count(double(processes.size())), processes.size() == 1 ? "" : "es",
                    stacks.size(), stacks.size() == 1 ? "" : "s",
                    rows < stacks.size() ? fmt::format(", {} shown", rows) : ""),
        Style::dim);
    for (const SameStack& same : std::span(stacks).first(rows)) {
        const ThreadNow& first = same.first();
        canvas.add_line();
        const size_t y = canvas.height();
        size_t x = canvas.put(
            0, y,
            fmt::format("{} thread{}", same.threads.size(), same.threads.size() == 1 ? "" : "s"),
            Style::title);
        if (processes.size() > 1)
            x = canvas.put(x + 1, y, fmt::format("of {}", first.thread.pid));
        if (model.machines() > 1)
            x = canvas.put(x + 1, y,
                           "on " + escape_untrusted(model.machine(first.thread.machine).name));
        canvas.put(x + 2, y, names_of(model, same));
        if (first.running) {
            canvas.add_line("running: only the stack of a thread that waits can be read",
                            Style::dim, 6);
            continue;
        }
        add_waits(canvas, same);
        if (first.stack.empty())
            canvas.add_line("(the stack could not be read)", Style::warning, 6);
        add_frames(canvas, model.symbols(), options.unicode, first.stack, options.stack, 6);
    }
    return canvas;
}

} // namespace auger
