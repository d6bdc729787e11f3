// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/histogram_pane.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/screen/area.h"
#include "views/screen/histogram_layout.h"
#include "views/screen/pace.h"
#include "views/spell.h"
#include "views/text/draw.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace auger {

namespace {

// What is shown of one timed function.
struct Shown {
    ProbeId probe;
    std::string text;         // of the probe, raw
    size_t index = 0, of = 0; // among the timed ones
    CallStatistics calls;
    ThresholdState split, slow; // in force on this probe
    bool has_split = false;     // by duration
};

class HistogramPane final : public Pane {
  public:
    explicit HistogramPane(const PaneOptions& options) : unicode_(options.unicode) {}

    std::string_view name() const override { return "histogram"; }
    std::string command() const override {
        return shown_ ? "hist " + spell_word(shown_->text) : "probes";
    }
    bool refresh(const Model& model, const Scope& scope) override;
    void draw(Canvas&, const Rect& rect, bool focused) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    bool click(size_t x, size_t y, bool twice, const Model&, const Scope&,
               std::vector<Wish>&) override;
    std::string search(const std::optional<std::string>&, const Model&) override {
        return "nothing to search here";
    }
    bool turn_to(FunctionId, Action, const Model&) override;

  private:
    struct Mark {
        std::string text;
        uint32_t bucket;
        Style style;
    };

    void look_at(const Model&, const Scope&);
    std::vector<Mark> marks() const;
    size_t draw_head(Area&) const;
    void draw_bars(Area&, bool focused) const;
    void draw_axis(Area&, size_t y) const;
    void draw_marks(Area&, size_t y) const;
    double height_of(const HistogramRow&) const;
    bool by_split(size_t bar) const;

    void move_cursor(int bars);
    void move_threshold(bool up, std::vector<Wish>&) const;
    std::pair<uint32_t, uint32_t> range() const; // of buckets, from the anchor to the cursor
    void select(const Scope&, std::vector<Wish>&) const;

