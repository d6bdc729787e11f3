// SPDX-License-Identifier: GPL-3.0-or-later
// Where DWARF says a parameter is when its function begins.
#pragma once

#include "loader/reader/values/place.h"

#include <elfutils/libdw.h>

#include <cstdint>

namespace auger {

struct EntryLocation {
    enum class Kind : uint8_t {
        known,  // at `place`
        unsaid, // the place is only filled later on, or none is given: the convention may know
        gone,   // the compiler has removed it
    };
    Kind kind = Kind::unsaid;
    Place place{};
};

// `function` has the frame base, `entry` is its first address.
EntryLocation location_at_entry(Dwarf_Die parameter, const ValueType& type, Dwarf_Die function,
                                uint64_t entry);

} // namespace auger
