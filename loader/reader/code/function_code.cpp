// SPDX-License-Identifier: GPL-3.0-or-later
// Linear decoding from the first byte to the last: compilers put no data between instructions, and
// code where they were put anyway does not decode to the end or is refused elsewhere.
#include "loader/reader/code/function_code.h"

#include "loader/arch/arch.h"
#include "loader/reader/code/cheap_exits.h"
#include "loader/reader/code/jump_table.h"

#include ARCH(code_bytes.h)

#include <algorithm>
#include <cstdio>

namespace auger {
namespace {

using Flow = Instruction::Flow;

// Prologues are short; beyond this the entry would no longer be one in time either.
constexpr size_t entry_limit = 16; // instructions
constexpr size_t stub_limit = 16;  // bytes of a PLT entry

Error refusal(std::string cause, std::string hint = {}) {
    return {"place probe", {}, std::move(cause), std::move(hint), Error::Kind::failed};
}

std::string hexadecimal(uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(value));
    return text;
}

// Decodes a part; the offset of the first byte that is no instruction, or nothing when all is well.
std::optional<uint64_t> decode_part(const CodePart& part, std::vector<Instruction>& into) {
    for (size_t at = 0; at < part.bytes.size();) {
        std::optional<Instruction> instruction = decode(part.bytes.subspan(at), part.address + at);
        if (!instruction)
            return at;
        into.push_back(*instruction);
        at += instruction->length;
    }
    return std::nullopt;
}

// What is known while one function is looked at.
struct Analysis {
    CodePart body;
    std::span<const CodePart> cold;
    std::vector<Instruction> code;   // ascending
    size_t first = 0;                // index of the body's first instruction
    std::vector<uint64_t> landings;  // targets of direct jumps inside, ascending
    std::vector<uint64_t> growths{}; // where stacks are made larger: see find_growths
    FunctionCode result{};

    bool inside(uint64_t address) const {
        auto in = [&](const CodePart& part) {
            return address >= part.address && address - part.address < part.bytes.size();
        };
        return in(body) || std::any_of(cold.begin(), cold.end(), in);
    }
    bool lands_between(uint64_t after, uint64_t up_to) const {
        auto found = std::upper_bound(landings.begin(), landings.end(), after);
        return found != landings.end() && *found <= up_to;
    }
    const CodeExit* exit_at(uint64_t address) const {
        for (const CodeExit& exit : result.exits)
            if (exit.address == address)
                return &exit;
        return nullptr;
    }

