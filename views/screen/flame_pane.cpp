// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_pane.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/model/flame_stream.h"
#include "views/screen/flame_boxes.h"
#include "views/screen/flame_cursor.h"
#include "views/screen/flame_details.h"
#include "views/screen/flame_search.h"
#include "views/short_name.h"
#include "views/spell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace auger {

namespace {

class FlamePane final : public Pane {
  public:
    explicit FlamePane(const PaneOptions& options) : options_(options) {}

    std::string_view name() const override { return "flame"; }
    std::string command() const override;
    bool refresh(const Model&, const Scope&) override;
    void draw(Canvas&, const Rect&, bool focused) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    bool click(size_t x, size_t y, bool twice, const Model&, const Scope&,
               std::vector<Wish>&) override;
    std::string search(const std::optional<std::string>&, const Model&) override;
    std::optional<FunctionId> selected() const override { return cursor_.function(); }
    std::optional<ClassSums> shown_sums() const override { return tree().classes(); }
    std::vector<std::string> crumbs(const Model& model) const override {
        return cursor_.zoom_names(model);
    }

  private:
    const FlameTree& tree() const { return stream_.tree(); }
    void lay_out();
    void move_down();
    void move_beside(bool right);
    void move_to_match(bool forward);
    size_t row_of_screen(size_t y) const;
    size_t screen_of_row(size_t row) const;
    void scroll_to(uint32_t box);
    void draw_box(Canvas&, const FlameCells&, bool cursor);
    void draw_fills(Canvas&, const FlameCells&, size_t x, size_t y);
    void draw_details(Canvas&, const Rect&, uint32_t box);
    std::string box_text(const FlameCells&) const;
    FlameColours colours() const;

    PaneOptions options_;
    const Model* model_ = nullptr; // of the last refresh; outlives the pane
    Scope scope_;
    FlameStream stream_;
    FlameCursor cursor_;
    FlameSearch search_;
    FlameColours colours_ = FlameColours::automatic;
    Weight weight_ = Weight::time;
    bool upwards_ = false; // the root at the bottom

