// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/draw.h"

#include "views/escape.h"
#include "views/format.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace auger {

std::string bar(double share, size_t width, bool unicode) {
    share = std::clamp(share, 0.0, 1.0);
    std::string out;
    if (!unicode) {
        auto cells = static_cast<size_t>(std::lround(share * static_cast<double>(width)));
        // Something is never drawn as nothing.
        return std::string(std::max<size_t>(cells, share > 0 ? 1 : 0), '#');
    }
    static const char* const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    auto parts = static_cast<size_t>(std::lround(share * static_cast<double>(width) * 8));
    parts = std::max<size_t>(parts, share > 0 ? 1 : 0);
    for (size_t i = 0; i < parts / 8; i++)
        out += "█";
    return out + eighths[parts % 8];
}

Style style_of(CallClass call_class) {
    switch (call_class) {
    case CallClass::slow:
        return Style::slow;
    case CallClass::fast:
        return Style::fast;
    case CallClass::open:
        return Style::open;
    case CallClass::outside:
        break;
    }
    return Style::outside;
}

std::string_view arrow(bool unicode) {
    return unicode ? " › " : " > ";
}
std::string_view plus_minus(bool unicode) {
    return unicode ? "±" : "+-";
}
std::string_view ellipsis(bool unicode) {
    return unicode ? "…" : "...";
}

std::string probe_text(const Model& model, ProbeId id) {
    const ProbeInfo* probe = model.find_probe(id);
    return probe ? escape_untrusted(probe->text) : "#" + std::to_string(id.value);
}

std::string threshold_text(const Threshold& threshold, const ThresholdState& state) {
    std::string text = format_threshold(threshold);
    if (text.starts_with("> "))
        text.erase(0, 2);
    if (state.kind == ThresholdState::Kind::following)
        text += " = " + format_duration(static_cast<double>(state.value_ns));
    if (state.kind == ThresholdState::Kind::warming)
        text += fmt::format(" ({} of {} calls)", format_count(static_cast<double>(state.calls)),
                            format_count(static_cast<double>(state.calls_needed)));
    return text;
}

std::string split_text(const Model& model) {
    const SplitInfo& split = model.split();
    if (!split.active)
        return "";
    return probe_text(model, split.probe) + " > " +
           threshold_text(split.threshold, model.split_state()) + (split.so_far ? " so far" : "");
}

Canvas start_view(const Model& model, const ViewOptions& options, std::string_view title,
                  uint64_t from_ns, bool with_split) {
    Canvas canvas(std::max(options.width, min_width));
    uint64_t span = model.now_ns() > from_ns ? model.now_ns() - from_ns : 0;
    std::string window = format_window(options.window);
    if (options.window.kind == Window::Kind::all)
        window = "all " + format_duration(static_cast<double>(span));
    else if (options.window.kind == Window::Kind::last && span < options.window.span_ns)
        window += ", has " + format_duration(static_cast<double>(span));
    size_t x = canvas.put(0, 0, title, Style::title);
    std::string split = with_split ? split_text(model) : "";
    std::string right = "window " + window;
    if (x + 2 + text_width(right) <= canvas.width())
        canvas.put_right(canvas.width(), 0, right, Style::dim);
    else
        canvas.add_line(right, Style::dim);
    if (!split.empty())
        canvas.add_line("split " + split, Style::dim);
    if (with_split && model.split_state().kind == ThresholdState::Kind::warming)
        canvas.add_line("The threshold is warming up: until then ended calls count as open.",
                        Style::warning);
    if (with_split && model.split_near_sample_gap())
        canvas.add_line(
            fmt::format("The threshold is under twice what a sample costs its thread ({}): many a "
                        "sampled call is slow for that alone. Split on a caller, or higher.",
                        format_duration(static_cast<double>(model.ledger().sample_gap_ns))),
            Style::warning);
    return canvas;
}

Canvas start_view(const Model& model, const ViewOptions& options, std::string_view title,
                  bool with_split) {
    uint64_t from = model.first_ns();
    if (options.window.kind == Window::Kind::last && model.now_ns() > options.window.span_ns)
        from = std::max(from, model.now_ns() - options.window.span_ns);
    return start_view(model, options, title, from, with_split);
}

void add_classes(Canvas& canvas, const Model& model, const ClassSums& sums) {
    if (!model.split().active)
        return;
    double whole = sums.sum().weight_ns;
    size_t y = canvas.height(), x = 0;
    for (CallClass c : all_call_classes) {
        double share = whole > 0 ? sums[c].weight_ns / whole : 0;
        std::string text = fmt::format("{} {} ({})", to_string(c), format_count(sums[c].samples),
                                       format_percent(share));
        if (x > 0 && x + 3 + text.size() > canvas.width()) {
            x = 0;
            y++;
        }
        x = canvas.put(x ? x + 3 : 0, y, to_string(c), style_of(c));
        x = canvas.put(x, y, std::string_view(text).substr(to_string(c).size()));
    }
}

std::string source_text(const SymbolTables& symbols, const FrameEntry& frame) {
    std::string_view file = symbols.text(frame.file);
    if (file.empty())
        return "";
    file = file.substr(file.rfind('/') + 1);
    return frame.line ? fmt::format("{}:{}", file, frame.line) : std::string(file);
}

} // namespace auger
