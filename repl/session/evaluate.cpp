// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/evaluate.h"

#include "loader/probes/function_names.h"
#include "repl/language/suggest.h"
#include "views/escape.h"
#include "views/format.h"
#include "views/model/diff.h"
#include "views/model/fold.h"
#include "views/model/function_match.h"
#include "views/model/slow_call_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace auger {
namespace {

using Kind = Quantity::Kind;

Error no_value(std::string cause, std::string hint = {}) {
    return {"", "", std::move(cause), std::move(hint), Error::Kind::failed};
}

Result<std::vector<bool>> functions_named(const Model& model, const std::string& wanted) {
    const SymbolTables& symbols = model.symbols();
    std::vector<bool> named(symbols.functions());
    bool any = false;
    std::vector<std::string> names;
    for (uint32_t i = 0; i < named.size(); ++i) {
        const std::string_view name = symbols.name(FunctionId{i});
        named[i] = names_function(name, wanted);
        any |= named[i];
        names.emplace_back(unqualified(without_parameters(name)));
    }
    if (!any)
        return no_value(fmt::format("no function \"{}\" was sampled", escape_untrusted(wanted)),
                        escape_untrusted(did_you_mean(wanted, names)));
    return named;
}

Result<double> share(const Quantity& quantity, const EvaluateContext& context) {
    const Model& model = context.model;
    if (auto lacking = lacking_part(model, quantity.filter))
        return *lacking;
    auto named = functions_named(model, quantity.text);
    if (!named)
        return named.error();
    const std::vector<ClassSums> sums =
        sum_stacks(model, Classifier(model), context.window, quantity.filter);
    double all = 0, with_function = 0;
    std::vector<FunctionId> functions;
    for (uint32_t i = 0; i < sums.size(); ++i) {
        const double weight = sums[i].sum().weight_ns;
        if (weight == 0)
            continue;
        all += weight;
        functions.clear();
        expand_stack(model.symbols(), StackId{i}, functions);
        if (std::ranges::any_of(functions, [&](FunctionId id) { return (*named)[id.index()]; }))
            with_function += weight;
    }
    if (all == 0)
        return no_value("there are no such samples yet");
    return 100 * with_function / all;
}

Result<double> difference(const Quantity& quantity, const EvaluateContext& context) {
    auto named = functions_named(context.model, quantity.text);
    if (!named)
        return named.error();
    auto diff = diff_classes(context.model, context.window, CallClass::slow, CallClass::fast);
    if (!diff)
        return diff.error();
    double most = 0;
    for (const FunctionDiff& entry : diff->functions) {
        if ((*named)[entry.function.index()] && std::abs(entry.difference_ns) > std::abs(most))
            most = entry.difference_ns;
    }
    return most;
}

Result<double> samples(const Quantity& quantity, const EvaluateContext& context) {
    const Model& model = context.model;
    if (quantity.filter.all() && context.window == Window{} && model.only().line_clauses.empty() &&
        model.kept_stacks().empty())
        return static_cast<double>(model.samples_received());
    if (auto lacking = lacking_part(model, quantity.filter))
        return *lacking;
    double count = 0;
    for (const ClassSums& sums :
         sum_stacks(model, Classifier(model), context.window, quantity.filter))
        count += sums.sum().samples;
    return count;
}

Result<double> lost(const Quantity& quantity, const EvaluateContext& context) {
    const auto& causes = context.model.ledger().lost;
    if (quantity.text.empty()) {
        uint64_t all = 0;
        for (const auto& [cause, count] : causes)
            all += count;
        return static_cast<double>(all);
    }
    if (const auto found = causes.find(quantity.text); found != causes.end())
        return static_cast<double>(found->second);
    std::vector<std::string> names;
    for (const auto& [cause, count] : causes)
        names.push_back(cause);
    return no_value(fmt::format("nothing is counted as lost by \"{}\"", quantity.text),
                    fmt::format("causes: {}", fmt::join(names, ", ")));
}

Result<double> of_probe(const Quantity& quantity, const EvaluateContext& context) {
    if (quantity.kind == Kind::slow_calls)
        return static_cast<double>(find_slow_calls(context.model, Classifier(context.model),
                                                   context.window, *context.probe)
                                       .size());
    if (quantity.kind == Kind::taken || quantity.kind == Kind::not_taken) {
        const SplitInfo& split = context.model.split();
        if (!split.active || split.branch.empty() || split.probe != *context.probe)
            return no_value("there is no branch that the probe's calls are split by",
                            "first split PROBE at FILE:LINE, or split PROBE if ...");
        const MarkCounts counts = context.model.branch_counts(context.window);
        return quantity.kind == Kind::taken ? counts.taken : counts.not_taken;
    }
    const CallStatistics calls = context.model.probe_statistics(*context.probe, context.window);
    switch (quantity.kind) {
    case Kind::calls:
        return calls.returns;
    case Kind::entries:
        return calls.entries;
    case Kind::unwound:
        return calls.unwound;
    case Kind::open:
        return static_cast<double>(calls.open);
    case Kind::dropped:
        return calls.dropped;
    case Kind::filtered:
        return calls.filtered;
    default:
        break;
    }
    if (context.model.is_counted(*context.probe))
        return no_value("a place has no duration: it is counted", "calls PROBE is how often");
    if (calls.returns <= 0)
        return no_value("no call has returned yet", "wait until calls PROBE >= 1000");
    switch (quantity.kind) {
    case Kind::min:
        return static_cast<double>(calls.min_ns);
    case Kind::max:
        return static_cast<double>(calls.max_ns);
    case Kind::mean:
        return calls.sum_ns / calls.returns;
    default:
        return calls.quantile(quantity.percentile / 100);
    }
}

} // namespace

Result<double> evaluate(const Quantity& quantity, const EvaluateContext& context) {
    if (quantity.of_probe())
        return of_probe(quantity, context);
    switch (quantity.kind) {
    case Kind::samples:
        return samples(quantity, context);
    case Kind::share:
        return share(quantity, context);
    case Kind::difference:
        return difference(quantity, context);
    case Kind::gated: {
        const LedgerEvent& ledger = context.model.ledger();
        return static_cast<double>(ledger.gated + ledger.gated_waits + ledger.gated_slow_calls);
    }
    case Kind::lost:
        return lost(quantity, context);
    case Kind::rate:
        return context.model.ledger().rate_achieved_hz;
    default:
        return context.exited ? 1.0 : 0.0;
    }
}

std::string format_quantity(const Quantity& quantity, double value) {
    switch (quantity.unit()) {
    case Quantity::Unit::duration:
        return value < 0 ? "-" + format_duration(-value) : format_duration(value);
    case Quantity::Unit::percent:
        return fmt::format("{:.3g} %", value);
    case Quantity::Unit::none:
        return value != 0 ? "true" : "false";
    case Quantity::Unit::count:
        break;
    }
    return format_count(value);
}

} // namespace auger
