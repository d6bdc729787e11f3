// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/open_spans.h"

#include <bpf/bpf.h>

#include <cstring>
#include <vector>

namespace auger {

std::optional<wire_span> OpenSpans::find(const wire_span_key& key) const {
    std::vector<std::byte> value(value_bytes_);
    wire_span span;
    if (bpf_map_lookup_elem(map_.get(), &key, value.data()) < 0)
        return std::nullopt;
    std::memcpy(&span, value.data(), sizeof span);
    // Its memory may have become another span's meanwhile.
    const bool is_it = std::memcmp(&span.key, &key, sizeof key) == 0;
    return is_it && span.state & 1 ? std::optional(span) : std::nullopt;
}

} // namespace auger
