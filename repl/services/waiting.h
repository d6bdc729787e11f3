// SPDX-License-Identifier: GPL-3.0-or-later
// How services wait for what is late: names, events, files that others write. Hardly ever changes.
#pragma once

#include "loader/backend.h"
#include "loader/base/read_clock.h"
#include "views/model/model.h"

#include <cstdint>

namespace auger {

// From one look at whether it has come to the next.
inline constexpr uint64_t retry_interval_ns = 20 * millisecond_ns;
// Whether all samples from before then are in the model, with their names. For names, and for hosts
// that are silent, that is waited for so long; what the backend itself keeps comes however long it
// takes.
inline bool has_all_before(const Backend& backend, const Model& model, uint64_t end_ns) {
    constexpr uint64_t patience_ns = 5 * second_ns;
    if (backend.keeps_samples_before(end_ns))
        return false;
    return backend.now_ns() >= end_ns + patience_ns ||
           (model.now_ns() > end_ns && backend.symbol_progress().pending == 0);
}

} // namespace auger
