// SPDX-License-Identifier: GPL-3.0-or-later
// Rules for what is shown: other names for threads and functions, frames that are left out,
// recursion as one frame. They are about names, never about what was collected, and are decided
// once a name (see SymbolTables). Expressions are RE2's: linear in hostile names.
#pragma once

#include "loader/base/result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct Rule {
    enum class Kind : uint8_t { rewrite_thread, rewrite_frame, drop_frame, fold_recursion };
    Kind kind = Kind::fold_recursion;
    std::string expression;    // of the first three, in which every '/' has a '\' before it
    std::string replacement{}; // of rewrite: of every match; \1 to \9 are its groups, \0 all of it
    friend bool operator==(const Rule&, const Rule&) = default;
};

// As the command that makes it: "drop frame /^__libc_start/".
std::string spell_rule(const Rule&);

class Rules {
  public:
    // Names are not made longer than this.
    static constexpr size_t longest_name = 64 << 10;

    Rules() = default;
    // Errors are about a part of the rule's expression or replacement, which is their subject. What
    // `known` has of them, in the same order, is not compiled again.
    static Result<Rules> compile(std::vector<Rule> rules, const Rules& known);
    static Result<Rules> compile(std::vector<Rule> rules);

    const std::vector<Rule>& list() const { return list_; }
    // Whether there are any for functions, but for recursion.
    bool of_frames() const { return of_frames_; }
    // Frames of the same function, one directly inside the other, are one; when all the other rules
    // have had their say.
    bool fold_recursion() const { return fold_recursion_; }

    std::string thread_name(std::string_view name) const;
    struct FrameName {
        std::string name;
        bool dropped = false;
    };
    FrameName frame_name(std::string_view name) const;

  private:
    struct Compiled;

    std::vector<Rule> list_;
    std::vector<std::shared_ptr<const Compiled>> compiled_; // by rule
    bool of_frames_ = false;
    bool fold_recursion_ = false;
};

} // namespace auger
