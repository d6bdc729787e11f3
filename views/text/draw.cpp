// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/draw.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/short_name.h"
#include "views/spell.h"
#include "views/tail.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

Style style_of(const ClassFilter& filter) {
    return filter.duration ? style_of(*filter.duration) : Style::plain;
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
    if (!probe)
        return "#" + std::to_string(id.value);
    return with_tail(display_name(probe->text), tail_text(tail_of(model, *probe)));
}

std::string call_text(const Model& model, SpecId function) {
    const bool known = function.index() < model.specs().size();
    const ProbeInfo* probe =
        known ? model.find_probe(model.specs()[function.index()].probe) : nullptr;
    return probe ? with_tail(display_name(probe->text), tail_text(tail_of(model, function))) : "?";
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

std::string tracing_text(const ProbeInfo& probe, const ThresholdState& state,
                         const std::string& name) {
    const CallConditions& conditions = probe.conditions;
    std::string text = probe.slow.is_of_every_call() ? "trace" : "slow";
    if (!name.empty())
        text += " " + name;
    if (!probe.slow.is_of_every_call())
        text += " > " + threshold_text(probe.slow, state);
    if (!conditions.slow_if.empty())
        text += " if " + escape_untrusted(conditions.slow_if);
    if (!conditions.show_default)
        text += " show " +
                (conditions.show.empty()
                     ? "off"
                     : escape_untrusted(fmt::format("{}", fmt::join(conditions.show, ", "))));
    return text;
}

std::string split_text(const Model& model) {
    const SplitInfo& split = model.split();
    if (!split.active)
        return "";
    std::string text = probe_text(model, split.probe);
    if (split.threshold.kind != Threshold::Kind::none)
        text += " > " + threshold_text(split.threshold, model.split_state()) +
                (split.so_far ? " so far" : "");
    if (!split.branch.empty())
        text += " " + escape_untrusted(split.branch.text());
    if (!split.label.empty())
        text += " by " + escape_untrusted(split.label);
    return text;
}

std::string unseen_split_text(const Model& model) {
    const ProbeInfo* probe = model.find_probe(model.split().probe);
    const auto gap = model.visible_gap(model.split().probe);
    return fmt::format(
        "The threshold is under twice what a sample costs its thread ({}): many a sampled call is "
        "slow for that alone. {}",
        format_duration(static_cast<double>(model.ledger().sample_gap_ns)),
        gap && probe ? fmt::format("Its durations part at {}: threshold {} {}",
                                   format_duration(static_cast<double>(*gap)),
                                   escape_untrusted(spell_word(probe->text)), spell_duration(*gap))
                     : "Split on a caller, or higher.");
}

Canvas start_view(const Model& model, const ViewOptions& options, std::string_view title,
                  uint64_t from_ns, bool with_split) {
    Canvas canvas(std::max(options.width, min_width));
    uint64_t to_ns = options.window.until(model.now_ns());
    uint64_t span = to_ns > from_ns ? to_ns - from_ns : 0;
    std::string window = format_window(options.window, model.first_ns());
    if (options.window == Window{})
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
    if (with_split && !model.only().text.empty())
        canvas.add_line("only " + escape_untrusted(model.only().text), Style::dim);
    if (with_split && !options.filter.empty())
        canvas.add_line("filter " + options.filter, Style::dim);
    if (with_split && model.split_state().kind == ThresholdState::Kind::warming)
        canvas.add_line("The threshold is warming up: until then ended calls count as open.",
                        Style::warning);
    if (with_split && model.split_near_sample_gap())
        canvas.add_line(unseen_split_text(model), Style::warning);
    return canvas;
}

Canvas start_view(const Model& model, const ViewOptions& options, std::string_view title,
                  bool with_split) {
    return start_view(model, options, title, options.window.since(model.first_ns(), model.now_ns()),
                      with_split);
}

void add_parts(Canvas& canvas, const std::vector<Part>& parts, size_t indent) {
    size_t y = canvas.height(), x = indent;
    for (const Part& part : parts) {
        if (x > indent && x + 3 + text_width(part.word + part.rest) > canvas.width()) {
            x = indent;
            y++;
        }
        x = canvas.put(x > indent ? x + 3 : indent, y, part.word, part.style);
        x = canvas.put(x, y, part.rest);
    }
}

namespace {

std::string figures(const SampleSum& sum, double whole) {
    return fmt::format(" {} ({})", format_count(sum.samples),
                       format_percent(whole > 0 ? sum.weight_ns / whole : 0));
}

std::string in_calls(uint64_t calls) {
    return fmt::format(" in {} call{}", format_count(static_cast<double>(calls)),
                       calls == 1 ? "" : "s");
}

void add_rows(Canvas& canvas, const std::vector<ClassRow>& rows, const SampleSum& unknown,
              double whole, size_t indent) {
    constexpr size_t most = 12;
    std::vector<Part> parts;
    for (size_t i = 0; i < rows.size() && i < most; i++)
        parts.push_back({escape_untrusted(to_string(rows[i].filter)),
                         figures(rows[i].samples, whole) + in_calls(rows[i].calls),
                         style_of(rows[i].filter)});
    if (rows.size() > most)
        parts.push_back({"", fmt::format("({} more)", rows.size() - most), Style::dim});
    if (unknown.samples > 0)
        parts.push_back({"not known", figures(unknown, whole), Style::dim});
    add_parts(canvas, parts, indent);
}

} // namespace

void add_classes(Canvas& canvas, const Model& model, const Classifier& classify,
                 const Window& window) {
    const SplitInfo& split = model.split();
    if (!split.active)
        return;
    ClassTable table = tabulate_classes(model, classify, window);
    const ClassSums& sums = table.by_duration;
    SampleSum whole = sums.sum();
    std::vector<Part> parts;
    if (split.threshold.kind != Threshold::Kind::none) {
        for (CallClass c : all_call_classes)
            parts.push_back(
                {std::string(to_string(c)), figures(sums[c], whole.weight_ns), style_of(c)});
    } else { // nothing tells slow from fast
        parts.push_back({"inside", figures(sums[CallClass::open], whole.weight_ns), Style::plain});
        parts.push_back({"outside", figures(sums[CallClass::outside], whole.weight_ns),
                         style_of(CallClass::outside)});
    }
    add_parts(canvas, parts);
    add_combined_classes(canvas, model, table, window, 0);
}

void add_combined_classes(Canvas& canvas, const Model& model, const ClassTable& table,
                          const Window& window, size_t indent) {
    const SplitInfo& split = model.split();
    double whole = table.by_duration.sum().weight_ns;
    if (!split.branch.empty()) {
        MarkCounts counts = model.branch_counts(window);
        std::string text = escape_untrusted(split.branch.text());
        canvas.add_line(counts.known() > 0
                            ? fmt::format("{}: taken in {} of {} calls", text,
                                          format_count(counts.taken), format_count(counts.known()))
                            : fmt::format("{}: no call has returned since it is watched", text),
                        Style::plain, indent);
        add_rows(canvas, branch_rows(model, table), unknown_branch(table), whole, indent + 2);
    }
    if (!split.label.empty()) {
        canvas.add_line("by " + escape_untrusted(split.label), Style::plain, indent);
        add_rows(canvas, label_rows(model, table), unknown_label(table), whole, indent + 2);
    }
}

void add_left_out(Canvas& canvas, const Model& model, const Classifier& classify,
                  const Window& window) {
    const bool by_lines = !model.only().line_clauses.empty();
    if (!by_lines && model.kept_stacks().empty())
        return;
    const double left_out = tabulate_classes(model, classify, window).left_out.samples;
    canvas.add_line(
        fmt::format("{} sample{} left out by `only`{}.", format_count(left_out),
                    left_out == 1 ? " is" : "s are",
                    by_lines ? ": outside of such a call, or in one of which it is not known (it "
                               "runs still, or began before)"
                             : ": by what is on their stacks"),
        Style::dim);
}

std::string source_text(const SymbolTables& symbols, const FrameEntry& frame) {
    std::string_view file = symbols.text(frame.file);
    if (file.empty())
        return "";
    file = file.substr(file.rfind('/') + 1);
    return frame.line ? fmt::format("{}:{}", file, frame.line) : std::string(file);
}

} // namespace auger
