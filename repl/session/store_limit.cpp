// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/store_limit.h"

#include "views/format.h"

#include <fmt/format.h>

namespace auger {

namespace {
constexpr uint64_t samples_between_looks = 1'000;
constexpr size_t fewest_samples = 1'000;
} // namespace

std::optional<std::string> StoreLimit::keep(Model& model,
                                            const std::function<size_t()>& stream_bytes) {
    if (model.samples().full() || model.samples().size() < fewest_samples ||
        model.samples_received() < looked_at_ + samples_between_looks)
        return std::nullopt;
    looked_at_ = model.samples_received();
    const size_t used = model.memory_bytes() + model.stacks_bytes() + stream_bytes();
    // Stacks are held for a quarter more samples than are kept, and those of which none is left are
    // found by and by: up to half as many again (Interner). That makes 15/8 of what is there now,
    // and tables that grow have some room to spare, beside the histories: 4/9 * 15/8 + 1/8 = 23/24.
    if (used < bytes_ / 9 * 4)
        return std::nullopt;
    model.keep_no_more_samples();
    return fmt::format("the last {} samples are kept from now on: more of them, with their stacks, "
                       "would take more than {} of memory (--store-memory)",
                       format_count(static_cast<double>(model.samples().size())),
                       format_bytes(static_cast<double>(bytes_)));
}

} // namespace auger
