// SPDX-License-Identifier: GPL-3.0-or-later
// ElfQuestions: FileQuestions answered by reading the file here.
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/symbols/debug_files.h"

#include <memory>

namespace auger {

class ElfQuestions final : public FileQuestions {
  public:
    std::optional<std::string> build_id_of(int fd) override;
    std::optional<uint32_t> checksum_of(int fd) override;
};

// The separate debug file of a module, looked for and read here. `path` as the target sees it. Null
// when there is none.
std::shared_ptr<const ElfFile> open_debug_file(const ElfFile& module, const std::string& path,
                                               const DebugFolders& folders);

// Null when it is no ELF file.
std::shared_ptr<const ElfFile> open_elf(const DebugFile& file);

} // namespace auger
