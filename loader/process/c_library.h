// SPDX-License-Identifier: GPL-3.0-or-later
// Which files are the C library and the dynamic linker that auger itself runs with. They are known
// by their bytes: a file's name, its place and its build id are whatever somebody wrote there.
#pragma once

namespace auger {

// Whether the open file holds the same bytes as one of the two (of glibc; with another C library
// nothing does).
bool is_own_c_library(int fd);

} // namespace auger
