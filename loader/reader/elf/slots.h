// SPDX-License-Identifier: GPL-3.0-or-later
// Slots: what the dynamic linker writes into the pointers through which a file calls functions (the
// GOT), as the file's relocations say.
#pragma once

#include "loader/reader/elf/elf_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace auger {

class Slots {
  public:
    struct Value {
        std::string_view symbol; // empty: a place in the file itself, at `address`
        uint64_t address = 0;    // as linked; 0: not known
        bool ifunc = false;      // `address` is the resolver that chooses an implementation
        // The dynamic linker made it for calls: nobody else writes there. Else it may be any
        // variable, of which this is the first value.
        bool for_calls = false;
    };

    explicit Slots(std::shared_ptr<const ElfFile> file);

    // What the pointer at an address (as linked) will hold. Without a relocation: what the file has
    // there.
    Value at(uint64_t slot) const;

    // Imported functions whose address, everywhere in the process, is that of a stub in this file:
    // what linkers do for programs that are not position-independent.
    struct Stub {
        std::string_view symbol;
        uint64_t address; // as linked
    };
    std::vector<Stub> stubs() const;

  private:
    struct Relocation {
        uint64_t slot;
        uint64_t address;
        uint32_t symbol; // index into the dynamic symbols; 0: none
        bool ifunc;
        bool for_calls;
    };

    void read(std::string_view section);
    std::string_view symbol_name(uint32_t symbol) const;

    std::shared_ptr<const ElfFile> file_;
    std::vector<std::byte> symbols_, strings_; // .dynsym and .dynstr
    std::vector<Relocation> relocations_;      // by slot
};

} // namespace auger
