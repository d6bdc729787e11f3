// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/zoom_text.h"

#include "views/model/frames_under.h"

#include <algorithm>

namespace auger {

namespace {

// Whether nodes have a name, which many of them share.
class Named {
  public:
    Named(const Model& model, const FlameTree& tree, std::string name)
        : symbols_(model.symbols()), tree_(tree), name_(std::move(name)),
          functions_(symbols_.functions(), -1) {}

    bool operator()(const FlameNode& node) {
        if (node.depth < 2)
            return node.depth == 1 && FramesUnder::name_in_path(tree_.labels[node.label]) == name_;
        int8_t& known = functions_[node.function.index()];
        if (known < 0)
            known = FramesUnder::name_in_path(symbols_.name(node.function)) == name_;
        return known > 0;
    }

  private:
    const SymbolTables& symbols_;
    const FlameTree& tree_;
    std::string name_;
    std::vector<int8_t> functions_; // -1: not looked at yet
};

} // namespace

std::string zoom_text(const Model& model, const FlameTree& tree, const FlamePath& path) {
    std::vector<std::string> names;
    if (path.label)
        names.push_back(FramesUnder::name_in_path(*path.label));
    for (FunctionId function : path.functions)
        names.push_back(FramesUnder::name_in_path(model.symbols().name(function)));
    std::string text;
    // The frames that the text means so far, by the node that its first name stands for.
    std::vector<uint32_t> meant;
    for (size_t i = names.size(); i-- > 0;) {
        Named named(model, tree, names[i]);
        text = text.empty() ? names[i] : names[i] + ";" + text;
        if (i + 1 == names.size()) {
            for (uint32_t node = 1; node < tree.nodes.size(); node++)
                if (tree.nodes[node].held && named(tree.nodes[node]))
                    meant.push_back(node);
        } else {
            for (uint32_t& node : meant)
                node = tree.nodes[node].parent;
            std::erase_if(meant, [&](uint32_t node) { return !named(tree.nodes[node]); });
        }
        if (meant.size() <= 1)
            break;
    }
    return text;
}

} // namespace auger
