// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/difference_pane.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/model/diff.h"
#include "views/screen/list_pane.h"
#include "views/screen/pace.h"
#include "views/short_name.h"
#include "views/spell.h"
#include "views/text/draw.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <utility>

namespace auger {

namespace {

// Names come first: a bar is drawn where it leaves them some 40 columns.
constexpr size_t least_width_for_bar = 110, least_width_for_wide_bar = 140;
constexpr double difference_sample_ns = 100;
constexpr uint64_t worth_telling_ns = 2'000'000'000, tenth_ns = 100'000'000;

// Which two classes the scope and the split ask to compare.
std::pair<ClassFilter, ClassFilter> sides_of(const Model& model, const ClassFilter& filter) {
    ClassFilter first = filter, second = filter;
    const bool by_duration = model.split().threshold.kind != Threshold::Kind::none;
    if (filter.taken || (!by_duration && !model.split().branch.empty())) {
        first.taken = true;
        second.taken = false;
    } else {
        first.duration = CallClass::slow;
        second.duration = CallClass::fast;
    }
    return {first, second};
}

std::string signed_duration(double ns) {
    return (ns > 0 ? "+" : "") + format_duration(ns);
}

class DifferencePane final : public ListPane {
  public:
    explicit DifferencePane(const PaneOptions& options) : ListPane(options.unicode) {}

    std::string_view name() const override { return "difference"; }
    std::string command() const override {
        std::string text = fmt::format("diff {} {}", spell_class(first_), spell_class(second_));
        return frames_ == FrameChoice::all ? text : fmt::format("{} --{}", text, name_of(frames_));
    }
    bool refresh(const Model& model, const Scope& scope, const TimeSlice& slice) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    Subject subject() const override { return {selected(), {}, {}, {}}; }
    bool turn_to(FunctionId function, Action, const Model&) override {
        return cursor_.move_to_key(function.value);
    }

  private:
    std::optional<FunctionId> selected() const;
    enum class Order : uint8_t { rest, difference, slower };

    std::string text_of(size_t row) const override;
    std::string detail_of(size_t row) const override {
        return whole_name(*symbols_, rows_[row].function);
    }
    size_t draw_head(Area&) override;
    size_t draw_missing(Area&) const;
    void draw_age(Area&, size_t y) const;
    Area draw_beside(Area body) override;
    void draw_row(Area&, size_t row) const override;
    void draw_bar(Area&, size_t x, size_t width, const FunctionDiff&) const;
    void open_row(size_t, const Model&, const Scope&, std::vector<Wish>&) override;
    void take(Diff);
    void sort();
    double whole() const { return diff_.first.per_call_ns - diff_.second.per_call_ns; }

