// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleNames: address -> function name in one module, whatever kind it is. This is the quick part
// of symbolising: no DWARF. Used by one thread.
#pragma once

#include "loader/elf/function_index.h"
#include "loader/symbols/debug_files.h"
#include "loader/symbols/module_table.h"
#include "loader/symbols/progress.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class ModuleNames {
  public:
    virtual ~ModuleNames() = default;
    // Demangled; nothing when no symbol covers the address.
    virtual std::optional<std::string> find(uint64_t address) = 0;
    // What to show instead: "module+0x1f0", where its function begins, as far as that can be told
    // of one without a name; else "module+0x1f3", or "[unknown]". `place`: an address within the
    // instruction.
    virtual std::string unnamed(uint64_t address, uint64_t place) = 0;
    // The file that has the module's DWARF, or null.
    virtual std::shared_ptr<const ElfFile> dwarf() const { return nullptr; }
    // Asks again before the next find(): new names may have been written. False when none were.
    virtual bool refresh() { return false; }

    // Gives what is incomplete its debug file, from elsewhere.
    virtual void complete(std::shared_ptr<const ElfFile>) {}

    bool incomplete = false; // symbols or DWARF are neither in it nor in the usual folders
    bool generated = false;  // code without a file: refresh() may bring more
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
class JitNames;

// Makes them. Copies of one file, as containers have them, share theirs: they are read once.
class ModuleNamesMaker {
  public:
    explicit ModuleNamesMaker(NameSources sources) : sources_(std::move(sources)) {}

    // Never fails: a module that cannot be read has no names and a note.
    std::shared_ptr<ModuleNames> make(ModuleSource source, const WorkProgress& progress);
    // Lets go of what some programs told of generated code, when all of it is beyond the limit:
    // of the user who has the most, the program that was asked for longest ago. So nobody can take
    // the names of others' code away.
    void limit_generated();

  private:
    std::shared_ptr<ModuleNames> generated_names(ModuleSource source);
    std::shared_ptr<ModuleNames> file_names(ModuleSource source, const WorkProgress& progress);

    NameSources sources_;
    std::map<std::string, std::vector<std::weak_ptr<FileNames>>> files_; // by build id
    std::vector<std::weak_ptr<JitNames>> generated_;
    uint64_t uses_ = 0; // of generated code's names, counted
};

} // namespace auger
