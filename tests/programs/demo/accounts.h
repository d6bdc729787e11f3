// SPDX-License-Identifier: GPL-3.0-or-later
//
// The accounts as one worker sees them: a hash index that is rebuilt when a request asks for a
// newer version than the index has. The rebuild is the demo's slow path on the CPU.
#pragma once

#include <cstdint>
#include <vector>

struct Account {
    uint32_t id = 0;
    uint32_t version = 0;
    uint64_t balance = 0;
};

struct IndexEntry {
    uint64_t hash;
    uint32_t id;
    uint32_t version;
};

struct Accounts {
    // At least one entry for each account; more of them make a rebuild dearer, see Calibration.
    explicit Accounts(uint32_t index_entries);

    uint32_t version = 0;
    std::vector<IndexEntry> index; // sorted by hash
};

// Looks `id` up in an index that is at least as new as `version`; `rebuilt` says whether the index
// had to be rebuilt for it.
Account lookup_account(Accounts& accounts, uint32_t id, uint32_t version, bool& rebuilt);

Account cache_get(const Accounts& accounts, uint32_t id);

// Sorts all entries by their hash and lays them out anew.
void rebuild_index(Accounts& accounts, uint32_t version);
