// SPDX-License-Identifier: GPL-3.0-or-later
// `not` is pushed down into the comparisons: so one with a value that cannot be read neither holds
// nor does its opposite.
#include "loader/reader/values/predicate.h"

#include "loader/reader/values/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

using Node = Expression::Kind;
using Clauses = std::vector<uint32_t>; // bits of comparisons

// Without clauses that hold only when another one does.
Clauses shortest(Clauses clauses) {
    std::sort(clauses.begin(), clauses.end());
    clauses.erase(std::unique(clauses.begin(), clauses.end()), clauses.end());
    Clauses kept;
    for (uint32_t clause : clauses)
        if (std::none_of(clauses.begin(), clauses.end(), [&](uint32_t other) {
                return other != clause && (other & clause) == other;
            }))
            kept.push_back(clause);
    return kept;
}

class Compiler {
  public:
    Compiler(std::string_view text, const FunctionValues& values, ProgramBuilder& builder)
        : comparisons_(text, values, builder) {}

    // There are at most 2^WIRE_MAX_COMPARISONS different clauses, however long the text is.
    Result<Clauses> clauses(const Expression& expression, bool negated) {
        switch (expression.kind) {
        case Node::negation:
            return clauses(*expression.operands[0], !negated);
        case Node::any:
        case Node::all:
            return list(expression, negated);
        default: {
            auto comparison = comparisons_.compile(expression, negated);
            if (!comparison)
                return comparison.error();
            return Clauses{1u << *comparison};
        }
        }
    }

  private:
    Result<Clauses> list(const Expression& expression, bool negated) {
        const bool any = (expression.kind == Node::any) != negated;
        Clauses whole;
        if (!any)
            whole.push_back(0);
        for (const ExpressionPointer& operand : expression.operands) {
            auto part = clauses(*operand, negated);
            if (!part)
                return part;
            if (any) {
                whole.insert(whole.end(), part->begin(), part->end());
            } else {
                Clauses product;
                for (uint32_t a : whole)
                    for (uint32_t b : *part)
                        product.push_back(a | b);
                whole = std::move(product);
            }
            whole = shortest(std::move(whole));
        }
        return whole;
    }

    ComparisonCompiler comparisons_;
};

} // namespace

Result<wire_predicate> compile_predicate(std::string_view text, const Expression& expression,
                                         const FunctionValues& values, ProgramBuilder& builder) {
    auto clauses = Compiler(text, values, builder).clauses(expression, false);
    if (!clauses)
        return clauses.error();
    if (clauses->size() > WIRE_MAX_CLAUSES)
        return expression_error(text, expression.at,
                                fmt::format("has {} alternatives when it is written out: {} is "
                                            "the most",
                                            clauses->size(), int{WIRE_MAX_CLAUSES}));
    wire_predicate predicate{};
    predicate.clauses = static_cast<uint8_t>(clauses->size());
    const wire_call_program& wire = builder.program().wire;
    for (size_t i = 0; i < clauses->size(); ++i) {
        predicate.clause[i] = (*clauses)[i];
        for (uint8_t c = 0; c < wire.comparisons; ++c) {
            const wire_comparison& comparison = wire.comparison[c];
            if (!((*clauses)[i] >> c & 1))
                continue;
            if (builder.at_end(comparison.value) ||
                ((comparison.flags & WIRE_COMPARE_VALUES) &&
                 builder.at_end(static_cast<uint8_t>(comparison.constant))))
                predicate.at_end = 1;
        }
    }
    return predicate;
}

} // namespace auger
