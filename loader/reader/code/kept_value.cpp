// SPDX-License-Identifier: GPL-3.0-or-later
// Forward: the number is followed through copies, through a frame of the function's own and through
// its caller's; where ways meet it is where all of them have it. Backward: what is in the register
// that it is handed on in, and stays there until then, is the next number already.
#include "loader/reader/code/kept_value.h"

#include "loader/reader/code/value_move.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace auger {
namespace {

using Flow = Instruction::Flow;
using MoveKind = ValueMove::Kind;

using Places = uint64_t;
constexpr Places all_registers = 0xffff;
constexpr int64_t word_bytes = 8, half_bytes = 4;
constexpr int64_t growth_limit = 16, shrink_limit = 1; // by one instruction

constexpr Places bit(uint32_t place) {
    return Places{1} << place;
}

// What is known before an instruction.
struct Known {
    Places number = 0; // where it is
    Places frame = 0;  // where the caller's frame pointer is
    bool saved = false;
    bool pushed = false;    // the caller's frame pointer, by the instruction before
    bool own_frame = false; // the frame pointer is the function's own

    friend bool operator==(const Known&, const Known&) = default;
    bool has(Places Known::*of, uint32_t place) const {
        return place < first_frame_word + frame_words && (this->*of & bit(place));
    }
};

Known meet(const Known& one, const Known& other) {
    Known both{one.number & other.number, one.frame & other.frame, one.saved && other.saved,
               one.pushed && other.pushed, one.own_frame && other.own_frame};
    if (one.own_frame != other.own_frame) {
        both.number &= all_registers;
        both.frame &= all_registers & ~bit(number_rbp);
    }
    return both;
}

class Following {
  public:
    Following(const CodePart& code, uint8_t number, int64_t slot,
              const KeepsRegisters& keeps_registers)
        : code_(code), number_(number), slot_(slot), keeps_registers_(keeps_registers) {}

    std::optional<std::vector<KeptValue>> run();

  private:
    struct Step {
        uint64_t address;
        RegisterWrites does;
        ValueMove move;
        std::optional<Known> known;    // nothing: not reached
        std::optional<size_t> to = {}; // where a jump within the code leads
        bool landing = false;
        bool below_words = false; // it writes below all of the own frame's words
        bool handed_on = false;   // what is in `number_` now
    };

    bool decode_all();
    bool stores_below(size_t i) const;
    bool inside(uint64_t address) const { return address - code_.address < code_.bytes.size(); }
    size_t index_of(uint64_t address) const;
    static bool goes_on(const Step& step) {
        return step.move.kind != MoveKind::stop && step.does.flow != Flow::jump &&
               step.does.flow != Flow::ret && step.does.flow != Flow::stop;
    }
    Places written_by(const Step& step) const;
    Known after(const Step& step) const;
    void take_value(const Step& step, Known& known) const;
    void put_value(const ValueMove& move, const Known& before, Known& known) const;
    void follow();
    bool hands_on(size_t index) const;
    void look_back();

