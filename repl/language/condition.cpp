// SPDX-License-Identifier: GPL-3.0-or-later
// Reading of conditions. Units are checked here, so that `p99 handle < 5` is refused before
// anything is waited for.
#include "repl/language/condition.h"

#include "repl/language/suggest.h"
#include "repl/language/values.h"

#include <fmt/format.h>

#include <array>

namespace auger {
namespace {

using Kind = Quantity::Kind;

struct Name {
    std::string_view name;
    Kind kind;
};

constexpr std::array<Name, 20> names{
    {{"calls", Kind::calls},       {"count", Kind::calls},     {"entries", Kind::entries},
     {"unwound", Kind::unwound},   {"open", Kind::open},       {"dropped", Kind::dropped},
     {"filtered", Kind::filtered}, {"taken", Kind::taken},     {"not-taken", Kind::not_taken},
     {"gated", Kind::gated},       {"slow", Kind::slow_calls}, {"min", Kind::min},
     {"max", Kind::max},           {"mean", Kind::mean},       {"samples", Kind::samples},
     {"share", Kind::share},       {"diff", Kind::difference}, {"lost", Kind::lost},
     {"rate", Kind::rate},         {"exited", Kind::exited}}};

Parsed<Quantity> parse_quantity(Arguments& arguments) {
    auto word = arguments.expect("a quantity (calls, p99, samples, lost, ...)");
    if (!word)
        return word.complaint();
    Quantity quantity;
    bool known = false;
    for (const Name& name : names) {
        if (word->text == name.name) {
            quantity.kind = name.kind;
            known = true;
        }
    }
    if (const auto percentile = read_percentile(word->text)) {
        quantity.kind = Kind::percentile;
        quantity.percentile = *percentile;
        known = true;
    }
    if (!known) {
        std::string hint = did_you_mean(word->text, quantity_names());
        return Complaint{word->span, fmt::format("there is no quantity \"{}\"", word->text),
                         hint.empty() ? "see \"help assert\" for what can be compared" : hint,
                         Error::Kind::usage};
    }
    if (quantity.of_probe()) {
        if (arguments.at_end() || arguments.peek().comparison)
            return arguments.at_end() ? arguments.missing("a probe")
                                      : Complaint{arguments.peek().span,
                                                  fmt::format("\"{}\" of which probe?", word->text),
                                                  fmt::format("write {} PROBE {} ...", word->text,
                                                              arguments.peek().text),
                                                  Error::Kind::usage};
        quantity.probe = probe_ref(arguments.take());
        return quantity;
    }
    if (quantity.kind == Kind::samples || quantity.kind == Kind::share)
        quantity.filter = take_class(arguments).value_or(ClassFilter{});
    if (quantity.kind == Kind::share || quantity.kind == Kind::difference) {
        if (arguments.at_end() || arguments.peek().comparison)
            return arguments.at_end()
                       ? arguments.missing("a function")
                       : Complaint{arguments.peek().span, "a function is missing before this",
                                   "example: share slow parse > 50%", Error::Kind::usage};
        quantity.at = arguments.peek().span;
        quantity.text = arguments.take().text;
    }
    if (quantity.kind == Kind::lost && !arguments.at_end() && !arguments.peek().comparison &&
        arguments.peek().text != "=") {
        quantity.at = arguments.peek().span;
        quantity.text = arguments.take().text;
    }
    return quantity;
}

std::optional<Condition::Comparison> comparison_of(std::string_view text) {
    using C = Condition::Comparison;
    constexpr std::array<std::pair<std::string_view, C>, 6> all{{{"<", C::less},
                                                                 {"<=", C::less_equal},
                                                                 {">", C::greater},
                                                                 {">=", C::greater_equal},
                                                                 {"==", C::equal},
                                                                 {"!=", C::unequal}}};
    for (const auto& [name, comparison] : all) {
        if (text == name)
            return comparison;
    }
    return std::nullopt;
}

Parsed<double> parse_value(const Word& word, Quantity::Unit unit) {
    switch (unit) {
    case Quantity::Unit::duration: {
        auto value = duration_of(word);
        if (!value)
            return value.complaint();
        return static_cast<double>(*value);
    }
    case Quantity::Unit::percent:
        if (const auto value = read_percent(word.text))
            return *value;
        return Complaint{word.span, fmt::format("\"{}\" is not a percentage", word.text),
                         "write 50%", Error::Kind::usage};
    default: {
        auto value = count_of(word);
        if (!value)
            return value.complaint();
        return static_cast<double>(*value);
    }
    }
}

} // namespace

Quantity::Unit Quantity::unit() const {
    switch (kind) {
    case Kind::min:
    case Kind::max:
    case Kind::mean:
    case Kind::percentile:
    case Kind::difference:
        return Unit::duration;
    case Kind::share:
        return Unit::percent;
    case Kind::exited:
        return Unit::none;
    default:
        return Unit::count;
    }
}

bool Condition::holds(double actual) const {
    switch (comparison) {
    case Comparison::less:
        return actual < value;
    case Comparison::less_equal:
        return actual <= value;
    case Comparison::greater:
        return actual > value;
    case Comparison::greater_equal:
        return actual >= value;
    case Comparison::equal:
        return actual == value;
    case Comparison::unequal:
        return actual != value;
    }
    return false;
}

Parsed<Condition> parse_condition(Arguments& arguments) {
    const size_t begin = arguments.position();
    Condition condition;
    auto quantity = parse_quantity(arguments);
    if (!quantity)
        return quantity.complaint();
    condition.quantity = std::move(*quantity);
    if (condition.quantity.unit() == Quantity::Unit::none) {
        condition.comparison = Condition::Comparison::equal;
        condition.value = 1;
    } else {
        if (arguments.at_end())
            return arguments.missing("a comparison (<, <=, >, >=, ==, !=)");
        const Word comparison = arguments.take();
        const auto found = comparison_of(comparison.text);
        if (!found)
            return Complaint{
                comparison.span, fmt::format("\"{}\" is not a comparison", comparison.text),
                comparison.text == "=" ? "write =="
                                       : "one of <, <=, >, >=, ==, != with blanks around it",
                Error::Kind::usage};
        condition.comparison = *found;
        auto word = arguments.expect("a value");
        if (!word)
            return word.complaint();
        auto value = parse_value(*word, condition.quantity.unit());
        if (!value)
            return value.complaint();
        condition.value = *value;
    }
    condition.at = arguments.since(begin);
    condition.spelled = arguments.line().substr(condition.at.offset, condition.at.length);
    return condition;
}

const std::vector<std::string>& quantity_names() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> list;
        for (const Name& name : names)
            list.emplace_back(name.name);
        for (const char* percentile : {"p50", "p90", "p95", "p99", "p99.9"})
            list.emplace_back(percentile);
        return list;
    }();
    return all;
}

} // namespace auger
