// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/strip_pane.h"

#include "loader/base/read_clock.h"
#include "views/screen/scope_steps.h"
#include "views/screen/strip_picture.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace auger {

namespace {

constexpr uint64_t longest_span = 300 * second_ns;
constexpr std::array<uint64_t, 8> widths = {
    50 * millisecond_ns, 100 * millisecond_ns, 200 * millisecond_ns, 500 * millisecond_ns,
    1 * second_ns,       2 * second_ns,        5 * second_ns,        10 * second_ns};

// The finest buckets with which so many columns reach back as far as there is something to show.
uint64_t bucket_for(uint64_t observed_ns, size_t columns) {
    const uint64_t span = std::min(observed_ns, longest_span);
    for (uint64_t width : widths) // one for the bucket that is not whole
        if (width * (std::max<size_t>(columns, 2) - 1) >= span)
            return width;
    return widths.back();
}

class StripPane final : public Pane {
  public:
    explicit StripPane(const PaneOptions& options) : unicode_(options.unicode) {}

    std::string_view name() const override { return "strip"; }
    std::string command() const override { return window_command(window_, first_ns_); }
    bool refresh(const Model& model, const Scope& scope, const TimeSlice& slice) override;
    void draw(Canvas&, const Rect& rect, bool focused) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    bool click(size_t x, size_t y, bool twice, const Model&, const Scope&,
               std::vector<Wish>&) override;
    std::string search(const std::optional<std::string>&, const Model&) override {
        return "nothing to search here";
    }

  private:
    uint64_t bucket_ns() const { return timeline_.query().bucket_ns; }
    uint64_t start_of(uint64_t time) const { return time / bucket_ns() * bucket_ns(); }
    uint64_t cursor() const { return cursor_ ? *cursor_ : buckets().back().from_ns; }
    const std::vector<TimelineBucket>& buckets() const { return timeline_.buckets(); }
    StripPicture picture() const;
    // From the anchor to the cursor, both included.
    std::pair<uint64_t, uint64_t> span() const;

    void move_cursor(int64_t by);
    void select(const Model&, std::vector<Wish>&);
    bool to_now(std::vector<Wish>&);

