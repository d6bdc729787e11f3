// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/histogram_picture.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/text/draw.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace auger {

std::vector<HistogramPicture::Mark> HistogramPicture::marks() const {
    std::vector<Mark> marks;
    auto add = [&](std::string text, uint64_t value, Style style) {
        marks.push_back({std::move(text), bucket_of(value), style});
    };
    // Those that matter most first: the others give way.
    if (shown.split.in_force())
        add("split", shown.split.value_ns, Style::slow);
    if (shown.slow.in_force() && shown.slow.value_ns)
        add("traced", shown.slow.value_ns, Style::slow);
    for (const auto& [text, q] :
         {std::pair{"p50", 0.5}, {"p99", 0.99}, {"p95", 0.95}, {"p99.9", 0.999}, {"p90", 0.9}})
        add(text, static_cast<uint64_t>(shown.calls.quantile(q)), Style::dim);
    return marks;
}

double HistogramPicture::height_of(const HistogramRow& row) const {
    if (!by_time)
        return row.count;
    double sum = 0;
    for (uint32_t i = row.first; i < row.end; i++)
        if (const double count = shown.calls.durations.count(i); count > 0)
            sum += count *
                   (static_cast<double>(bucket_low(i)) +
                    static_cast<double>(std::min(bucket_high(i), 2 * bucket_low(i) + 1))) /
                   2;
    return sum;
}

size_t HistogramPicture::draw_head(Area& area) const {
    const CallStatistics& calls = shown.calls;
    Canvas head(area.width());
    std::vector<Part> parts;
    parts.push_back({escape_untrusted(shown.text), "", Style::title});
    if (!shown.tail.empty())
        parts.push_back({shown.tail, "", Style::warning});
    parts.push_back(
        {format_count(calls.counted()), shown.counted ? " times" : " calls", Style::number});
    if (!shown.counted) {
        for (const auto& [text, q] :
             {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}})
            parts.push_back({text, " " + format_duration(calls.quantile(q)), Style::dim});
        parts.push_back(
            {"max", " " + format_duration(static_cast<double>(calls.max_ns)), Style::dim});
    }
    if (shown.has_split)
        parts.push_back({"split",
                         shown.split.in_force()
                             ? " > " + format_duration(static_cast<double>(shown.split.value_ns))
                             : fmt::format(" warming up: {} of {} calls", shown.split.calls,
                                           shown.split.calls_needed),
                         Style::slow});
    if (shown.of > 1)
        parts.push_back({fmt::format("{} of {}", shown.index + 1, shown.of), " timed", Style::dim});
    add_parts(head, parts);
    // The bars need room more than the figures do.
    size_t y = 0;
    for (const size_t most = area.height() >= 14  ? 4
                             : area.height() >= 8 ? 2
                                                  : 1;
         y < std::min(most, head.height()); y++)
        area.put_row(0, y, head.row(y));
    if (!cursor || layout.bars.empty() || area.height() <= y + 1)
        return y;
    const auto [first, end] = range();
    double count = 0, up_to = 0;
    for (uint32_t i = 0; i < end; i++) {
        const double here = calls.durations.count(i);
        up_to += here;
        count += i >= first ? here : 0;
    }
    const double total = std::max(calls.durations.total(), 1e-9);
    area.put(0, y,
             fmt::format("{} to {}: {} ({}), {} up to here",
                         format_duration(static_cast<double>(bucket_low(first))),
                         format_duration(static_cast<double>(bucket_low(end))), format_count(count),
                         format_percent(count / total), format_percent(up_to / total)),
             anchor ? Style::title : Style::plain);
    return y + 1;
}

// Whether the bar is beyond the split's threshold.
bool HistogramPicture::beyond_split(size_t bar) const {
    return shown.split.in_force() && bucket_low(layout.bars[bar].first) >= shown.split.value_ns;
}

