// SPDX-License-Identifier: GPL-3.0-or-later
// Names of functions as people write and demanglers print them: text, and no symbols.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// Spaces only where two words need one: `f<A<int> >( char const * )` -> `f<A<int>>(char const*)`.
std::string normalise_spaces(std::string_view text);
// Without <...> except in operators, and without [abi:...] tags.
std::string strip_template_arguments(std::string_view text);
// Positions at which the name without some leading namespaces begins, 0 included.
std::vector<size_t> name_starts(std::string_view text);
// The last component: `ns::Class::method` -> `method`.
std::string_view unqualified(std::string_view text);

} // namespace auger
