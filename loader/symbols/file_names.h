// SPDX-License-Identifier: GPL-3.0-or-later
// FileNames: the names in one ELF file, which a confined process reads. Here files are opened, and
// nothing of them is looked at but whether two are the same.
#pragma once

#include "loader/process/file_content.h"
#include "loader/symbols/module_names.h"

namespace auger {

class FileNames final : public ModuleNames, private FileQuestions {
  public:
    // What is given must outlive it.
    FileNames(ModuleSource source, const NameSources& sources, NameProcesses& processes,
              const WorkProgress& progress);

    // Finds out what there is, and reads nothing of it yet. False when there is nothing.
    bool open();
    // Whether reading this one, too, would give the same as reading the other did.
    bool same_as(const FileNames& other) const;
    void read();

    std::vector<AddressName> names(std::span<const AddressQuery> queries) override;
    std::shared_ptr<const DwarfSource> dwarf() const override { return dwarf_; }
    void complete(const DebugFile& apart) override;
    void try_again() override;

  private:
    std::optional<std::string> build_id_of(int fd) override;
    std::optional<uint32_t> checksum_of(int fd) override;

    struct ReadRequest {
        name_messages::Request request;
        std::vector<int> descriptors;
    };
    static ReadRequest read_request(const std::optional<DebugFile>& apart);
    Result<void> open_in(NameProcess& process, uint32_t number);
    void find_dwarf(const name_messages::ReadSymbols& symbols_read);
    void fail(std::string why);

    const ModuleSource source_;
    const NameSources& sources_;
    const WorkProgress& progress_;
    const FileOwner owner_;
    NameConversation conversation_;
    std::optional<FileContent> content_; // before it was read; nothing: it may have changed since
    std::optional<elf_messages::Opened> opened_;
    std::optional<DebugFile> apart_; // its debug file
    std::shared_ptr<const DwarfSource> dwarf_;
    bool is_open_ = false;
    bool was_read_ = false;
    bool failed_ = false;
    int retries_ = 0;
};

} // namespace auger