    void find_exits(const DataReader& read_data);
    void find_growths();
    std::optional<FunctionCode::Entry> entry_at_growth() const;
    struct Entry {
        uint64_t address;
        ProbeCost cost;
        bool keeps_arguments; // their registers are as at the first instruction
    };
    std::optional<Entry> find_entry(bool cheap_only) const;
    bool place_entry();
    bool may_jump_anywhere() const;
    std::span<const std::byte> bytes_of(const Instruction& instruction) const;
    void find_cheap_exits(bool in_go);
};

void Analysis::find_exits(const DataReader& read_data) {
    for (size_t i = 0; i < code.size(); ++i) {
        const Instruction& at = code[i];
        CodeExit exit{at.address, ExitKind::ret, false, false, false, at.cost, 0, at.condition};
        if (at.flow == Flow::ret) {
            result.exits.push_back(exit);
            continue;
        }
        if (!at.is_branch())
            continue;
        exit.kind = ExitKind::jump;
        exit.conditional = at.flow == Flow::conditional;
        exit.indirect = at.indirect;
        exit.target = at.target;
        if (at.indirect) {
            if (jumps_through_table(
                    code, i, [&](uint64_t a) { return inside(a); }, read_data))
                result.indirect_jumps = true;
            else
                result.exits.push_back(exit);
        } else if (at.target == body.address) {
            exit.to_itself = true;
            result.exits.push_back(exit);
        } else if (!inside(at.target)) {
            // The condition of jrcxz and loop is not in the flags, where the kernel side looks.
            if (exit.conditional && at.condition == no_condition)
                exit.cost = ProbeCost::refused;
            result.exits.push_back(exit);
        } else {
            landings.push_back(at.target);
        }
    }
    std::sort(landings.begin(), landings.end());
}

// What Go's functions do when there is no room on the stack: registers are saved, runtime.morestack
// is called although the stack pointer has not moved (which C never does), and the function begins
// again. That is no exit. `growths` get where a jump leads to that.
void Analysis::find_growths() {
    for (size_t i = code.size(); i-- > 0;) {
        const CodeExit* exit = exit_at(code[i].address);
        if (!exit || !exit->to_itself || exit->conditional)
            continue;
        size_t calls = 0, at = i;
        while (at > 0 && !std::binary_search(landings.begin(), landings.end(), code[at].address)) {
            const Instruction& before = code[at - 1];
            if (before.flow == Flow::call)
                calls++;
            else if (before.flow != Flow::next || before.moves_stack)
                break;
            at--;
        }
        if (calls != 1 || !std::binary_search(landings.begin(), landings.end(), code[at].address))
            continue;
        growths.push_back(code[at].address);
        std::erase_if(result.exits,
                      [&](const CodeExit& e) { return e.address == code[i].address; });
    }
}

// The last jump of the prologue that may lead to a growth.
std::optional<FunctionCode::Entry> Analysis::entry_at_growth() const {
    std::optional<FunctionCode::Entry> found;
    for (size_t i = first; i < code.size() && i - first < entry_limit; ++i) {
        const Instruction& at = code[i];
        if (at.flow == Flow::conditional && std::ranges::count(growths, at.target))
            found = {at.address, at.cost, at.condition};
        else if (at.flow != Flow::next || at.moves_stack)
            break;
    }
    return found;
}

// Looks for the entry place along the straight line from the first byte. A place is good as long as
// the stack pointer has not moved, no branch can land behind the first byte up to and including it
// (or it would see calls that are not new, or calls would pass it by), and it is no exit itself.
// What is passed for the sake of a cheaper place is in no duration; what the kernel takes no probe
// on has to be passed.
std::optional<Analysis::Entry> Analysis::find_entry(bool cheap_only) const {
    bool keeps_arguments = true, has_place = false;
    for (size_t i = first; i < code.size() && i - first < entry_limit; ++i) {
        const Instruction& at = code[i];
        bool at_start = i == first;
        if (!at_start && lands_between(body.address, at.address))
            return {};
        bool cheap = at.cost == ProbeCost::optimised || at.cost == ProbeCost::emulated;
        // An optimised probe is a call, which overwrites what leaf code keeps below the stack
        // pointer: harmless only at the very first instruction.
        bool usable =
            at.cost != ProbeCost::refused && (at_start || !at.nop5) && !exit_at(at.address);
        // Where a jump table leads is not known. Only a push is surely not the start of a loop:
        // the stack would grow with each turn.
        if (!at_start && result.indirect_jumps && !at.push)
            usable = false;
        if (usable && (cheap || !cheap_only))
            return Entry{at.address, at.cost, keeps_arguments};
        has_place |= usable;
        if (at.flow != Flow::next || at.moves_stack || (has_place && !may_be_left_out(at, false)))
            return {};
        keeps_arguments &= !at.writes_argument;
    }
    return {};
}

bool Analysis::place_entry() {
    if (const auto growth = entry_at_growth()) {
        result.entry = *growth;
        result.argument_entry = growth;
        return true;
    }
    const std::optional<Entry> cheap = find_entry(true), first = find_entry(false);
    const std::optional<Entry>& best = cheap ? cheap : first;
    if (!best)
        return false;
    result.entry = {best->address, best->cost};
    if (best->keeps_arguments)
        result.argument_entry = result.entry;
    else if (first->keeps_arguments)
        result.argument_entry = {first->address, first->cost};
    return true;
}

// Whether a jump may lead to places of the function that are not known: through a table, or through
// a pointer where the stack has not been taken down before, so that it may be no tail call.
bool Analysis::may_jump_anywhere() const {
    if (result.indirect_jumps)
        return true;
    return std::ranges::any_of(result.exits, [&](const CodeExit& exit) {
        if (!exit.indirect)
            return false;
        auto at = std::ranges::lower_bound(code, exit.address, {}, &Instruction::address);
        while (at != code.begin()) {
            --at;
            if (at->flow != Flow::next)
                return true;
            if (at->moves_stack)
                return at->push;
        }
        return true;
    });
}

std::span<const std::byte> Analysis::bytes_of(const Instruction& instruction) const {
    const auto in = [&](const CodePart& part) {
        return instruction.address - part.address < part.bytes.size();
    };
    const CodePart& part = in(body) ? body : *std::ranges::find_if(cold, in);
    return part.bytes.subspan(instruction.address - part.address, instruction.length);
}

void Analysis::find_cheap_exits(bool in_go) {
    const auto is_dear = [](const CodeExit& exit) {
        return exit.cost == ProbeCost::single_stepped;
    };
    if (std::ranges::none_of(result.exits, is_dear) || may_jump_anywhere())
        return;
    std::vector<uint64_t> entries{result.entry.address};
    if (result.argument_entry)
        entries.push_back(result.argument_entry->address);
    result.cheap_exits = auger::cheap_exits(
        {code, [&](const Instruction& instruction) { return bytes_of(instruction); }, body.address,
         entries, !in_go},
        result.exits);
    if (std::ranges::none_of(result.cheap_exits, &CodeExit::early))
        result.cheap_exits.clear();
}

// A landing pad and a jump through a slot: what linkers write. (Without the pad the first
// instruction is an exit.)
bool is_marked_stub(const Analysis& analysis) {
    const CodePart& body = analysis.body;
    if (body.bytes.size() > stub_limit || body.bytes.size() <= landing_pad.size() ||
        !begins_with(body.bytes, landing_pad))
        return false;
    const Instruction& second = analysis.code[analysis.first + 1];
    return second.flow == Flow::jump && second.memory && second.base == no_register &&
           second.index == no_register;
}

} // namespace

