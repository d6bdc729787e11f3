// SPDX-License-Identifier: GPL-3.0-or-later
// Calls nest, so the outermost call of the probe around a call is found once by going outwards.
#include "views/model/classifier.h"

#include "loader/settings/span_definition.h"

#include "views/escape.h"
#include "views/model/frame_kind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {

namespace {
// Chains are at most most_open_calls long; only a damaged recording could make a longer one.
constexpr int max_chain = 4 * most_open_calls;

// Nothing when it is not known: the call runs still, or began before the mark was watched.
std::optional<bool> mark_of(const CallRecord& call, uint32_t bit, uint64_t since_ns,
                            uint64_t until_ns) {
    if (call.state == CallRecord::State::open || call.state == CallRecord::State::filtered ||
        !call.marks_known || call.start_ns < since_ns ||
        call.start_ns + call.duration_ns > until_ns || bit >= most_marks)
        return std::nullopt;
    return (call.marks >> bit & 1) != 0;
}

// Whether the lines that `only` names were executed in the call as it asks.
bool fulfils_lines(const CallRecord& call, const OnlyInfo& only) {
    uint64_t known = 0, held = 0; // by line
    for (size_t i = 0; i < only.lines.size() && i < only.marks.size() && i < 64; i++) {
        const MarkInfo& mark = only.marks[i];
        if (auto value = mark_of(call, mark.bit, mark.since_ns, mark.until_ns)) {
            known |= uint64_t{1} << i;
            held |= uint64_t{*value} << i;
        }
    }
    auto fits = [](uint64_t bits, uint32_t line) { return line < 64 && (bits >> line & 1); };
    for (const Clause& clause : only.line_clauses) {
        bool holds = true;
        for (uint32_t line : clause.all)
            holds &= fits(held, line);
        for (uint32_t line : clause.none)
            holds &= fits(known & ~held, line);
        if (holds)
            return true;
    }
    return false;
}

// Of exchanges, for how long after one's end that may not be told yet: until nothing more was sent
// for a while, and that is looked for every 100 ms. Where that while was set it is not known here.
uint64_t longest_silence_ns(const ProbeInfo& exchanges) {
    constexpr uint64_t look_ns = 100'000'000;
    return exchanges.span.find(" quiet ") == std::string::npos
               ? ExchangeDefinition::default_quiet_ns + look_ns
               : UINT64_MAX / 2;
}

} // namespace

Classifier::Classifier(const Model& model, For use)
    : model_(model), split_(model.split().active), so_far_(model.split().so_far),
      by_lines_(!model.only().line_clauses.empty()), state_(model.split_state()),
      kept_stacks_(model.symbols(), model.kept_stacks()) {
    if (split_) {
        const ProbeInfo* probe = model.find_probe(model.split().probe);
        told_late_ = probe && probe->is_exchanges();
        if (told_late_)
            late_ns_ = longest_silence_ns(*probe);
        is_probe_.resize(model.specs().size());
        for (size_t i = 0; i < is_probe_.size(); i++)
            is_probe_[i] = model.specs()[i].probe == model.split().probe;
    }
    if (use == For::a_few || !(split_ || by_lines_))
        return;
    outermost_.assign(model.calls().size(), no_call);
    classes_.assign(model.calls().size(), CallClass::open);
    kept_.assign(model.calls().size(), 0);
    if (use == For::all_samples)
        decide_more(SIZE_MAX);
}

bool Classifier::decide_more(size_t most) {
    const CallTable& calls = model_.calls();
    for (; most > 0 && next_ < classes_.size(); most--, next_++) {
        const auto i = static_cast<uint32_t>(next_);
        CallIndex call{i};
        if (calls[call].references == 0)
            continue; // a free record
        if (split_) {
            Outermost found = find_outermost(call);
            outermost_[i] = found.call;
            recursive_ |= found.recursive;
            classes_[i] = decide_class(call);
        }
        if (by_lines_)
            kept_[i] = decide_kept(call);
    }
    decided_ = !classes_.empty() && next_ == classes_.size();
    return next_ < classes_.size();
}

Classifier::Outermost Classifier::find_outermost(CallIndex call) const {
    const CallTable& calls = model_.calls();
    Outermost found;
    int steps = 0;
    for (CallIndex at = call; at != no_call && steps < max_chain; steps++) {
        size_t spec = calls[at].spec.index();
        const bool counts = calls[at].state != CallRecord::State::filtered;
        if (spec < is_probe_.size() && is_probe_[spec] && counts) {
            found.recursive |= found.call != no_call;
            found.call = at;
        }
        at = calls[at].parent;
    }
    return found;
}

CallClass Classifier::decide_class(CallIndex outer) const {
    const CallRecord& call = model_.calls()[outer];
    if (!state_.in_force())
        return CallClass::open;
    if (call.state != CallRecord::State::open)
        return call.duration_ns > state_.value_ns ? CallClass::slow : CallClass::fast;
    return !call.may_have_ended && lasts_ns(call) > state_.value_ns ? CallClass::slow
                                                                    : CallClass::open;
}

// At least, of a call that is open.
uint64_t Classifier::lasts_ns(const CallRecord& call) const {
    const uint64_t began_ns = std::max(call.start_ns, call.start_ns + late_ns_);
    return model_.now_ns() > began_ns ? model_.now_ns() - began_ns : 0;
}

bool Classifier::decide_kept(CallIndex call) const {
    const CallTable& calls = model_.calls();
    if (split_) {
        CallIndex outer = find_outermost(call).call;
        return outer != no_call && fulfils_lines(calls[outer], model_.only());
    }
    int steps = 0;
    for (CallIndex at = call; at != no_call && steps < max_chain; steps++) {
        if (fulfils_lines(calls[at], model_.only()))
            return true;
        at = calls[at].parent;
    }
    return false;
}

