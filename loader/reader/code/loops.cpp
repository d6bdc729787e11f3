// SPDX-License-Identifier: GPL-3.0-or-later
// An instruction is in a loop if its strongly connected component has more than it, or it leads to
// itself. Tarjan, "Depth-first search and linear graph algorithms", 1972; without recursion, since
// functions have a hundred thousand instructions.
#include "loader/reader/code/loops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace auger {
namespace {

using Flow = Instruction::Flow;

constexpr size_t none = SIZE_MAX;

std::array<size_t, 2> successors(std::span<const Instruction> code, size_t at) {
    std::array<size_t, 2> next{none, none};
    const Instruction& instruction = code[at];
    if (instruction.is_branch() && !instruction.indirect) {
        const auto target =
            std::ranges::lower_bound(code, instruction.target, {}, &Instruction::address);
        if (target != code.end() && target->address == instruction.target)
            next[0] = static_cast<size_t>(target - code.begin());
    }
    const bool goes_on = instruction.flow != Flow::ret && instruction.flow != Flow::jump &&
                         instruction.flow != Flow::stop;
    if (goes_on && at + 1 < code.size() &&
        code[at + 1].address == instruction.address + instruction.length)
        next[1] = at + 1;
    return next;
}

} // namespace

std::vector<bool> find_loops(std::span<const Instruction> code) {
    struct Visit {
        size_t at;
        size_t tried; // successors
    };
    std::vector<bool> loops(code.size()), open(code.size());
    std::vector<size_t> order(code.size(), none), low(code.size(), none), component;
    std::vector<Visit> path;
    size_t visited = 0;
    const auto visit = [&](size_t at) {
        order[at] = low[at] = visited++;
        open[at] = true;
        component.push_back(at);
        path.push_back({at, 0});
    };
    for (size_t start = 0; start < code.size(); start++) {
        if (order[start] == none)
            visit(start);
        while (!path.empty()) {
            const size_t at = path.back().at;
            const std::array<size_t, 2> next = successors(code, at);
            if (path.back().tried < next.size()) {
                const size_t to = next[path.back().tried++];
                if (to == none)
                    continue;
                if (to == at)
                    loops[at] = true;
                if (order[to] == none)
                    visit(to);
                else if (open[to])
                    low[at] = std::min(low[at], order[to]);
                continue;
            }
            path.pop_back();
            if (!path.empty())
                low[path.back().at] = std::min(low[path.back().at], low[at]);
            if (low[at] != order[at])
                continue;
            const bool alone = component.back() == at;
            for (size_t member = none; member != at;) {
                member = component.back();
                component.pop_back();
                open[member] = false;
                if (!alone)
                    loops[member] = true;
            }
        }
    }
    return loops;
}

} // namespace auger
