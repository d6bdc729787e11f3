// SPDX-License-Identifier: GPL-3.0-or-later
// flame: an indented tree, root first. Each row is its own samples plus the rows below it, and what
// is too small for a row is summed up in one that says so.
#include "views/escape.h"
#include "views/flame_rows.h"
#include "views/format.h"
#include "views/model/frame_kind.h"
#include "views/model/language_places.h"
#include "views/short_name.h"
#include "views/text/draw.h"

#include <cmath>
#include <fmt/format.h>

namespace auger {

namespace {

class FlameDrawing {
  public:
    FlameDrawing(const Model& model, const FlameTree& tree, const ViewOptions& options,
                 const ClassFilter& filter, Canvas& canvas)
        : model_(model), tree_(tree), options_(options), filter_(filter), canvas_(canvas),
          with_slow_(model.split().active && !filter.duration &&
                     model.split().threshold.kind != Threshold::Kind::none),
          with_waits_(waited(tree.total()) > 0),
          figures_(17 + (with_slow_ ? 8 : 0) + (with_waits_ ? 9 : 0)),
          bar_width_(canvas.width() >= 100 ? 16 : 8), places_(model.symbols()) {}

    void draw() {
        std::vector<FlameRow> rows = list_flame(tree_, options_.min_share);
        drop_crumbs(rows);
        size_t y = canvas_.height() + 1;
        size_t names = draw_heading(y);
        std::vector<std::string> guides = make_guides(rows);
        for (size_t i = 0; i < rows.size(); i++) {
            y = canvas_.height();
            draw_figures(rows[i], y);
            if (rows[i].chain.empty())
                draw_cut(rows[i], guides[i], names, y);
            else
                draw_chain(rows[i], guides[i],
                           i + 1 < rows.size() && rows[i + 1].indent > rows[i].indent, names, y);
        }
        if (crumbs_.samples > 0) {
            y = canvas_.height();
            canvas_.put_right(7, y, format_percent(share(crumbs_)), Style::dim);
            canvas_.put(names, y, "in smaller parts, here and there", Style::dim);
        }
    }

  private:
    // Of what is cut off, the smallest parts share one line at the end.
    void drop_crumbs(std::vector<FlameRow>& rows) {
        std::erase_if(rows, [this](const FlameRow& row) {
            if (!row.chain.empty() || share(row.total) >= options_.min_share / 2)
                return false;
            crumbs_ += row.total;
            return true;
        });
    }

    static double waited(const SampleSum& sum) { return sum.blocked_ns + sum.runnable_ns; }
    double share(const SampleSum& sum) const {
        double whole = tree_.total().weight_ns;
        return whole > 0 ? sum.weight_ns / whole : 0;
    }

    size_t draw_heading(size_t y) {
        canvas_.put_right(7, y, "total", Style::dim);
        canvas_.put_right(15, y, "self", Style::dim);
        if (with_slow_)
            canvas_.put_right(23, y, "slow", Style::dim);
        if (with_waits_)
            canvas_.put_right(figures_ - 2, y, "waiting", Style::dim);
        size_t names = figures_ + bar_width_ + 1;
        canvas_.put(names, y, "frames", Style::dim);
        return names;
    }

    void draw_figures(const FlameRow& row, size_t y) {
        canvas_.put_right(7, y, format_percent(share(row.total)), Style::number);
        if (row.self.samples > 0)
            canvas_.put_right(15, y, format_percent(share(row.self)));
        if (with_slow_ && !row.chain.empty()) {
            ClassSums sums = tree_.classes(row.chain[0]);
            double all = sums.sum().weight_ns, slow = sums[CallClass::slow].weight_ns;
            if (slow > 0)
                canvas_.put_right(23, y, format_percent(slow / all), Style::slow);
        }
        if (double waits = waited(row.total); with_waits_ && waits > 0)
            canvas_.put_right(figures_ - 2, y, format_percent(waits / row.total.weight_ns));
        canvas_.put(figures_, y, bar(share(row.total), bar_width_, options_.unicode),
                    style_of(filter_));
    }

    // The lines that connect a row with its parent and siblings.
    std::vector<std::string> make_guides(const std::vector<FlameRow>& rows) const {
        const bool u = options_.unicode;
        std::vector<std::string> guides(rows.size());
        std::vector<bool> open; // by level: a row further down belongs to it
        for (size_t i = rows.size(); i-- > 0;) {
            uint32_t level = rows[i].indent;
            open.resize(level + 1);
            for (uint32_t l = 1; l < level; l++)
                guides[i] += open[l] ? (u ? "│ " : "| ") : "  ";
            if (level > 0)
                guides[i] += open[level] ? (u ? "├ " : "|-") : (u ? "└ " : "`-");
            open[level] = true;
        }
        return guides;
    }

    void draw_cut(const FlameRow& row, std::string guide, size_t names, size_t y) {
        guide = fit(guide, names);
        size_t x = canvas_.put(names, y, guide, Style::dim);
        canvas_.put(x, y,
                    fmt::format("({} frame{}, {} sample{} not shown)", format_count(row.cut_frames),
                                row.cut_frames == 1 ? "" : "s", format_count(row.total.samples),
                                row.total.samples == 1 ? "" : "s"),
                    Style::dim);
    }