void HistogramPicture::draw_bars(Area& area, bool focused) const {
    static const char* const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const size_t rows = area.height();
    const size_t drawn = layout.columns >= 3 ? layout.columns - 1 : layout.columns;
    for (size_t bar = 0; bar < layout.bars.size(); bar++) {
        const double value = height_of(layout.bars[bar]);
        auto level = static_cast<size_t>(
            std::lround(value / std::max(highest, 1e-9) * static_cast<double>(rows) * 8));
        level = std::max<size_t>(level, value > 0 ? 1 : 0); // something is never drawn as nothing
        const Style style = !shown.has_split    ? Style::plain
                            : beyond_split(bar) ? Style::slow
                                                : Style::fast;
        for (size_t row = 0; row < rows && level > 0; row++) {
            const size_t part = std::min<size_t>(level, 8);
            level -= part;
            std::string cell = area.unicode() ? eighths[part] : part >= 4 ? "#" : ".";
            for (size_t i = 0; i < drawn; i++)
                area.put(bar * layout.columns + i, rows - 1 - row, cell, style);
        }
    }
    if (shown.split.in_force()) {
        const uint32_t bucket = bucket_of(shown.split.value_ns);
        if (layout.within(bucket)) {
            const size_t x = layout.bar_of(bucket) * layout.columns;
            for (size_t row = 0; row < rows; row++) {
                // In front of what is beyond it, where there is no bar.
                const double value = height_of(layout.bars[layout.bar_of(bucket)]);
                const double top = value / std::max(highest, 1e-9) * static_cast<double>(rows);
                if (static_cast<double>(rows - row) > top + 0.5)
                    area.put(x, row, area.unicode() ? "│" : "|", Style::slow);
            }
        }
    }
    if (cursor && !layout.bars.empty()) {
        const auto [first, end] = range();
        const size_t from = layout.bar_of(first), to = layout.bar_of(end - 1);
        for (size_t row = 0; row < rows; row++) {
            if (anchor)
                area.fill(from * layout.columns, row, (to - from + 1) * layout.columns,
                          Fill::match);
            if (focused)
                area.fill(layout.bar_of(*cursor) * layout.columns, row, layout.columns,
                          Fill::cursor);
        }
    }
}

void HistogramPicture::draw_axis(Area& area, size_t y) const {
    for (size_t x = 0; x < layout.width(); x++)
        area.put(x, y, area.unicode() ? "─" : "-", Style::dim);
    for (size_t bar = 0, next = 0; bar < layout.bars.size(); bar++) {
        const size_t x = bar * layout.columns;
        const std::string text =
            format_duration(static_cast<double>(bucket_low(layout.bars[bar].first)));
        if (x < next || x + 1 + text_width(text) > area.width())
            continue;
        area.put(x, y, area.unicode() ? "┬" : "+", Style::dim);
        next = area.put(x + 1, y, text, Style::dim) + 3;
    }
    if (cursor)
        area.put(layout.bar_of(*cursor) * layout.columns, y, "^", Style::title);
}

// Two rows: what finds no place in the first stands in the second, or nowhere.
void HistogramPicture::draw_marks(Area& area, size_t y) const {
    std::vector<bool> taken[2] = {std::vector<bool>(area.width() + 1),
                                  std::vector<bool>(area.width() + 1)};
    for (const Mark& mark : marks()) {
        if (!layout.within(mark.bucket))
            continue;
        const std::string text = (area.unicode() ? "↑" : "^") + mark.text;
        const size_t x = layout.bar_of(mark.bucket) * layout.columns;
        const size_t width = text_width(text);
        for (size_t row = 0; row < 2; row++) {
            bool is_free = x + width <= area.width();
            for (size_t i = x; is_free && i <= x + width; i++)
                is_free = !taken[row][i];
            if (!is_free)
                continue;
            area.put(x, y + row, text, mark.style);
            for (size_t i = x; i <= x + width; i++)
                taken[row][i] = true;
            break;
        }
    }
}

std::pair<uint32_t, uint32_t> HistogramPicture::range() const {
    const HistogramRow& here = layout.bars[layout.bar_of(*cursor)];
    if (!anchor)
        return {here.first, here.end};
    const HistogramRow& there = layout.bars[layout.bar_of(*anchor)];
    return {std::min(here.first, there.first), std::max(here.end, there.end)};
}

} // namespace auger
