// SPDX-License-Identifier: GPL-3.0-or-later
// What a file says that holds HotSpot (libjvm.so): made where it is read, and used elsewhere.
#pragma once

#include "loader/values/thread_variable.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct HotspotFile {
    // Where the addresses of HotSpot's tables of its own types lie, as linked.
    uint64_t structs = 0; // gHotSpotVMStructs
    uint64_t types = 0;   // gHotSpotVMTypes
    // Thread::_thr_current: a thread's own Thread. Nothing: no symbol says where it is.
    std::optional<ThreadVariable> thread{};

    friend bool operator==(const HotspotFile&, const HotspotFile&) = default;
};

std::string encode_hotspot_file(const HotspotFile& file);
std::optional<HotspotFile> decode_hotspot_file(std::string_view bytes);

} // namespace auger
