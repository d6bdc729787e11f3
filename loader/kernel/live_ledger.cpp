// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_ledger.h"

#include "bpf/wire.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace auger {

namespace {

// In the order of wire_loss.
constexpr std::array<const char*, WIRE_LOSSES> loss_names = {
    lost_samples,
    "call ends: event ring full",
    "slow calls: event ring full",
    "process events: event ring full",
    "slow calls: rate limit",
    "calls: nested deeper than 32",
    "calls: no memory for thread",
    "processes: target map full",
    "slow calls: no memory for thread",
    lost_wait_samples,
    "waits: no memory for thread",
    "calls through pointers: target unreadable",
    "values: no memory for thread",
    "spans: more than 65536 open",
    "spans: key unreadable",
    "spans: begun while one with the same key was ending",
    lost_explained_calls,
    explained_on_other_stacks,
    "explained calls: no memory for thread",
    "spans: a tracepoint was hit in an interrupt while the thread was at another point",
    "trace contexts: unreadable, or changed while they were read",
    "tail calls: caller unknown",
    "waits: the thread was not seen to come back",
    "values: more than 4 open calls of a goroutine",
};

// In the order of FunctionProblem.
constexpr std::array<const char*, PythonNames::causes> unnamed_python = {
    "Python frames without a name: unreadable",
    "Python frames without a name: gone before it was read",
    "Python frames without a name: memory that could not be read in time",
};
constexpr std::array<const char*, PhpNames::causes> unnamed_php = {
    "PHP frames without a name: unreadable",
    "PHP frames without a name: gone before it was read",
    "PHP frames without a name: memory that could not be read in time",
};
constexpr std::array<const char*, RubyNames::causes> unnamed_ruby = {
    "Ruby frames without a name: unreadable",
    "Ruby frames without a name: gone before it was read",
    "Ruby frames without a name: memory that could not be read in time",
};
constexpr std::array<const char*, PerlNames::causes> unnamed_perl = {
    "Perl frames without a name: unreadable",
    "Perl frames without a name: gone before it was read",
    "Perl frames without a name: memory that could not be read in time",
};
// Of HotspotNames::Missing.
constexpr std::array<const char*, HotspotNames::causes> unnamed_java = {
    "Java frames without a name: unreadable",
    "Java frames without a name: gone before it was read",
    "Java frames without a name: memory that could not be read in time",
    "Java frames without a name: the interpreter between two methods",
};
// Of V8Names::Missing.
constexpr std::array<const char*, V8Names::causes> unnamed_js = {
    "JavaScript frames without a name: unreadable",
    "JavaScript frames without a name: gone before it was read",
    "JavaScript frames without a name: memory that could not be read in time",
};

} // namespace

void LiveLedger::report(uint64_t now_ns) const {
    LedgerEvent ledger;
    ledger.time_ns = now_ns;
    ledger.overhead = overhead_.last();
    ledger.goroutines = go_switches_.state();
    ledger.goroutine_switches = programs_.goroutine_switches().of_target;
    ledger.gated_slow_calls = programs_.gated_slow_calls();
    auto losses = programs_.losses();
    for (size_t cause = 0; cause < losses.size(); cause++)
        ledger.lost[loss_names[cause]] = losses[cause];
    // Of lost samples, as many as add up with its other counts.
    sampling_.report(ledger);
    task_waits_.report(ledger);
    ledger.lost["tracepoints: hit while another program ran on the CPU"] =
        programs_.missed_tracepoints();
    ledger.lost["exchanges: receive or send while another program ran on the CPU"] =
        programs_.missed_socket_calls();
    ledger.lost["records: malformed"] = ring_.malformed() + watch_.malformed();
    ledger.lost["mapping events: perf ring full"] = watch_.lost();
    ledger.lost["processes: not probed from the start"] = updates_.late();
    ledger.lost["files: more than are looked into for one user"] = catalogue_.left_out();
    ledger.lost[fmt::format("mappings: more than {} in a process",
                            ModuleMap::Limits{}.mappings_per_image)] =
        names_.mappings().refused_mappings();
    ledger.lost[fmt::format("mappings: of a user with more than {} files",
                            ModuleTable::Limits{}.of_user)] = names_.modules().left_out();
    for (size_t cause = 0; cause < unnamed_python.size(); cause++)
        ledger.lost[unnamed_python[cause]] = names_.python().missing()[cause];
    for (size_t cause = 0; cause < unnamed_php.size(); cause++)
        ledger.lost[unnamed_php[cause]] = names_.php().missing()[cause];
    for (size_t cause = 0; cause < unnamed_ruby.size(); cause++)
        ledger.lost[unnamed_ruby[cause]] = names_.ruby().missing()[cause];
    for (size_t cause = 0; cause < unnamed_perl.size(); cause++)
        ledger.lost[unnamed_perl[cause]] = names_.perl().missing()[cause];
    for (size_t cause = 0; cause < unnamed_java.size(); cause++)
        ledger.lost[unnamed_java[cause]] = names_.hotspot().missing()[cause];
    for (size_t cause = 0; cause < unnamed_js.size(); cause++)
        ledger.lost[unnamed_js[cause]] = names_.v8().missing()[cause];
    sink_.on_ledger(ledger);
}

uint64_t LiveLedger::lost_by_ring() const {
    const auto losses = programs_.losses();
    uint64_t all = 0;
    for (const wire_loss cause :
         {WIRE_LOSS_RING_SAMPLE, WIRE_LOSS_RING_CALL, WIRE_LOSS_RING_SLOW, WIRE_LOSS_RING_PROCESS,
          WIRE_LOSS_RING_WAIT, WIRE_LOSS_RING_PARTS})
        all += losses[cause];
    return all;
}

uint64_t LiveLedger::lost_births_and_ends() const {
    return programs_.losses()[WIRE_LOSS_RING_PROCESS];
}

} // namespace auger
