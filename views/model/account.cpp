// SPDX-License-Identifier: GPL-3.0-or-later
// Every figure here is counted on its own and then compared, so that a check can fail.
#include "views/model/account.h"
#include "views/model/classifier.h"

#include <set>
#include <unordered_map>
#include <utility>

namespace auger {

namespace {

uint64_t count_lost_ends(const Model& model) {
    const SampleStore& samples = model.samples();
    const CallTable& calls = model.calls();
    // The last sample of each thread says which calls it is in; by ThreadId first, which is dense.
    struct Last {
        uint64_t time_ns = 0;
        CallIndex call = no_call;
        bool any = false;
    };
    std::vector<Last> last(model.symbols().threads());
    for (size_t i = 0; i < samples.size(); i++) {
        size_t thread = samples.threads()[i].index();
        if (thread < last.size() &&
            (!last[thread].any || samples.times()[i] >= last[thread].time_ns))
            last[thread] = {samples.times()[i], samples.calls()[i], true};
    }
    std::unordered_map<uint64_t, Last> by_tid; // a thread that changes its name has several ids
    for (uint32_t i = 0; i < last.size(); i++) {
        Last& of_tid = by_tid[thread_key(model.symbols().thread(ThreadId{i}))];
        if (last[i].any && (!of_tid.any || last[i].time_ns >= of_tid.time_ns))
            of_tid = last[i];
    }
    // By what names them: one that goes on while its thread goes from span to span has a record in
    // each.
    std::set<std::pair<uint64_t, uint32_t>> running;
    for (const auto& [tid, of_tid] : by_tid)
        for (CallIndex at = of_tid.call; at != no_call; at = calls[at].parent)
            running.emplace(calls[at].start_ns, calls[at].sequence);

    uint64_t lost = 0;
    for (size_t i = 0; i < samples.size(); i++) {
        CallIndex call = samples.calls()[i];
        // For a goroutine, and for a span, there need not be a thread now.
        lost += call != no_call && calls[call].state == CallRecord::State::open &&
                !calls[call].of_no_thread() &&
                !running.contains({calls[call].start_ns, calls[call].sequence});
    }
    return lost;
}

} // namespace

Account make_account(const Model& model) {
    Account account;
    const LedgerEvent& ledger = model.ledger();
    account.ticks = ledger.ticks;
    account.sent = ledger.samples;
    account.filtered = ledger.filtered;
    account.gated = ledger.gated;
    if (auto lost = ledger.lost.find(lost_samples); lost != ledger.lost.end())
        account.lost_samples = lost->second;
    account.wait_samples = ledger.wait_samples;
    account.received = model.samples_received();
    account.kept = model.samples().size();
    account.evicted = model.samples_evicted();
    Classifier classify(model);
    const SampleStore& samples = model.samples();
    for (size_t i = 0; i < samples.size(); i++) {
        CallIndex call = samples.calls()[i];
        auto weight = static_cast<double>(samples.weights()[i]);
        bool blocked = samples.kinds()[i] == SampleKind::blocked;
        bool runnable = samples.kinds()[i] == SampleKind::runnable;
        account.classes[classify(call, samples.times()[i])] +=
            {1, weight, blocked ? weight : 0, runnable ? weight : 0};
        account.left_out += !classify.kept(call, samples.stacks()[i]);
    }
    account.calls = model.all_calls();

    account.ticks_add_up =
        account.ticks == account.sent + account.filtered + account.gated + account.lost_samples;
    account.samples_add_up = account.classes.sum().samples + static_cast<double>(account.evicted) ==
                             static_cast<double>(account.received);
    account.calls_add_up = account.calls.add_up();
    account.samples_in_lost_ends = count_lost_ends(model);
    return account;
}

} // namespace auger
