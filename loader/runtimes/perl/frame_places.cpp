// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/perl/frame_places.h"

#include "bpf/unwind_table.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace auger {
namespace {

using Words = std::span<const uint64_t>;

bool is_of_perl(uint64_t word) {
    const uint64_t kind = word & WIRE_FRAME_KIND;
    return kind == WIRE_FRAME_PERL || kind == WIRE_FRAME_PERL_PLACE || kind == WIRE_FRAME_PERL_COP;
}

// Perl's frames up to a boundary.
struct Piece {
    Words words;
    bool is_main = false; // ends with the program's own level
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
    const auto add_piece = [&] {
        parts.pieces.push_back({words.subspan(begin, end - begin), main});
        main = false;
    };
    for (size_t i = 0; i < words.size(); i++) {
        const uint64_t word = words[i];
        const bool is_pair = !(word & WIRE_STACK_CUT) && word & WIRE_FRAME_RUNTIME;
        if (is_pair && i + 1 == words.size())
            break;
        if (!is_pair || !is_of_perl(word)) {
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
            add_piece();
        if (end != i)
            begin = end = i;
        const uint64_t second = words[++i];
        if (word == WIRE_FRAME_PERL) {
            add_piece();
            begin = end = i + 1;
            continue;
        }
        end = i + 1;
        main |= is_main(word, second);
    }
    if (begin != end)
        add_piece();
    return parts;
}

// A native frame of the loop.
struct Run {
    size_t at; // among the natives
    std::vector<const Piece*> pieces{};
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
                runs_.push_back({frames[loops[i]]});
    }

    void place_from_outermost() {
        // Threads, and code that is executed while the program is compiled, are outside of it.
        size_t left = parts_.pieces.size() - (runs_program_ ? 0 : 1);
        for (size_t run = runs_.size(); run > 0 && left > 0; run--)
            runs_[run - 1].pieces.push_back(&parts_.pieces[--left]);
        // One is what sort and others are about to call, or have just called. More there are where
        // another loop executes ops.
        if (left < 2 && !(runs_.empty() && runs_program_))
            return;
        std::vector<const Piece*>& to = runs_.empty() ? rest_ : runs_.front().pieces;
        while (left > 0)
            to.insert(to.begin(), &parts_.pieces[--left]);
    }

    void place_from_innermost() {
        size_t next = 0;
        for (Run& run : runs_)
            if (next < parts_.pieces.size())
                run.pieces.push_back(&parts_.pieces[next++]);
        while (next < parts_.pieces.size())
            rest_.push_back(&parts_.pieces[next++]);
    }

    const Parts& parts_;
    std::vector<Run> runs_;
    std::vector<const Piece*> rest_; // that have no place, behind all
    bool runs_program_ = false;
};

} // namespace

bool has_perl_frames(Words words) {
    for (size_t i = 0; i < words.size(); i++)
        if (!(words[i] & WIRE_STACK_CUT) && words[i] & WIRE_FRAME_RUNTIME) {
            if (is_of_perl(words[i]))
                return true;
            i++;
        }
    return false;
}

std::vector<uint64_t> place_perl_frames(Words words, const PerlCode& code, bool leaf_is_return) {
    const Parts parts = take_apart(words);
    return Placing(parts, code, leaf_is_return).words();
}

} // namespace auger
