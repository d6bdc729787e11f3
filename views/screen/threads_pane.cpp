// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/threads_pane.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/model/sample_pass.h"
#include "views/model/thread_sums.h"
#include "views/screen/list_pane.h"
#include "views/screen/pace.h"
#include "views/spell.h"
#include "views/text/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace auger {

namespace {

constexpr double thread_sample_ns = 10;

class ThreadsPane final : public ListPane {
  public:
    explicit ThreadsPane(const PaneOptions& options) : ListPane(options.unicode) {}

    std::string_view name() const override { return "threads"; }
    std::string command() const override {
        return filter_.all() ? "threads" : "threads " + spell_class(filter_);
    }
    bool refresh(const Model& model, const Scope& scope, const TimeSlice& slice) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;

  private:
    enum class Order : uint8_t { time, cpu, blocked, runnable, tid };

    std::string text_of(size_t row) const override {
        return fmt::format("{} {}", rows_[row].comm, rows_[row].tid);
    }
    double share_of(size_t row) const override {
        return whole_.weight_ns > 0 ? rows_[row].sum.weight_ns / whole_.weight_ns : 0;
    }
    size_t draw_head(Area&) override;
    void draw_row(Area&, size_t row) const override;
    void open_row(size_t row, const Model&, const Scope&, std::vector<Wish>&) override;
    void gather(const Model&);
    void sort();

