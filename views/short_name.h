// SPDX-License-Identifier: GPL-3.0-or-later
// Names as text views show them: without parameter lists and template arguments, which fill a line
// and seldom tell two frames apart. JSON, collapsed stacks and recordings keep the whole name.
#pragma once

#include <string>
#include <string_view>

namespace auger {

// `std::sort<It, Less>(It, It, Less)` -> `std::sort<>`. Operators, `(anonymous namespace)` and the
// braces of lambdas stay, and so does Rust's `<Box<F> as FnOnce>::call_once`, as `<Box<> as
// FnOnce>::call_once`; a name whose brackets do not match stays as it is.
std::string short_name(std::string_view name);

// The same, safe to print.
std::string display_name(std::string_view name);

// At most `width` columns of a name that is safe to print. What tells least goes first: clone
// suffixes, then namespaces from the outermost on ("…Isolate::Run"), and only then its middle.
std::string fit_name(std::string_view name, size_t width, std::string_view ellipsis = "...");

} // namespace auger
