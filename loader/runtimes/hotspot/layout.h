// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the HotSpot that a process runs: where its structures have what is read of them,
// and where its code lies.
#pragma once

#include "bpf/wire/hotspot.h"
#include "loader/base/result.h"
#include "loader/runtimes/hotspot/vm_structs.h"

#include <cstdint>
#include <optional>

namespace auger {

struct HotspotLayout {
    HotspotValues values;
    wire_hotspot walk{}; // what walks need, with the heaps of code
    // Without the place of threads, which is not HotSpot's to say; 0: it does not tell them.
    uint32_t thread_owner = 0, thread_continuation = 0;
};

// Of a process, as its tables have it. Fails with kind `unsupported` when it is of a version that
// is not known, or when its tables cannot be believed; and otherwise while not all is there yet:
// HotSpot is starting, or is another one that does not say its version.
Result<HotspotLayout> hotspot_layout(const ReadMemory& read, uint64_t structs, uint64_t types);

// The heaps of code and the interpreter, which are made one after the other while HotSpot starts.
// False: they cannot be read, or there are none yet.
bool find_hotspot_code(const ReadMemory& read, const HotspotValues& values, wire_hotspot& walk);

} // namespace auger
