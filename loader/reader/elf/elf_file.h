// SPDX-License-Identifier: GPL-3.0-or-later
// ElfFile: one ELF file of a target, opened once by descriptor and read with pread only (a file
// that is truncated while mapped would raise SIGBUS). All of its content is hostile: every offset,
// size and index is checked, and a file that lies gives an Error or less data, never a crash.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/elf/debug_link.h"
#include "loader/elf/program_headers.h"
#include "loader/reader/elf/go_table.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace auger {

// Where a section lies. Not checked against the file's size.
struct ElfSection {
    uint64_t address; // as linked; 0 when it is not loaded
    uint64_t offset;  // in the file, bytes
    uint64_t size;    // bytes
};

// One function symbol of .symtab or .dynsym. `name` is as in the file (mangled) and lives as long
// as the ElfFile.
struct ElfFunction {
    uint64_t address; // as linked
    uint64_t size;    // bytes; 0 when the file does not say (assembly): see FunctionIndex
    std::string_view name;
    bool ifunc;  // STT_GNU_IFUNC: `address` is a resolver, not the function
    bool global; // STB_GLOBAL or STB_WEAK
};

class ElfFile {
  public:
    // `name` is for messages only. Fails for what is not a 64-bit little-endian ELF file of this
    // machine.
    static Result<std::shared_ptr<const ElfFile>> open(UniqueFd fd, std::string name);
    ~ElfFile();
    ElfFile(const ElfFile&) = delete;
    ElfFile& operator=(const ElfFile&) = delete;

    int fd() const;
    const std::string& name() const;
    uint64_t device() const; // st_dev and st_ino of the open file: its identity
    uint64_t inode() const;
    // Lower-case hexadecimal, empty when the file has none.
    const std::string& build_id() const;
    const std::optional<DebugLink>& debug_link() const;
    const std::vector<ElfSegment>& segments() const;
    uint64_t entry() const;            // where the program begins, as linked; 0 for a library
    bool position_independent() const; // ET_DYN
    bool is_go() const;                // has .gopclntab or a Go build-id note
    bool dynamic() const;              // has PT_DYNAMIC; false for a plain static program
    bool has_symbols() const;          // has a .symtab, not only the exports of .dynsym
    bool has_section(std::string_view name) const { return section(name).has_value(); }
    std::optional<ElfSection> section(std::string_view name) const; // the first so named

    // File offset <-> address as linked; nothing when outside every PT_LOAD.
    std::optional<uint64_t> address_of_offset(uint64_t offset) const;
    std::optional<uint64_t> offset_of_address(uint64_t address) const;

    // Whether it lies in an executable segment's part of the file.
    bool is_executable(uint64_t address) const;

    // End of the section with code that holds the address (of its segment when there are no
    // sections); the address itself when it lies in neither.
    uint64_t code_end(uint64_t address) const;

    // Where code lies in the file: its sections with code, or its executable segments when it has
    // no sections. [begin, end) as linked, ascending, none within another.
    std::vector<std::pair<uint64_t, uint64_t>> code_ranges() const;

    // Function symbols of .symtab and .dynsym, sorted by address, duplicates (same name and
    // address) removed; those of go_table() where the file is stripped. Empty for a stripped file
    // without exports. Read at the first call, from any thread.
    const std::vector<ElfFunction>& functions() const;
    // Null when it is no program of Go's. Read at the first call, from any thread.
    const GoTable* go_table() const;
    uint64_t go_table_address() const; // as linked; 0 without a table
    size_t go_table_bytes() const;     // that go_table() reads, or has read, at most
    // Names of undefined (imported) symbols of .dynsym, functions or not, without versions.
    const std::vector<std::string_view>& imports() const;
    // DT_NEEDED entries.
    const std::vector<std::string>& needed() const;

    // Up to `size` bytes of code at a linked address; shorter at the end of its segment.
    std::vector<std::byte> read_code(uint64_t address, size_t size) const;
    // Content of a section (decompressed when SHF_COMPRESSED), at most `limit` bytes.
    std::vector<std::byte> read_section(std::string_view name, size_t limit) const;

  private:
    struct State;
    explicit ElfFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace auger
