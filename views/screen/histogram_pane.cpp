// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/histogram_pane.h"

#include "views/model/function_probe.h"
#include "views/screen/drill.h"
#include "views/screen/histogram_picture.h"
#include "views/screen/pace.h"
#include "views/short_name.h"
#include "views/spell.h"
#include "views/tail.h"

#include <algorithm>
#include <fmt/format.h>

namespace auger {

namespace {

class HistogramPane final : public Pane {
  public:
    explicit HistogramPane(const PaneOptions& options) : unicode_(options.unicode) {}

    std::string_view name() const override { return "histogram"; }
    std::string command() const override {
        return any_ ? "hist " + spell_word(now().text) : "probes";
    }
    bool refresh(const Model& model, const Scope& scope, const TimeSlice&) override;
    void draw(Canvas&, const Rect& rect, bool focused) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    bool click(size_t x, size_t y, bool twice, const Model&, const Scope&,
               std::vector<Wish>&) override;
    std::string search(const std::optional<std::string>&, const Model&) override {
        return "nothing to search here";
    }
    Subject subject() const override {
        return any_ ? Subject{function_, {}, {}, now().probe} : Subject{};
    }
    bool turn_to(FunctionId, Action, const Model&) override;

  private:
    const TimedCalls& now() const { return picture_.shown; }
    void look_at(const Model&, const Scope&);
    void find_function(const Model&);
    void choose(bool next, const Model&, const Scope&);
    void begin_or_end_range(const Scope&, std::vector<Wish>&);
    bool place_cursor();
    void move_cursor(int bars);
    uint64_t threshold() const;
    void move_threshold(bool up, std::vector<Wish>&) const;
    void move_to_gap(bool up, const Model&, std::vector<Wish>&) const;
    void select(const Scope&, std::vector<Wish>&);