    bool unicode_;
    Pace pace_;
    std::optional<ProbeId> wanted_; // chosen by the user
    bool again_ = false;
    std::optional<Shown> shown_;
    bool by_time_ = false; // bars by the time that calls took, else by their number
    std::optional<uint32_t> cursor_, anchor_; // buckets: they stay when bars change
    HistogramLayout layout_;
    double highest_ = 0;
    Rect bars_;         // as drawn last
    size_t width_ = 80; // likewise, for the cursor before the first drawing
};

bool HistogramPane::refresh(const Model& model, const Scope& scope) {
    if (pace_.due(model, scope, 50'000) || again_)
        look_at(model, scope);
    again_ = false;
    return false;
}

void HistogramPane::look_at(const Model& model, const Scope& scope) {
    std::vector<const ProbeInfo*> timed;
    for (const auto& [id, probe] : model.probes())
        if (!probe.deleted)
            timed.push_back(&probe);
    if (timed.empty()) {
        shown_.reset();
        return;
    }
    const SplitInfo& split = model.split();
    auto find = [&](ProbeId id) {
        return std::ranges::find_if(timed, [&](const ProbeInfo* p) { return p->id == id; });
    };
    auto probe = timed.end();
    if (wanted_)
        probe = find(*wanted_);
    if (probe == timed.end() && split.active)
        probe = find(split.probe);
    if (probe == timed.end())
        probe = std::prev(timed.end());
    Shown shown;
    shown.probe = (*probe)->id;
    shown.text = (*probe)->text;
    shown.index = static_cast<size_t>(probe - timed.begin());
    shown.of = timed.size();
    shown.calls = model.probe_statistics(shown.probe, scope.window);
    shown.slow = model.slow_state(shown.probe);
    shown.has_split =
        split.active && split.probe == shown.probe && split.threshold.kind != Threshold::Kind::none;
    if (shown.has_split)
        shown.split = model.split_state();
    if (shown_ && shown_->probe != shown.probe)
        cursor_ = anchor_ = std::nullopt;
    shown_ = std::move(shown);
    layout_ = lay_out_histogram(shown_->calls.durations, width_);
}

std::vector<HistogramPane::Mark> HistogramPane::marks() const {
    std::vector<Mark> marks;
    auto add = [&](std::string text, uint64_t value, Style style) {
        marks.push_back({std::move(text), wire_histogram_bucket(value), style});
    };
    // Those that matter most first: the others give way.
    if (shown_->split.in_force())
        add("split", shown_->split.value_ns, Style::slow);
    if (shown_->slow.in_force())
        add("traced", shown_->slow.value_ns, Style::slow);
    for (const auto& [text, q] :
         {std::pair{"p50", 0.5}, {"p99", 0.99}, {"p95", 0.95}, {"p99.9", 0.999}, {"p90", 0.9}})
        add(text, static_cast<uint64_t>(shown_->calls.quantile(q)), Style::dim);
    return marks;
}

double HistogramPane::height_of(const HistogramRow& row) const {
    if (!by_time_)
        return row.count;
    double sum = 0;
    for (uint32_t i = row.first; i < row.end; i++)
        if (const double count = shown_->calls.durations.count(i); count > 0)
            sum += count *
                   (static_cast<double>(bucket_low(i)) +
                    static_cast<double>(std::min(bucket_high(i), 2 * bucket_low(i) + 1))) /
                   2;
    return sum;
}

void HistogramPane::draw(Canvas& canvas, const Rect& rect, bool focused) {
    bars_ = {};
    if (rect.width < 2 || rect.height == 0)
        return;
    Area area(canvas, rect, unicode_);
    if (!shown_) {
        size_t y = area.put_lines(0, "No function is timed yet.", Style::dim);
        area.put_lines(y, fmt::format("Press {} on one in the flame to time its calls, or {} to "
                                      "split the samples by it.",
                                      key_name(Action::time_it), key_name(Action::split_on_it)));
        return;
    }
    size_t y = draw_head(area);
    if (shown_->calls.durations.total() <= 0) {
        area.put_lines(y, "No call has returned.", Style::dim);
        return;
    }
    width_ = rect.width;
    layout_ = lay_out_histogram(shown_->calls.durations, rect.width);
    highest_ = 0;
    for (const HistogramRow& bar : layout_.bars)
        highest_ = std::max(highest_, height_of(bar));
    // Axis and marks give way before the bars do.
    const size_t room = rect.height > y ? rect.height - y : 0;
    const size_t below = room >= 5 ? 3 : room >= 3 ? 1 : 0;
    if (room == 0)
        return;
    Area bars = area.part(0, y, rect.width, room - below);
    bars_ = bars.rect();
    draw_bars(bars, focused);
    if (below >= 1)
        draw_axis(area, y + room - below);
    if (below >= 3)
        draw_marks(area, y + room - 2);
}

size_t HistogramPane::draw_head(Area& area) const {
    const CallStatistics& calls = shown_->calls;
    Canvas head(area.width());
    std::vector<Part> parts;
    parts.push_back({escape_untrusted(shown_->text), "", Style::title});
    parts.push_back({format_count(calls.entries), " calls", Style::number});
    for (const auto& [text, q] :
         {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}})
        parts.push_back({text, " " + format_duration(calls.quantile(q)), Style::dim});
    parts.push_back({"max", " " + format_duration(static_cast<double>(calls.max_ns)), Style::dim});
    if (shown_->has_split)
        parts.push_back({"split",
                         shown_->split.in_force()
                             ? " > " + format_duration(static_cast<double>(shown_->split.value_ns))
                             : fmt::format(" warming up: {} of {} calls", shown_->split.calls,
                                           shown_->split.calls_needed),
                         Style::slow});
    if (shown_->of > 1)
        parts.push_back(
            {fmt::format("{} of {}", shown_->index + 1, shown_->of), " timed", Style::dim});
    add_parts(head, parts);
    // The bars need room more than the figures do.
    size_t most = area.height() >= 14 ? 4 : area.height() >= 8 ? 2 : 1;
    size_t y = 0;
    for (; y < std::min(most, head.height()); y++)
        for (size_t x = 0; x < head.row(y).size(); x++)
            if (const Cell& cell = head.row(y)[x]; !cell.text.empty())
                area.put(x, y, cell.text, cell.style);
    if (!cursor_ || layout_.bars.empty() || area.height() <= y + 1)
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
             anchor_ ? Style::title : Style::plain);
    return y + 1;
}

// Whether the bar is beyond the split's threshold.
bool HistogramPane::by_split(size_t bar) const {
    return shown_->split.in_force() &&
           bucket_low(layout_.bars[bar].first) >= shown_->split.value_ns;
}

void HistogramPane::draw_bars(Area& area, bool focused) const {
    static const char* const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const size_t rows = area.height();
    const size_t drawn = layout_.columns >= 3 ? layout_.columns - 1 : layout_.columns;
    for (size_t bar = 0; bar < layout_.bars.size(); bar++) {
        const double value = height_of(layout_.bars[bar]);
        auto level = static_cast<size_t>(
            std::lround(value / std::max(highest_, 1e-9) * static_cast<double>(rows) * 8));
        level = std::max<size_t>(level, value > 0 ? 1 : 0); // something is never drawn as nothing
        const Style style = !shown_->has_split ? Style::plain
                            : by_split(bar)    ? Style::slow
                                               : Style::fast;
        for (size_t row = 0; row < rows && level > 0; row++) {
            const size_t part = std::min<size_t>(level, 8);
            level -= part;
            std::string cell = unicode_ ? eighths[part] : part >= 4 ? "#" : ".";
            for (size_t i = 0; i < drawn; i++)
                area.put(bar * layout_.columns + i, rows - 1 - row, cell, style);
        }
    }
    if (shown_->split.in_force()) {
        const uint32_t bucket = wire_histogram_bucket(shown_->split.value_ns);
        if (layout_.within(bucket)) {
            const size_t x = layout_.bar_of(bucket) * layout_.columns;
            for (size_t row = 0; row < rows; row++) {
                // In front of what is beyond it, where there is no bar.
                const double value = height_of(layout_.bars[layout_.bar_of(bucket)]);
                const double top = value / std::max(highest_, 1e-9) * static_cast<double>(rows);
                if (static_cast<double>(rows - row) > top + 0.5)
                    area.put(x, row, unicode_ ? "│" : "|", Style::slow);
            }
        }
    }
    if (cursor_ && !layout_.bars.empty()) {
        const auto [first, end] = range();
        const size_t from = layout_.bar_of(first), to = layout_.bar_of(end - 1);
        for (size_t row = 0; row < rows; row++) {
            if (anchor_)
                area.fill(from * layout_.columns, row, (to - from + 1) * layout_.columns,
                          Fill::match);
            if (focused)
                area.fill(layout_.bar_of(*cursor_) * layout_.columns, row, layout_.columns,
                          Fill::cursor);
        }
    }
}

void HistogramPane::draw_axis(Area& area, size_t y) const {
    for (size_t x = 0; x < layout_.width(); x++)
        area.put(x, y, unicode_ ? "─" : "-", Style::dim);
    for (size_t bar = 0, next = 0; bar < layout_.bars.size(); bar++) {
        const size_t x = bar * layout_.columns;
        const std::string text =
            format_duration(static_cast<double>(bucket_low(layout_.bars[bar].first)));
        if (x < next || x + 1 + text_width(text) > area.width())
            continue;
        area.put(x, y, unicode_ ? "┬" : "+", Style::dim);
        next = area.put(x + 1, y, text, Style::dim) + 3;
    }
    if (cursor_)
        area.put(layout_.bar_of(*cursor_) * layout_.columns, y, "^", Style::title);
}

// Two rows: what finds no place in the first stands in the second, or nowhere.
void HistogramPane::draw_marks(Area& area, size_t y) const {
    std::vector<bool> taken[2] = {std::vector<bool>(area.width() + 1),
                                  std::vector<bool>(area.width() + 1)};
    for (const Mark& mark : marks()) {
        if (!layout_.within(mark.bucket))
            continue;
        const std::string text = (unicode_ ? "↑" : "^") + mark.text;
        const size_t x = layout_.bar_of(mark.bucket) * layout_.columns;
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

std::pair<uint32_t, uint32_t> HistogramPane::range() const {
    const HistogramRow& here = layout_.bars[layout_.bar_of(*cursor_)];
    if (!anchor_)
        return {here.first, here.end};
    const HistogramRow& there = layout_.bars[layout_.bar_of(*anchor_)];
    return {std::min(here.first, there.first), std::max(here.end, there.end)};
}

void HistogramPane::move_cursor(int bars) {
    if (layout_.bars.empty())
        return;
    if (!cursor_) { // begins where it matters: at the threshold, or at p95
        const double start = shown_->split.in_force() ? static_cast<double>(shown_->split.value_ns)
                                                      : shown_->calls.quantile(0.95);
        cursor_ = wire_histogram_bucket(static_cast<uint64_t>(start));
    }
    const auto bar = static_cast<int64_t>(layout_.bar_of(*cursor_)) + bars;
    const auto last = static_cast<int64_t>(layout_.bars.size()) - 1;
    cursor_ = layout_.bars[static_cast<size_t>(std::clamp<int64_t>(bar, 0, last))].first;
}

void HistogramPane::move_threshold(bool up, std::vector<Wish>& wishes) const {
    const uint64_t from = shown_->split.in_force() ? shown_->split.value_ns
                          : cursor_                ? bucket_low(*cursor_)
                                    : static_cast<uint64_t>(shown_->calls.quantile(0.95));
    const auto to = next_bound(layout_, from, up);
    if (!to) {
        wishes.push_back({Wish::Kind::tell,
                          up ? "no call took longer than that" : "no call took less than that",
                          {}});
        return;
    }
    const std::string probe = spell_word(shown_->text), bound = spell_duration(*to);
    wishes.push_back({Wish::Kind::run,
                      shown_->has_split ? fmt::format("threshold {} {}", probe, bound)
                                        : fmt::format("split {} > {}", probe, bound),
                      {}});
}

bool HistogramPane::act(Action action, const Model& model, const Scope& scope,
                        std::vector<Wish>& wishes) {
    if (!shown_)
        return false;
    switch (action) {
    case Action::left:
        move_cursor(-1);
        return true;
    case Action::right:
        move_cursor(1);
        return true;
    case Action::page_up:
        move_cursor(-10);
        return true;
    case Action::page_down:
        move_cursor(10);
        return true;
    case Action::first:
        move_cursor(-100'000);
        return true;
    case Action::last:
        move_cursor(100'000);
        return true;
    case Action::up:
    case Action::down: {
        // Among the timed functions, in the order in which they were timed.
        std::optional<ProbeId> before, after;
        bool seen = false;
        for (const auto& [id, probe] : model.probes()) {
            if (probe.deleted)
                continue;
            if (id == shown_->probe)
                seen = true;
            else if (!seen)
                before = id;
            else if (!after)
                after = id;
        }
        if (auto next = action == Action::up ? before : after) {
            wanted_ = next;
            look_at(model, scope);
        }
        return true;
    }
    case Action::weigh_by:
        by_time_ = !by_time_;
        wishes.push_back(
            {Wish::Kind::tell, by_time_ ? "bars: the time that calls took" : "bars: calls", {}});
        return true;
    case Action::threshold_up:
    case Action::threshold_down:
        move_threshold(action == Action::threshold_up, wishes);
        return true;
    case Action::select_range:
        if (layout_.bars.empty())
            return true;
        if (!cursor_)
            move_cursor(0);
        if (!anchor_) {
            anchor_ = cursor_;
            wishes.push_back({Wish::Kind::tell,
                              fmt::format("range begins here; go on, then {} again",
                                          key_name(Action::select_range)),
                              {}});
        } else {
            select(scope, wishes);
            anchor_.reset();
        }
        return true;
    case Action::enter:
        if (layout_.bars.empty())
            return true;
        if (!cursor_)
            move_cursor(0);
        select(scope, wishes);
        anchor_.reset();
        wishes.push_back({Wish::Kind::show, "flame", {}});
        return true;
    case Action::back:
        if (!anchor_)
            return false;
        anchor_.reset();
        return true;
    default:
        return false;
    }
}

// The probe that times it, if any does.
bool HistogramPane::turn_to(FunctionId function, Action, const Model& model) {
    const Function& of = model.symbols().function(function);
    for (const auto& [id, probe] : model.probes())
        for (SpecId spec : probe.specs)
            if (!probe.deleted && spec.index() < model.specs().size() &&
                model.specs()[spec.index()].function == model.symbols().name(function) &&
                model.specs()[spec.index()].module == model.symbols().module(of.module).path) {
                wanted_ = id;
                again_ = true;
                return true;
            }
    return false;
}

// Only calls of these durations, in all panes.
void HistogramPane::select(const Scope&, std::vector<Wish>&) const {}

bool HistogramPane::click(size_t x, size_t y, bool twice, const Model& model, const Scope& scope,
                          std::vector<Wish>& wishes) {
    if (!bars_.contains(x, y))
        return false;
    const auto bar = layout_.bar_at(x - bars_.x);
    if (!bar)
        return false;
    cursor_ = layout_.bars[*bar].first;
    return twice ? act(Action::enter, model, scope, wishes) : true;
}

} // namespace

std::unique_ptr<Pane> make_histogram_pane(const PaneOptions& options) {
    return std::make_unique<HistogramPane>(options);
}

} // namespace auger
