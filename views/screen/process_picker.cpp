// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/process_picker.h"

#include "views/escape.h"
#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

constexpr size_t longest_filter = 100; // bytes

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool holds(std::string_view text, std::string_view part) {
    return !std::ranges::search(text, part, {}, lower, lower).empty() || part.empty();
}

bool fits(const ProcessActivity& activity, const std::string& filter) {
    return holds(activity.comm, filter) || holds(activity.command, filter) ||
           holds(activity.user, filter) || std::to_string(activity.pid).starts_with(filter);
}

struct Column {
    size_t right; // where its figures end
    std::string_view title;
};
constexpr Column pid_column{8, "PID"}, cpu_column{27, "CPU %"}, waits_column{36, "waits/s"},
    threads_column{45, "threads"};
constexpr size_t user_at = 10, name_at = 47, command_at = 64;

} // namespace

void ProcessPicker::update(std::vector<ProcessActivity> activities) {
    all_ = std::move(activities);
    list();
}

void ProcessPicker::list() {
    shown_.clear();
    for (size_t i = 0; i < all_.size(); ++i)
        if (fits(all_[i], filter_))
            shown_.push_back(i);
    const auto figure = [&](size_t i) {
        return order_ == Order::cpus ? all_[i].cpus : all_[i].waits_a_second;
    };
    std::ranges::stable_sort(shown_, [&](size_t a, size_t b) { return figure(a) > figure(b); });
    std::vector<uint64_t> keys;
    for (const size_t i : shown_)
        keys.push_back(static_cast<uint64_t>(all_[i].pid));
    cursor_.update(std::move(keys));
}

const ProcessActivity* ProcessPicker::chosen() const {
    return cursor_.row() < shown_.size() ? &all_[shown_[cursor_.row()]] : nullptr;
}

ProcessPicker::Outcome ProcessPicker::press(const Key& key) {
    using Code = Key::Code;
    const auto refilter = [&] {
        cursor_ = ListCursor(true);
        list();
        return Outcome::choosing;
    };
    switch (key.code) {
    case Code::character:
        if (key.control)
            return key.character == 'c' || key.character == 'd' ? Outcome::left : Outcome::choosing;
        if (key.character < 0x20 || key.character == 0x7f || filter_.size() >= longest_filter)
            return Outcome::choosing;
        append_utf8(filter_, key.character);
        return refilter();
    case Code::backspace:
        while (!filter_.empty() && (static_cast<unsigned char>(filter_.back()) & 0xc0) == 0x80)
            filter_.pop_back();
        if (!filter_.empty())
            filter_.pop_back();
        return refilter();
    case Code::escape:
        if (filter_.empty())
            return Outcome::left;
        filter_.clear();
        return refilter();
    case Code::tab:
        order_ = order_ == Order::cpus ? Order::waits : Order::cpus;
        return refilter();
    case Code::enter:
        return key.pasted || !chosen() ? Outcome::choosing : Outcome::chosen;
    case Code::up:
    case Code::wheel_up:
        cursor_.act(Action::up, page_);
        break;
    case Code::down:
    case Code::wheel_down:
        cursor_.act(Action::down, page_);
        break;
    case Code::page_up:
        cursor_.act(Action::page_up, page_);
        break;
    case Code::page_down:
        cursor_.act(Action::page_down, page_);
        break;
    case Code::home:
        cursor_.act(Action::first, page_);
        break;
    case Code::end:
        cursor_.act(Action::last, page_);
        break;
    default:
        break;
    }
    return Outcome::choosing;
}

void ProcessPicker::draw_row(Canvas& canvas, size_t y, const ProcessActivity& activity,
                             bool under_cursor) {
    if (under_cursor)
        canvas.fill(0, y, canvas.width(), Fill::cursor);
    canvas.put_right(pid_column.right, y, std::to_string(activity.pid));
    canvas.put(user_at, y, elide_middle(escape_untrusted(activity.user), 10), Style::dim);
    canvas.put_right(cpu_column.right, y, fmt::format("{:.1f}", activity.cpus * 100),
                     order_ == Order::cpus ? Style::number : Style::plain);
    canvas.put_right(waits_column.right, y, format_count(activity.waits_a_second),
                     order_ == Order::waits ? Style::number : Style::plain);
    canvas.put_right(threads_column.right, y, std::to_string(activity.threads));
    canvas.put(name_at, y, activity.comm, Style::name);
    canvas.put(command_at, y, activity.command, Style::dim);
}

Canvas ProcessPicker::draw(size_t width, size_t height) {
    Canvas canvas(width);
    canvas.fill(0, 0, width, Fill::bar);
    canvas.put(1, 0, "Which process?", Style::title, Fill::bar);
    for (const Column& column : {pid_column, cpu_column, waits_column, threads_column})
        canvas.put_right(column.right, 1, column.title, Style::dim);
    canvas.put(user_at, 1, "user", Style::dim);
    canvas.put(name_at, 1, "name", Style::dim);
    canvas.put(command_at, 1, "command", Style::dim);
    constexpr size_t first_row = 2, below = 2;
    page_ = std::max<size_t>(1, height > first_row + below ? height - first_row - below : 1);
    const size_t top = cursor_.top(page_);
    for (size_t i = 0; i < page_ && top + i < shown_.size(); ++i)
        draw_row(canvas, first_row + i, all_[shown_[top + i]], top + i == cursor_.row());
    if (height < first_row + below)
        return canvas;
    canvas.put(1, height - 2,
               filter_.empty() ? fmt::format("{} processes; type to filter them", shown_.size())
                               : fmt::format("{} of {} processes: {}", shown_.size(), all_.size(),
                                             escape_untrusted(filter_)));
    canvas.put(1, height - 1,
               fmt::format("Enter observe it   Tab order by {}   Esc {}",
                           order_ == Order::cpus ? "waits" : "CPU time",
                           filter_.empty() ? "prompt" : "no filter"),
               Style::dim);
    return canvas;
}

} // namespace auger
