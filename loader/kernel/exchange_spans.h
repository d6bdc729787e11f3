// SPDX-License-Identifier: GPL-3.0-or-later
// ExchangeSpans: which spans are exchanges on connections, and the programs that watch
// connections while there is one. Changes when an exchange can be told by something else.
#pragma once

#include "bpf/wire.h"
#include "loader/base/fd.h"
#include "loader/base/ids.h"
#include "loader/base/result.h"
#include "loader/kernel/features.h"
#include "loader/kernel/programs.h"
#include "loader/settings/span_definition.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

class ExchangeSpans {
  public:
    ExchangeSpans(Programs& programs, const Features& features)
        : programs_(programs), features_(features) {}

    // `cookie` of the span's spec. Fails where the kernel lacks what it takes, for more than
    // WIRE_MAX_EXCHANGES, and for a path that no socket can have.
    Result<void> add(ProbeId span, uint64_t cookie, const ExchangeDefinition& exchanges);
    // Does nothing for other spans.
    void remove(ProbeId span);
    bool empty() const { return links_.empty(); }
    void add_link_ids(std::vector<uint64_t>& ids) const;

  private:
    Result<void> watch();
    Result<void> publish();

    Programs& programs_;
    const Features& features_;
    std::array<std::optional<ProbeId>, WIRE_MAX_EXCHANGES> owners_{};
    wire_exchange_spans spans_ = {};
    std::vector<UniqueFd> links_;
};

} // namespace auger
