// SPDX-License-Identifier: GPL-3.0-or-later
// Answers to what is asked of any ELF file (elf_messages.h), by reading it here.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <memory>
#include <string>

namespace auger {

std::string opened_answer(const Result<std::shared_ptr<const ElfFile>>& file);
// Of what a descriptor is open for.
std::string build_id_answer(int fd);
std::string checksum_answer(int fd);

} // namespace auger
