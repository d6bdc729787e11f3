// SPDX-License-Identifier: GPL-3.0-or-later
// CallKeyHash: of calls in hash tables. It depends on a secret number, since a relay's calls are
// what its hosts say they are: nobody can make up many that have one hash. Changes when something
// else tells calls apart.
#pragma once

#include "loader/base/random_number.h"
#include "loader/stream/events.h"
#include "loader/unwind/seeded_hash.h"

namespace auger::remote {

struct CallKeyHash {
    size_t operator()(const CallKey& key) const {
        static const uint64_t secret = random_number();
        SeededHash hash(secret);
        hash.add(key.start_ns, uint64_t{key.sequence} << 32 | key.spec.value);
        return hash.value();
    }
};

} // namespace auger::remote
