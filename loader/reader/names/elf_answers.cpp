// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/names/elf_answers.h"

#include "loader/reader/dwarf/dwarf_file.h"
#include "loader/reader/names/elf_questions.h"
#include "loader/symbols/elf_messages.h"

namespace auger {

std::string opened_answer(const Result<std::shared_ptr<const ElfFile>>& file) {
    elf_messages::Opened opened;
    if (file) {
        opened.build_id = (*file)->build_id();
        opened.link = (*file)->debug_link();
        opened.symbols = (*file)->has_symbols();
        opened.dwarf = has_dwarf(**file);
    } else {
        opened.problem = file.error().message();
    }
    return elf_messages::opened(opened);
}

std::string build_id_answer(int fd) {
    return elf_messages::build_id(
        elf_messages::BuildId{ElfQuestions().build_id_of(fd).value_or("")});
}

std::string checksum_answer(int fd) {
    return elf_messages::checksum(elf_messages::Checksum{ElfQuestions().checksum_of(fd)});
}

} // namespace auger
