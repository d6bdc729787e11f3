// SPDX-License-Identifier: GPL-3.0-or-later
// From each `ret` backwards along the straight line that ends there. Jumps into the line are places
// themselves, as is what the line begins with. What nobody is seen to jump to (landing pads of
// exceptions) comes to a `ret` behind a call, where the line is over.
#include "loader/reader/code/cheap_exits.h"

#include "loader/reader/code/loops.h"
#include "loader/reader/code/stack_effect.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace auger {
namespace {

using Flow = Instruction::Flow;

// Where the return address lies: at `base` + `distance`.
struct Slot {
    StackEffect::Register base = StackEffect::Register::rsp;
    int64_t distance = 0;

    friend bool operator==(const Slot&, const Slot&) = default;
};

// The way to a `ret`, followed backwards.
struct Way {
    Slot slot;             // here
    bool in_frame = false; // what rbp held here is given back behind it
};

// By an exit.
bool can_be_told(const Slot& slot) {
    return slot.distance >= 0 && slot.distance <= most_frame_distance && slot.distance % 8 == 0;
}

// From after an instruction to before it; nothing when that cannot be told.
std::optional<Slot> before(const StackEffect& effect, const Slot& after) {
    using Kind = StackEffect::Kind;
    using Register = StackEffect::Register;
    const bool by_stack = after.base == Register::rsp;
    if (effect.saved == Register::rsp)
        return {};
    if (!by_stack) {
        const bool writes_frame = effect.writes_rbp || effect.zeroes_rbp ||
                                  effect.kind == Kind::leave ||
                                  ((effect.kind == Kind::pop || effect.kind == Kind::load) &&
                                   effect.saved == Register::rbp);
        if (effect.kind == Kind::set_frame)
            return Slot{Register::rsp, after.distance + effect.amount};
        return writes_frame ? std::nullopt : std::optional(after);
    }
    switch (effect.kind) {
    case Kind::none:
    case Kind::store:
    case Kind::load:
    case Kind::set_frame:
        return after;
    case Kind::add:
        return Slot{Register::rsp, after.distance + effect.amount};
    case Kind::push:
        return Slot{Register::rsp, after.distance - 8};
    case Kind::pop:
        return Slot{Register::rsp, after.distance + 8};
    case Kind::from_frame:
        return Slot{Register::rbp, after.distance + effect.amount};
    case Kind::leave:
        return Slot{Register::rbp, after.distance + 8};
    case Kind::unknown:
        break;
    }
    return {};
}

bool gives_frame_back(const StackEffect& effect) {
    using Kind = StackEffect::Kind;
    return effect.kind == Kind::leave ||
           (effect.kind == Kind::pop && effect.saved == StackEffect::Register::rbp);
}

// Whether rbp, where the function has not given it back, points to its frame: it gets no other
// value.
bool has_frame_pointer(const CodeToLeave& function) {
    bool sets = false;
    for (const Instruction& instruction : function.code) {
        const StackEffect effect = stack_effect(function.bytes(instruction), instruction.address);
        const bool loads =
            effect.kind == StackEffect::Kind::load && effect.saved == StackEffect::Register::rbp;
        if (effect.writes_rbp || effect.zeroes_rbp || loads)
            return false;
        sets |= effect.kind == StackEffect::Kind::set_frame;
    }
    return sets;
}

class Search {
  public:
    Search(const CodeToLeave& function, std::span<const CodeExit> exits)
        : function_(function), code_(function.code), loops_(find_loops(code_)) {
        for (size_t i = 0; i < code_.size(); i++)
            if (code_[i].is_branch() && !code_[i].indirect)
                jumps_[code_[i].target].push_back(i);
        for (const CodeExit& exit : exits)
            taken_.insert(exit.address);
        for (size_t i = 0; i < code_.size(); i++)
            padding_.push_back(code_[i].nop && code_[i].address != function.begin &&
                               !is_jumped_to(code_[i]) && !may_follow(i));
    }

    // The places of one `ret`; nothing: it has to be probed itself.
    std::optional<std::vector<CodeExit>> before_ret(size_t ret) const;
    // All calls would end there.
    void refuse(uint64_t place) { refused_.insert(place); }

  private:
    using Places = std::vector<CodeExit>;

