// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_pane.h"

#include "views/format.h"
#include "views/model/flame_stream.h"
#include "views/screen/flame_boxes.h"
#include "views/screen/flame_cursor.h"
#include "views/screen/flame_details.h"
#include "views/screen/flame_picture.h"
#include "views/screen/flame_search.h"
#include "views/screen/zoom_text.h"
#include "views/spell.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

constexpr size_t many_frames = 50'000;
constexpr size_t looks_at_once = 50'000; // for an answer to a key: a few milliseconds
constexpr size_t looks_a_step = 10'000;
constexpr uint64_t a_while_ns = 1'000'000'000;

class FlamePane final : public Pane {
  public:
    explicit FlamePane(const PaneOptions& options) { picture_.unicode = options.unicode; }

    std::string_view name() const override { return "flame"; }
    std::string command() const override;
    bool refresh(const Model&, const Scope&, const TimeSlice&) override;
    void draw(Canvas&, const Rect&, bool focused) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    bool click(size_t x, size_t y, bool twice, const Model&, const Scope&,
               std::vector<Wish>&) override;
    std::string search(const std::optional<std::string>&, const Model&) override;
    Subject subject() const override { return {cursor_.function(), cursor_.callers(), {}, {}}; }
    std::optional<ClassSums> shown_sums() const override { return tree().classes(); }
    std::vector<std::string> crumbs(const Model& model) const override {
        return cursor_.zoom_names(model);
    }
    bool turn_to(FunctionId, Action, const Model&) override;

  private:
    const FlameTree& tree() const { return stream_.tree(); }
    void lay_out();
    void spell_zoom();
    void move_down();
    void move_beside(bool right);
    bool search_on(size_t looks);
    void draw_details(Canvas&, const Rect&, uint32_t box);
    FlameColours colours() const { return effective(colours_, *model_, tree().total()); }

    const Model* model_ = nullptr; // of the last refresh; outlives the pane
    Scope scope_;
    FlameStream stream_;
    FlameCursor cursor_;
    FlameSearch search_;
    FlameColours colours_ = FlameColours::automatic;
    Weight weight_ = Weight::time;
    FrameChoice frames_ = FrameChoice::all;

    FlameBoxes boxes_; // never empty once laid out
    bool laid_out_ = false;
    bool folding_ = false; // the tree is not yet all that there is
    FlamePicture picture_;
    // Of the function under the cursor.
    FunctionSource source_;
    std::optional<FunctionId> source_function_;
    uint64_t sourced_ns_ = 0;
    uint64_t searched_ns_ = 0;
    FlamePath spelled_zoom_;
    std::string zoom_text_; // as a command has it
    uint64_t spelled_ns_ = 0;
    bool searching_ = false;
};

std::string FlamePane::command() const {
    std::string text = "flame";
    if (!scope_.filter.all())
        text += " " + to_string(scope_.filter);
    if (scope_.by != GroupBy::process)
        text += fmt::format(" by {}", scope_.by.name());
    if (!zoom_text_.empty())
        text += " under " + spell_word(zoom_text_);
    if (frames_ != FrameChoice::all)
        text += fmt::format(" --{}", name_of(frames_));
    return text;
}

// Looks at the whole tree, so only now and then.
void FlamePane::spell_zoom() {
    const FlamePath zoomed = cursor_.zoom_path();
    if (zoomed == spelled_zoom_ && model_->now_ns() - spelled_ns_ < a_while_ns)
        return;
    zoom_text_ = zoomed.label ? zoom_text(*model_, tree(), zoomed) : std::string();
    spelled_zoom_ = zoomed;
    spelled_ns_ = model_->now_ns();
}

bool FlamePane::refresh(const Model& model, const Scope& scope, const TimeSlice& slice) {
    model_ = &model;
    if (scope.by != scope_.by)
        cursor_ = {};
    scope_ = scope;
    const bool more = work_in(slice, [&] {
        return stream_.refresh(model, {scope.window, scope.filter, scope.by, frames_});
    });
    folding_ = more;
    cursor_.resolve(tree(), model.symbols());
    spell_zoom();
    // Of a large tree only now and then.
    if (!searching_ &&
        (tree().frames() < many_frames || model.now_ns() - searched_ns_ > a_while_ns)) {
        search_.sweep_again();
        searched_ns_ = model.now_ns();
    }
    searching_ = work_in(slice, [&] { return search_on(looks_a_step); });
    laid_out_ = false;
    return more || searching_;
}

// Returns whether more is left. The cursor goes along when a match has been found.
bool FlamePane::search_on(size_t looks) {
    const bool more = search_.work(
        {*model_, tree(), stream_.generation(), cursor_.zoom_node(), weight_, cursor_.node()},
        looks);
    if (const auto match = search_.arrived()) {
        cursor_.move_to(tree(), model_->symbols(), *match);
        laid_out_ = false;
    }
    return more;
}

// Boxes name nodes of the tree as it is: after each change they are laid out anew before use.
void FlamePane::lay_out() {
    if (laid_out_ || !model_)
        return;
    boxes_ =
        lay_out_boxes(*model_, tree(), cursor_.zoom_node(),
                      static_cast<uint32_t>(std::max<size_t>(picture_.area().width, 1)), weight_);
    laid_out_ = true;
}