bool FunctionCode::is_boundary(uint64_t address) const {
    return std::binary_search(boundaries.begin(), boundaries.end(), address);
}

Result<FunctionCode> analyse_function(const CodePart& body, std::span<const CodePart> cold,
                                      const DataReader& read_data, bool in_go) {
    if (body.bytes.empty())
        return refusal("has no code in the file");
    Analysis analysis{body, cold, {}, 0, {}, {}, {}};
    auto add = [&](const CodePart& part) -> std::optional<Error> {
        if (std::optional<uint64_t> bad = decode_part(part, analysis.code))
            return refusal("its code cannot be decoded at " + hexadecimal(part.address + *bad) +
                           ", so data may lie between the instructions");
        return std::nullopt;
    };
    if (std::optional<Error> error = add(body))
        return *error;
    for (const CodePart& part : cold)
        if (std::optional<Error> error = add(part))
            return *error;
    std::sort(analysis.code.begin(), analysis.code.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    for (const Instruction& instruction : analysis.code) {
        if (instruction.address < body.address)
            ++analysis.first;
        analysis.result.boundaries.push_back(instruction.address);
    }

    analysis.find_exits(read_data);
    analysis.find_growths();
    // A branch into the middle of an instruction shows that what was decoded is not what runs.
    for (uint64_t landing : analysis.landings)
        if (!may_land(analysis.code, landing))
            return refusal("a jump leads into the middle of an instruction at " +
                           hexadecimal(landing) + ", so data may lie between the instructions");
    for (const CodeExit& exit : analysis.result.exits)
        if (exit.cost == ProbeCost::refused)
            return refusal("the kernel takes no probe on its exit at " + hexadecimal(exit.address));
    if (!analysis.place_entry()) {
        const CodeExit* exit = analysis.exit_at(body.address);
        if (exit && exit->kind == ExitKind::ret)
            return refusal("is too short to time: it only returns");
        if (exit)
            return refusal("is too short to time: its first instruction already jumps to another "
                           "function (a PLT stub or a forwarder)",
                           exit->target ? "probe the function at " + hexadecimal(exit->target)
                                        : "probe the function that it jumps to");
        return refusal("the kernel takes no probe on its first instructions");
    }
    if (is_marked_stub(analysis))
        return refusal("is a PLT stub", "probe the function in its library");
    analysis.find_cheap_exits(in_go);
    return std::move(analysis.result);
}

std::vector<uint64_t> leaving_jumps(const CodePart& part) {
    std::vector<Instruction> code;
    decode_part(part, code);
    std::vector<uint64_t> targets;
    for (const Instruction& instruction : code)
        if (instruction.is_branch() && !instruction.indirect &&
            instruction.target - part.address >= part.bytes.size())
            targets.push_back(instruction.target);
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    return targets;
}

} // namespace auger