    // At least half of the room is left for names, however deep the tree is.
    std::string fit(std::string guide, size_t names) const {
        size_t room = (canvas_.width() - names) / 2;
        size_t width = text_width(guide);
        if (width <= room)
            return guide;
        size_t hidden = (width - room + 1) / 2 + 2;
        std::string mark = fmt::format("{}{} ", ellipsis(options_.unicode), hidden);
        size_t at = 0; // the last columns of the guide stay
        for (size_t left = width; left + text_width(mark) > room && at < guide.size(); left--)
            decode_utf8(guide, at);
        return mark + guide.substr(at);
    }

    void draw_chain(const FlameRow& row, const std::string& full_guide, bool has_children,
                    size_t names, size_t y) {
        std::string guide = fit(full_guide, names);
        size_t begin = canvas_.put(names, y, guide, Style::dim), x = begin;
        size_t right = canvas_.width();
        std::string next = continued(guide, has_children);
        for (size_t i = 0; i < row.chain.size(); i++) {
            const FlameNode& node = tree_.nodes[row.chain[i]];
            std::string name = display_name(node_name(model_, tree_, node));
            std::string place = node.depth < 2 ? "" : places_.of(node.function);
            if (!place.empty())
                place.insert(0, "  ");
            std::string_view join = i ? arrow(options_.unicode) : "";
            size_t needed = text_width(join) + text_width(name) + text_width(place);
            if (i && x + needed > right) { // each name whole, on a line of its own if it must be
                y++;
                canvas_.put(names, y, next, Style::dim);
                x = canvas_.put(begin, y, join.substr(1), Style::dim);
            } else {
                x = canvas_.put(x, y, join, Style::dim);
            }
            name = fit_name(name, right > x ? right - x : 0, ellipsis(options_.unicode));
            x = canvas_.put(x, y, name, style_of_node(node));
            if (x + text_width(place) <= right)
                x = canvas_.put(x, y, place, Style::dim);
        }
    }

    // The guide of a row's second line: what hangs on this row is still to come.
    std::string continued(std::string guide, bool has_children) const {
        static const std::pair<std::string_view, std::string_view> ends[] = {
            {"├ ", "│ "}, {"└ ", "  "}, {"|-", "| "}, {"`-", "  "}};
        for (const auto& [from, to] : ends)
            if (guide.ends_with(from)) {
                guide.replace(guide.size() - from.size(), from.size(), to);
                break;
            }
        if (has_children)
            guide += options_.unicode ? "│" : "|";
        return guide;
    }

    Style style_of_node(const FlameNode& node) const {
        if (node.depth < 2)
            return Style::dim;
        return model_.symbols().function(node.function).kernel ? Style::kernel : Style::name;
    }

    const Model& model_;
    const FlameTree& tree_;
    const ViewOptions& options_;
    const ClassFilter& filter_;
    Canvas& canvas_;
    SampleSum crumbs_;
    bool with_slow_;
    bool with_waits_;
    size_t figures_; // columns of them, before the bar
    size_t bar_width_;
    LanguagePlaces places_;
};

// Where no frame is called what `under` ends with: which ones hold it.
std::string names_hint(const Model& model, const std::string& under) {
    constexpr size_t most = 4;
    const std::string wanted = under.substr(under.rfind(';') + 1);
    if (under.empty() || !functions_meant(model.symbols(), wanted).empty())
        return {};
    std::string names;
    for (const FunctionId like : functions_like(model.symbols(), wanted, most))
        names += (names.empty() ? "" : ", ") + display_name(model.symbols().name(like));
    return fmt::format("No frame is called \"{}\"{}{}.", escape_untrusted(wanted),
                       names.empty() ? "" : "; there are ", names);
}

} // namespace

Canvas flame_view(const Model& model, const ViewOptions& options, const ClassFilter& filter,
                  GroupBy by, const std::string& under, FrameChoice frames) {
    FlameTree tree = fold(model, options.window, filter, by, under, frames);
    std::string title = "flame";
    if (!filter.all())
        title += " " + escape_untrusted(to_string(filter));
    if (by != GroupBy::process)
        title += fmt::format(" by {}", by.name());
    if (!under.empty())
        title += " under " + escape_untrusted(under);
    if (frames != FrameChoice::all)
        title += fmt::format(" --{}", name_of(frames));
    Canvas canvas = start_view(model, options, title, tree.from_ns, true);
    SampleSum whole = tree.total();
    Classifier classify(model);
    if (filter.all())
        add_classes(canvas, model, classify, options.window);
    add_left_out(canvas, model, classify, options.window);
    if (whole.samples == 0) {
        canvas.add_line("No samples.", Style::dim);
        if (const std::string hint = names_hint(model, under); !hint.empty())
            canvas.add_line(elide_middle(hint, canvas.width(), ellipsis(options.unicode)),
                            Style::dim);
        return canvas;
    }
    // Half of the 95 % interval of a share of one half, the widest there is.
    double points = 98 / std::sqrt(whole.samples);
    canvas.add_line(fmt::format("{} sample{}, about {} of thread time; shares within {} {:.1f} "
                                "points (95 %)",
                                format_count(whole.samples), whole.samples == 1 ? "" : "s",
                                format_duration(whole.weight_ns), plus_minus(options.unicode),
                                std::min(points, 100.0)),
                    Style::dim);
    if (whole.blocked_ns + whole.runnable_ns > 0)
        canvas.add_line(fmt::format("running {}, blocked {}, runnable {}",
                                    format_percent(whole.cpu_ns() / whole.weight_ns),
                                    format_percent(whole.blocked_ns / whole.weight_ns),
                                    format_percent(whole.runnable_ns / whole.weight_ns)),
                        Style::dim);
    FlameDrawing(model, tree, options, filter, canvas).draw();
    return canvas;
}

} // namespace auger
