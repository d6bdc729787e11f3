// SPDX-License-Identifier: GPL-3.0-or-later
// Clauses are multiplied out as sets of terms, of which there are at most eight.
#include "repl/language/condition_tree.h"

#include <fmt/format.h>

namespace auger {
namespace {

using Node = ConditionNode;

// Clauses as bits of terms (of which there are at most eight).
struct Bits {
    uint32_t all = 0;
    uint32_t none = 0;
    bool holds_if(const Bits& other) const { // whatever fulfils `other` fulfils this
        return (all & ~other.all) == 0 && (none & ~other.none) == 0;
    }
};

// What cannot hold is left out, and so is what holds only when another clause does.
void add_clause(std::vector<Bits>& clauses, Bits fresh) {
    if (fresh.all & fresh.none)
        return;
    for (const Bits& known : clauses) {
        if (known.holds_if(fresh))
            return;
    }
    std::erase_if(clauses, [&](const Bits& known) { return fresh.holds_if(known); });
    clauses.push_back(fresh);
}

// Of eight terms there cannot be many clauses that do not contain each other.
std::vector<Bits> clauses_of(const Node& node) {
    std::vector<Bits> clauses;
    if (node.parts.empty()) {
        const uint32_t bit = 1u << node.index;
        clauses.push_back(node.negated ? Bits{0, bit} : Bits{bit, 0});
        return clauses;
    }
    if (node.kind == Node::Kind::either) {
        for (const Node& part : node.parts) {
            for (const Bits& clause : clauses_of(part))
                add_clause(clauses, clause);
        }
        return clauses;
    }
    clauses.push_back({});
    for (const Node& part : node.parts) {
        const std::vector<Bits> others = clauses_of(part);
        std::vector<Bits> product;
        for (const Bits& clause : clauses) {
            for (const Bits& other : others)
                add_clause(product, {clause.all | other.all, clause.none | other.none});
        }
        clauses = std::move(product);
    }
    return clauses;
}

std::vector<uint32_t> indices(uint32_t bits) {
    std::vector<uint32_t> list;
    for (uint32_t i = 0; i < 32; ++i) {
        if (bits >> i & 1)
            list.push_back(i);
    }
    return list;
}

} // namespace

Parsed<std::vector<Clause>> normal_form(std::vector<Node> parts, Span at) {
    if (parts.empty())
        return std::vector<Clause>();
    Node all;
    all.kind = Node::Kind::both;
    all.parts = std::move(parts);
    std::vector<Clause> clauses;
    for (const Bits& bits : clauses_of(all))
        clauses.push_back({indices(bits.all), indices(bits.none)});
    if (clauses.empty())
        return Complaint{at, "this can never hold", "", Error::Kind::usage};
    if (clauses.size() > Gate::most_clauses)
        return Complaint{at,
                         fmt::format("this has {} alternatives, and at most {} are possible",
                                     clauses.size(), Gate::most_clauses),
                         "each \"or\" inside an \"and\" multiplies them", Error::Kind::usage};
    return clauses;
}

} // namespace auger
