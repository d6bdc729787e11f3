// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_details.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/text/draw.h"

#include <fmt/format.h>

namespace auger {

namespace {

// Parts of a line; those that do not fit are left out.
class PartLine {
  public:
    PartLine(Canvas& canvas, const Rect& rect, size_t y) : canvas_(canvas), rect_(rect), y_(y) {}

    size_t room() const { return rect_.x + rect_.width - x_; }
    void add(std::string_view raw, Style style = Style::plain, Fill fill = Fill::none) {
        const std::string text = escape_untrusted(raw);
        const size_t gap = x_ > rect_.x ? 2 : 0;
        if (text.empty() || gap + text_width(text) > room())
            return;
        x_ = canvas_.put(x_ + gap, y_, text, style, fill);
    }

  private:
    Canvas& canvas_;
    const Rect& rect_;
    size_t y_;
    size_t x_ = rect_.x;
};

double share(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

void add_shares(PartLine& line, const FlameDetails& details) {
    const SampleSum total = details.total->sum(), &self = details.self;
    const auto of = [&](const SampleSum& sum) { return weight_of(sum, details.weight); };
    line.add(fmt::format("total {}", format_percent(share(of(total), of(details.all)))),
             Style::number);
    line.add(fmt::format("self {}", format_percent(share(of(self), of(details.all)))));
    if (of(details.zoom) < of(details.all))
        line.add(fmt::format("{} of the zoom", format_percent(share(of(total), of(details.zoom)))));
    line.add(
        fmt::format("{} sample{}", format_count(total.samples), total.samples == 1 ? "" : "s"));
}

void add_waits(PartLine& line, const SampleSum& total, bool filled) {
    const auto fill = [&](Fill f) { return filled ? f : Fill::none; };
    line.add(fmt::format("cpu {}", format_percent(share(total.cpu_ns(), total.weight_ns))),
             Style::plain, fill(Fill::cpu));
    line.add(fmt::format("blocked {}", format_percent(share(total.blocked_ns, total.weight_ns))),
             Style::plain, fill(Fill::blocked));
    line.add(fmt::format("runnable {}", format_percent(share(total.runnable_ns, total.weight_ns))),
             Style::plain, fill(Fill::runnable));
}

void add_classes(PartLine& line, const ClassSums& sums, bool filled) {
    constexpr Fill fills[] = {Fill::slow, Fill::fast, Fill::open, Fill::outside};
    const double whole = sums.sum().weight_ns;
    for (CallClass c : all_call_classes) {
        if (sums[c].weight_ns > 0)
            line.add(
                fmt::format("{} {}", to_string(c), format_percent(share(sums[c].weight_ns, whole))),
                filled ? Style::plain : style_of(c),
                filled ? fills[static_cast<size_t>(c)] : Fill::none);
    }
}

} // namespace

void draw_flame_details(Canvas& canvas, const Rect& rect, const Model&,
                        const FlameDetails& details) {
    PartLine figures(canvas, rect, rect.y + rect.height - 1);
    if (!details.total) {
        figures.add("no samples in it now", Style::dim);
    } else {
        add_shares(figures, details);
        const SampleSum total = details.total->sum();
        if (details.split)
            add_classes(figures, *details.total, details.colours == FlameColours::classes);
        if (total.blocked_ns + total.runnable_ns > 0)
            add_waits(figures, total, details.colours == FlameColours::waits);
        if (details.narrow)
            figures.add(fmt::format("{} frame{} below too narrow to show", details.narrow,
                                    details.narrow == 1 ? "" : "s"),
                        Style::dim);
    }
    if (rect.height < 2)
        return;
    PartLine naming(canvas, rect, rect.y);
    if (!details.search.empty())
        naming.add(details.search, Style::title);
    if (details.frames != FrameChoice::all)
        naming.add(fmt::format("{} frames", name_of(details.frames)), Style::title);
    std::string place = details.module.substr(details.module.rfind('/') + 1);
    if (details.source.line) {
        const std::string file = details.source.file.substr(details.source.file.rfind('/') + 1);
        // The module of a function of Python, PHP, Ruby or Perl is its file.
        place =
            fmt::format("{}{}:{}", place == file ? "" : place + "  ", file, details.source.line);
    }
    const std::string name = escape_untrusted(details.name);
    const size_t needed = place.empty() ? 0 : text_width(escape_untrusted(place)) + 2;
    const size_t gap = details.search.empty() && details.frames == FrameChoice::all ? 0 : 2;
    const size_t room = naming.room() > gap ? naming.room() - gap : 0;
    naming.add(elide_middle(name, room > needed + 12 ? room - needed : room), Style::name);
    naming.add(place, Style::dim);
    if (details.colours == FlameColours::languages)
        for (const FillName& one : language_fills())
            naming.add(one.name, Style::plain, one.fill);
}

} // namespace auger
