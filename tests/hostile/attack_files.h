// SPDX-License-Identifier: GPL-3.0-or-later
// Files that cost little to write and claim to have much. Each is an ElfImage, and so has code to
// run; README.md says what each is after.
#pragma once

#include "tests/hostile/elf_image.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace auger::test {

// Each makes its files in a folder, and returns the paths of those that are to be mapped.
using Paths = std::vector<std::string>;

Paths many_sections_of_one_long_name(const std::string& folder);
Paths many_libraries_whose_names_overlap(const std::string& folder);
Paths holes_for_tables_of_strings(const std::string& folder);
Paths many_functions_whose_names_overlap(const std::string& folder);
// `size`: what the table is said to be inflated.
Paths compressed_names_of_sections(const std::string& folder, uint64_t size);
Paths debug_link_to_a_terabyte(const std::string& folder);
Paths nonsense_to_unwind_by(const std::string& folder);
// A table of Go's functions, of which all share a description that takes long to follow.
Paths many_go_functions(const std::string& folder);

// With nothing but code: three thousand of them.
Paths many_files(const std::string& folder);

// All of them, by the names that attackers know them by.
struct AttackFiles {
    const char* name;
    Paths (*make)(const std::string& folder);
};
std::span<const AttackFiles> all_attack_files();

} // namespace auger::test
