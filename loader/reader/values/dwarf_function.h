// SPDX-License-Identifier: GPL-3.0-or-later
// DwarfFunction: one function as DWARF describes it: its parameters, where they are when it begins,
// and its result.
#pragma once

#include "loader/reader/dwarf/dwarf_file.h"
#include "loader/reader/values/place.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class DwarfFunction {
  public:
    struct Parameter {
        std::string name; // may be empty
        ValueType type;
        std::optional<Place> place{}; // when the function begins
        std::string absence{};        // why there is no place
    };

    // Nothing when the file knows no such function, or only its name (assembly). `clone`: made by
    // the compiler with other parameters than the source has ("f.constprop.0", "f.isra.0"), so that
    // only what DWARF says of its places is true.
    static std::optional<DwarfFunction> find(std::shared_ptr<DwarfFile> file, uint64_t address,
                                             bool clone);

    // The compile unit that it is in.
    const Dwarf_Die& unit() const { return unit_; }
    const std::vector<Parameter>& parameters() const { return parameters_; }
    const ValueType& result_type() const { return result_; }
    const std::optional<Place>& result() const { return result_place_; }
    // Of a function of Go's, which may have several: in place of the former.
    bool in_go() const { return in_go_; }
    const std::vector<Parameter>& results() const { return results_; }
    // Whether parameters are where the calling convention says.
    bool conventional() const { return conventional_; }

  private:
    void read_parameters(Dwarf_Die function, uint64_t address);
    void read_results(const std::vector<Dwarf_Die>& results);

    std::shared_ptr<DwarfFile> file_; // the types are parts of it
    Dwarf_Die unit_{};
    std::vector<Parameter> parameters_;
    ValueType result_;
    std::optional<Place> result_place_;
    std::vector<Parameter> results_;
    bool conventional_ = true;
    bool cpp_ = false;
    bool in_go_ = false;
};

} // namespace auger