bool Classifier::in_range(CallIndex outer, const DurationRange& range) const {
    const CallRecord& call = model_.calls()[outer];
    if (call.state != CallRecord::State::open)
        return range.contains(call.duration_ns);
    return range.open_ended() && !call.may_have_ended && model_.now_ns() > call.start_ns &&
           lasts_ns(call) >= range.from_ns;
}

bool Classifier::is_open(CallIndex decisive) const {
    const CallTable& calls = model_.calls();
    int steps = 0;
    for (CallIndex at = decisive; at != no_call && steps < max_chain; steps++) {
        if (calls[at].state == CallRecord::State::open)
            return true;
        if (split_)
            return false; // it alone decides
        at = calls[at].parent;
    }
    return false;
}

std::optional<bool> Classifier::taken(CallIndex outer) const {
    const SplitInfo& split = model_.split();
    if (outer == no_call || split.branch.empty())
        return std::nullopt;
    return mark_of(model_.calls()[outer], split.branch_bit, split.branch_since_ns,
                   split.branch_until_ns);
}

LabelId Classifier::label(CallIndex outer) const {
    const SplitInfo& split = model_.split();
    if (outer == no_call || split.label.empty())
        return no_label;
    const CallRecord& call = model_.calls()[outer];
    bool known = call.state != CallRecord::State::open && call.start_ns >= split.label_since_ns &&
                 call.start_ns + call.duration_ns <= split.label_until_ns;
    return known && call.label.index() < model_.labels().size() ? call.label : no_label;
}

CallClass Classifier::class_so_far(CallIndex outer, uint64_t time_ns) const {
    if (!state_.in_force())
        return CallClass::open;
    uint64_t start = model_.calls()[outer].start_ns;
    return time_ns > start && time_ns - start > state_.value_ns ? CallClass::slow : CallClass::fast;
}

namespace {

StackCondition condition_of(const StackChoice& in) {
    return {{in.function}, {in.others ? Clause{{}, {0}} : Clause{{0}, {}}}};
}

// What can be done about a name that no function has.
std::string sampled_functions(const SymbolTables& symbols, std::string_view wanted) {
    constexpr size_t most = 3;
    const std::string_view last = wanted.substr(wanted.find_last_of(":.") + 1);
    std::vector<std::string> names;
    for (const FunctionId like : functions_like(symbols, last, most))
        names.push_back(escape_untrusted(symbols.name(like)));
    return names.empty() ? "\"top\" lists those that were"
                         : fmt::format("there are {}", fmt::join(names, ", "));
}

} // namespace

std::optional<Error> lacking_part(const Model& model, const ClassFilter& filter) {
    const SplitInfo& split = model.split();
    auto lacks = [&](std::string what, std::string hint) {
        return Error{"class", escape_untrusted(to_string(filter)), std::move(what),
                     std::move(hint)};
    };
    if (filter.host && !model.find_machine(filter.host->name))
        return lacks("no host is called so", "they are: " + model.machine_names());
    if (filter.in && !StackTest(model.symbols(), condition_of(*filter.in)).names_any())
        return lacks(
            fmt::format("no function \"{}\" was sampled", escape_untrusted(filter.in->function)),
            sampled_functions(model.symbols(), filter.in->function));
    if (!filter.of_calls())
        return std::nullopt;
    if (!split.active)
        return lacks("there is no split, so there are no classes", "first split PROBE > p95");
    if (filter.duration && *filter.duration != CallClass::outside &&
        split.threshold.kind == Threshold::Kind::none)
        return lacks("the split has no threshold", "add one: split PROBE > p95");
    if (filter.taken && split.branch.empty())
        return lacks("the split has no branch", "add one: split at FILE:LINE, or split if ...");
    if (filter.label && split.label.empty())
        return lacks("the split is not by a value", "add one: split by EXPRESSION");
    return std::nullopt;
}

namespace {

// "METERED (1)" is also called "METERED", and "1".
bool is_called(std::string_view label, std::string_view wanted) {
    if (label == wanted)
        return true;
    size_t open = label.rfind(" (");
    return open != label.npos && label.ends_with(')') &&
           (label.substr(0, open) == wanted ||
            label.substr(open + 2, label.size() - open - 3) == wanted);
}

} // namespace

ClassTest::ClassTest(const Model& model, const Classifier& classify, const ClassFilter& filter)
    : model_(model), classify_(classify), filter_(filter),
      in_(model.symbols(), filter.in ? condition_of(*filter.in) : StackCondition{}),
      by_duration_class_(!filter.range && !filter.taken && !filter.label) {}

bool ClassTest::fits(CallIndex outer) const {
    if (outer == no_call || (filter_.range && !classify_.in_range(outer, *filter_.range)) ||
        (filter_.taken && classify_.taken(outer) != filter_.taken))
        return false;
    return !filter_.label || is_wanted(classify_.label(outer));
}

bool ClassTest::is_wanted(LabelId label) const {
    if (label == no_label)
        return false;
    if (label.index() >= wanted_labels_.size())
        wanted_labels_.resize(model_.labels().size(), -1);
    int8_t& wanted = wanted_labels_[label.index()];
    if (wanted < 0) {
        const std::string& text = model_.labels()[label.index()];
        wanted =
            is_called(text, *filter_.label) || is_called(escape_untrusted(text), *filter_.label);
    }
    return wanted;
}

} // namespace auger