    Pace pace_;
    std::unique_ptr<SamplePass> pass_;
    std::vector<SampleSum> by_thread_; // of the pass; the last is of undefined threads
    Window window_;
    ClassFilter filter_;
    std::vector<ThreadSum> rows_;
    SampleSum whole_;
    double covered_ns_ = 0;
    bool waits_ = false; // some are known
    bool known_ = false;
    Order order_ = Order::time;
};

bool ThreadsPane::refresh(const Model& model, const Scope& scope, const TimeSlice& slice) {
    const bool due =
        pace_.due(model, scope, thread_sample_ns * static_cast<double>(model.samples().size()));
    if (due && (!pass_ || pace_.other())) {
        pass_ = std::make_unique<SamplePass>(model, scope.window, scope.filter);
        by_thread_.assign(model.symbols().threads() + 1, {});
        window_ = scope.window;
        filter_ = scope.filter;
    }
    if (!pass_)
        return false;
    const SampleStore& samples = model.samples();
    const auto add = [&](size_t i, CallClass, double factor) {
        const size_t thread = std::min(samples.threads()[i].index(), by_thread_.size() - 1);
        by_thread_[thread] += sample_sum(samples, i, factor);
    };
    if (work_in(slice, [&] { return pass_->work(samples_a_step, add); }))
        return true;
    gather(model);
    return false;
}

void ThreadsPane::gather(const Model& model) {
    covered_ns_ = covered_ns(model, window_, pass_->now_ns());
    pass_.reset();
    known_ = true;
    rows_ = merge_threads(model, by_thread_);
    whole_ = {};
    for (const ThreadSum& row : rows_)
        whole_ += row.sum;
    waits_ = whole_.blocked_ns + whole_.runnable_ns > 0;
    sort();
}

void ThreadsPane::sort() {
    auto value = [&](const ThreadSum& row) {
        switch (order_) {
        case Order::cpu:
            return row.sum.cpu_ns();
        case Order::blocked:
            return row.sum.blocked_ns;
        case Order::runnable:
            return row.sum.runnable_ns;
        case Order::tid:
            return -static_cast<double>(row.tid);
        case Order::time:
            break;
        }
        return row.sum.weight_ns;
    };
    std::sort(rows_.begin(), rows_.end(), [&](const ThreadSum& a, const ThreadSum& b) {
        const double x = value(a), y = value(b);
        return x != y ? x > y
                      : std::tie(a.machine, a.pid, a.tid) < std::tie(b.machine, b.pid, b.tid);
    });
    std::vector<uint64_t> keys;
    for (const ThreadSum& row : rows_)
        keys.push_back(uint64_t{row.machine.value} << 48 | uint64_t{row.pid} << 24 | row.tid);
    set_rows(std::move(keys));
}

bool ThreadsPane::act(Action action, const Model& model, const Scope& scope,
                      std::vector<Wish>& wishes) {
    switch (action) {
    case Action::sort:
        order_ = order_ == Order::tid ? Order::time : static_cast<Order>(uint8_t(order_) + 1);
        if (!waits_ && order_ == Order::cpu) // all time is that
            order_ = Order::tid;
        sort();
        return true;
    case Action::only_this:
        return ListPane::act(Action::enter, model, scope, wishes);
    default:
        return ListPane::act(action, model, scope, wishes);
    }
}

// The one that is filtered for already: everything again.
void ThreadsPane::open_row(size_t row, const Model&, const Scope& scope,
                           std::vector<Wish>& wishes) {
    const std::string thread = fmt::format("tid {}", rows_[row].tid);
    wishes.push_back(
        {Wish::Kind::run, scope.threads == thread ? "filter tid off" : "filter " + thread, {}});
}

size_t ThreadsPane::draw_head(Area& area) {
    if (rows_.empty()) {
        area.put_lines(0, known_ ? "No samples." : "Looking ...", Style::dim);
        return area.height();
    }
    auto style = [&](Order order) { return order_ == order ? Style::title : Style::dim; };
    area.put_right(8, 0, "tid", style(Order::tid));
    size_t x = 8;
    auto column = [&](const char* text, Order order) {
        x += 9;
        area.put_right(x, 0, text, style(order));
    };
    // Of a thread's elapsed time, as htop counts: a thread that always runs has 100 %.
    column("cpu", waits_ ? Order::cpu : Order::time);
    if (waits_) {
        column("blocked", Order::blocked);
        if (area.width() >= 56)
            column("runnable", Order::runnable);
    }
    if (area.width() >= 72) {
        area.put_right(x + 11, 0, "samples", Style::dim);
        area.put_right(x + 22, 0, "rate", Style::dim);
        x += 22;
    }
    area.put(x + 2, 0, "thread", Style::dim);
    return 1;
}

void ThreadsPane::draw_row(Area& line, size_t row) const {
    const ThreadSum& thread = rows_[row];
    auto share = [&](double ns) { return format_percent(covered_ns_ > 0 ? ns / covered_ns_ : 0); };
    line.put_right(7, 0, std::to_string(thread.tid), Style::dim);
    size_t x = 7;
    auto column = [&](double ns, Style style) {
        x += 9;
        if (ns > 0)
            line.put_right(x, 0, share(ns), style);
    };
    column(thread.sum.cpu_ns(), Style::number);
    if (waits_) {
        column(thread.sum.blocked_ns, Style::plain);
        if (line.width() >= 55)
            column(thread.sum.runnable_ns, Style::plain);
    }
    if (line.width() >= 71) {
        line.put_right(x + 11, 0, format_count(thread.sum.samples));
        line.put_right(x + 22, 0,
                       format_rate(covered_ns_ > 0 ? thread.sum.samples / (covered_ns_ / 1e9) : 0));
        x += 22;
    }
    const size_t names = line.width() >= 95 ? 17 : line.width();
    line.put_name(x + 2, 0, thread.comm, names, Style::name);
    if (line.width() < 95 || whole_.weight_ns <= 0)
        return;
    // Beside each other: what the time of the busiest was spent on.
    double most = 0;
    for (const ThreadSum& other : rows_)
        most = std::max(most, other.sum.weight_ns);
    x += 2 + names + 1;
    const size_t room = line.width() > x ? line.width() - x : 0;
    struct Part {
        double ns;
        Fill fill;
        char letter;
    };
    double before = 0;
    for (const Part& part : {Part{thread.sum.cpu_ns(), Fill::cpu, 'c'},
                             Part{thread.sum.blocked_ns, Fill::blocked, 'b'},
                             Part{thread.sum.runnable_ns, Fill::runnable, 'r'}}) {
        auto cell = [&](double ns) {
            return static_cast<size_t>(std::lround(ns / most * static_cast<double>(room)));
        };
        const size_t begin = cell(before), end = cell(before + part.ns);
        for (size_t i = begin; i < end; i++)
            line.put(x + i, 0, i == begin ? std::string(1, part.letter) : " ", Style::dim,
                     part.fill);
        before += part.ns;
    }
}

} // namespace

std::unique_ptr<Pane> make_threads_pane(const PaneOptions& options) {
    return std::make_unique<ThreadsPane>(options);
}

} // namespace auger
