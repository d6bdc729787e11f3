// SPDX-License-Identifier: GPL-3.0-or-later
// StoreLimit: bounds the memory of what is kept. Most of it is stacks, of which there may be as
// many as there are samples; so it is the number of samples that is held where it is when memory
// comes near the limit: from then on the oldest goes for each that comes, and its stack with it.
// The histories of calls have an eighth for themselves.
#pragma once

#include "views/model/model.h"

#include <functional>
#include <optional>
#include <string>

namespace auger {

class StoreLimit {
  public:
    static constexpr size_t default_bytes = size_t{1} << 30;

    explicit StoreLimit(size_t bytes) : bytes_(bytes) {}

    // As many as they are told, and the room to grow that a vector has, are the eighth.
    size_t histories_bytes() const { return bytes_ / 16; }

    // To be called now and then. `stream_bytes`: what the backend holds of the stream besides.
    // Returns what there is to say when it has just taken effect.
    std::optional<std::string> keep(Model& model, const std::function<size_t()>& stream_bytes);

  private:
    size_t bytes_;
    uint64_t looked_at_ = 0; // samples received then
};

} // namespace auger
