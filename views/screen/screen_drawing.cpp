// SPDX-License-Identifier: GPL-3.0-or-later
// From top to bottom: status, tabs and breadcrumbs, the pane in front, the time strip, hints, the
// command line. What there is no room for goes in the opposite order of need.
#include "views/screen/screen_implementation.h"

#include "views/escape.h"
#include "views/model/function_probe.h"
#include "views/screen/status_line.h"
#include "views/short_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

constexpr size_t strip_rows = 3;
constexpr size_t least_height_for_strip = 18;
constexpr size_t least_height_for_focused_strip = 9;
constexpr size_t least_width_for_tab_names = 100;
constexpr size_t widest_crumb = 40;

std::string_view dots(bool unicode) {
    return unicode ? "…" : "...";
}

} // namespace

Canvas Screen::Implementation::draw(size_t width, size_t height) {
    Canvas canvas(width);
    body_ = strip_area_ = tab_area_ = {};
    tabs_.clear();
    if (width == 0 || height == 0)
        return canvas;
    const size_t bottom = height - 1;
    size_t begin = 0, end = bottom;
    if (height >= 5)
        draw_status_line(canvas, begin++, model_, state_, panes_.shown_sums(), panes_.frozen(),
                         options_.unicode);
    if (height >= 6) {
        tab_area_ = {0, begin, width, 1};
        draw_tabs(canvas, begin++);
    }
    if (height >= 4)
        draw_hints(canvas, --end,
                   pager_ ? pager_hints(pager_->choosing(), pager_->searching())
                          : hints_for(model_, state_, surroundings()));
    const size_t notes_end = end;
    if (!pager_ && panes_.strip_seen() &&
        height >=
            (panes_.strip_focused() ? least_height_for_focused_strip : least_height_for_strip)) {
        end -= strip_rows;
        strip_area_ = {0, end, width, strip_rows};
    }
    body_ = {0, begin, width, end > begin ? end - begin : 0};
    draw_body(canvas);
    if (!note_.fits_line(room_for_note(width)))
        note_.draw(canvas, notes_end);
    draw_bottom(canvas, bottom);
    return canvas;
}

void Screen::Implementation::draw_body(Canvas& canvas) {
    if (pager_)
        return pager_->draw(canvas, body_);
    panes_.pane(panes_.front()).draw(canvas, body_, !panes_.strip_focused());
    if (strip_area_.height)
        panes_.pane(*panes_.strip()).draw(canvas, strip_area_, panes_.strip_focused());
}

Surroundings Screen::Implementation::surroundings() {
    const Subject subject = panes_.focused().subject();
    Surroundings here;
    here.pane = panes_.row(panes_.front()).action;
    here.function = subject.function.has_value();
    here.call = here.pane == Action::calls && subject.probe;
    const ProbeInfo* probe = subject.probe      ? model_.find_probe(*subject.probe)
                             : subject.function ? probe_of(model_, *subject.function)
                                                : nullptr;
    here.timed = probe && !probe->deleted;
    here.site = here.timed && probe->text.find('@') != std::string::npos;
    here.filtered = !panes_.scope().filter.all();
    here.searching = searching_;
    here.frozen = panes_.frozen();
    here.strip = panes_.strip_focused();
    const auto suggested = [&](size_t i) {
        return i < suggested_.size() ? display_name(model_.symbols().name(suggested_[i]))
                                     : std::string();
    };
    here.suggested = suggested(0);
    here.suggested_next = suggested(1);
    return here;
}

void Screen::Implementation::draw_tabs(Canvas& canvas, size_t y) {
    const size_t width = canvas.width();
    size_t x = 0;
    for (size_t i = 0; i < panes_.size(); i++) {
        const bool here = i == panes_.focus();
        std::string text = key_name(panes_.row(i).action);
        if (here || width >= least_width_for_tab_names)
            text += fmt::format(" {}", panes_.row(i).name);
        const size_t end = canvas.put(x, y, here ? "[" + text + "]" : " " + text + " ",
                                      here ? Style::title : Style::dim);
        tabs_.emplace_back(x, end);
        x = end;
    }
    std::vector<std::string> crumbs;
    if (!panes_.scope().filter.all())
        crumbs.push_back(to_string(panes_.scope().filter));
    for (const std::string& crumb : panes_.pane(panes_.front()).crumbs(model_))
        crumbs.push_back(display_name(crumb));
    std::string line;
    for (const std::string& crumb : crumbs)
        line += (options_.unicode ? " › " : " > ") +
                elide_middle(crumb, widest_crumb, dots(options_.unicode));
    const size_t room = width > x + 2 ? width - x - 2 : 0;
    if (room >= 8)
        canvas.put(x, y, elide_middle(escape_untrusted(line), room, dots(options_.unicode)),
                   Style::name);
}

// In the last row, behind the command whose answer it is.
size_t Screen::Implementation::room_for_note(size_t width) const {
    constexpr size_t arrow = 3;
    const size_t taken =
        last_command_.empty() ? 0 : text_width(escape_untrusted(last_command_)) + arrow;
    return width - std::min(width, taken);
}

void Screen::Implementation::draw_bottom(Canvas& canvas, size_t y) {
    if (typing_ == Typing::command)
        return command_line_.draw(canvas, y);
    if (typing_ == Typing::search)
        return search_line_.draw(canvas, y);
    size_t x = 0;
    if (note_.empty()) {
        // The command that answers with what is shown.
        x = canvas.put(x, y, "> ", Style::dim);
        canvas.put(x, y, panes_.focused().command(), Style::dim);
        return;
    }
    if (!last_command_.empty())
        x = canvas.put(x, y, last_command_, Style::dim);
    if (!note_.fits_line(room_for_note(canvas.width())))
        return;
    if (x > 0)
        x = canvas.put(x, y, options_.unicode ? " → " : ": ", Style::dim);
    canvas.put(x, y, note_.line(), note_.failed() ? Style::warning : Style::plain);
}

} // namespace auger
