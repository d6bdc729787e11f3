// SPDX-License-Identifier: GPL-3.0-or-later
// demangle: C++ and Rust names for people. The names come from files that the target controls, and
// a name of a few hundred bytes can demangle to gigabytes, so time and output are bounded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace auger {

inline constexpr size_t demangle_input_limit = 8192; // bytes; longer names come back as they are
inline constexpr size_t demangle_output_limit =
    4096; // bytes; longer results are cut, ending in ...

// The demangled name with its parameters, or the input when it does not demangle. A clone suffix
// stays visible (`f(int) [clone .cold]`).
std::string demangle(std::string_view mangled);

// The same without the parameters of the function: `ns::Class::method`, `f<int>`.
std::string demangle_without_parameters(std::string_view mangled);

} // namespace auger
