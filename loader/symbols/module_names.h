// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleNames: address -> function name in one module, whatever kind it is. This is the quick part
// of symbolising: no DWARF. Files of targets are read by confined processes (name_process.h), the
// kernel's symbols here. Used by one thread.
#pragma once

#include "loader/symbols/address_name.h"
#include "loader/symbols/debug_files.h"
#include "loader/symbols/dwarf_source.h"
#include "loader/symbols/module_table.h"
#include "loader/symbols/name_process.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

class ModuleNames {
  public:
    virtual ~ModuleNames() = default;
    // As many as queries.
    virtual std::vector<AddressName> names(std::span<const AddressQuery> queries) = 0;
    // One, or nothing when no symbol covers the address.
    std::optional<std::string> find(uint64_t address);
    // Where the module's DWARF is, or null.
    virtual std::shared_ptr<const DwarfSource> dwarf() const { return nullptr; }
    // Asks again before the next names(): new ones may have been written. False when none were.
    virtual bool refresh() { return false; }

    // Reads once more what is put off, which may be put off again.
    virtual void try_again() {}

    // Gives what is incomplete its debug file, from elsewhere.
    virtual void complete(const DebugFile&) {}

    bool incomplete = false; // symbols or DWARF are neither in it nor in the usual folders
    bool generated = false;  // code without a file: refresh() may bring more
    // Who read it has died, which need not be its doing: when to try_again().
    std::optional<std::chrono::seconds> put_off;
    size_t symbols = 0;
    std::string build_id;
    std::string debug_file; // path, when symbols or DWARF are not in the module itself
    std::string note;       // why something is missing
};

struct NameSources {
    std::string debug_folder;
    std::string kallsyms;
    int own_root; // O_PATH of "/"
    // Bytes of memory for what programs tell of the code that they generate.
    size_t generated_limit = size_t{512} << 20;
};

class FileNames;
class GeneratedCodeNames;

// Makes them. Copies of one file, as containers have them, share theirs: they are read once.
class ModuleNamesMaker {
  public:
    // `progress` says when to stop, and outlives it and all that it makes, as it does those.
    ModuleNamesMaker(NameSources sources, NameProcesses processes, const WorkProgress& progress)
        : sources_(std::move(sources)), processes_(std::move(processes)), progress_(progress) {}

    // Never fails: a module that cannot be read has no names and a note.
    std::shared_ptr<ModuleNames> make(ModuleSource source);
    // Lets go of what some programs told of generated code, when all of it is beyond the limit:
    // of the user who has the most, the program that was asked for longest ago. So nobody can take
    // the names of others' code away. False: there was no need.
    bool limit_generated();

  private:
    std::shared_ptr<ModuleNames> generated_names(ModuleSource source);
    std::shared_ptr<ModuleNames> file_names(ModuleSource source);

    const NameSources sources_;
    NameProcesses processes_;
    const WorkProgress& progress_;
    std::map<std::string, std::vector<std::weak_ptr<FileNames>>> files_; // by build id
    std::vector<std::weak_ptr<GeneratedCodeNames>> generated_;
    uint64_t uses_ = 0; // of generated code's names, counted
};

} // namespace auger
