// SPDX-License-Identifier: GPL-3.0-or-later
// Calls are known by the order in which they came, so the cursor stays on one while others come and
// the oldest go.
#include "views/screen/calls_pane.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/model/slow_call_query.h"
#include "views/screen/call_details.h"
#include "views/screen/list_pane.h"
#include "views/screen/pace.h"
#include "views/short_name.h"
#include "views/spell.h"
#include "views/tail.h"
#include "views/text/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace auger {

namespace {

struct CallRow {
    uint64_t number = 0; // of all slow calls that came
    CallEndEvent end;
    ClassFilter of;
    uint64_t at_ns = 0; // since the beginning
    ProbeId probe;
    std::string tail; // see tail_text()
    std::optional<FunctionId> function;
};

constexpr size_t least_probe_width = 12, most_probe_width = 32;

// The function that runs; where rules drop it, the nearest around it.
std::optional<FunctionId> innermost(const SymbolTables& symbols,
                                    std::span<const LocationId> stack) {
    for (const LocationId location : stack)
        if (const auto frames = symbols.frames(location); !frames.empty())
            return frames.front().function;
    return std::nullopt;
}

std::string thread_text(const ThreadInfo& thread) {
    return fmt::format("{} {}", thread.comm, thread.tid);
}

class CallsPane final : public ListPane {
  public:
    explicit CallsPane(const PaneOptions& options) : ListPane(options.unicode, true) {}

    std::string_view name() const override { return "calls"; }
    std::string command() const override {
        return filter_.all() ? "calls" : "calls " + spell_class(filter_);
    }
    bool refresh(const Model& model, const Scope& scope, const TimeSlice&) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    Subject subject() const override;

  private:
    std::string text_of(size_t row) const override;
    size_t draw_head(Area&) override;
    Area draw_beside(Area body) override;
    void draw_row(Area&, size_t row) const override;
    void open_row(size_t, const Model&, const Scope&, std::vector<Wish>&) override;
    void moved(const Model&) override;
    void sort();
    void draw_details(Area&);