    FlameBoxes boxes_; // never empty once laid out
    bool laid_out_ = false;
    // As drawn last.
    Rect area_;      // of the boxes
    size_t top_ = 0; // the layout's first row that is shown
    // Of the function under the cursor, looked up when it or the names change.
    FunctionSource source_;
    std::optional<FunctionId> source_function_;
    uint64_t source_version_ = 0;
};

std::string FlamePane::command() const {
    std::string text = "flame";
    if (!scope_.filter.all())
        text += " " + to_string(scope_.filter);
    if (scope_.by != GroupBy::process)
        text += fmt::format(" by {}", group_names[static_cast<size_t>(scope_.by)]);
    if (model_) {
        if (const auto zoomed = cursor_.zoom_names(*model_); !zoomed.empty())
            text += " under " + spell_word(zoomed.back());
    }
    return text;
}

bool FlamePane::refresh(const Model& model, const Scope& scope) {
    model_ = &model;
    if (scope.by != scope_.by)
        cursor_ = {};
    scope_ = scope;
    const bool more = stream_.refresh(model, {scope.window, scope.filter, scope.by});
    cursor_.resolve(tree());
    search_.update(model, tree(), cursor_.zoom_node(), weight_);
    laid_out_ = false;
    return more;
}

size_t FlamePane::screen_of_row(size_t row) const {
    return upwards_ ? area_.y + area_.height - 1 - (row - top_) : area_.y + (row - top_);
}

size_t FlamePane::row_of_screen(size_t y) const {
    return top_ + (upwards_ ? area_.y + area_.height - 1 - y : y - area_.y);
}

void FlamePane::scroll_to(uint32_t box) {
    const size_t row = boxes_.boxes[box].row;
    if (row < top_)
        top_ = row;
    if (row >= top_ + area_.height)
        top_ = row - area_.height + 1;
    top_ = std::min(top_, boxes_.rows > area_.height ? boxes_.rows - area_.height : 0);
}

// Boxes name nodes of the tree as it is: after each change they are laid out anew before use.
void FlamePane::lay_out() {
    if (laid_out_ || !model_)
        return;
    boxes_ = lay_out_boxes(*model_, tree(), cursor_.zoom_node(),
                           static_cast<uint32_t>(std::max<size_t>(area_.width, 1)), weight_);
    laid_out_ = true;
}

void FlamePane::draw(Canvas& canvas, const Rect& rect, bool focused) {
    const size_t details = rect.height >= 7 ? 2 : rect.height >= 3 ? 1 : 0;
    area_ = rect;
    area_.height -= details;
    laid_out_ = false;
    if (!model_ || area_.height == 0)
        return;
    if (tree().total().samples <= 0) {
        canvas.put(rect.x, rect.y,
                   scope_.filter.all() ? "No samples yet."
                                       : fmt::format("No samples of {}.", to_string(scope_.filter)),
                   Style::dim);
        return;
    }
    lay_out();
    const uint32_t at = boxes_.showing(tree(), cursor_.node());
    scroll_to(at);
    for (uint32_t i = 0; i < boxes_.boxes.size(); i++) {
        const FlameCells& box = boxes_.boxes[i];
        if (box.row >= top_ && box.row < top_ + area_.height)
            draw_box(canvas, box, focused && i == at);
    }
    if (details)
        draw_details(canvas, {rect.x, rect.y + area_.height, rect.width, details}, at);
}

void FlamePane::draw_details(Canvas& canvas, const Rect& rect, uint32_t box) {
    FlameDetails details;
    details.name = cursor_.name(*model_);
    if (const auto function = cursor_.function()) {
        const SymbolTables& symbols = model_->symbols();
        details.module = symbols.module(symbols.function(*function).module).path;
        if (*function != source_function_ || symbols.names_version() != source_version_) {
            source_ = source_of(symbols, *function);
            source_function_ = *function;
            source_version_ = symbols.names_version();
        }
        details.source = source_;
    }
    if (cursor_.present())
        details.total = tree().classes(cursor_.node());
    details.self = tree().self(cursor_.node());
    details.zoom = tree().total(cursor_.zoom_node());
    details.all = tree().total();
    details.narrow = boxes_.boxes[box].narrow;
    details.weight = weight_;
    details.colours = colours();
    details.split = model_->split().active;
    details.search = search_.text();
    draw_flame_details(canvas, rect, *model_, details);
}

FlameColours FlamePane::colours() const {
    return effective(colours_, *model_, tree().total());
}

void FlamePane::draw_fills(Canvas& canvas, const FlameCells& box, size_t x, size_t y) {
    if (box.node == no_node) {
        canvas.fill(x, y, box.width, Fill::outside);
        return;
    }
    double before = 0;
    for (const auto& [fill, share] : fills_of(*model_, tree(), box.node, colours())) {
        const auto begin = static_cast<size_t>(std::lround(before * box.width));
        before += share;
        const auto end = std::min<size_t>(box.width, std::lround(before * box.width));
        canvas.fill(x + begin, y, end - std::min(begin, end), fill);
    }
}

void FlamePane::draw_box(Canvas& canvas, const FlameCells& box, bool cursor) {
    const size_t x = area_.x + box.x, y = screen_of_row(box.row);
    const bool match = box.node != no_node && search_.matches(*model_, tree(), box.node);
    const Style style = cursor || match ? Style::title : Style::plain;
    // The left edge tells boxes apart without colours, too.
    std::string_view edge = cursor ? ">" : match ? "*" : options_.unicode ? "▏" : "|";
    canvas.put(x, y, edge, style);
    if (box.width > 1)
        canvas.put(x + 1, y,
                   elide_middle(box_text(box), box.width - 1, options_.unicode ? "…" : ".."),
                   style);
    if (cursor || match)
        canvas.fill(x, y, box.width, cursor ? Fill::cursor : Fill::match);
    else
        draw_fills(canvas, box, x, y);
}

std::string FlamePane::box_text(const FlameCells& box) const {
    if (box.node != no_node)
        return display_name(node_name(*model_, tree(), tree().nodes[box.node]));
    const double whole = weight_of(tree().total(), weight_);
    return fmt::format("+ {} frame{}, {}", box.merged, box.merged == 1 ? "" : "s",
                       format_percent(weight_of(box.sum, weight_) / whole));
}

bool FlamePane::act(Action action, const Model& model, const Scope&, std::vector<Wish>&) {
    if (!model_)
        return false;
    lay_out();
    const bool screen_up = action == Action::up || action == Action::page_up;
    switch (action) {
    case Action::up:
    case Action::down:
    case Action::page_up:
    case Action::page_down: {
        const bool page = action == Action::page_up || action == Action::page_down;
        for (size_t i = 0; i < (page ? std::max<size_t>(area_.height, 1) : 1); i++) {
            if (screen_up == upwards_)
                move_down();
            else
                cursor_.to_parent();
        }
        break;
    }
    case Action::left:
        move_beside(false);
        break;
    case Action::right:
        move_beside(true);
        break;
    case Action::first:
        cursor_.to_zoom();
        break;
    case Action::last:
        for (size_t i = 0; i < boxes_.rows; i++)
            move_down();
        break;
    case Action::enter:
        cursor_.zoom_in();
        top_ = 0;
        break;
    case Action::back:
        if (!cursor_.zoom_out())
            return false;
        break;
    case Action::reset:
        cursor_ = {};
        top_ = 0;
        break;
    case Action::next_match:
        move_to_match(true);
        break;
    case Action::previous_match:
        move_to_match(false);
        break;
    case Action::colour_by:
        colours_ = next_after(effective(colours_, model, tree().total()));
        break;
    case Action::direction:
        upwards_ = !upwards_;
        break;
    case Action::weigh_by:
        weight_ = weight_ == Weight::time ? Weight::samples : Weight::time;
        break;
    default:
        return false;
    }
    cursor_.resolve(tree());
    search_.update(model, tree(), cursor_.zoom_node(), weight_);
    laid_out_ = false;
    return true;
}

// To the child that was left last, else to the widest.
void FlamePane::move_down() {
    if (cursor_.to_known_child(tree()))
        return;
    const uint32_t from = cursor_.node();
    uint32_t widest = 0;
    double most = 0;
    for (uint32_t c = tree().nodes[from].first_child; c; c = tree().nodes[c].next_sibling) {
        const double weight = weight_of(tree().total(c), weight_);
        if (weight > most) {
            most = weight;
            widest = c;
        }
    }
    if (widest)
        cursor_.move_to(tree(), widest);
}

// To the next frame of the same row, within the parent first.
void FlamePane::move_beside(bool right) {
    const uint32_t at = boxes_.showing(tree(), cursor_.node());
    const uint32_t row = boxes_.boxes[at].row;
    for (size_t i = at; right ? ++i < boxes_.boxes.size() : i-- > 0;) {
        const FlameCells& box = boxes_.boxes[i];
        if (box.row != row)
            return;
        if (box.node != no_node) {
            cursor_.move_to(tree(), box.node);
            return;
        }
    }
}

void FlamePane::move_to_match(bool forward) {
    if (const auto node = search_.step(tree(), cursor_.node(), forward))
        cursor_.move_to(tree(), *node);
}

bool FlamePane::click(size_t x, size_t y, bool twice, const Model& model, const Scope& scope,
                      std::vector<Wish>& wishes) {
    if (!model_ || !area_.contains(x, y))
        return false;
    lay_out();
    const size_t row = row_of_screen(y);
    for (const FlameCells& box : boxes_.boxes) {
        if (box.row != row || x < area_.x + box.x || x >= area_.x + box.x + box.width)
            continue;
        if (box.node == no_node)
            return false;
        cursor_.move_to(tree(), box.node);
        return !twice || act(Action::enter, model, scope, wishes);
    }
    return false;
}

std::string FlamePane::search(const std::optional<std::string>& expression, const Model& model) {
    std::string failure = search_.start(expression);
    if (!failure.empty() || !expression)
        return failure;
    search_.update(model, tree(), cursor_.zoom_node(), weight_);
    if (!search_.matches(model, tree(), cursor_.node()))
        move_to_match(true);
    return search_.text();
}

} // namespace

std::unique_ptr<Pane> make_flame_pane(const PaneOptions& options) {
    return std::make_unique<FlamePane>(options);
}

} // namespace auger