void FlamePane::draw(Canvas& canvas, const Rect& rect, bool focused) {
    const size_t details = rect.height >= 7 ? 2 : rect.height >= 3 ? 1 : 0;
    const Rect area{rect.x, rect.y, rect.width, rect.height - details};
    picture_.place(area);
    laid_out_ = false;
    if (!model_ || area.height == 0 || area.width == 0)
        return;
    if (tree().total().samples <= 0) {
        canvas.put(rect.x, rect.y,
                   folding_ ? fmt::format("Looking at {} samples ...",
                                          format_count(double(model_->samples().size())))
                   : scope_.filter.all()
                       ? "No samples yet."
                       : fmt::format("No samples of {}.", to_string(scope_.filter)),
                   Style::dim);
        return;
    }
    lay_out();
    const uint32_t at = boxes_.showing(tree(), cursor_.node());
    picture_.scroll_to(boxes_, at);
    picture_.draw(canvas, *model_, tree(), boxes_, search_, colours(), weight_,
                  focused ? at : no_node);
    if (details)
        draw_details(canvas, {rect.x, rect.y + area.height, rect.width, details}, at);
}

void FlamePane::draw_details(Canvas& canvas, const Rect& rect, uint32_t box) {
    FlameDetails details;
    details.name = cursor_.name(*model_);
    if (const auto function = cursor_.function()) {
        const SymbolTables& symbols = model_->symbols();
        details.module = symbols.module(symbols.function(*function).module).path;
        // Lines come after names, and looking for them takes a while.
        if (*function != source_function_ ||
            (source_.line == 0 && model_->now_ns() - sourced_ns_ > a_while_ns)) {
            source_ = source_of(symbols, *function);
            source_function_ = *function;
            sourced_ns_ = model_->now_ns();
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
    details.frames = frames_;
    details.search = search_.text();
    draw_flame_details(canvas, rect, *model_, details);
}

bool FlamePane::act(Action action, const Model& model, const Scope&, std::vector<Wish>&) {
    if (!model_)
        return false;
    lay_out();
    search_.jump(FlameSearch::Jump::none); // whoever presses another key does not wait for it
    const bool screen_up = action == Action::up || action == Action::page_up;
    switch (action) {
    case Action::up:
    case Action::down:
    case Action::page_up:
    case Action::page_down: {
        const bool page = action == Action::page_up || action == Action::page_down;
        for (size_t i = 0; i < (page ? std::max<size_t>(picture_.area().height, 1) : 1); i++) {
            if (screen_up == picture_.upwards)
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
        picture_.scroll_to_root();
        break;
    case Action::back:
        if (!cursor_.zoom_out())
            return false;
        break;
    case Action::reset:
        cursor_ = {};
        picture_.scroll_to_root();
        break;
    case Action::next_match:
        search_.jump(FlameSearch::Jump::next);
        break;
    case Action::previous_match:
        search_.jump(FlameSearch::Jump::previous);
        break;
    case Action::colour_by:
        colours_ = next_after(effective(colours_, model, tree().total()));
        break;
    case Action::frames:
        frames_ = next_after(frames_);
        break;
    case Action::direction:
        picture_.upwards = !picture_.upwards;
        break;
    case Action::weigh_by:
        weight_ = weight_ == Weight::time ? Weight::samples : Weight::time;
        break;
    default:
        return false;
    }
    cursor_.resolve(tree(), model.symbols());
    spell_zoom();
    searching_ = search_on(looks_at_once);
    laid_out_ = false;
    return true;
}

// To the child that was left last, else to the widest.
void FlamePane::move_down() {
    if (cursor_.to_known_child(tree(), model_->symbols()))
        return;
    if (const uint32_t widest = widest_child(tree(), cursor_.node(), weight_))
        cursor_.move_to(tree(), model_->symbols(), widest);
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
            cursor_.move_to(tree(), model_->symbols(), box.node);
            return;
        }
    }
}

// To where most of its time is, in slow calls if there are any, when another pane asks for it;
// merely coming back does not move.
bool FlamePane::turn_to(FunctionId function, Action action, const Model&) {
    if (action != Action::enter)
        return false;
    uint32_t heaviest = 0;
    std::pair<double, double> most;
    for (uint32_t i = 1; i < tree().nodes.size(); i++) {
        const FlameNode& node = tree().nodes[i];
        if (!node.held || node.depth < 2 || node.function != function)
            continue;
        const std::pair weight(tree().classes(i)[CallClass::slow].weight_ns, tree().weight_ns(i));
        if (!heaviest || weight > most) {
            heaviest = i;
            most = weight;
        }
    }
    if (!heaviest)
        return false;
    cursor_.move_to(tree(), model_->symbols(), heaviest);
    laid_out_ = false;
    return true;
}

bool FlamePane::click(size_t x, size_t y, bool twice, const Model& model, const Scope& scope,
                      std::vector<Wish>& wishes) {
    if (!model_)
        return false;
    lay_out();
    const uint32_t box = picture_.box_at(boxes_, x, y);
    if (box == no_node || boxes_.boxes[box].node == no_node)
        return false;
    cursor_.move_to(tree(), model_->symbols(), boxes_.boxes[box].node);
    laid_out_ = false;
    return !twice || act(Action::enter, model, scope, wishes);
}

std::string FlamePane::search(const std::optional<std::string>& expression, const Model& model) {
    std::string failure = search_.start(expression);
    if (!failure.empty() || !expression)
        return failure;
    model_ = &model;
    // Whoever stands on a frame of just this name stays there.
    if (!search_.found_whole(model, tree(), cursor_.node()))
        search_.jump(FlameSearch::Jump::best);
    searching_ = search_on(looks_at_once);
    return search_.text();
}

} // namespace

std::unique_ptr<Pane> make_flame_pane(const PaneOptions& options) {
    return std::make_unique<FlamePane>(options);
}

} // namespace auger