    std::optional<CodeExit> place(size_t at, const Slot& slot, uint8_t condition) const;
    bool is_taken(const Instruction& instruction, uint8_t condition) const;
    // Of a jump to where `slot` is; `jumps`: it is left by jumping, else by not jumping.
    std::optional<CodeExit> branch(size_t at, const Slot& slot, bool jumps) const;
    // Those of all jumps to an instruction; nothing when one of them is no place.
    std::optional<Places> jumps_to(const Instruction& landing, const Slot& slot) const;
    // What the instruction before `at` is, if it goes on there and is a place; empty: the way goes
    // on before it, and `way` is as it is there.
    std::optional<Places> from_before(size_t at, Way& way) const;
    bool in_frame(const Way& way) const;
    bool may_follow(size_t at) const;
    bool is_jumped_to(const Instruction& instruction) const;

    const CodeToLeave& function_;
    std::span<const Instruction> code_;
    std::vector<bool> loops_;                       // by index: may be executed again
    std::map<uint64_t, std::vector<size_t>> jumps_; // by target
    std::set<uint64_t> taken_;                      // addresses of exits
    std::set<uint64_t> refused_;                    // addresses
    std::vector<bool> padding_;                     // by index: between two ways, never executed
    mutable std::optional<bool> frame_pointer_;     // once asked for: see has_frame_pointer()
};

// By another exit, or as an entry. A jump leads out of the function by one of its ways, and may
// lead to a `ret` by the other.
bool Search::is_taken(const Instruction& instruction, uint8_t condition) const {
    const bool by_one_way = condition != no_condition;
    if (std::ranges::count(function_.entries, instruction.address))
        return !by_one_way || !function_.at_entries;
    return taken_.contains(instruction.address) && !by_one_way;
}

std::optional<CodeExit> Search::place(size_t at, const Slot& slot, uint8_t condition) const {
    const Instruction& instruction = code_[at];
    if (instruction.cost == ProbeCost::refused || instruction.cost == ProbeCost::optimised ||
        instruction.locked || !can_be_told(slot) || is_taken(instruction, condition) ||
        refused_.contains(instruction.address))
        return {};
    CodeExit exit{instruction.address,
                  ExitKind::ret,
                  condition != no_condition,
                  false,
                  false,
                  instruction.cost,
                  0,
                  condition};
    exit.early = true;
    exit.frame_distance = static_cast<uint32_t>(slot.distance);
    exit.from_frame_pointer = slot.base == StackEffect::Register::rbp;
    return exit;
}

std::optional<CodeExit> Search::branch(size_t at, const Slot& slot, bool jumps) const {
    const Instruction& instruction = code_[at];
    if (instruction.cost != ProbeCost::emulated)
        return {};
    if (instruction.flow == Flow::jump)
        return place(at, slot, no_condition);
    // Its probe would be hit at each turn.
    if (instruction.condition == no_condition || loops_[at])
        return {};
    return place(at, slot, jumps ? instruction.condition : instruction.condition ^ 1);
}

std::optional<Search::Places> Search::jumps_to(const Instruction& landing, const Slot& slot) const {
    Places places;
    const auto behind = jumps_.lower_bound(landing.address + landing.length);
    for (auto found = jumps_.lower_bound(landing.address); found != behind; ++found) {
        if (found->first != landing.address)
            return {}; // behind a lock prefix
        for (const size_t jump : found->second) {
            const auto place = branch(jump, slot, true);
            if (!place)
                return {};
            places.push_back(*place);
        }
    }
    return places;
}

// Anywhere in it, as behind a lock prefix.
bool Search::is_jumped_to(const Instruction& instruction) const {
    const auto found = jumps_.lower_bound(instruction.address);
    return found != jumps_.end() && found->first < instruction.address + instruction.length;
}

// Whether the instruction before it goes on there.
bool Search::may_follow(size_t at) const {
    if (at == 0 || code_[at - 1].address + code_[at - 1].length != code_[at].address ||
        padding_[at - 1])
        return false;
    const Flow flow = code_[at - 1].flow;
    return flow != Flow::ret && flow != Flow::jump && flow != Flow::stop;
}

bool Search::in_frame(const Way& way) const {
    if (way.in_frame && !frame_pointer_)
        frame_pointer_ = has_frame_pointer(function_);
    return way.in_frame && *frame_pointer_;
}

std::optional<Search::Places> Search::from_before(size_t at, Way& way) const {
    const Instruction& previous = code_[at - 1];
    if (previous.flow == Flow::conditional) {
        const auto place = branch(at - 1, way.slot, false);
        return place ? std::optional(Places{*place}) : std::nullopt;
    }
    if (previous.flow != Flow::next)
        return {};
    const bool by_frame_pointer = previous.brief == Instruction::Brief::by_frame_pointer;
    if (!may_be_left_out(previous, by_frame_pointer && in_frame(way)))
        return {};
    const StackEffect effect = stack_effect(function_.bytes(previous), previous.address);
    const auto earlier = before(effect, way.slot);
    if (!earlier)
        return {};
    if (previous.cost == ProbeCost::emulated) {
        const auto found = place(at - 1, *earlier, no_condition);
        return found ? std::optional(Places{*found}) : std::nullopt;
    }
    way.slot = *earlier;
    way.in_frame |= gives_frame_back(effect);
    way.in_frame &= effect.kind != StackEffect::Kind::set_frame;
    return Places();
}

std::optional<std::vector<CodeExit>> Search::before_ret(size_t ret) const {
    Places places;
    Way way;
    size_t at = ret; // `way` is as it is before this instruction
    for (size_t left_out = 1; left_out <= most_left_out; left_out++, at--) {
        const auto jumps = jumps_to(code_[at], way.slot);
        if (!jumps)
            return {};
        places.insert(places.end(), jumps->begin(), jumps->end());
        if (places.size() > most_places)
            return {};
        const bool reached = !jumps->empty();
        // Nobody is known to come to its first instruction: somebody unknown does.
        if ((!may_follow(at) && !reached) || code_[at].address == function_.begin)
            return {};
        if (!may_follow(at))
            return places;
        const auto earlier = from_before(at, way);
        if (earlier && earlier->empty())
            continue;
        if (earlier) {
            places.push_back(earlier->front());
            return places;
        }
        // Behind a call, say, which may never come back, or what may fault. Who comes from there is
        // seen at the first instruction that is theirs alone; for the others it was worth it.
        const auto dear = reached ? std::nullopt : place(at, way.slot, no_condition);
        if (places.empty() || !dear)
            return {};
        places.push_back(*dear);
        return places;
    }
    return {};
}

// By address, and of what is there: a `ret`, or a jump out of the function.
using PlacedExits = std::map<std::pair<uint64_t, ExitKind>, CodeExit>;

// Whether its return address lies where it does for what was found at that place before.
bool agree(const PlacedExits& found, const CodeExit& place) {
    const auto known = found.find({place.address, place.kind});
    return known == found.end() || (known->second.frame_distance == place.frame_distance &&
                                    known->second.from_frame_pointer == place.from_frame_pointer);
}

PlacedExits find_all(const Search& search, const CodeToLeave& function,
                     std::span<const CodeExit> exits) {
    PlacedExits found;
    const auto add = [&](const CodeExit& exit) {
        const auto [known, fresh] = found.emplace(std::pair(exit.address, exit.kind), exit);
        if (fresh)
            return;
        // Both ways of a jump lead out.
        known->second.conditional = false;
        known->second.condition = no_condition;
    };
    for (const CodeExit& exit : exits) {
        const auto instruction =
            std::ranges::lower_bound(function.code, exit.address, {}, &Instruction::address);
        const auto places =
            exit.kind == ExitKind::ret
                ? search.before_ret(static_cast<size_t>(instruction - function.code.begin()))
                : std::nullopt;
        if (!places || places->size() > most_places ||
            !std::ranges::all_of(*places,
                                 [&](const CodeExit& place) { return agree(found, place); }))
            add(exit);
        else
            for (const CodeExit& place : *places)
                add(place);
    }
    return found;
}

} // namespace

std::vector<CodeExit> cheap_exits(const CodeToLeave& function, std::span<const CodeExit> exits) {
    Search search(function, exits);
    PlacedExits found = find_all(search, function, exits);
    for (const uint64_t entry : function.entries) {
        const auto all = found.find({entry, ExitKind::ret});
        if (all == found.end() || all->second.conditional)
            continue;
        search.refuse(entry);
        found = find_all(search, function, exits);
    }
    std::vector<CodeExit> all;
    for (const auto& [place, exit] : found)
        all.push_back(exit);
    return all;
}

} // namespace auger
