// SPDX-License-Identifier: GPL-3.0-or-later
// open: the calls that are running now, the oldest first, with what their threads or tasks wait for
// and the stacks that they have at this moment. Calls of one thread or goroutine share its stack,
// which is shown once.
#include "views/format.h"
#include "views/text/draw.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>

namespace auger {

namespace {

void add_thread_state(Canvas& canvas, const Model& model, const ViewOptions& options,
                      const OpenCall& call) {
    if (call.no_thread) {
        canvas.add_line(call.wait, Style::plain, 6);
        add_frames(canvas, model.symbols(), options.unicode, call.stack, options.stack, 6);
        return;
    }
    if (call.running) {
        canvas.add_line("running: only the stack of a thread that waits can be read", Style::dim,
                        6);
        return;
    }
    canvas.add_line(wait_line(call.wait), Style::plain, 6);
    if (call.stack.empty())
        canvas.add_line("(its stack could not be read)", Style::warning, 6);
    add_frames(canvas, model.symbols(), options.unicode, call.stack, options.stack, 6);
}

// Those whose stacks have been shown.
class ShownStacks {
  public:
    // Whether the call's is among them; from now on it is. Of a span, which has none, never.
    bool repeats(const OpenCall& call) {
        if (!call.no_thread)
            return !threads_.insert(thread_key(call.thread)).second;
        // Its first words say which goroutine it is, of the process.
        return !call.stack.empty() &&
               !goroutines_.emplace(process_key(call.thread), call.wait).second;
    }

  private:
    std::set<uint64_t> threads_;
    std::set<std::pair<uint64_t, std::string>> goroutines_;
};

} // namespace

Canvas open_calls_view(const Model& model, const ViewOptions& options,
                       std::span<const OpenCall> calls, std::optional<ProbeId> probe) {
    Canvas canvas(std::max(options.width, min_width));
    std::string title = "open";
    if (probe)
        title += " " + probe_text(model, *probe);
    canvas.add_line(title, Style::title);
    if (calls.empty()) {
        canvas.add_line("No call is running.", Style::dim);
        return canvas;
    }
    size_t rows = options.limit ? std::min(options.limit, calls.size()) : calls.size();
    canvas.add_line(
        fmt::format("{} open call{}{}", format_count(double(calls.size())),
                    calls.size() == 1 ? "" : "s",
                    rows < calls.size() ? fmt::format(", the oldest {} shown", rows) : ""),
        Style::dim);
    ShownStacks shown;
    for (const OpenCall& call : calls.first(rows)) {
        canvas.add_line();
        size_t y = canvas.height();
        canvas.put_right(12, y, format_duration(static_cast<double>(call.age_ns)), Style::slow);
        size_t x = canvas.put(14, y, probe_text(model, call.probe), Style::title);
        x = canvas.put(x + 2, y,
                       fmt::format("{} {}", model.symbols().rules().thread_name(call.thread.comm),
                                   call.thread.tid));
        if (call.depth)
            x = canvas.put(x + 2, y,
                           fmt::format("inside {} other{}", call.depth, call.depth == 1 ? "" : "s"),
                           Style::dim);
        if (!shown.repeats(call))
            add_thread_state(canvas, model, options, call);
        else
            canvas.add_line(!call.no_thread   ? "(the same thread: see above)"
                            : call.thread.tid ? "(the same task: see above)"
                                              : "(the same goroutine: see above)",
                            Style::dim, 6);
    }
    return canvas;
}

} // namespace auger
