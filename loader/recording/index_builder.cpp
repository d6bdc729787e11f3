// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/index_builder.h"

#include <algorithm>

namespace auger {

using Holds = RecordingIndex::Holds;

void IndexBuilder::seen(uint64_t time_ns) {
    first_ns_ = timed_ ? std::min(first_ns_, time_ns) : time_ns;
    last_ns_ = timed_ ? std::max(last_ns_, time_ns) : time_ns;
    timed_ = true;
}

void IndexBuilder::on_sample(const SampleEvent& sample) {
    seen(sample.time_ns);
    for (const CallKey& call : sample.calls)
        happened_to(call.spec);
}

void IndexBuilder::on_stats(const StatsEvent& stats) {
    seen(stats.time_ns);
    // Counters come of every function, whether it was called or not.
    if (stats.entries || stats.returns || stats.unwound || stats.dropped || stats.filtered ||
        stats.open)
        happened_to(stats.spec);
}

void IndexBuilder::end_block(Holds holds, uint64_t size) {
    if (timed_ && (holds == Holds::events || holds == Holds::both)) {
        add_block(size, first_ns_, last_ns_);
        index_.blocks.back().holds = holds;
        defined_ = timed_ = false;
        return;
    }
    const uint64_t before = index_.blocks.empty() ? 0 : index_.blocks.back().last_ns;
    index_.blocks.push_back({holds, index_.end(), size, before, before});
}

void IndexBuilder::end_block(uint64_t size) {
    end_block(!timed_ ? Holds::definitions : defined_ ? Holds::both : Holds::events, size);
    defined_ = false;
}

void IndexBuilder::add_block(uint64_t size, uint64_t first_ns, uint64_t last_ns) {
    index_.blocks.push_back({Holds::events, index_.end(), size, first_ns, last_ns});
    index_.first_ns = index_.timed ? std::min(index_.first_ns, first_ns) : first_ns;
    index_.last_ns = index_.timed ? std::max(index_.last_ns, last_ns) : last_ns;
    index_.timed = true;
    // Which probes, nobody has said.
    all_probes_ |= !timed_;
}

RecordingIndex IndexBuilder::finish(uint64_t events) const {
    RecordingIndex index = index_;
    index.events = events;
    std::set<std::string> texts;
    for (const auto& [id, text] : probe_texts_)
        if (all_probes_ || probes_.contains(id))
            texts.insert(text);
    index.probes.assign(texts.begin(), texts.end());
    return index;
}

} // namespace auger
