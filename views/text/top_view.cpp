// SPDX-License-Identifier: GPL-3.0-or-later
// top: functions by their own samples, with what they cause below them.
#include "views/escape.h"
#include "views/format.h"
#include "views/model/language_places.h"
#include "views/short_name.h"
#include "views/text/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace auger {

Canvas top_view(const Model& model, const ViewOptions& options, const ClassFilter& filter,
                FrameChoice frames) {
    std::string title = "top";
    if (!filter.all())
        title += " " + escape_untrusted(to_string(filter));
    if (frames != FrameChoice::all)
        title += fmt::format(" --{}", name_of(frames));
    std::vector<FunctionSums> functions = sum_functions(model, options.window, filter, frames);
    Classifier classify(model);
    SampleSum whole;
    for (const ClassSums& sums : sum_stacks(model, classify, options.window, filter))
        whole += sums.sum();
    Canvas canvas = start_view(model, options, title, true);
    if (filter.all())
        add_classes(canvas, model, classify, options.window);
    add_left_out(canvas, model, classify, options.window);
    if (functions.empty()) {
        canvas.add_line(whole.samples > 0 ? fmt::format("No frame is {}.", name_of(frames))
                                          : "No samples.",
                        Style::dim);
        return canvas;
    }
    std::sort(functions.begin(), functions.end(), [](const FunctionSums& a, const FunctionSums& b) {
        SampleSum x = a.self.sum(), y = b.self.sum();
        if (x.weight_ns != y.weight_ns)
            return x.weight_ns > y.weight_ns;
        x = a.total.sum(), y = b.total.sum();
        return x.weight_ns != y.weight_ns ? x.weight_ns > y.weight_ns : a.function < b.function;
    });
    bool with_slow = model.split().active && !filter.duration &&
                     model.split().threshold.kind != Threshold::Kind::none;
    size_t names = with_slow ? 37 : 29;
    size_t y = canvas.height() + 1;
    canvas.put_right(7, y, "self", Style::dim);
    canvas.put_right(17, y, "self time", Style::dim);
    canvas.put_right(27, y, "total", Style::dim);
    if (with_slow)
        canvas.put_right(35, y, "slow", Style::dim);
    canvas.put(names, y++, "function", Style::dim);
    const LanguagePlaces places(model.symbols());
    size_t rows = options.limit ? std::min(options.limit, functions.size()) : functions.size();
    for (size_t i = 0; i < rows; i++, y++) {
        const FunctionSums& f = functions[i];
        SampleSum self = f.self.sum(), total = f.total.sum();
        canvas.put_right(7, y, format_percent(self.weight_ns / whole.weight_ns), Style::number);
        canvas.put_right(17, y, format_duration(self.weight_ns));
        canvas.put_right(27, y, format_percent(total.weight_ns / whole.weight_ns));
        if (double slow = f.total[CallClass::slow].weight_ns; with_slow && slow > 0)
            canvas.put_right(35, y, format_percent(slow / total.weight_ns), Style::slow);
        const Function& function = model.symbols().function(f.function);
        const size_t x = canvas.put(names, y,
                                    fit_name(display_name(model.symbols().name(f.function)),
                                             canvas.width() - names, ellipsis(options.unicode)),
                                    function.kernel ? Style::kernel : Style::name);
        const std::string place = places.of(f.function);
        if (!place.empty() && x + 2 + text_width(place) <= canvas.width())
            canvas.put(x + 2, y, place, Style::dim);
    }
    if (rows < functions.size())
        canvas.add_line(
            fmt::format("({} more functions)", format_count(double(functions.size() - rows))),
            Style::dim, names);
    return canvas;
}

} // namespace auger
