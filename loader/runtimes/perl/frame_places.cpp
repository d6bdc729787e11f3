// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/perl/frame_places.h"

#include "bpf/unwind_table.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace auger {
namespace {

using Words = std::span<const uint64_t>;

// Perl's frames up to a boundary.
struct Piece {
    Words words;
    bool is_block = false; // see WIRE_PERL_BLOCK
    bool is_main = false;  // ends with the program's own level
};

// A stack's words, apart.
struct Parts {
    std::vector<uint64_t> natives; // with pairs of other runtimes
    std::vector<Piece> pieces;     // innermost first
    std::optional<uint64_t> cut;
};

bool is_main(uint64_t first, uint64_t second) {
    return (first & WIRE_FRAME_KIND) == WIRE_FRAME_PERL &&
           second >> WIRE_PERL_FRAME_SHIFT == WIRE_PERL_FRAME_MAIN;
}

Parts take_apart(Words words) {
    Parts parts;
    size_t begin = 0, end = 0; // of the piece at hand
    bool main = false;
    const auto add_piece = [&](bool is_block) {
        parts.pieces.push_back({words.subspan(begin, end - begin), is_block, main});
        main = false;
    };
    for (size_t i = 0; i < words.size(); i++) {
        const uint64_t word = words[i];
        const bool is_pair = !(word & WIRE_STACK_CUT) && word & WIRE_FRAME_RUNTIME;
        if (is_pair && i + 1 == words.size())
            break;
        if (!is_pair || !is_perl_word(word)) {
            if (word & WIRE_STACK_CUT)
                parts.cut = word;
            else
                parts.natives.push_back(word);
            if (is_pair)
                parts.natives.push_back(words[++i]);
            continue;
        }
        // They follow one another, but for a stack that nobody has taken.
        if (begin != end && end != i)
            add_piece(false);
        if (end != i)
            begin = end = i;
        const uint64_t second = words[++i];
        if (word == WIRE_FRAME_PERL) {
            add_piece(second == WIRE_PERL_BLOCK);
            begin = end = i + 1;
            continue;
        }
        end = i + 1;
        main |= is_main(word, second);
    }
    if (begin != end)
        add_piece(false);
    return parts;
}

// A native frame of the loop.
struct Run {
    size_t at;      // among the natives
    bool is_called; // as C code calls subs, or perl_run() the program; else by sort and the like
    std::vector<const Piece*> pieces{}; // innermost first
};

class Placing {
  public:
    Placing(const Parts& parts, const PerlCode& code, bool leaf_is_return) : parts_(parts) {
        find_runs(code, leaf_is_return);
        // Where either is cut, what is further out is not known.
        const bool is_whole = !parts.cut && !parts.pieces.empty() && parts.pieces.back().is_main;
        if (is_whole)
            place_from_outermost();
        else
            place_from_innermost();
    }

    std::vector<uint64_t> words() const {
        std::vector<uint64_t> placed;
        const auto append = [&](const Piece* piece) {
            placed.insert(placed.end(), piece->words.begin(), piece->words.end());
        };
        auto run = runs_.begin();
        for (size_t i = 0; i < parts_.natives.size(); i++) {
            placed.push_back(parts_.natives[i]);
            if (run == runs_.end() || run->at != i)
                continue;
            for (const Piece* const piece : run->pieces)
                append(piece);
            ++run;
        }
        for (const Piece* const piece : rest_)
            append(piece);
        if (parts_.cut)
            placed.push_back(*parts_.cut);
        return placed;
    }

  private:
    // Innermost first. An eval in a sub that C code has called begins a loop for what that still
    // has to do (docatch()), in place of the C function of its op: such a frame's caller is called
    // by the loop itself, and what it executes belongs to the run around it.
    void find_runs(const PerlCode& code, bool leaf_is_return) {
        std::vector<size_t> frames, loops; // where among the natives
        for (size_t i = 0; i < parts_.natives.size(); i++) {
            const uint64_t word = parts_.natives[i];
            if (word & WIRE_FRAME_RUNTIME) {
                i++;
                continue;
            }
            const bool is_next = word & WIRE_FRAME_EXACT || (frames.empty() && !leaf_is_return);
            const uint64_t address = (word & ~WIRE_FRAME_EXACT) - (is_next ? 0 : 1);
            if (code.loop.holds(address))
                loops.push_back(frames.size());
            runs_program_ |= code.run.holds(address);
            frames.push_back(i);
        }
        for (size_t i = 0; i < loops.size(); i++)
            if (i + 1 == loops.size() || loops[i + 1] != loops[i] + 2)
                runs_.push_back({frames[loops[i]], is_called(code, frames, loops[i] + 1)});
    }

    // Whether the frame there, or the one around it where the compiler has left a function apart,
    // is of what executes subs. In a stack that is cut before: perhaps.
    bool is_called(const PerlCode& code, const std::vector<size_t>& frames, size_t at) const {
        for (size_t i = at; i < at + 2; i++) {
            if (i >= frames.size())
                return true;
            const uint64_t address = (parts_.natives[frames[i]] & ~WIRE_FRAME_EXACT) - 1;
            if (code.run.holds(address) || std::ranges::any_of(code.calls, [&](const auto& one) {
                    return one.holds(address);
                }))
                return true;
        }
        return false;
    }

    // What sort and others execute has a boundary of its own kind. While they do something else,
    // what they have prepared is executed by nobody, though other code may be called meanwhile.
    void place_from_outermost() {
        // Threads, and code that is executed while the program is compiled, are outside of it.
        size_t left = parts_.pieces.size() - (runs_program_ ? 0 : 1);
        const auto take = [&](Run& run) {
            run.pieces.insert(run.pieces.begin(), &parts_.pieces[--left]);
        };
        const auto is_block = [&] { return left > 0 && parts_.pieces[left - 1].is_block; };
        for (size_t at = runs_.size(); at > 0; at--) {
            Run& run = runs_[at - 1];
            if (!run.is_called) {
                if (is_block())
                    take(run);
                continue;
            }
            while (is_block())
                take(run);
            if (left > 0)
                take(run);
        }
        if (is_block() && left == 1)
            return;
        // More there are where another loop executes ops.
        if (runs_.empty() && !runs_program_)
            return;
        while (left > 0) {
            if (runs_.empty())
                rest_.insert(rest_.begin(), &parts_.pieces[--left]);
            else
                take(runs_.front());
        }
    }

    void place_from_innermost() {
        size_t next = 0;
        const auto is_block = [&] {
            return next < parts_.pieces.size() && parts_.pieces[next].is_block;
        };
        for (Run& run : runs_) {
            if (!run.is_called && !is_block())
                continue;
            while (run.is_called && is_block())
                run.pieces.push_back(&parts_.pieces[next++]);
            if (next < parts_.pieces.size())
                run.pieces.push_back(&parts_.pieces[next++]);
        }
        while (next < parts_.pieces.size())
            rest_.push_back(&parts_.pieces[next++]);
    }

    const Parts& parts_;
    std::vector<Run> runs_;
    std::vector<const Piece*> rest_; // that have no place, behind all
    bool runs_program_ = false;
};

} // namespace

bool is_perl_word(uint64_t first) {
    const uint64_t kind = first & WIRE_FRAME_KIND;
    return kind == WIRE_FRAME_PERL || kind == WIRE_FRAME_PERL_PLACE || kind == WIRE_FRAME_PERL_COP;
}

std::vector<uint64_t> place_perl_frames(Words words, const PerlCode& code, bool leaf_is_return) {
    const Parts parts = take_apart(words);
    return Placing(parts, code, leaf_is_return).words();
}

} // namespace auger
