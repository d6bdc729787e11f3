// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/summed_samples.h"

#include <algorithm>

namespace auger {

ExportedTime exported_time(const Model& model, const ExportQuery& query) {
    const Window& window = query.window;
    const uint64_t now = model.now_ns(), until = window.until(now);
    uint64_t since = window.since(model.first_ns(), now);
    if (model.samples_evicted() > 0 && model.samples().size() > 0)
        since = std::max(since, model.samples().oldest().time_ns);
    since = std::min(since, until);
    return {since > 0 ? model.wall_ns(since) : std::nullopt, until - since};
}

} // namespace auger
