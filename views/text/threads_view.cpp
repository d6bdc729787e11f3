// SPDX-License-Identifier: GPL-3.0-or-later
// threads: what each thread's time was spent on, in shares of the time that went by.
#include "views/escape.h"
#include "views/format.h"
#include "views/model/thread_sums.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

Canvas threads_view(const Model& model, const ViewOptions& options, const ClassFilter& filter) {
    std::string title = "threads";
    if (!filter.all())
        title += " " + escape_untrusted(to_string(filter));
    const std::vector<ThreadSum> threads = sum_threads(model, options.window, filter);
    Canvas canvas = start_view(model, options, title, true);
    if (threads.empty()) {
        canvas.add_line("No samples.", Style::dim);
        return canvas;
    }
    const double covered = covered_ns(model, options.window, model.now_ns());
    const bool waits = std::ranges::any_of(threads, [](const ThreadSum& thread) {
        return thread.sum.blocked_ns + thread.sum.runnable_ns > 0;
    });
    const size_t names = waits ? 56 : 36;
    size_t y = canvas.height() + 1;
    canvas.put_right(8, y, "pid", Style::dim);
    canvas.put_right(17, y, "tid", Style::dim);
    canvas.put_right(26, y, "cpu", Style::dim);
    if (waits) {
        canvas.put_right(36, y, "blocked", Style::dim);
        canvas.put_right(46, y, "runnable", Style::dim);
    }
    canvas.put_right(names - 2, y, "samples", Style::dim);
    canvas.put(names, y++, "thread", Style::dim);
    const size_t rows = options.limit ? std::min(options.limit, threads.size()) : threads.size();
    for (size_t i = 0; i < rows; i++, y++) {
        const ThreadSum& thread = threads[i];
        const auto share = [&](size_t x, double ns, Style style) {
            if (ns > 0)
                canvas.put_right(x, y, format_percent(covered > 0 ? ns / covered : 0), style);
        };
        canvas.put_right(8, y, std::to_string(thread.pid), Style::dim);
        canvas.put_right(17, y, std::to_string(thread.tid), Style::dim);
        share(26, thread.sum.cpu_ns(), Style::number);
        if (waits) {
            share(36, thread.sum.blocked_ns, Style::plain);
            share(46, thread.sum.runnable_ns, Style::plain);
        }
        canvas.put_right(names - 2, y, format_count(thread.sum.samples));
        std::string name = escape_untrusted(thread.comm);
        if (model.machines() > 1)
            name += "  " + escape_untrusted(model.machine(thread.machine).name);
        canvas.put(names, y, elide_middle(name, canvas.width() - names, ellipsis(options.unicode)),
                   Style::name);
    }
    if (rows < threads.size())
        canvas.add_line(
            fmt::format("({} more threads)", format_count(double(threads.size() - rows))),
            Style::dim, names);
    return canvas;
}

} // namespace auger
