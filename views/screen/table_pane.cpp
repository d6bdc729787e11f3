// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/table_pane.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/model/function_pass.h"
#include "views/screen/list_pane.h"
#include "views/screen/pace.h"
#include "views/short_name.h"
#include "views/spell.h"
#include "views/text/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace auger {

namespace {

constexpr double table_sample_ns = 15;

class TablePane final : public ListPane {
  public:
    explicit TablePane(const PaneOptions& options) : ListPane(options.unicode) {}

    std::string_view name() const override { return "table"; }
    std::string command() const override {
        std::string text = "top";
        if (!focus_.empty() && symbols_)
            text = (focus_.back().kind == FunctionFocus::Kind::callers ? "callers " : "callees ") +
                   spell_word(symbols_->name(focus_.back().function));
        if (!filter_.all())
            text += " " + spell_class(filter_);
        return frames_ == FrameChoice::all ? text : fmt::format("{} --{}", text, name_of(frames_));
    }
    bool refresh(const Model& model, const Scope& scope, const TimeSlice& slice) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    Subject subject() const override { return {selected(), {}, {}, {}}; }
    bool turn_to(FunctionId, Action, const Model&) override;

  private:
    std::optional<FunctionId> selected() const;
    enum class Order : uint8_t { self, total, slow, name };

    std::string text_of(size_t row) const override;
    double share_of(size_t row) const override;
    std::string detail_of(size_t row) const override {
        return whole_name(*symbols_, rows_[row].function);
    }
    size_t draw_head(Area&) override;
    void draw_row(Area&, size_t row) const override;
    void open_row(size_t row, const Model&, const Scope&, std::vector<Wish>&) override;

    void sort();
    double weight(const SampleSum& sum) const { return by_samples_ ? sum.samples : sum.weight_ns; }
    double value(const FunctionSums&) const;
    void focus_on(FunctionFocus focus);
    void look_back();
    std::optional<FunctionFocus> focus() const {
        return focus_.empty() ? std::nullopt : std::optional(focus_.back());
    }
    bool with_classes() const { return split_ && !filter_.duration; }

