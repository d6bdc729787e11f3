// SPDX-License-Identifier: GPL-3.0-or-later
// overhead: what observing takes of the target's CPU time.
#include "views/escape.h"
#include "views/format.h"
#include "views/overhead_text.h"
#include "views/text/draw.h"

#include <fmt/format.h>

namespace auger {

Canvas overhead_view(const Model& model, const ViewOptions& options, const StatusContext& context) {
    ViewOptions everything = options; // a span of its own
    everything.window = {};
    Canvas canvas = start_view(model, everything, "overhead", false);
    const Overhead& overhead = model.ledger().overhead;
    canvas.add_line(context.overhead_limit > 0
                        ? fmt::format("beyond {:g} % of the target's CPU time the dearest cause is "
                                      "reduced",
                                      context.overhead_limit)
                        : "nothing is reduced, whatever it takes",
                    Style::dim);
    if (!overhead.end_ns) {
        canvas.add_line("Nothing was measured yet: it takes a second.", Style::dim);
        return canvas;
    }
    const uint64_t cost = overhead_cost(overhead);
    canvas.add_line(fmt::format(
        "{} of {} of CPU time that the target took in {}: {}",
        format_duration(static_cast<double>(cost)),
        format_duration(static_cast<double>(overhead.target_ns)),
        format_duration(static_cast<double>(overhead.end_ns - overhead.begin_ns)),
        overhead.target_ns ? format_percent(overhead_share(overhead, cost)) : "no share of it"));
    if (overhead.causes.empty())
        return canvas;
    size_t y = canvas.height() + 1;
    canvas.put_right(9, y, "share", Style::dim);
    canvas.put_right(22, y, "a second", Style::dim);
    canvas.put_right(32, y, "each", Style::dim);
    canvas.put(45, y, "cause", Style::dim);
    for (const Overhead::Cause& cause : dearest_causes(overhead)) {
        y = canvas.height();
        canvas.put_right(9, y, format_percent(overhead_share(overhead, cause.cost_ns)),
                         Style::number);
        canvas.put_right(22, y, format_count(overhead_rate(overhead, cause)));
        canvas.put_right(32, y,
                         format_duration(static_cast<double>(cause.cost_ns) /
                                         static_cast<double>(std::max<uint64_t>(cause.events, 1))));
        canvas.put(34, y, is_measured(cause) ? "measured" : "estimated", Style::dim);
        canvas.put(45, y,
                   elide_middle(overhead_cause(model, cause), canvas.width() - 45,
                                ellipsis(options.unicode)),
                   Style::name);
    }
    return canvas;
}

} // namespace auger