    const SymbolTables* symbols_ = nullptr; // names of functions never change
    Pace pace_{500'000'000};
    ClassFilter first_{CallClass::slow}, second_{CallClass::fast};
    std::optional<DiffPass> pass_;
    uint64_t begun_ns_ = 0, shown_ns_ = 0; // when pass_ began, and the one that is shown
    uint64_t now_ns_ = 0;
    Diff diff_;
    std::vector<FunctionDiff> rows_;
    std::optional<Error> missing_;
    ProbeId of_; // whose calls are compared
    bool no_split_ = true;
    std::string unseen_; // why the split cannot be seen; empty: it can
    double most_ns_ = 0; // the longest bar
    size_t significant_ = 0, candidates_ = 0;
    Order order_ = Order::rest;
    FrameChoice frames_ = FrameChoice::all;
    bool again_ = false; // others are to be compared
};

bool DifferencePane::refresh(const Model& model, const Scope& scope, const TimeSlice& slice) {
    symbols_ = &model.symbols();
    now_ns_ = model.now_ns();
    unseen_ = model.split_near_sample_gap() ? unseen_split_text(model) : "";
    const double cost = difference_sample_ns * static_cast<double>(model.samples().size());
    if ((pace_.due(model, scope, cost) && (!pass_ || pace_.other())) || again_) {
        again_ = false;
        no_split_ = !model.split().active;
        if (std::exchange(of_, model.split().probe) != model.split().probe)
            cursor_.begin_anew();
        std::tie(first_, second_) = sides_of(model, scope.filter);
        Result<DiffPass> pass =
            DiffPass::begin(model, scope.window, first_, second_, false, frames_);
        if (!pass) {
            pass_.reset();
            missing_ = pass.error();
            take({});
            return false;
        }
        pass_ = std::move(*pass);
        begun_ns_ = now_ns_;
    }
    if (!pass_)
        return false;
    if (work_in(slice, [&] { return pass_->work(samples_a_step); }))
        return true;
    missing_.reset();
    shown_ns_ = begun_ns_;
    take(pass_->take());
    pass_.reset();
    return false;
}

void DifferencePane::take(Diff diff) {
    diff_ = std::move(diff);
    rows_ = std::move(diff_.functions);
    most_ns_ = 0;
    significant_ = candidates_ = 0;
    for (const FunctionDiff& row : rows_) {
        most_ns_ = std::max(most_ns_, std::abs(row.difference_ns));
        significant_ += row.significant;
        candidates_ += row.candidate();
    }
    sort();
}

void DifferencePane::sort() {
    std::sort(rows_.begin(), rows_.end(), [&](const FunctionDiff& a, const FunctionDiff& b) {
        auto value = [&](const FunctionDiff& f) {
            return order_ == Order::rest         ? f.rest_difference_ns
                   : order_ == Order::difference ? f.difference_ns
                                                 : f.first_ns;
        };
        const auto rank = [](const FunctionDiff& f) {
            return f.sure() ? 0 : f.candidate() ? 1 : 2; // what may be chance comes last
        };
        if (rank(a) != rank(b))
            return rank(a) < rank(b);
        const double x = value(a), y = value(b);
        return x != y ? x > y : a.function < b.function;
    });
    std::vector<uint64_t> keys;
    keys.reserve(rows_.size());
    for (const FunctionDiff& row : rows_)
        keys.push_back(row.function.value);
    set_rows(std::move(keys));
}

std::optional<FunctionId> DifferencePane::selected() const {
    return rows_.empty() ? std::nullopt : std::optional(rows_[cursor_.row()].function);
}

std::string DifferencePane::text_of(size_t row) const {
    return std::string(symbols_->name(rows_[row].function));
}

bool DifferencePane::act(Action action, const Model& model, const Scope& scope,
                         std::vector<Wish>& wishes) {
    if (action == Action::frames) {
        frames_ = next_after(frames_);
        again_ = true;
        return true;
    }
    if (action != Action::sort)
        return ListPane::act(action, model, scope, wishes);
    order_ = order_ == Order::rest         ? Order::difference
             : order_ == Order::difference ? Order::slower
                                           : Order::rest;
    sort();
    static constexpr std::string_view said[] = {"by what no callee accounts for", "by difference",
                                                "by time in the first class"};
    wishes.push_back({Wish::Kind::tell, std::string(said[static_cast<size_t>(order_)]), {}});
    return true;
}

void DifferencePane::open_row(size_t, const Model&, const Scope&, std::vector<Wish>& wishes) {
    wishes.push_back({Wish::Kind::show, "flame", {}});
}

size_t DifferencePane::draw_missing(Area& area) const {
    size_t y = 0;
    if (!symbols_)
        return area.height();
    if (no_split_) {
        y = area.put_lines(y, "There is no split yet, so no call is slow or fast.", Style::dim);
        area.put_lines(y, fmt::format("Press {} on a function in the flame: its calls beyond their "
                                      "p95 are slow, and what those do that fast ones do not is "
                                      "ranked here.",
                                      key_name(Action::split_on_it)));
    } else if (missing_) {
        y = area.put_lines(y, missing_->cause + ".", Style::warning);
        if (!missing_->hint.empty())
            area.put_lines(y, missing_->hint, Style::dim);
    } else if (pass_) {
        area.put_lines(y, fmt::format("Comparing calls: {}", format_percent(pass_->progress())),
                       Style::dim);
    } else {
        area.put_lines(y, "No call of either class holds a sample yet.", Style::dim);
    }
    return area.height();
}

// All samples are looked at for a comparison, so it takes a while where they are many.
void DifferencePane::draw_age(Area& area, size_t y) const {
    const uint64_t age_ns = now_ns_ - std::min(now_ns_, shown_ns_);
    if (age_ns < worth_telling_ns || area.width() < 100)
        return;
    const std::string age = fmt::format(
        "of {} ago", format_duration(static_cast<double>(age_ns / tenth_ns * tenth_ns)));
    area.put_right(area.width() - 1, y,
                   pass_ ? fmt::format("{}; again: {}", age, format_percent(pass_->progress()))
                         : age,
                   Style::dim);
}

size_t DifferencePane::draw_head(Area& area) {
    if (rows_.empty())
        return draw_missing(area);
    size_t y = 0;
    auto side = [&](const DiffSide& of) {
        size_t x = area.put(0, y, to_string(of.filter), style_of(of.filter));
        x = area.put(
            x + 1, y,
            fmt::format("{}{} calls, ", of.estimated ? "about " : "", format_count(of.calls)));
        x = area.put(x, y, format_duration(of.per_call_ns) + " a call", Style::number);
        if (area.width() >= 70)
            area.put(x, y,
                     fmt::format(", {} of them sampled, {} samples", format_count(of.sampled_calls),
                                 format_count(of.samples.samples)),
                     Style::dim);
        y++;
    };
    if (area.height() >= 6) {
        side(diff_.first);
        side(diff_.second);
        draw_age(area, y - 1);
    }
    if (!unseen_.empty() && area.height() >= 8)
        y = area.put_lines(y, unseen_, Style::warning);
    const bool few = diff_.first.calls < 2 || diff_.second.calls < 2;
    if (few)
        y = area.put_lines(y, "Too few calls to compare: each class needs at least two.",
                           Style::warning);
    else if (significant_ == 0)
        y = area.put_lines(y,
                           candidates_ ? "No function differs beyond chance yet."
                                       : "No function differs beyond chance.",
                           Style::warning);
    if (diff_.recursive && area.height() >= 10)
        y = area.put_lines(y, "The function recurses: figures per call are too small.",
                           Style::warning);
    // The sum that the rows explain, then the columns.
    auto title = [&](Order order) { return order_ == order ? Style::title : Style::dim; };
    area.put_right(11, y, "difference", title(Order::difference));
    size_t x = 11;
    if (area.width() >= 60) {
        area.put(x + 1, y, std::string(plus_minus(unicode())) + " 95 %", Style::dim);
        x += 11;
    }
    area.put_right(x + 9, y, "rest", title(Order::rest));
    x += 9;
    if (area.width() >= 100) {
        const auto name = [](const DiffSide& of, const char* otherwise) {
            std::string text = to_string(of.filter);
            return text_width(text) <= 9 ? text : otherwise;
        };
        area.put_right(x + 10, y, name(diff_.first, "first"),
                       order_ == Order::slower ? Style::title : style_of(diff_.first.filter));
        area.put_right(x + 20, y, name(diff_.second, "second"), style_of(diff_.second.filter));
        x += 20;
    }
    if (area.width() >= least_width_for_bar) {
        const bool wide = area.width() >= least_width_for_wide_bar;
        area.put(x + 2, y,
                 wide ? fmt::format("less | more of {} a call", signed_duration(whole()))
                      : "less | more a call",
                 Style::dim);
        x += 2 + (wide ? 41 : 25);
    }
    x = area.put(x + 2, y, "function", Style::dim);
    if (frames_ != FrameChoice::all)
        area.put(x + 2, y, fmt::format("--{}", name_of(frames_)), Style::dim);
    return y + 1;
}

// Below the rows: what the figures of the selected one are, and what would make it sure.
Area DifferencePane::draw_beside(Area body) {
    if (rows_.empty() || body.height() < 6)
        return body;
    const FunctionDiff& f = rows_[cursor_.row()];
    const size_t last = body.height() - 1;
    const DiffSide& fewer = diff_.first.calls <= diff_.second.calls ? diff_.first : diff_.second;
    if (f.candidate())
        body.put(1, last,
                 fmt::format("?: may be chance; about {} more {} calls would make it sure, if "
                             "they went on alike.",
                             format_count(double(f.calls_needed)), to_string(fewer.filter)),
                 Style::warning);
    else if (!f.sure())
        body.put(1, last, "?: may well be chance.", Style::dim);
    else
        body.put(
            1, last,
            f.by_split
                ? "Slow and fast calls differ here by definition."
                : "rest: what its largest callee does not account for, of the whole difference.",
            Style::dim);
    return body.part(0, 0, body.width(), last);
}

void DifferencePane::draw_row(Area& line, size_t row) const {
    const FunctionDiff& f = rows_[row];
    // What may be chance is dim; so it is told apart by its place and margin, too.
    auto style = [&](Style if_sure) { return f.sure() ? if_sure : Style::dim; };
    line.put_right(10, 0, signed_duration(f.difference_ns), style(Style::number));
    size_t x = 10;
    if (line.width() >= 59) {
        line.put(x + 1, 0, plus_minus(unicode()), Style::dim);
        line.put_right(x + 11, 0, format_duration(f.margin_ns), Style::dim);
        x += 11;
    }
    x += 9;
    if (whole() > 0 && f.rest_difference_ns > 0)
        line.put_right(x, 0, format_percent(f.rest_difference_ns / whole()), style(Style::slow));
    if (!f.sure())
        line.put(x, 0, "?", f.candidate() ? Style::warning : Style::dim);
    if (line.width() >= 99) {
        line.put_right(x + 10, 0, format_duration(f.first_ns), style(Style::plain));
        line.put_right(x + 20, 0, format_duration(f.second_ns), style(Style::plain));
        x += 20;
    }
    if (line.width() + 1 >= least_width_for_bar) {
        const size_t width = line.width() + 1 >= least_width_for_wide_bar ? 41 : 25;
        draw_bar(line, x + 2, width, f);
        x += 2 + width;
    }
    const bool kernel = symbols_->function(f.function).kernel;
    line.put_name(x + 2, 0, display_name(symbols_->name(f.function)), line.width(),
                  style(kernel ? Style::kernel : Style::name));
}

// Less on the left of the middle, more on its right.
void DifferencePane::draw_bar(Area& line, size_t x, size_t width, const FunctionDiff& f) const {
    const size_t half = width / 2;
    line.put(x + half, 0, unicode() ? "│" : "|", Style::dim);
    if (most_ns_ <= 0)
        return;
    const double share = std::abs(f.difference_ns) / most_ns_;
    const Style style = f.sure() ? f.difference_ns > 0 ? Style::slow : Style::fast : Style::dim;
    if (f.difference_ns > 0) {
        line.put(x + half + 1, 0, bar(share, half, unicode()), style);
    } else if (f.difference_ns < 0) {
        // There are no eighths that grow to the left.
        const auto cells = std::max<size_t>(
            1, static_cast<size_t>(std::lround(share * static_cast<double>(half))));
        for (size_t i = 0; i < cells; i++)
            line.put(x + half - 1 - i, 0, unicode() ? "█" : "#", style);
    }
}

} // namespace

std::unique_ptr<Pane> make_difference_pane(const PaneOptions& options) {
    return std::make_unique<DifferencePane>(options);
}

} // namespace auger
