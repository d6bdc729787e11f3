// SPDX-License-Identifier: GPL-3.0-or-later
// Names of modules as users write them: `libc` for /usr/lib/x86_64-linux-gnu/libc.so.6.
#pragma once

#include <string_view>

namespace auger {

// The last component of a path, without the ` (deleted)` that /proc adds.
std::string_view module_base_name(std::string_view path);
// `libssl.so.3` -> `libssl`, `libc-2.31.so` -> `libc`; a program's name stays.
std::string_view module_stem(std::string_view base_name);

// Whether the user's library text (a soname, stem, glob over either, or its path) names the module.
bool module_matches(std::string_view wanted, std::string_view path);
// Whether the text is a path that leads to the open file under another name: links, and what auger
// itself sees from outside a container.
bool leads_to(std::string_view wanted, int fd);

} // namespace auger