    const CodePart& code_;
    const uint8_t number_;
    const int64_t slot_;
    const KeepsRegisters& keeps_registers_;
    std::vector<Step> steps_;
};

size_t Following::index_of(uint64_t address) const {
    const auto found = std::ranges::lower_bound(steps_, address, {}, &Step::address);
    return found != steps_.end() && found->address == address
               ? static_cast<size_t>(found - steps_.begin())
               : steps_.size();
}

bool Following::decode_all() {
    for (size_t at = 0; at < code_.bytes.size();) {
        const auto bytes = code_.bytes.subspan(at);
        const auto does = register_writes(bytes, code_.address + at);
        if (!does)
            return false;
        steps_.push_back({code_.address + at, *does, value_move(bytes), {}});
        at += does->length;
    }
    for (Step& step : steps_) {
        if (!step.does.target || step.does.flow == Flow::call || !inside(step.does.target))
            continue;
        const size_t to = index_of(step.does.target);
        if (to == steps_.size())
            return false;
        step.to = to;
        steps_[to].landing = true;
    }
    for (size_t i = 0; i < steps_.size(); i++)
        steps_[i].below_words = stores_below(i);
    return true;
}

// Whether a step stores where the stack pointer has just been lowered to: by a word, and for
// calls of C to an alignment.
bool Following::stores_below(size_t i) const {
    const ValueMove& store = steps_[i].move;
    if (store.kind != MoveKind::store || store.base != number_rsp ||
        store.index != no_register_number || store.amount || store.bytes > word_bytes ||
        steps_[i].landing || i-- == 0)
        return false;
    const auto moves_stack_pointer = [&](const RegisterWrites& does) {
        return does.copies && does.copy_to == number_rsp && does.copy_from == number_rsp;
    };
    if (moves_stack_pointer(steps_[i].does) && steps_[i].move.kind == MoveKind::none &&
        (steps_[i].landing || i-- == 0))
        return false;
    const ValueMove& lowering = steps_[i].move;
    return moves_stack_pointer(steps_[i].does) && lowering.kind == MoveKind::copy &&
           lowering.amount == -word_bytes;
}

// Which word of the own frame; nothing when it is none that is followed.
std::optional<uint32_t> word_of(const ValueMove& move, const Known& known) {
    if (!known.own_frame || move.base != number_rbp || move.index != no_register_number ||
        move.amount > 0 || move.amount <= -word_bytes * frame_words || move.amount % word_bytes)
        return std::nullopt;
    return first_frame_word + static_cast<uint32_t>(-move.amount / word_bytes);
}

// What a register gets by a copy or a load.
void Following::take_value(const Step& step, Known& known) const {
    const ValueMove& move = step.move;
    const Known& before = *step.known;
    bool number = false, frame = false;
    if (move.kind == MoveKind::copy) {
        number = before.has(&Known::number, move.base) && move.amount >= -shrink_limit &&
                 move.amount <= growth_limit;
        frame = before.has(&Known::frame, move.base) && !move.amount && move.bytes == word_bytes;
        if (move.number == number_rbp && move.base == number_rsp && !move.amount && before.pushed) {
            known.own_frame = true;
            known.frame |= bit(first_frame_word);
        }
    } else if (const auto word = word_of(move, before); word && move.bytes == word_bytes) {
        number = before.has(&Known::number, *word);
        frame = before.has(&Known::frame, *word);
    } else if (before.has(&Known::frame, move.base) && move.index == no_register_number) {
        number = before.saved && move.amount == slot_ && move.bytes == half_bytes;
    }
    if (number)
        known.number |= bit(move.number);
    if (frame)
        known.frame |= bit(move.number);
}

void Following::put_value(const ValueMove& move, const Known& before, Known& known) const {
    if (move.index != no_register_number)
        return; // an element of an array
    const bool number = before.has(&Known::number, move.number);
    if (before.own_frame && (move.base == number_rbp || move.base == number_rsp)) {
        const auto word = word_of(move, before);
        const bool whole = word && move.bytes == word_bytes;
        // Relative to the stack pointer, or half of a word: it may be any.
        const Places written = whole ? bit(*word) : ~all_registers;
        known.number &= ~written;
        known.frame &= ~written;
        if (whole && number)
            known.number |= written;
        if (whole && before.has(&Known::frame, move.number))
            known.frame |= written;
    } else if (before.has(&Known::frame, move.base) && move.amount < slot_ + half_bytes &&
               slot_ < move.amount + move.bytes) {
        known.saved = number && move.amount == slot_ && move.bytes == half_bytes;
    }
}

// Which registers are others' behind it. All that is called keeps the frame pointer.
Places Following::written_by(const Step& step) const {
    if (step.does.flow != Flow::call)
        return step.does.written;
    const bool keeps = step.does.target && keeps_registers_(step.does.target);
    return keeps ? 0 : all_registers & ~bit(number_rbp);
}

// Behind the instruction.
Known Following::after(const Step& step) const {
    const Known& before = *step.known;
    Known known = before;
    known.pushed = step.move.kind == MoveKind::push && before.has(&Known::frame, step.move.number);
    const Places written = written_by(step);
    known.number &= ~written;
    known.frame &= ~written;
    if (written & bit(number_rbp)) {
        known.own_frame = false;
        known.number &= all_registers;
        known.frame &= all_registers;
    }
    if (step.move.kind == MoveKind::copy || step.move.kind == MoveKind::load)
        take_value(step, known);
    else if (step.move.kind == MoveKind::store && !step.below_words)
        put_value(step.move, before, known);
    else if ((step.move.kind == MoveKind::leave ||
              (step.move.kind == MoveKind::pop && step.move.number == number_rbp)) &&
             before.own_frame)
        known.frame |= bit(number_rbp);
    return known;
}

void Following::follow() {
    std::vector<size_t> pending;
    const auto reach = [&](size_t index, const Known& known) {
        if (index >= steps_.size())
            return;
        std::optional<Known>& before = steps_[index].known;
        const Known met = before ? meet(*before, known) : known;
        if (before == met)
            return;
        before = met;
        pending.push_back(index);
    };
    Known begin;
    begin.number = bit(number_);
    begin.frame = bit(number_rbp);
    reach(0, begin);
    while (!pending.empty()) {
        const size_t index = pending.back();
        pending.pop_back();
        const Step& step = steps_[index];
        const Known known = after(step);
        if (step.to)
            reach(*step.to, known);
        if (goes_on(step))
            reach(index + 1, known);
    }
}

// Whether a jump leads to code that a table has, which is told right before.
bool Following::hands_on(size_t index) const {
    const ValueMove& jump = steps_[index].move;
    if (jump.kind != MoveKind::jump)
        return false;
    for (size_t i = index; i-- > 0 && !steps_[i + 1].landing;) {
        const RegisterWrites& does = steps_[i].does;
        const ValueMove& move = steps_[i].move;
        if (does.flow != Flow::next)
            return false;
        if (does.written & bit(jump.number))
            return move.kind == MoveKind::load && move.number == jump.number &&
                   move.index != no_register_number && move.scale == word_bytes && !move.amount;
    }
    return false;
}

void Following::look_back() {
    using Jump = std::pair<size_t, size_t>; // to, from
    std::vector<Jump> jumps;
    std::vector<size_t> pending;
    const auto reach = [&](size_t index) {
        Step& step = steps_[index];
        if (step.handed_on || (written_by(step) & bit(number_)))
            return;
        step.handed_on = true;
        pending.push_back(index);
    };
    for (size_t i = 0; i < steps_.size(); i++) {
        if (steps_[i].to)
            jumps.emplace_back(*steps_[i].to, i);
        if (hands_on(i))
            reach(i);
    }
    std::ranges::sort(jumps);
    while (!pending.empty()) {
        const size_t index = pending.back();
        pending.pop_back();
        if (index > 0 && goes_on(steps_[index - 1]))
            reach(index - 1);
        for (auto jump = std::ranges::lower_bound(jumps, index, {}, &Jump::first);
             jump != jumps.end() && jump->first == index; ++jump)
            reach(jump->second);
    }
}

std::optional<std::vector<KeptValue>> Following::run() {
    if (!decode_all())
        return std::nullopt;
    follow();
    look_back();
    std::vector<KeptValue> kept;
    kept.reserve(steps_.size());
    for (const Step& step : steps_) {
        const Known known = step.known.value_or(Known());
        const Places next = step.known && step.handed_on ? bit(number_) : 0;
        kept.push_back({step.address, known.number | next, known.saved});
    }
    return kept;
}

} // namespace

std::optional<std::vector<KeptValue>> kept_value(const CodePart& code, uint8_t number, int64_t slot,
                                                 const KeepsRegisters& keeps_registers) {
    return Following(code, number, slot, keeps_registers).run();
}

} // namespace auger
