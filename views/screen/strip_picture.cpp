// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/strip_picture.h"

#include "views/escape.h"
#include "views/format.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace auger {

namespace {

// Of a cell that is filled by so many eighths.
const char* level_text(size_t eighths, bool unicode) {
    static const char* const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char* const ascii[] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
    return (unicode ? blocks : ascii)[eighths < 8 ? eighths : 8];
}

} // namespace

std::optional<size_t> StripPicture::column_of(uint64_t time) const {
    if (buckets.empty() || time < buckets.front().from_ns)
        return std::nullopt;
    const size_t bucket = (time - buckets.front().from_ns) / bucket_ns;
    if (bucket >= buckets.size())
        return std::nullopt;
    // The newest is at the right edge; what is too old for the width is beyond the left one.
    const size_t hidden = buckets.size() > width ? buckets.size() - width : 0;
    if (bucket < hidden)
        return std::nullopt;
    return bucket - hidden;
}

// How many: as a digit while that is enough, else as bars.
void StripPicture::draw_slow_calls(Area& row) const {
    uint64_t most = 0;
    for (const TimelineBucket& bucket : buckets)
        most = std::max(most, bucket.slow_calls);
    for (const TimelineBucket& bucket : buckets) {
        const auto x = column_of(bucket.from_ns);
        if (!x || bucket.slow_calls == 0)
            continue;
        const auto level = std::max<uint64_t>(1, (bucket.slow_calls * 8 + most / 2) / most);
        std::string text = level_text(level, row.unicode());
        if (most <= 9)
            text = std::to_string(bucket.slow_calls);
        row.put(*x, 0, text, Style::slow);
    }
}

void StripPicture::draw_samples(Area& area) const {
    double most = 0;
    for (const TimelineBucket& bucket : buckets)
        if (column_of(bucket.from_ns))
            most = std::max(most, bucket.samples.sum().weight_ns);
    for (const TimelineBucket& bucket : buckets) {
        const auto x = column_of(bucket.from_ns);
        const double weight = bucket.samples.sum().weight_ns;
        if (!x || weight <= 0)
            continue;
        auto level =
            std::max<size_t>(1, static_cast<size_t>(std::lround(
                                    weight / most * static_cast<double>(area.height()) * 8)));
        const bool slow =
            bucket.samples[CallClass::slow].weight_ns > bucket.samples[CallClass::fast].weight_ns;
        for (size_t y = area.height(); y-- > 0 && level > 0;) {
            const size_t part = std::min<size_t>(level, 8);
            level -= part;
            area.put(*x, y, level_text(part, area.unicode()),
                     !by_class ? Style::plain
                     : slow    ? Style::slow
                               : Style::fast);
        }
    }
}

void StripPicture::draw_fills(Area& area, bool focused) const {
    auto fill = [&](uint64_t from, uint64_t to, Fill with) {
        for (const TimelineBucket& bucket : buckets)
            if (auto x = column_of(bucket.from_ns);
                x && bucket.from_ns + bucket_ns > from && bucket.from_ns < to)
                for (size_t y = 0; y < area.height(); y++)
                    area.fill(*x, y, 1, with);
    };
    if (window.end_ns)
        fill(window.since(first_ns, now_ns), window.end_ns, Fill::match);
    if (!focused)
        return;
    if (selecting)
        fill(span.first, span.second, Fill::match);
    fill(cursor, cursor + 1, Fill::cursor);
}

void StripPicture::draw_axis(Area& area, size_t y, bool focused) const {
    auto since_first = [&](uint64_t time) {
        return fmt::format("+{:.1f} s", static_cast<double>(time - std::min(time, first_ns)) / 1e9);
    };
    for (size_t x = 0; x < area.width(); x++)
        area.put(x, y, area.unicode() ? "─" : "-", Style::dim);
    std::string right =
        fmt::format(" {} a column, now {}", format_duration(static_cast<double>(bucket_ns)),
                    since_first(now_ns));
    if (area.width() < 60)
        right = " now " + since_first(now_ns);
    std::string left;
    if (focused) {
        const auto [from, to] = span;
        double samples = 0;
        uint64_t calls = 0;
        for (const TimelineBucket& bucket : buckets)
            if (bucket.from_ns >= from && bucket.from_ns < to) {
                samples += bucket.samples.sum().samples;
                calls += bucket.slow_calls;
            }
        left = fmt::format("{}: {} samples, {} slow ",
                           area.width() >= 60 ? since_first(from) + " to " + since_first(to)
                                              : since_first(from),
                           format_count(samples), calls);
        for (uint64_t at : {from, to - bucket_ns})
            if (auto x = column_of(at))
                area.put(*x, y, "^", Style::title);
    } else if (window.end_ns) {
        left = fmt::format("shown: {} to {} ", since_first(window.since(first_ns, now_ns)),
                           since_first(window.end_ns));
    } else {
        left = since_first(std::max(buckets.front().from_ns, first_ns)) + " ";
    }
    // Where the text would hide the mark, it stands on the other side.
    const auto mark = focused ? column_of(span.first) : std::nullopt;
    if (mark && *mark < text_width(left))
        area.put_right(area.width(), y, " " + left, Style::plain);
    else {
        area.put(0, y, left, focused || window.end_ns ? Style::plain : Style::dim);
        const bool hides = mark && *mark + text_width(right) >= area.width();
        if (!hides && text_width(left) + text_width(right) + 2 <= area.width())
            area.put_right(area.width(), y, right, Style::dim);
    }
}

} // namespace auger