    bool unicode_;
    Timeline timeline_;
    uint64_t first_ns_ = 0, now_ns_ = 0;
    Window window_;                  // in force
    std::optional<Window> before_;   // a span was selected
    bool by_class_ = false;          // slow and fast are told apart
    std::optional<uint64_t> cursor_; // begin of its bucket; nothing: now
    std::optional<uint64_t> anchor_;
    size_t width_ = 120;
    Rect drawn_;
};

bool StripPane::refresh(const Model& model, const Scope& scope, const TimeSlice& slice) {
    first_ns_ = model.first_ns();
    now_ns_ = model.now_ns();
    if (window_.end_ns && !scope.window.end_ns)
        before_.reset();
    window_ = scope.window;
    by_class_ = model.split().active && model.split().threshold.kind != Threshold::Kind::none;
    TimelineQuery query;
    query.bucket_ns = bucket_for(now_ns_ - std::min(now_ns_, first_ns_), width_);
    query.span_ns = query.bucket_ns * std::max<size_t>(width_, 2) - query.bucket_ns;
    query.filter = scope.filter;
    return work_in(slice, [&] { return timeline_.refresh(model, query); });
}

std::pair<uint64_t, uint64_t> StripPane::span() const {
    const uint64_t here = start_of(cursor()), there = anchor_ ? start_of(*anchor_) : here;
    return {std::min(here, there), std::max(here, there) + bucket_ns()};
}

StripPicture StripPane::picture() const {
    return {buckets(), bucket_ns(),        width_, first_ns_,          now_ns_, window_,
            by_class_, start_of(cursor()), span(), anchor_.has_value()};
}

void StripPane::draw(Canvas& canvas, const Rect& rect, bool focused) {
    drawn_ = {};
    if (rect.width == 0 || rect.height == 0)
        return;
    Area area(canvas, rect, unicode_);
    width_ = rect.width;
    if (buckets().empty() || now_ns_ == 0) {
        area.put(0, 0, "No samples yet.", Style::dim);
        return;
    }
    drawn_ = rect;
    const StripPicture picture = this->picture();
    const size_t axis = rect.height >= 2 ? 1 : 0, calls = rect.height >= 3 ? 1 : 0;
    if (calls) {
        Area row = area.part(0, 0, rect.width, 1);
        picture.draw_slow_calls(row);
    }
    Area bars = area.part(0, calls, rect.width, rect.height - axis - calls);
    picture.draw_samples(bars);
    picture.draw_fills(area, focused);
    if (axis)
        picture.draw_axis(area, rect.height - 1, focused);
}

void StripPane::move_cursor(int64_t by) {
    if (buckets().empty())
        return;
    const uint64_t oldest =
                       buckets()[buckets().size() > width_ ? buckets().size() - width_ : 0].from_ns,
                   newest = buckets().back().from_ns;
    const auto at = static_cast<int64_t>(std::clamp(start_of(cursor()), oldest, newest)) +
                    by * static_cast<int64_t>(bucket_ns());
    const auto to = std::clamp(at, static_cast<int64_t>(oldest), static_cast<int64_t>(newest));
    cursor_ = static_cast<uint64_t>(to);
    // At the right edge it stays there, as time goes on.
    if (*cursor_ == newest && by > 0)
        cursor_.reset();
}

void StripPane::select(const Model& model, std::vector<Wish>& wishes) {
    if (buckets().empty())
        return;
    const auto [from, to] = span();
    Window window{Window::Kind::last, to - from, 0};
    // In whole milliseconds since the beginning, which read well.
    const uint64_t end = std::min(to, model.now_ns());
    const uint64_t first = model.first_ns();
    window.end_ns =
        first +
        std::max<uint64_t>((end - std::min(end, first) + millisecond_ns - 1) / millisecond_ns, 1) *
            millisecond_ns;
    if (!before_) {
        before_ = window_;
        before_->end_ns = 0; // that is how a frozen screen looks at it
    }
    wishes.push_back({Wish::Kind::run, window_command(window, first), {}});
    anchor_.reset();
}

// Back to what goes on, if a span was selected here.
bool StripPane::to_now(std::vector<Wish>& wishes) {
    if (!before_)
        return false;
    wishes.push_back({Wish::Kind::run, window_command(*before_, first_ns_), {}});
    before_.reset();
    return true;
}

bool StripPane::act(Action action, const Model& model, const Scope&, std::vector<Wish>& wishes) {
    constexpr int64_t far = 1'000'000;
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
        move_cursor(-far);
        return true;
    case Action::last:
        move_cursor(far);
        return true;
    case Action::select_range:
        if (buckets().empty())
            return true;
        if (anchor_) {
            select(model, wishes);
            return true;
        }
        anchor_ = cursor_ = start_of(cursor());
        wishes.push_back({Wish::Kind::tell,
                          fmt::format("the span begins here; go on, then {} again",
                                      key_name(Action::select_range)),
                          {}});
        return true;
    case Action::enter:
        select(model, wishes);
        return true;
    case Action::back:
        if (anchor_) {
            anchor_.reset();
            return true;
        }
        return to_now(wishes);
    case Action::reset:
        anchor_.reset();
        cursor_.reset();
        to_now(wishes);
        return false; // of all panes
    default:
        return false;
    }
}

bool StripPane::click(size_t x, size_t y, bool twice, const Model& model, const Scope&,
                      std::vector<Wish>& wishes) {
    if (!drawn_.contains(x, y))
        return false;
    for (const TimelineBucket& bucket : buckets())
        if (picture().column_of(bucket.from_ns) == x - drawn_.x) {
            cursor_ = bucket.from_ns;
            if (twice)
                select(model, wishes);
            return true;
        }
    return false;
}

} // namespace

std::unique_ptr<Pane> make_strip_pane(const PaneOptions& options) {
    return std::make_unique<StripPane>(options);
}

} // namespace auger
