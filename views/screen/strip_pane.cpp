// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/strip_pane.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/model/timeline.h"
#include "views/screen/area.h"
#include "views/screen/scope_steps.h"
#include "views/text/draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace auger {

namespace {

constexpr uint64_t ms = 1'000'000, second = 1'000 * ms;
constexpr uint64_t longest_span = 300 * second;
constexpr std::array<uint64_t, 8> widths = {50 * ms,    100 * ms,   200 * ms,   500 * ms,
                                            1 * second, 2 * second, 5 * second, 10 * second};

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
    bool refresh(const Model& model, const Scope& scope) override;
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
    std::optional<size_t> column_of(uint64_t time) const;
    // From the anchor to the cursor, both included.
    std::pair<uint64_t, uint64_t> span() const;

    const char* level_text(size_t eighths) const;
    void draw_slow_calls(Area&) const;
    void draw_samples(Area&) const;
    void draw_axis(Area&, size_t y, bool focused) const;
    void draw_fills(Area&, bool focused) const;
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

bool StripPane::refresh(const Model& model, const Scope& scope) {
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
    return timeline_.refresh(model, query);
}

std::optional<size_t> StripPane::column_of(uint64_t time) const {
    if (buckets().empty() || time < buckets().front().from_ns)
        return std::nullopt;
    const size_t bucket = (time - buckets().front().from_ns) / bucket_ns();
    if (bucket >= buckets().size())
        return std::nullopt;
    // The newest is at the right edge; what is too old for the width is beyond the left one.
    const size_t hidden = buckets().size() > width_ ? buckets().size() - width_ : 0;
    return bucket < hidden ? std::nullopt : std::optional(bucket - hidden);
}

std::pair<uint64_t, uint64_t> StripPane::span() const {
    const uint64_t here = start_of(cursor()), there = anchor_ ? start_of(*anchor_) : here;
    return {std::min(here, there), std::max(here, there) + bucket_ns()};
}

// Of a cell that is filled by so many eighths.
const char* StripPane::level_text(size_t eighths) const {
    static const char* const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char* const ascii[] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
    return (unicode_ ? blocks : ascii)[std::min<size_t>(eighths, 8)];
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
    const size_t axis = rect.height >= 2 ? 1 : 0, calls = rect.height >= 3 ? 1 : 0;
    if (calls) {
        Area row = area.part(0, 0, rect.width, 1);
        draw_slow_calls(row);
    }
    Area bars = area.part(0, calls, rect.width, rect.height - axis - calls);
    draw_samples(bars);
    draw_fills(area, focused);
    if (axis)
        draw_axis(area, rect.height - 1, focused);
}

// How many: as a digit while that is enough, else as bars.
void StripPane::draw_slow_calls(Area& row) const {
    uint64_t most = 0;
    for (const TimelineBucket& bucket : buckets())
        most = std::max(most, bucket.slow_calls);
    for (const TimelineBucket& bucket : buckets()) {
        const auto x = column_of(bucket.from_ns);
        if (!x || bucket.slow_calls == 0)
            continue;
        const auto level = std::max<uint64_t>(1, (bucket.slow_calls * 8 + most / 2) / most);
        row.put(*x, 0, most <= 9 ? std::to_string(bucket.slow_calls) : level_text(level),
                Style::slow);
    }
}

void StripPane::draw_samples(Area& area) const {
    double most = 0;
    for (const TimelineBucket& bucket : buckets())
        if (column_of(bucket.from_ns))
            most = std::max(most, bucket.samples.sum().weight_ns);
    for (const TimelineBucket& bucket : buckets()) {
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
            area.put(*x, y, level_text(part),
                     !by_class_ ? Style::plain
                     : slow     ? Style::slow
                                : Style::fast);
        }
    }
}

void StripPane::draw_fills(Area& area, bool focused) const {
    auto fill = [&](uint64_t from, uint64_t to, Fill with) {
        for (const TimelineBucket& bucket : buckets())
            if (auto x = column_of(bucket.from_ns);
                x && bucket.from_ns + bucket_ns() > from && bucket.from_ns < to)
                for (size_t y = 0; y < area.height(); y++)
                    area.fill(*x, y, 1, with);
    };
    if (window_.end_ns)
        fill(window_.since(first_ns_, now_ns_), window_.end_ns, Fill::match);
    if (!focused)
        return;
    if (anchor_)
        fill(span().first, span().second, Fill::match);
    fill(start_of(cursor()), start_of(cursor()) + 1, Fill::cursor);
}

void StripPane::draw_axis(Area& area, size_t y, bool focused) const {
    auto since_first = [&](uint64_t time) {
        return fmt::format("+{:.1f} s",
                           static_cast<double>(time - std::min(time, first_ns_)) / 1e9);
    };
    for (size_t x = 0; x < area.width(); x++)
        area.put(x, y, unicode_ ? "─" : "-", Style::dim);
    std::string right =
        fmt::format(" {} a column, now {}", format_duration(static_cast<double>(bucket_ns())),
                    since_first(now_ns_));
    if (area.width() < 60)
        right = " now " + since_first(now_ns_);
    std::string left;
    if (focused) {
        const auto [from, to] = span();
        double samples = 0;
        uint64_t calls = 0;
        for (const TimelineBucket& bucket : buckets())
            if (bucket.from_ns >= from && bucket.from_ns < to) {
                samples += bucket.samples.sum().samples;
                calls += bucket.slow_calls;
            }
        left = fmt::format("{}: {} samples, {} slow ",
                           area.width() >= 60 ? since_first(from) + " to " + since_first(to)
                                              : since_first(from),
                           format_count(samples), calls);
        for (uint64_t at : {from, to - bucket_ns()})
            if (auto x = column_of(at))
                area.put(*x, y, "^", Style::title);
    } else if (window_.end_ns) {
        left = fmt::format("shown: {} to {} ", since_first(window_.since(first_ns_, now_ns_)),
                           since_first(window_.end_ns));
    } else {
        left = since_first(std::max(buckets().front().from_ns, first_ns_)) + " ";
    }
    // Where the text would hide the mark, it stands on the other side.
    const auto mark = focused ? column_of(span().first) : std::nullopt;
    if (mark && *mark < text_width(left))
        area.put_right(area.width(), y, " " + left, Style::plain);
    else {
        area.put(0, y, left, focused || window_.end_ns ? Style::plain : Style::dim);
        const bool hides = mark && *mark + text_width(right) >= area.width();
        if (!hides && text_width(left) + text_width(right) + 2 <= area.width())
            area.put_right(area.width(), y, right, Style::dim);
    }
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
    window.end_ns = first + std::max<uint64_t>((end - std::min(end, first) + ms - 1) / ms, 1) * ms;
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
        if (column_of(bucket.from_ns) == x - drawn_.x) {
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