    bool unicode_;
    Pace pace_;
    std::optional<ProbeId> wanted_; // chosen by the user
    std::optional<ProbeId> split_;  // whose calls were split last
    bool again_ = false;
    bool any_ = false; // function is timed
    HistogramPicture picture_;
    std::optional<FunctionId> function_; // that is timed, where it has been seen on a stack
    Rect bars_;                          // as drawn last
    size_t width_ = 80;                  // likewise, for the cursor before the first drawing
};

bool HistogramPane::refresh(const Model& model, const Scope& scope, const TimeSlice&) {
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
        any_ = false;
        return;
    }
    const SplitInfo& split = model.split();
    auto find = [&](ProbeId id) {
        return std::ranges::find_if(timed, [&](const ProbeInfo* p) { return p->id == id; });
    };
    if (split.active && std::exchange(split_, split.probe) != split.probe)
        wanted_.reset();
    auto probe = timed.end();
    if (wanted_)
        probe = find(*wanted_);
    if (probe == timed.end() && split.active)
        probe = find(split.probe);
    if (probe == timed.end())
        probe = std::prev(timed.end());
    TimedCalls shown;
    shown.probe = (*probe)->id;
    shown.text = (*probe)->text;
    shown.tail = tail_text(tail_of(model, **probe));
    shown.index = static_cast<size_t>(probe - timed.begin());
    shown.of = timed.size();
    shown.calls = model.probe_statistics(shown.probe, scope.window);
    shown.counted = model.is_counted(shown.probe);
    shown.slow = model.slow_state(shown.probe);
    shown.has_split =
        split.active && split.probe == shown.probe && split.threshold.kind != Threshold::Kind::none;
    if (shown.has_split)
        shown.split = model.split_state();
    const bool other = !any_ || now().probe != shown.probe;
    if (other)
        picture_.cursor = picture_.anchor = std::nullopt;
    any_ = true;
    picture_.shown = std::move(shown);
    picture_.layout = lay_out_histogram(now().calls.durations, width_);
    if (other || !function_)
        find_function(model);
}

void HistogramPane::find_function(const Model& model) {
    function_.reset();
    const ProbeInfo* probe = model.find_probe(now().probe);
    if (!probe || probe->specs.empty() || probe->specs.front().index() >= model.specs().size())
        return;
    const SpecInfo& spec = model.specs()[probe->specs.front().index()];
    const SymbolTables& symbols = model.symbols();
    for (uint32_t i = 0; i < symbols.functions() && !function_; i++) {
        const FunctionId id{i};
        if ((symbols.name(id) == spec.function || short_name(symbols.name(id)) == spec.function) &&
            symbols.module(symbols.function(id).module).path == spec.module)
            function_ = symbols.shown(id);
    }
}

void HistogramPane::draw(Canvas& canvas, const Rect& rect, bool focused) {
    bars_ = {};
    if (rect.width < 2 || rect.height == 0)
        return;
    Area area(canvas, rect, unicode_);
    if (!any_) {
        size_t y = area.put_lines(0, "No function is timed yet.", Style::dim);
        area.put_lines(y, fmt::format("Press {} on one in the flame to time its calls, or {} to "
                                      "split the samples by it.",
                                      key_name(Action::time_it), key_name(Action::split_on_it)));
        return;
    }
    width_ = rect.width;
    picture_.layout = lay_out_histogram(now().calls.durations, width_);
    picture_.highest = 0;
    for (const HistogramRow& bar : picture_.layout.bars)
        picture_.highest = std::max(picture_.highest, picture_.height_of(bar));
    const size_t y = picture_.draw_head(area);
    if (picture_.layout.bars.empty()) {
        area.put_lines(
            y, now().counted ? "A place has no duration: it is counted." : "No call has returned.",
            Style::dim);
        return;
    }
    // Axis and marks give way before the bars do.
    const size_t room = rect.height > y ? rect.height - y : 0;
    const size_t below = room >= 5 ? 3 : room >= 3 ? 1 : 0;
    if (room == 0)
        return;
    Area bars = area.part(0, y, rect.width, room - below);
    bars_ = bars.rect();
    picture_.draw_bars(bars, focused);
    if (below >= 1)
        picture_.draw_axis(area, y + room - below);
    if (below >= 3)
        picture_.draw_marks(area, y + room - 2);
}

// Begins where it matters: at the threshold, or at p95.
bool HistogramPane::place_cursor() {
    if (picture_.layout.bars.empty())
        return false;
    if (!picture_.cursor)
        picture_.cursor =
            bucket_of(now().split.in_force() ? now().split.value_ns
                                             : static_cast<uint64_t>(now().calls.quantile(0.95)));
    return true;
}

void HistogramPane::move_cursor(int bars) {
    if (!place_cursor())
        return;
    const HistogramLayout& layout = picture_.layout;
    const auto bar = static_cast<int64_t>(layout.bar_of(*picture_.cursor)) + bars;
    const auto last = static_cast<int64_t>(layout.bars.size()) - 1;
    picture_.cursor = layout.bars[static_cast<size_t>(std::clamp<int64_t>(bar, 0, last))].first;
}

// Where moving begins.
uint64_t HistogramPane::threshold() const {
    return now().split.in_force() ? now().split.value_ns
           : picture_.cursor      ? bucket_low(*picture_.cursor)
                                  : static_cast<uint64_t>(now().calls.quantile(0.95));
}

void HistogramPane::move_to_gap(bool up, const Model& model, std::vector<Wish>& wishes) const {
    const ProbeInfo* probe = model.find_probe(now().probe);
    if (!probe)
        return;
    const Drill drill = drill_to_gap(model, *probe, now().calls.durations, threshold(), up);
    wishes.push_back(drill.command.empty() ? Wish{Wish::Kind::tell, drill.why_not, {}}
                                           : Wish{Wish::Kind::run, drill.command, {}});
}

void HistogramPane::move_threshold(bool up, std::vector<Wish>& wishes) const {
    const uint64_t from = threshold();
    const auto to = next_bound(picture_.layout, from, up);
    if (!to) {
        wishes.push_back({Wish::Kind::tell,
                          up ? "no call took longer than that" : "no call took less than that",
                          {}});
        return;
    }
    const std::string probe = spell_word(now().text), bound = spell_duration(*to);
    wishes.push_back({Wish::Kind::run,
                      now().has_split ? fmt::format("threshold {} {}", probe, bound)
                                      : fmt::format("split {} > {}", probe, bound),
                      {}});
}

// Among the timed functions, in the order in which they were timed.
void HistogramPane::choose(bool next, const Model& model, const Scope& scope) {
    std::optional<ProbeId> before, after;
    for (const auto& [id, probe] : model.probes()) {
        if (probe.deleted || id == now().probe)
            continue;
        if (id < now().probe)
            before = id;
        else if (!after)
            after = id;
    }
    if (auto chosen = next ? after : before) {
        wanted_ = chosen;
        look_at(model, scope);
    }
}

void HistogramPane::begin_or_end_range(const Scope& scope, std::vector<Wish>& wishes) {
    if (!place_cursor())
        return;
    if (picture_.anchor) {
        select(scope, wishes);
        return;
    }
    picture_.anchor = picture_.cursor;
    wishes.push_back(
        {Wish::Kind::tell,
         fmt::format("range begins here; go on, then {} again", key_name(Action::select_range)),
         {}});
}

bool HistogramPane::act(Action action, const Model& model, const Scope& scope,
                        std::vector<Wish>& wishes) {
    constexpr int far = 100'000;
    if (!any_)
        return false;
    switch (action) {
    case Action::left:
    case Action::right:
        move_cursor(action == Action::left ? -1 : 1);
        return true;
    case Action::page_up:
    case Action::page_down:
        move_cursor(action == Action::page_up ? -10 : 10);
        return true;
    case Action::first:
    case Action::last:
        move_cursor(action == Action::first ? -far : far);
        return true;
    case Action::up:
    case Action::down:
        choose(action == Action::down, model, scope);
        return true;
    case Action::weigh_by:
        picture_.by_time = !picture_.by_time;
        wishes.push_back({Wish::Kind::tell,
                          picture_.by_time ? "bars: the time that calls took" : "bars: calls",
                          {}});
        return true;
    case Action::threshold_up:
    case Action::threshold_down:
        move_threshold(action == Action::threshold_up, wishes);
        return true;
    case Action::gap_up:
    case Action::gap_down:
        move_to_gap(action == Action::gap_up, model, wishes);
        return true;
    case Action::select_range:
        begin_or_end_range(scope, wishes);
        return true;
    case Action::enter:
        if (place_cursor()) {
            select(scope, wishes);
            wishes.push_back({Wish::Kind::show, "flame", {}});
        }
        return true;
    case Action::back: {
        const bool had = picture_.anchor.has_value();
        picture_.anchor.reset();
        return had;
    }
    default:
        return false;
    }
}

bool HistogramPane::turn_to(FunctionId function, Action, const Model& model) {
    const ProbeInfo* probe = probe_of(model, function);
    if (!probe)
        return false;
    wanted_ = probe->id;
    again_ = true;
    return true;
}

// Only calls of these durations, in all panes. The class is that of the split's calls, so it is
// this function that must be split on.
void HistogramPane::select(const Scope& scope, std::vector<Wish>& wishes) {
    const auto [first, end] = picture_.range();
    picture_.anchor.reset();
    if (!now().has_split)
        wishes.push_back(
            {Wish::Kind::run, fmt::format("split {} > p95", spell_word(now().text)), {}});
    Wish wish{Wish::Kind::scope, "", scope};
    DurationRange range;
    range.from_ns = round_duration(bucket_low(first));
    if (end < histogram_buckets)
        range.to_ns = std::max(round_duration(bucket_low(end)), range.from_ns + 1);
    wish.scope.filter.range = range;
    wishes.push_back(std::move(wish));
    wishes.push_back({Wish::Kind::tell, "calls of " + to_string(range), {}});
}

bool HistogramPane::click(size_t x, size_t y, bool twice, const Model& model, const Scope& scope,
                          std::vector<Wish>& wishes) {
    if (!bars_.contains(x, y))
        return false;
    const auto bar = picture_.layout.bar_at(x - bars_.x);
    if (!bar)
        return false;
    picture_.cursor = picture_.layout.bars[*bar].first;
    return !twice || act(Action::enter, model, scope, wishes);
}

} // namespace

std::unique_ptr<Pane> make_histogram_pane(const PaneOptions& options) {
    return std::make_unique<HistogramPane>(options);
}

} // namespace auger
