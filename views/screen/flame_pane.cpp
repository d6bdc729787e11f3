// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/flame_pane.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/screen/flame_boxes.h"
#include "views/screen/search_pattern.h"
#include "views/short_name.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace auger {

namespace {

// A node's name on its way from the root: of the first a label, of the others functions.
struct Step {
    std::string label;
    FunctionId function{};
    friend bool operator==(const Step&, const Step&) = default;
};
using Path = std::vector<Step>;

enum class Colours : uint8_t { time, modules, classes };

class FlamePane final : public Pane {
  public:
    explicit FlamePane(const PaneOptions& options) : options_(options) { tree_.nodes.resize(1); }

    std::string_view name() const override { return "flame"; }
    std::string command() const override {
        std::string text = "flame";
        if (!scope_.filter.all())
            text += " " + to_string(scope_.filter);
        if (scope_.by != GroupBy::process)
            text += fmt::format(" by {}", group_names[static_cast<size_t>(scope_.by)]);
        return text;
    }

    bool refresh(const Model& model, const Scope& scope) override {
        scope_ = scope;
        tree_ = fold(model, scope.window, scope.filter, scope.by);
        return false;
    }

    void draw(Canvas&, const Rect&, bool focused) override;
    bool act(Action, const Model&, const Scope&, std::vector<Wish>&) override;
    bool click(size_t x, size_t y, bool twice, const Model&, const Scope&,
               std::vector<Wish>&) override;
    std::string search(const std::optional<std::string>&, const Model&) override;
    std::optional<FunctionId> selected() const override {
        return depth_ >= 2 ? std::optional(path_[depth_ - 1].function) : std::nullopt;
    }
    std::vector<std::string> crumbs(const Model& model) const override;

  private:
    PaneOptions options_;
    Scope scope_;
    FlameTree tree_;
    Path path_;        // to the cursor, and on to where it came up from
    size_t depth_ = 0; // of the cursor in it
};

} // namespace

std::unique_ptr<Pane> make_flame_pane(const PaneOptions& options) {
    return std::make_unique<FlamePane>(options);
}

} // namespace auger
