// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/faults.h"

#include "bpf/wire.h"
#include "loader/kernel/bpf_calls.h"
#include "tests/kernel/kernel_maps.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <utility>

namespace auger::test {

namespace {

// The n-th operation is refused, once.
class NthFault final : public KernelFaults {
  public:
    explicit NthFault(size_t n) : n_(n) { set_kernel_faults(this); }
    ~NthFault() override { set_kernel_faults(nullptr); }
    int refuse() override { return ++asked_ == n_ ? ENOMEM : 0; }
    bool happened() const { return asked_ >= n_; }

  private:
    size_t n_;
    size_t asked_ = 0;
};

template <typename Value>
std::string text_of(const Value& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

// What the programs in the kernel go by. What stands in a map and is not in force is left out.
struct InForce {
    std::vector<uint64_t> links;
    std::map<uint32_t, std::pair<std::string, std::string>> specs; // and their programs
    Elements targets, names;
    std::map<std::string, std::vector<Bytes>> filters;
    std::vector<std::string> gates;
    std::vector<Bytes> counted_marks;
    std::string config;
    uint64_t rate_hz = 0;
    std::string split, only;
    struct Probe {
        std::string text;
        uint64_t slow_ns;
        bool off;
        bool operator==(const Probe&) const = default;
    };
    std::map<uint32_t, Probe> probes;
    // What calls are compared with; of exchanges without the number that grows as they begin.
    std::vector<Bytes> call_targets;
    std::string exchanges;

    bool operator==(const InForce&) const = default;
};

InForce in_force(Session& session) {
    must(session.backend().refresh());
    const KernelMaps maps;
    wire_config config = maps.config();
    InForce state;
    state.links = session.backend().links();
    const auto specs = maps.array<wire_spec>("specs", WIRE_MAX_SPECS);
    for (uint32_t i = 0; i < specs.size(); i++) {
        const wire_spec& spec = specs[i];
        if (spec.flags)
            state.specs[i] = {text_of(spec), spec.program ? text_of(maps.at<wire_call_program>(
                                                                "call_programs", spec.program - 1))
                                                          : ""};
    }
    state.targets = maps.all("targets");
    state.names = maps.all("target_comms");
    const auto generation = static_cast<uint32_t>(config.filter >> WIRE_FILTER_GENERATION_SHIFT);
    for (const char* name : {"filter_pids", "filter_tids", "filter_cgroups", "filter_comms"}) {
        for (const auto& [key, value] : maps.all(name)) {
            uint32_t since = 0;
            std::memcpy(&since, value.data(), sizeof since);
            if (since >= generation)
                state.filters[name].push_back(key);
        }
    }
    for (uint32_t use = 0; use < WIRE_GATE_USES; use++) {
        if (config.gate[use])
            state.gates.push_back(
                text_of(maps.at<wire_gate>("gates", 2 * use + config.gate[use] - 1)));
    }
    state.counted_marks = maps.keys("mark_counts");
    // Threads are asked anew whether they are observed, whatever the number is; 0: each time.
    config.scope = config.scope != 0;
    state.config = text_of(config);
    const Model& model = session.model();
    state.rate_hz = model.ledger().rate_hz;
    state.split = model.split().active ? model.split().branch.text() + "/" + model.split().label +
                                             "/" + std::to_string(model.split().threshold.fixed_ns)
                                       : "";
    state.only = model.only().text;
    for (const auto& [id, probe] : model.probes()) {
        if (!probe.deleted)
            state.probes[id.value] = {probe.text, probe.slow.fixed_ns, probe.off};
    }
    state.call_targets = maps.keys("call_targets");
    auto exchanges = maps.at<wire_exchange_spans>("exchange_spans", 0);
    exchanges.epoch = 0;
    state.exchanges = text_of(exchanges);
    return state;
}

// What differs, for who reads a failure.
std::string changed(const InForce& a, const InForce& b) {
    std::string text;
    auto compare = [&](const char* name, bool same) {
        text += same ? "" : std::string(name) + " ";
    };
    compare("links", a.links == b.links);
    compare("specs", a.specs == b.specs);
    compare("targets", a.targets == b.targets);
    compare("names", a.names == b.names);
    compare("filters", a.filters == b.filters);
    compare("gates", a.gates == b.gates);
    compare("marks", a.counted_marks == b.counted_marks);
    compare("config", a.config == b.config);
    compare("rate", a.rate_hz == b.rate_hz);
    compare("split", a.split == b.split);
    compare("only", a.only == b.only);
    compare("probes", a.probes == b.probes);
    compare("call targets", a.call_targets == b.call_targets);
    compare("exchanges", a.exchanges == b.exchanges);
    return text;
}

} // namespace

void refuse_each_step(Session& session, const std::vector<FaultyEdit>& edits) {
    for (const FaultyEdit& one : edits) {
        size_t refused = 0;
        for (size_t n = 1;; n++) {
            ASSERT_LT(n, 1000u) << one.name;
            const InForce before = in_force(session);
            NthFault fault(n);
            const Result<void> edited = one.edit();
            set_kernel_faults(nullptr);
            if (edited) {
                must(one.back());
                // One that something else was done for counts as one that did not matter.
                if (fault.happened())
                    continue;
                break;
            }
            ASSERT_TRUE(fault.happened()) << one.name << ": " << edited.error().message();
            refused++;
            const InForce after = in_force(session);
            EXPECT_TRUE(after == before)
                << one.name << ", operation " << n << " refused (" << edited.error().message()
                << "): " << changed(before, after) << "changed";
        }
        EXPECT_EQ(refused == 0, one.name[0] == '-') << one.name;
    }
}

} // namespace auger::test
