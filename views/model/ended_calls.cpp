// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/ended_calls.h"

#include <algorithm>

namespace auger {

size_t EndedCalls::place_of(const CallKey& call) {
    uint64_t hash = (call.start_ns ^ uint64_t{call.sequence} << 32) * 0x9e3779b97f4a7c15;
    return (hash ^ hash >> 32) & (place_count - 1);
}

void EndedCalls::add(const CallEndEvent& event) {
    if (places_.empty())
        places_.resize(place_count);
    Place& place = places_[place_of(event.call)];
    End& end = place.ends[place.added % ends_per_place];
    if (place.added >= ends_per_place)
        forgotten_start_ns_ = std::max(forgotten_start_ns_, end.call.start_ns);
    end = End(event);
    place.added++;
}

const EndedCalls::End* EndedCalls::find(const CallKey& call) const {
    if (places_.empty())
        return nullptr;
    const Place& place = places_[place_of(call)];
    const uint64_t oldest = place.added > ends_per_place ? place.added - ends_per_place : 0;
    for (uint64_t i = place.added; i > oldest; i--) {
        const End& end = place.ends[(i - 1) % ends_per_place];
        if (end.call == call)
            return &end;
    }
    return nullptr;
}

} // namespace auger
