// SPDX-License-Identifier: GPL-3.0-or-later
// FunctionIndex: the functions of one ELF file, one entry per address with all its names (aliases),
// found by address range or by name. Sizes that the file leaves out are repaired. Demangling a
// hundred thousand names takes longer than everything else together, so callers are given a cheap
// test on the mangled name first and demangle only what may match.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// How a compiler cut a symbol from its source function.
enum class CloneKind : uint8_t {
    none,
    entry, // .constprop.N, .isra.N, .part.N, .lto_priv.N ...: another entry of the same function
    cold,  // .cold: rarely run code of a function, reached by jumps only
};

struct CloneName {
    std::string_view base; // the name without the suffixes
    CloneKind kind;
};

// `_Z3foov.constprop.0` -> {`_Z3foov`, entry}. Any `.cold` among the suffixes makes it cold.
CloneName split_clone_name(std::string_view name);

class FunctionIndex {
  public:
    // One address with code.
    struct Function {
        uint64_t address;    // as linked
        uint64_t size;       // bytes, never 0; repaired when `size_guessed`
        uint32_t first_name; // see names()
        uint32_t name_count;
        bool ifunc;
        bool size_guessed; // up to the next function or the end of the segment
    };

    // `debug_file`: has the symbols that were stripped from the file.
    explicit FunctionIndex(std::shared_ptr<const ElfFile> file,
                           std::shared_ptr<const ElfFile> debug_file = nullptr);

    const ElfFile& file() const { return *file_; }
    // What the names come from: the file itself, or its debug file.
    const ElfFile& symbols() const { return *symbols_; }
    const std::shared_ptr<const ElfFile>& file_pointer() const { return file_; }

    // Sorted by address, no two at one address.
    const std::vector<Function>& functions() const { return functions_; }
    // All symbols at the function's address.
    std::span<const ElfFunction> names(const Function& function) const;
    // The name to show: global before local, then the shortest. Mangled.
    std::string_view best_name(const Function& function) const;

    // The function whose range holds the address, or null.
    const Function* containing(uint64_t address) const;
    // Functions that have exactly this symbol name (static functions may share one).
    std::vector<const Function*> named(std::string_view mangled) const;
    // Symbols `NAME.cold` for any name of the function. Static functions of one name share the
    // candidates: which of them is this function's own is seen from its jumps.
    std::vector<const Function*> cold_candidates(const Function& function) const;

  private:
    const Function* at(uint64_t address) const;

    std::shared_ptr<const ElfFile> file_, symbols_;
    std::vector<Function> functions_;
    std::vector<uint32_t> by_name_; // indices into symbols().functions(), sorted by name
};

} // namespace auger