    const Model* model_ = nullptr; // for names, which never change
    Pace pace_;
    std::vector<CallRow> rows_;
    std::optional<CallDetails> details_;
    uint64_t given_up_ = 0; // to make room
    size_t left_out_ = 0;   // by `only`
    ClassFilter filter_;
    bool slowest_ = false; // first; else the newest
    bool large_ = false;   // details alone
    size_t scrolled_ = 0;  // lines of the details
    bool with_class_ = false;
    size_t class_width_ = 0, thread_width_ = 0; // each with the gap before it
    size_t tail_width_ = 0;                     // likewise, of the widest behind a probe
    bool traced_ = false;                       // some probe traces calls
    std::string_view noun_ = "slow call";       // of the rows
};

bool CallsPane::refresh(const Model& model, const Scope& scope, const TimeSlice&) {
    model_ = &model;
    const double cost = 300 * static_cast<double>(model.slow_calls().size()) +
                        10 * static_cast<double>(model.calls().size()) +
                        2 * static_cast<double>(model.samples().size()); // for the details
    if (!pace_.due(model, scope, cost))
        return false;
    filter_ = scope.filter;
    with_class_ = model.split().active;
    given_up_ = model.slow_calls_received() - model.slow_calls().size();
    traced_ = std::ranges::any_of(model.probes(), [](const auto& probe) {
        return !probe.second.deleted && probe.second.slow.kind != Threshold::Kind::none;
    });
    Classifier classify(model);
    left_out_ = count_left_out(model, classify, scope.window, {});
    rows_.clear();
    class_width_ = thread_width_ = tail_width_ = 0;
    auto all = model.slow_calls().begin();
    const auto shown = find_slow_calls(model, classify, scope.window, {}, scope.filter);
    noun_ = noun_of(shown);
    for (const SlowCall* call : shown) {
        while (&*all != call)
            ++all;
        CallRow row;
        row.number = given_up_ + static_cast<uint64_t>(all - model.slow_calls().begin());
        row.end = call->end;
        row.of = class_of(model, classify, *call);
        row.at_ns = call->end.time_ns - std::min(call->end.time_ns, model.first_ns());
        row.probe = probe_of(model, *call);
        row.tail = tail_text(tail_of(model, row.end.call.spec));
        tail_width_ = std::max(tail_width_, text_width(with_tail("", row.tail)));
        row.function = innermost(model.symbols(), model.symbols().stack(call->stack));
        if (with_class_)
            class_width_ = std::max(class_width_, to_string(row.of).size() + 1);
        const ThreadInfo& thread = model.symbols().thread(row.end.thread);
        thread_width_ =
            std::max(thread_width_, text_width(escape_untrusted(thread_text(thread))) + 1);
        rows_.push_back(std::move(row));
    }
    sort();
    moved(model);
    return false;
}

void CallsPane::sort() {
    std::sort(rows_.begin(), rows_.end(), [&](const CallRow& a, const CallRow& b) {
        if (slowest_ && a.end.duration_ns != b.end.duration_ns)
            return a.end.duration_ns > b.end.duration_ns;
        return a.number > b.number;
    });
    std::vector<uint64_t> keys;
    keys.reserve(rows_.size());
    for (const CallRow& row : rows_)
        keys.push_back(row.number);
    set_rows(std::move(keys));
}

// Takes in the call under the cursor, unless it is known already: its record may be gone later.
void CallsPane::moved(const Model& model) {
    const auto number = cursor_.key();
    const uint64_t gone = model.slow_calls_received() - model.slow_calls().size();
    if (!number || *number < gone) {
        if (!number || !details_ || details_->number != *number)
            details_.reset();
        return;
    }
    if (!details_ || details_->number != *number)
        scrolled_ = 0;
    details_ =
        take_details(model, model.slow_calls()[*number - gone], *number, rows_[cursor_.row()].of);
}

Subject CallsPane::subject() const {
    Subject subject;
    if (rows_.empty())
        return subject;
    const CallRow& row = rows_[cursor_.row()];
    subject.probe = row.probe;
    subject.function = row.function;
    if (!details_ || details_->number != row.number)
        return subject;
    const SymbolTables& symbols = model_->symbols();
    const auto stack = symbols.stack(details_->call.stack);
    if (!stack.empty()) // names may have come since the list was made
        subject.function = innermost(symbols, stack);
    const auto callers = stack.subspan(std::min<size_t>(stack.size(), 1));
    symbols.for_each_frame(callers, [&](size_t, const FrameEntry& frame) {
        subject.callers.push_back(frame.function);
        subject.lines.push_back(source_text(symbols, frame));
    });
    return subject;
}

std::string CallsPane::text_of(size_t row) const {
    const ThreadInfo& thread = model_->symbols().thread(rows_[row].end.thread);
    return fmt::format("{} {} {}", call_text(*model_, rows_[row].end.call.spec), thread.comm,
                       thread.tid);
}

bool CallsPane::act(Action action, const Model& model, const Scope& scope,
                    std::vector<Wish>& wishes) {
    if (action == Action::sort) {
        slowest_ = !slowest_;
        sort();
        moved(model);
        return true;
    }
    if (large_) {
        switch (action) {
        case Action::back:
        case Action::enter:
            large_ = false;
            return true;
        case Action::up:
            scrolled_ -= scrolled_ ? 1 : 0;
            return true;
        case Action::down:
            scrolled_++; // drawing knows the end
            return true;
        case Action::left:
        case Action::right:
            return ListPane::act(action == Action::left ? Action::up : Action::down, model, scope,
                                 wishes);
        default:
            break;
        }
    }
    return ListPane::act(action, model, scope, wishes);
}

void CallsPane::open_row(size_t, const Model&, const Scope&, std::vector<Wish>&) {
    large_ = true;
}

size_t CallsPane::draw_head(Area& area) {
    if (rows_.empty()) {
        size_t y = 0;
        if (!model_)
            return area.height();
        y = area.put_lines(y,
                           !filter_.all() || left_out_ ? "No such slow call was traced."
                           : traced_                   ? "No slow call was traced yet."
                                                       : "No function's slow calls are traced.",
                           Style::dim);
        if (left_out_)
            y = area.put_lines(y, fmt::format("{} left out by `only`.", left_out_), Style::dim);
        if (!traced_)
            area.put_lines(y, fmt::format("Press {} on a function in the flame: calls beyond its "
                                          "p99 are then listed here, with stack, values and waits.",
                                          key_name(Action::slow_it)));
        return area.height();
    }
    std::string text =
        fmt::format("{} {}{}, {}", format_count(double(rows_.size())), noun_,
                    rows_.size() == 1 ? "" : "s", slowest_ ? "slowest first" : "newest first");
    if (!cursor_.follows_first())
        text += fmt::format("; {} of {}", cursor_.row() + 1, rows_.size());
    if (left_out_)
        text += fmt::format("; {} left out by `only`", left_out_);
    size_t x = area.put(0, 0, text, Style::dim);
    if (given_up_)
        area.put(x, 0, fmt::format("; {} older ones given up", format_count(double(given_up_))),
                 Style::warning);
    return 1;
}

Area CallsPane::draw_beside(Area body) {
    if (rows_.empty())
        return body.part(0, 0, 0, 0);
    if (large_) {
        draw_details(body);
        return body.part(0, 0, 0, 0);
    }
    if (body.width() >= 120) {
        const size_t list = std::max<size_t>(body.width() * 9 / 20, 62);
        for (size_t y = 0; y < body.height(); y++)
            body.put(list, y, body.unicode() ? "│" : "|", Style::dim);
        Area right = body.part(list + 2, 0, body.width(), body.height());
        draw_details(right);
        return body.part(0, 0, list, body.height());
    }
    if (body.height() >= 10) {
        const size_t list = std::max<size_t>(body.height() * 2 / 5, 4);
        for (size_t x = 0; x < body.width(); x++)
            body.put(x, list, body.unicode() ? "─" : "-", Style::dim);
        Area below = body.part(0, list + 1, body.width(), body.height());
        draw_details(below);
        return body.part(0, 0, body.width(), list);
    }
    return body;
}

void CallsPane::draw_details(Area& area) {
    if (!details_) {
        area.put_lines(0, "This call was given up to make room for newer ones.", Style::dim);
        return;
    }
    const Canvas canvas = draw_call_details(*details_, *model_, area.width(), unicode());
    const size_t most = canvas.height() > area.height() ? canvas.height() - area.height() : 0;
    scrolled_ = std::min(scrolled_, most);
    for (size_t y = 0; y < area.height() && scrolled_ + y < canvas.height(); y++)
        area.put_row(0, y, canvas.row(scrolled_ + y));
    const size_t below = canvas.height() - std::min(canvas.height(), scrolled_ + area.height());
    if (below && area.height() > 1) {
        const std::string more = fmt::format(" {} more {} ", below, below == 1 ? "line" : "lines");
        area.put_right(area.width(), area.height() - 1, more, Style::dim);
    }
}

void CallsPane::draw_row(Area& line, size_t row) const {
    const CallRow& call = rows_[row];
    line.put_right(11, 0, fmt::format("+{:.3f} s", static_cast<double>(call.at_ns) / 1e9),
                   Style::dim);
    if (!call.end.is_hit())
        line.put_right(20, 0, format_duration(static_cast<double>(call.end.duration_ns)),
                       Style::slow);
    const ThreadInfo& thread = model_->symbols().thread(call.end.thread);
    // The probe has what class and thread leave.
    const size_t behind = class_width_ + thread_width_;
    const size_t room = line.width() > 22 ? line.width() - 22 : 0;
    const bool probe_alone = room < behind + least_probe_width + tail_width_;
    const size_t probe =
        probe_alone ? room : std::min(room - behind, most_probe_width + tail_width_);
    const ProbeInfo* timed = model_->find_probe(call.probe);
    line.put(22, 0,
             fit_with_tail(timed ? display_name(timed->text) : probe_text(*model_, call.probe),
                           call.tail, probe, ellipsis(unicode())),
             Style::name);
    if (probe_alone)
        return;
    if (with_class_)
        line.put(22 + probe + 1, 0, to_string(call.of), style_of(call.of));
    line.put(22 + probe + class_width_ + 1, 0, escape_untrusted(thread_text(thread)), Style::dim);
}

} // namespace

std::unique_ptr<Pane> make_calls_pane(const PaneOptions& options) {
    return std::make_unique<CallsPane>(options);
}

} // namespace auger
