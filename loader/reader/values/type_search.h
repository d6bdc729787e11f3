// SPDX-License-Identifier: GPL-3.0-or-later
// TypeSearch: definitions of types by their names and those of the namespaces and classes around
// them. C allows one name for different types in different files: then nothing is known.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class TypeSearch {
  public:
    // `accept`: whether a DIE of this tag is such a type. `path`: outermost first.
    using Accept = bool (*)(int tag);
    TypeSearch(std::vector<std::string> path, Accept accept);

    void look_in(Dwarf_Die unit) { look_in(unit, 0); }
    void look_in_all(Dwarf* dwarf);

    std::optional<Dwarf_Die> found() const { return differ_ ? std::nullopt : found_; }
    bool differ() const { return differ_; }

  private:
    void look_in(Dwarf_Die parent, size_t depth);
    void add(Dwarf_Die definition);

    std::vector<std::string> path_;
    Accept accept_;
    uint64_t visited_ = 0;
    std::optional<Dwarf_Die> found_;
    bool differ_ = false;
};

bool is_structure(int tag); // or class, or union

} // namespace auger
