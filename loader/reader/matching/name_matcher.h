// SPDX-License-Identifier: GPL-3.0-or-later
// NameMatcher: does a symbol's name fit what the user wrote? As in gdb a name may leave out leading
// namespaces, template arguments and parameters. A cheap test on the mangled name comes first,
// because demangling is what costs.
#pragma once

#include "loader/probes/probe_pattern.h"

#include <string>
#include <string_view>

namespace auger {

class NameMatcher {
  public:
    explicit NameMatcher(const ProbePattern& pattern);

    // `mangled` without clone suffixes (see split_clone_name).
    bool matches(std::string_view mangled) const;

  private:
    bool fits(std::string_view demangled, const std::string& wanted) const;
    bool fits(std::string_view demangled) const { return fits(demangled, wanted_); }

    bool glob_;
    bool with_arguments_;
    std::string as_written_;
    std::string suffix_;    // of one of a coroutine's functions
    std::string wanted_;    // normalised
    std::string shortened_; // of "std::sort<>", as views show any std::sort; else empty
    std::string needle_;    // must occur in the mangled name; empty: unknown
    bool with_templates_;   // the user wrote template arguments
    bool thunk_;            // the user wrote "non-virtual thunk to ..."
};

} // namespace auger
