// SPDX-License-Identifier: GPL-3.0-or-later
// OpenSpans: looks spans up by their keys, from any thread, also when the programs are gone.
#pragma once

#include "bpf/wire.h"
#include "bpf/wire/spans.h"
#include "loader/base/fd.h"

#include <cstddef>
#include <optional>
#include <utility>

namespace auger {

class OpenSpans {
  public:
    // Of the map `spans`.
    OpenSpans(UniqueFd map, size_t value_bytes) : map_(std::move(map)), value_bytes_(value_bytes) {}

    // Nothing: it is not open.
    std::optional<wire_span> find(const wire_span_key& key) const;

  private:
    UniqueFd map_;
    size_t value_bytes_;
};

} // namespace auger