    const SymbolTables* symbols_ = nullptr; // names of functions never change
    Pace pace_;
    std::unique_ptr<FunctionPass> pass_;
    std::vector<FunctionSums> rows_;
    ClassSums whole_, none_;
    std::vector<FunctionFocus> focus_; // one inside the other: what `back` returns from
    std::optional<FunctionFocus> shown_focus_;
    std::optional<FunctionId> go_to_; // where the cursor belongs when the rows are there
    ClassFilter filter_;
    Order order_ = Order::self;
    FrameChoice frames_ = FrameChoice::all;
    bool by_samples_ = false;
    bool split_ = false;
    bool known_ = false; // something has been found
    bool again_ = false;
};

bool TablePane::refresh(const Model& model, const Scope& scope, const TimeSlice& slice) {
    symbols_ = &model.symbols();
    const bool due =
        pace_.due(model, scope, table_sample_ns * static_cast<double>(model.samples().size()));
    if ((due && (!pass_ || pace_.other())) || again_) {
        again_ = false;
        filter_ = scope.filter;
        split_ = model.split().active && model.split().threshold.kind != Threshold::Kind::none;
        pass_ = std::make_unique<FunctionPass>(model, scope.window, scope.filter, focus(), frames_);
    }
    if (!pass_)
        return false;
    if (work_in(slice, [&] { return pass_->work(samples_a_step); }))
        return true;
    rows_ = pass_->functions();
    whole_ = pass_->whole();
    none_ = pass_->none();
    const bool other_list = shown_focus_ != focus();
    shown_focus_ = focus();
    pass_.reset();
    known_ = true;
    sort();
    if (other_list && !go_to_)
        cursor_.move_to(0);
    if (go_to_)
        cursor_.move_to_key(go_to_->value);
    go_to_.reset();
    return false;
}

double TablePane::value(const FunctionSums& sums) const {
    switch (order_) {
    case Order::total:
        return weight(sums.total.sum());
    case Order::slow:
        return weight(sums.total[CallClass::slow]);
    default:
        return weight(sums.self.sum());
    }
}

void TablePane::sort() {
    const bool by_total = shown_focus_ && order_ == Order::self;
    std::sort(rows_.begin(), rows_.end(), [&](const FunctionSums& a, const FunctionSums& b) {
        if (order_ == Order::name) {
            auto x = symbols_->name(a.function), y = symbols_->name(b.function);
            return x != y ? x < y : a.function < b.function;
        }
        double x = value(a), y = value(b);
        if (x == y || by_total)
            x = weight(a.total.sum()), y = weight(b.total.sum());
        return x != y ? x > y : a.function < b.function;
    });
    std::vector<uint64_t> keys;
    keys.reserve(rows_.size());
    for (const FunctionSums& row : rows_)
        keys.push_back(row.function.value);
    set_rows(std::move(keys));
}

std::optional<FunctionId> TablePane::selected() const {
    if (go_to_)
        return go_to_;
    return rows_.empty() ? std::nullopt : std::optional(rows_[cursor_.row()].function);
}

std::string TablePane::text_of(size_t row) const {
    return std::string(symbols_->name(rows_[row].function));
}

double TablePane::share_of(size_t row) const {
    const double whole = weight(whole_.sum());
    return whole > 0 && !shown_focus_ ? weight(rows_[row].self.sum()) / whole : -1;
}

void TablePane::focus_on(FunctionFocus focus) {
    if (this->focus() != focus)
        focus_.push_back(focus);
    again_ = true;
}

void TablePane::look_back() {
    go_to_ = focus_.back().function;
    focus_.pop_back();
    again_ = true;
}

bool TablePane::act(Action action, const Model& model, const Scope& scope,
                    std::vector<Wish>& wishes) {
    switch (action) {
    case Action::sort:
        order_ = order_ == Order::self    ? Order::total
                 : order_ == Order::total ? (with_classes() ? Order::slow : Order::name)
                 : order_ == Order::slow  ? Order::name
                                          : Order::self;
        if (symbols_)
            sort();
        return true;
    case Action::weigh_by:
        by_samples_ = !by_samples_;
        if (symbols_)
            sort();
        return true;
    case Action::frames:
        frames_ = next_after(frames_);
        again_ = true;
        return true;
    case Action::callers:
    case Action::callees:
        if (!selected())
            return false;
        focus_on({*selected(), action == Action::callers ? FunctionFocus::Kind::callers
                                                         : FunctionFocus::Kind::callees});
        return true;
    case Action::back:
        if (focus_.empty())
            return false;
        look_back();
        return true;
    case Action::reset: // of all panes: each goes its own way back
        while (!focus_.empty())
            look_back();
        return false;
    default:
        return ListPane::act(action, model, scope, wishes);
    }
}

bool TablePane::turn_to(FunctionId function, Action action, const Model&) {
    focus_.clear();
    if (action == Action::table)
        go_to_ = function;
    again_ = true;
    if (action == Action::callers)
        focus_on({function, FunctionFocus::Kind::callers});
    if (action == Action::callees)
        focus_on({function, FunctionFocus::Kind::callees});
    return true;
}

void TablePane::open_row(size_t, const Model&, const Scope&, std::vector<Wish>&) {
    // From a function to what it calls, and on from there.
    focus_on({*selected(), focus_.empty() ? FunctionFocus::Kind::callees : focus_.back().kind});
}

size_t TablePane::draw_head(Area& area) {
    if (rows_.empty() && !shown_focus_) {
        area.put_lines(0,
                       !known_ ? "Looking ..."
                       : frames_ == FrameChoice::all
                           ? "No samples."
                           : fmt::format("No frame is {}.", name_of(frames_)),
                       Style::dim);
        return area.height();
    }
    size_t y = 0;
    if (shown_focus_) {
        const bool callers = shown_focus_->kind == FunctionFocus::Kind::callers;
        size_t x = area.put(0, y, callers ? "Callers of " : "Called by ", Style::dim);
        x = area.put_name(x, y, display_name(symbols_->name(shown_focus_->function)),
                          area.width() > x + 12 ? area.width() - x - 12 : 8, Style::title);
        area.put(x + 2, y, format_duration(whole_.sum().weight_ns), Style::number);
        y++;
        if (const double none = weight(none_.sum()); none > 0)
            area.put(0, y++,
                     fmt::format("{} {}", format_percent(none / weight(whole_.sum())),
                                 callers ? "without a caller" : "in itself"),
                     Style::dim);
        if (rows_.empty())
            return y;
    }
    auto title = [&](Order order) { return order_ == order ? Style::title : Style::dim; };
    const bool wide = area.width() >= 64;
    area.put_right(8, y, "self", title(Order::self));
    area.put_right(16, y, "total", title(Order::total));
    size_t x = 16;
    if (wide) {
        area.put_right(x + 11, y, by_samples_ ? "samples" : "self time", Style::dim);
        x += 11;
    }
    if (with_classes() && area.width() >= 56) {
        area.put_right(x + 9, y, "of slow", order_ == Order::slow ? Style::title : Style::slow);
        area.put_right(x + 18, y, "of fast", Style::fast);
        x += 18;
    }
    x = area.put(x + 2, y, "function", title(Order::name));
    if (frames_ != FrameChoice::all)
        area.put(x + 2, y, fmt::format("--{}", name_of(frames_)), Style::dim);
    return y + 1;
}

void TablePane::draw_row(Area& line, size_t row) const {
    const FunctionSums& sums = rows_[row];
    const SampleSum self = sums.self.sum(), total = sums.total.sum();
    auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
    const double whole = weight(whole_.sum());
    // One column is the cursor's mark.
    line.put_right(7, 0, format_percent(share(weight(self), whole)), Style::number);
    line.put_right(15, 0, format_percent(share(weight(total), whole)));
    size_t x = 15;
    if (line.width() >= 63) {
        line.put_right(x + 11, 0,
                       by_samples_ ? format_count(self.samples) : format_duration(self.weight_ns));
        x += 11;
    }
    if (with_classes() && line.width() >= 55) {
        for (CallClass c : {CallClass::slow, CallClass::fast}) {
            x += 9;
            if (const double part = weight(sums.total[c]); part > 0)
                line.put_right(x, 0, format_percent(share(part, weight(whole_[c]))), style_of(c));
        }
    }
    line.put_name(x + 2, 0, display_name(symbols_->name(sums.function)), line.width(),
                  symbols_->function(sums.function).kernel ? Style::kernel : Style::name);
}

} // namespace

std::unique_ptr<Pane> make_table_pane(const PaneOptions& options) {
    return std::make_unique<TablePane>(options);
}

} // namespace auger
