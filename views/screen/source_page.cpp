// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/source_page.h"

#include "views/format.h"
#include "views/screen/function_source.h"
#include "views/short_name.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace auger {

namespace {

// Weight by line of `file`, of the samples with the function on their stack; a line counts once a
// stack.
std::map<uint32_t, double> weigh_lines(const Model& model, const Scope& scope, FunctionId function,
                                       const std::string& file, double& whole) {
    const SymbolTables& symbols = model.symbols();
    const Classifier classify(model);
    const std::vector<ClassSums> sums = sum_stacks(model, classify, scope.window, scope.filter);
    std::map<uint32_t, double> weights;
    std::set<uint32_t> lines;
    for (size_t i = 0; i < sums.size(); i++) {
        const double weight = sums[i].sum().weight_ns;
        if (!(weight > 0))
            continue;
        bool inside = false;
        lines.clear();
        for (LocationId location : symbols.stack(StackId{static_cast<uint32_t>(i)})) {
            for (const FrameEntry& frame : symbols.frames(location)) {
                if (frame.function != function)
                    continue;
                inside = true;
                if (frame.line && symbols.text(frame.file) == file)
                    lines.insert(frame.line);
            }
        }
        whole += inside ? weight : 0;
        for (uint32_t line : lines)
            weights[line] += weight;
    }
    return weights;
}

} // namespace

Result<Pager> source_page(const Model& model, const Scope& scope, FunctionId function,
                          const std::function<Result<std::string>(const std::string&)>& read) {
    const std::string name = display_name(model.symbols().name(function));
    const FunctionSource source = source_of(model.symbols(), function);
    if (source.file.empty())
        return Error{"show source of", name, "there is no line information for it",
                     "build it with -g, or install its debug file"};
    if (!read)
        return Error{"show source of", name, "source files cannot be read here", ""};
    auto text = read(source.file);
    if (!text)
        return text.error();
    double whole = 0;
    const auto weights = weigh_lines(model, scope, function, source.file, whole);
    std::vector<PagerLine> lines = Pager::lines_of(*text);
    size_t first = source.line, heaviest = 0;
    double most = 0;
    for (size_t i = 0; i < lines.size(); i++) {
        const auto weight = weights.find(static_cast<uint32_t>(i + 1));
        std::string share;
        if (weight != weights.end()) {
            share = format_percent(weight->second / whole);
            lines[i].style = Style::number;
            if (weight->second > most) {
                most = weight->second;
                heaviest = i + 1;
            }
        }
        std::string code;
        for (char c : lines[i].text)
            code += c == '\t' ? std::string(4, ' ') : std::string(1, c);
        if (code.ends_with('\r'))
            code.pop_back();
        lines[i].text = fmt::format("{:>8} {:>5}  {}", share, i + 1, code);
    }
    Pager pager(fmt::format("{}  {}  (shares of the samples in it, by line)", name, source.file),
                std::move(lines));
    pager.go_to((heaviest ? heaviest : first) - 1);
    return pager;
}

} // namespace auger
