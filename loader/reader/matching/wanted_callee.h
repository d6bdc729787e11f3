// SPDX-License-Identifier: GPL-3.0-or-later
// WantedCallee: whether a call is one of those that a pattern means, and where its function is.
#pragma once

#include "loader/reader/matching/callees.h"
#include "loader/reader/matching/name_matcher.h"
#include "loader/reader/matching/probe_match.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace auger {

class WantedCallee {
  public:
    WantedCallee(const ProbePattern& pattern, std::span<const ProbeModule> modules);

    // The name that fits, of a call in the module; empty: another function is called. A call of
    // `__recv_chk`, which is what a fortified program makes of `recv`, is one of `recv`.
    std::string_view fitting_name(const Callee& callee, size_t module) const;

    // Where a pointer to such a function may point, in any module: its code or, in a program that
    // is not position-independent, its stub there. Not those of ifuncs: pointers to them hold the
    // implementation, which has another name.
    struct Pointee {
        CallSite::Callee place;
        std::string_view name; // mangled; empty: a stub
    };
    const std::vector<Pointee>& pointees() const;

    // The function's own code, as the dynamic linker will most likely find it.
    std::optional<CallSite::Callee> place(const Callee& callee, size_t module,
                                          std::string_view name) const;

  private:
    bool in_library(const Callee& callee, size_t module, std::string_view name) const;

    std::vector<Pointee> find_pointees() const;

    const ProbePattern& pattern_;
    std::span<const ProbeModule> modules_;
    NameMatcher matcher_;
    mutable std::optional<std::vector<Pointee>> pointees_;
};

} // namespace auger
