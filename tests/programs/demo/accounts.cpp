// SPDX-License-Identifier: GPL-3.0-or-later
//
// See accounts.h.
#include "demo/accounts.h"

#include "common/truth.h"
#include "demo/protocol.h"

#include <algorithm>

namespace {

// The finaliser of splitmix64: spreads neighbouring ids over the whole range.
uint64_t spread(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

uint64_t account_hash(uint32_t id, uint32_t version) {
    return spread((static_cast<uint64_t>(version) << 32) + id + 1);
}

} // namespace

Accounts::Accounts(uint32_t index_entries) : index(std::max(index_entries, account_count)) {
    rebuild_index(*this, 1);
}

TIMED Account lookup_account(Accounts& accounts, uint32_t id, uint32_t version, bool& rebuilt) {
    rebuilt = version > accounts.version;
    if (rebuilt)
        rebuild_index(accounts, version);
    return cache_get(accounts, id);
}

TIMED Account cache_get(const Accounts& accounts, uint32_t id) {
    const uint64_t hash = account_hash(id, accounts.version);
    const auto found = std::lower_bound(
        accounts.index.begin(), accounts.index.end(), hash,
        [](const IndexEntry& entry, uint64_t wanted) { return entry.hash < wanted; });
    if (found == accounts.index.end() || found->hash != hash)
        return {};
    return {found->id, found->version, hash % 1'000'000};
}

TIMED void rebuild_index(Accounts& accounts, uint32_t version) {
    accounts.version = version;
    uint32_t id = 0;
    for (IndexEntry& entry : accounts.index) {
        entry = {account_hash(id, version), id, version};
        ++id;
    }
    std::sort(
        accounts.index.begin(), accounts.index.end(),
        [](const IndexEntry& left, const IndexEntry& right) { return left.hash < right.hash; });
}
