// SPDX-License-Identifier: GPL-3.0-or-later
// Calls nest, so the outermost call of the probe around a call is found once by going outwards.
#include "views/model/classifier.h"

#include "views/escape.h"

namespace auger {

namespace {
// Chains are at most WIRE_MAX_OPEN_CALLS long; only a damaged recording could make a longer one.
constexpr int max_chain = 4 * WIRE_MAX_OPEN_CALLS;

// Nothing when it is not known: the call runs still, or began before the mark was watched.
std::optional<bool> mark_of(const CallRecord& call, uint32_t bit, uint64_t since_ns,
                            uint64_t until_ns) {
    if (call.state == CallRecord::State::open || call.start_ns < since_ns ||
        call.start_ns + call.duration_ns > until_ns || bit >= WIRE_MAX_MARKS)
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
} // namespace

Classifier::Classifier(const Model& model)
    : model_(model), so_far_(model.split().so_far), by_lines_(!model.only().line_clauses.empty()),
      state_(model.split_state()) {
    if (model.split().active)
        find_outermost();
    if (by_lines_)
        decide_lines();
}

void Classifier::find_outermost() {
    std::vector<uint8_t> is_probe(model_.specs().size());
    for (size_t i = 0; i < is_probe.size(); i++)
        is_probe[i] = model_.specs()[i].probe == model_.split().probe;

    const CallTable& calls = model_.calls();
    outermost_.assign(calls.size(), no_call);
    classes_.assign(calls.size(), CallClass::open);
    for (size_t i = 0; i < calls.size(); i++) {
        CallIndex index{static_cast<uint32_t>(i)};
        const CallRecord& call = calls[index];
        if (call.references == 0)
            continue; // a free record
        int steps = 0;
        for (CallIndex at = index; at != no_call && steps < max_chain; steps++) {
            if (calls[at].spec.index() < is_probe.size() && is_probe[calls[at].spec.index()]) {
                recursive_ |= outermost_[i] != no_call;
                outermost_[i] = at;
            }
            at = calls[at].parent;
        }
        if (state_.in_force()) {
            if (call.state != CallRecord::State::open)
                classes_[i] =
                    call.duration_ns > state_.value_ns ? CallClass::slow : CallClass::fast;
            else if (model_.now_ns() > call.start_ns &&
                     model_.now_ns() - call.start_ns > state_.value_ns)
                classes_[i] = CallClass::slow; // has outlived the threshold already
        }
    }
}

void Classifier::decide_lines() {
    const CallTable& calls = model_.calls();
    std::vector<uint8_t> fulfils(calls.size());
    for (uint32_t i = 0; i < calls.size(); i++)
        fulfils[i] =
            calls[CallIndex{i}].references && fulfils_lines(calls[CallIndex{i}], model_.only());
    kept_.assign(calls.size(), 0);
    for (uint32_t i = 0; i < calls.size(); i++) {
        if (calls[CallIndex{i}].references == 0)
            continue;
        if (model_.split().active) {
            kept_[i] = outermost_[i] != no_call && fulfils[outermost_[i].index()];
            continue;
        }
        int steps = 0;
        for (CallIndex at{i}; at != no_call && steps < max_chain && !kept_[i]; steps++) {
            kept_[i] = fulfils[at.index()];
            at = calls[at].parent;
        }
    }
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

std::optional<Error> lacking_part(const Model& model, const ClassFilter& filter) {
    const SplitInfo& split = model.split();
    auto lacks = [&](std::string what, std::string hint) {
        return Error{"class", escape_untrusted(to_string(filter)), std::move(what),
                     std::move(hint)};
    };
    if (filter.all())
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
    : classify_(classify), filter_(filter), whole_duration_only_(!filter.taken && !filter.label) {
    if (filter.label)
        for (const std::string& label : model.labels())
            wanted_labels_.push_back(is_called(label, *filter.label) ||
                                     is_called(escape_untrusted(label), *filter.label));
}

bool ClassTest::fits(CallIndex outer) const {
    if (outer == no_call || (filter_.taken && classify_.taken(outer) != filter_.taken))
        return false;
    if (!filter_.label)
        return true;
    LabelId label = classify_.label(outer);
    // A label can be newer than this test.
    return label != no_label && label.index() < wanted_labels_.size() &&
           wanted_labels_[label.index()];
}

} // namespace auger
