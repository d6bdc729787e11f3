// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/list_pane.h"

#include "views/format.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr size_t least_height_for_detail = 6;

} // namespace

std::string ListPane::whole_name(const SymbolTables& symbols, FunctionId function) {
    const std::string& path = symbols.module(symbols.function(function).module).path;
    return fmt::format("{}  {}", symbols.name(function), path.substr(path.rfind('/') + 1));
}

void ListPane::set_rows(std::vector<uint64_t> keys) {
    cursor_.update(std::move(keys));
    // Keys of what is long gone are forgotten now and then.
    if (matches_.size() > 2 * cursor_.rows() + 1000)
        matches_.clear();
}

void ListPane::draw(Canvas& canvas, const Rect& rect, bool focused) {
    list_ = {};
    if (rect.width < 2 || rect.height == 0)
        return;
    Area area(canvas, rect, unicode_);
    size_t head = std::min(draw_head(area), rect.height);
    Area rows = draw_beside(area.part(0, head, rect.width, rect.height - head));
    std::string detail;
    if (focused && cursor_.rows() && rows.height() >= least_height_for_detail)
        detail = detail_of(cursor_.row());
    Area list = rows.part(0, 0, rows.width(), rows.height() - !detail.empty());
    if (!detail.empty())
        rows.put(1, list.height(), detail, Style::name);
    list_ = list.rect();
    top_ = cursor_.top(list.height());
    if (cursor_.rows() > list.height() && list.height() > 0 && list.width() >= 60)
        draw_position(area, head, list.height());
    for (size_t y = 0; y < list.height() && top_ + y < cursor_.rows(); y++) {
        const size_t row = top_ + y;
        Area line = list.part(1, y, list.width() - 1, 1);
        draw_row(line, row);
        const bool here = row == cursor_.row(), match = matches(row);
        // Marked by a character too: not every terminal has backgrounds.
        list.put(0, y, here ? ">" : match ? "*" : " ", Style::title);
        if (here && focused)
            list.fill(0, y, list.width(), Fill::cursor);
        else if (match)
            list.fill(0, y, list.width(), Fill::match);
    }
}

// "2-36 of 180", at the end of the line above the rows.
void ListPane::draw_position(Area& area, size_t head, size_t height) const {
    if (head == 0)
        return;
    const std::string position =
        fmt::format(" {}-{} of {}", top_ + 1, top_ + height, cursor_.rows());
    area.put_right(area.width(), head - 1, position, Style::dim);
}

bool ListPane::act(Action action, const Model& model, const Scope& scope,
                   std::vector<Wish>& wishes) {
    if (action == Action::enter) {
        if (cursor_.rows())
            open_row(cursor_.row(), model, scope, wishes);
        return cursor_.rows() > 0;
    }
    if (action == Action::next_match || action == Action::previous_match) {
        if (!pattern_)
            return false;
        const size_t rows = cursor_.rows();
        for (size_t step = 1; step <= rows; step++) {
            size_t row = action == Action::next_match ? (cursor_.row() + step) % rows
                                                      : (cursor_.row() + rows - step % rows) % rows;
            if (!matches(row))
                continue;
            cursor_.move_to(row);
            moved(model);
            break;
        }
        wishes.push_back({Wish::Kind::tell, found(), {}});
        return true;
    }
    if (!cursor_.act(action, list_.height))
        return false;
    moved(model);
    return true;
}

bool ListPane::click(size_t x, size_t y, bool twice, const Model& model, const Scope& scope,
                     std::vector<Wish>& wishes) {
    if (!list_.contains(x, y) || top_ + (y - list_.y) >= cursor_.rows())
        return false;
    cursor_.move_to(top_ + (y - list_.y));
    moved(model);
    if (twice)
        open_row(cursor_.row(), model, scope, wishes);
    return true;
}

std::string ListPane::search(const std::optional<std::string>& expression, const Model& model) {
    pattern_.reset();
    matches_.clear();
    if (!expression)
        return "";
    Result<Pattern> pattern = Pattern::compile(*expression);
    if (!pattern)
        return pattern.error().message();
    pattern_ = *pattern;
    size_t best = 0;
    auto fit = Pattern::Fit::none; // of it
    for (size_t step = 0, rows = cursor_.rows(); step < rows && fit != Pattern::Fit::whole;
         step++) {
        const size_t row = (cursor_.row() + step) % rows;
        if (!matches(row))
            continue;
        if (const auto one = pattern_->fit_either(text_of(row)); one < fit) {
            best = row;
            fit = one;
        }
    }
    if (fit != Pattern::Fit::none) {
        cursor_.move_to(best);
        moved(model);
    }
    return found();
}

bool ListPane::matches(size_t row) {
    if (!pattern_)
        return false;
    auto [match, is_new] = matches_.try_emplace(cursor_.keys()[row], false);
    if (is_new)
        match->second = pattern_->fit_either(text_of(row)) != Pattern::Fit::none;
    return match->second;
}

std::string ListPane::found() {
    size_t count = 0, before = 0;
    double share = 0;
    for (size_t row = 0; row < cursor_.rows(); row++) {
        if (!matches(row))
            continue;
        count++;
        before += row <= cursor_.row();
        share += share_of(row);
    }
    if (count == 0)
        return "no match";
    std::string text = fmt::format("{} of {}", before, count);
    return share < 0 ? text : text + ", " + format_percent(share);
}

} // namespace auger
