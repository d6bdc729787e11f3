// SPDX-License-Identifier: GPL-3.0-or-later
// Taking the stream in. A damaged recording may refer to what it never defined, so ids are checked
// where they become indexes.
#include "views/model/model.h"

#include "views/escape.h"
#include "views/model/duration_gaps.h"

#include <algorithm>

namespace auger {

namespace {
constexpr size_t max_specs = 1 << 20; // far above what the kernel's table holds over a session
constexpr size_t max_labels = 1 << 24;
constexpr size_t max_machines = 1 << 16;
// Until the year 2116; a damaged recording may say anything.
constexpr uint64_t latest_boot_ns = uint64_t{1} << 62;
constexpr size_t most_wall_clocks = 100;
} // namespace

Model::Model(size_t sample_capacity, size_t slow_call_capacity)
    : samples_(sample_capacity), slow_call_capacity_(std::max<size_t>(1, slow_call_capacity)) {}

void Model::advance(uint64_t time_ns) {
    now_ns_ = std::max(now_ns_, time_ns);
    if (first_ns_ == 0)
        first_ns_ = time_ns;
}

void Model::on_machine(MachineId id, const MachineInfo& info) {
    if (id.index() >= max_machines)
        return;
    if (id.index() >= machines_.size())
        machines_.resize(id.index() + 1);
    machines_[id.index()] = info;
}

const MachineInfo& Model::machine(MachineId id) const {
    static const MachineInfo unknown;
    return id.index() < machines_.size() ? machines_[id.index()] : unknown;
}

std::optional<MachineId> Model::find_machine(std::string_view name) const {
    const auto found = std::ranges::find(machines_, name, &MachineInfo::name);
    if (found == machines_.end())
        return std::nullopt;
    return MachineId{static_cast<uint32_t>(found - machines_.begin())};
}

std::vector<std::string> Model::machine_list() const {
    std::vector<std::string> names;
    for (const MachineInfo& machine : machines_)
        if (std::ranges::find(names, machine.name) == names.end())
            names.push_back(machine.name);
    return names;
}

std::string Model::machine_names() const {
    std::string names;
    for (const std::string& name : machine_list())
        names += (names.empty() ? "" : ", ") + escape_untrusted(name);
    return names;
}

// Of several machines times are those of the one that was booted first: MergedRecordings.
std::optional<uint64_t> Model::wall_ns(uint64_t time_ns) const {
    std::optional<uint64_t> boot_ns;
    for (const MachineInfo& one : machines_)
        if (one.boot_ns && one.boot_ns <= latest_boot_ns)
            boot_ns = std::min(boot_ns.value_or(one.boot_ns), one.boot_ns);
    for (const auto& [since_ns, set_ns] : wall_clocks_)
        if (time_ns >= since_ns)
            boot_ns = set_ns;
    if (!boot_ns || time_ns > latest_boot_ns - *boot_ns)
        return std::nullopt;
    return *boot_ns + time_ns;
}

void Model::set_wall_clock(uint64_t since_ns, uint64_t boot_ns) {
    wall_clocks_.emplace_back(since_ns, std::min(boot_ns, latest_boot_ns));
    if (wall_clocks_.size() > most_wall_clocks)
        wall_clocks_.pop_front();
}

void Model::on_module(ModuleId id, const ModuleInfo& info) {
    symbols_.add_module(id, info);
}

void Model::on_location(LocationId id, const Location& location) {
    symbols_.add_location(id, location);
}

void Model::on_frames(LocationId id, std::span<const Frame> frames) {
    symbols_.add_frames(id, frames);
}

void Model::on_stack(StackId id, std::span<const LocationId> locations) {
    symbols_.add_stack(id, locations);
}

void Model::on_thread(ThreadId id, const ThreadInfo& info) {
    // Another thread may have had the id.
    if (id.index() < symbols_.threads()) {
        const auto main = main_threads_.find(process_key(symbols_.thread(id)));
        if (main != main_threads_.end() && main->second == id)
            main_threads_.erase(main);
    }
    symbols_.add_thread(id, info);
    if (info.pid == info.tid && id.index() < symbols_.threads())
        main_threads_[process_key(info)] = id;
}

void Model::on_spec(SpecId id, const SpecInfo& info) {
    if (id.index() >= max_specs)
        return;
    if (id.index() >= specs_.size()) {
        specs_.resize(id.index() + 1);
        histories_.resize(id.index() + 1);
    }
    specs_[id.index()] = info;
}

void Model::on_exit_changed(SpecId id, const ObservedExit& exit) {
    if (id.index() < specs_.size())
        specs_[id.index()].way_out = exit;
}

bool Model::is_counted(ProbeId id) const {
    return std::ranges::any_of(specs_, [&](const SpecInfo& spec) {
        return spec.probe == id && spec.way_out.kind() == ObservedExit::Kind::count;
    });
}

Model::ProbeState& Model::probe_state(ProbeId id) {
    return probe_states_[id];
}

void Model::on_probe(const ProbeInfo& info) {
    ProbeState& state = probe_state(info.id);
    if (info.slow.kind == Threshold::Kind::none)
        state.slow.reset();
    else if (!state.slow)
        state.slow = state.split; // which has seen every call of the probe
    if (state.slow && !(state.slow->threshold() == info.slow))
        state.slow->set_threshold(info.slow);
    probes_[info.id] = info;
}

void Model::on_split(const SplitInfo& info) {
    // The same threshold again changes nothing: not even a value that hysteresis holds.
    ThresholdFollower& follower = probe_state(info.probe).split;
    if (info.active && !(follower.threshold() == info.threshold))
        follower.set_threshold(info.threshold);
    split_ = info;
}

void Model::on_only(const OnlyInfo& info) {
    only_ = info;
}

void Model::on_label(LabelId id, const std::string& text) {
    if (id.index() >= max_labels)
        return;
    if (id.index() >= labels_.size())
        labels_.resize(id.index() + 1);
    labels_[id.index()] = text;
}

void Model::on_sample(const SampleEvent& event) {
    advance(event.time_ns);
    samples_received_++;
    for (const std::weak_ptr<LateSamples>& watched : late_samples_)
        if (const auto late = watched.lock();
            late && event.time_ns > late->begin_ns && event.time_ns <= late->end_ns)
            late->samples++;
    StoredSample sample{event.time_ns,
                        event.weight_ns,
                        event.stack,
                        event.thread,
                        calls_.acquire(symbols_.thread(event.thread).tid, event.calls),
                        event.kind,
                        static_cast<uint16_t>(std::min<uint32_t>(event.cpu, UINT16_MAX))};
    if (samples_.full())
        evict(samples_.oldest());
    samples_.push(sample);
}

void Model::evict(const StoredSample& sample) {
    calls_.release(sample.call);
    for (const std::weak_ptr<Evictions>& watched : evictions_)
        if (const auto counted = watched.lock();
            counted && sample.time_ns > counted->begin_ns && sample.time_ns <= counted->end_ns)
            counted->samples++;
}

std::shared_ptr<Evictions> Model::count_evictions(uint64_t begin_ns, uint64_t end_ns) const {
    std::erase_if(evictions_, [](const auto& watched) { return watched.expired(); });
    auto counted = std::make_shared<Evictions>(Evictions{begin_ns, end_ns});
    evictions_.push_back(counted);
    return counted;
}

std::shared_ptr<LateSamples> Model::count_late_samples() const {
    std::erase_if(late_samples_, [](const auto& watched) { return watched.expired(); });
    auto late = std::make_shared<LateSamples>();
    late_samples_.push_back(late);
    return late;
}

void Model::on_call_end(const CallEndEvent& event) {
    advance(event.time_ns);
    calls_.end(symbols_.thread(event.thread).tid, event);
}

void Model::on_call_parts(const CallPartsEvent& event) {
    advance(event.end.time_ns);
    const ProbeId probe = specs_[event.end.call.spec.index()].probe;
    explained_calls_.add(event, probe, symbols_.thread(event.end.thread).machine);
}

void Model::on_slow_call(const SlowCallEvent& event) {
    advance(event.end.time_ns);
    slow_calls_received_++;
    if (slow_calls_.size() == slow_call_capacity_) {
        calls_.release(slow_calls_.front().call);
        slow_calls_.pop_front();
    }
    // From now on the ends of the calls around it are kept, which tell its class.
    std::vector<CallKey> chain(event.enclosing.begin(), event.enclosing.end());
    chain.push_back(event.end.call);
    uint32_t tid = symbols_.thread(event.end.thread).tid;
    CallIndex call = calls_.acquire(tid, chain);
    if (calls_[call].state == CallRecord::State::open) // no end of its own came before
        calls_.end(tid, event.end);
    slow_calls_.push_back(
        {event.end, event.threshold_ns, event.stack, event.longest_wait, event.values, call});
}

void Model::on_stats(const StatsEvent& event) {
    advance(event.time_ns);
    if (event.spec.index() >= histories_.size())
        return;
    histories_[event.spec.index()].add(
        event, std::min(SpecHistory::most_bytes, histories_bytes_ / histories_.size()));
    ProbeState& state = probe_state(specs_[event.spec.index()].probe);
    state.split.on_stats(event);
    if (state.slow)
        state.slow->on_stats(event);
}

void Model::on_ledger(const LedgerEvent& event) {
    advance(event.time_ns);
    ledger_ = event;
}

void Model::on_notice(uint64_t time_ns, const std::string& text) {
    advance(time_ns);
    notices_received_++;
    if (notices_.size() == max_notices)
        notices_.pop_front();
    notices_.push_back({time_ns, text});
}

void Model::on_time(uint64_t time_ns) {
    advance(time_ns);
}

const ProbeInfo* Model::find_probe(ProbeId id) const {
    auto it = probes_.find(id);
    return it == probes_.end() ? nullptr : &it->second;
}

ThresholdState Model::split_state() const {
    auto it = probe_states_.find(split_.probe);
    if (!split_.active || it == probe_states_.end())
        return {};
    return it->second.split.state();
}

MarkCounts Model::branch_counts(const Window& window) const {
    MarkCounts sum;
    if (split_.active && !split_.branch.empty())
        for (size_t i = 0; i < specs_.size(); i++)
            if (specs_[i].probe == split_.probe)
                sum +=
                    histories_[i].marks(split_.branch_bit, split_.branch_since_ns, window, now_ns_);
    return sum;
}

bool Model::split_near_sample_gap() const {
    ThresholdState state = split_state();
    return state.in_force() && state.value_ns < visible_from_ns();
}

std::optional<uint64_t> Model::visible_gap(ProbeId id) const {
    return next_duration_gap(probe_statistics(id).durations,
                             std::max<uint64_t>(visible_from_ns(), 1) - 1, true);
}

ThresholdState Model::slow_state(ProbeId id) const {
    auto it = probe_states_.find(id);
    return it == probe_states_.end() || !it->second.slow ? ThresholdState{}
                                                         : it->second.slow->state();
}

std::string_view Model::process_name(ThreadId thread) const {
    const ThreadInfo& info = symbols_.thread(thread);
    auto main = main_threads_.find(process_key(info));
    return main == main_threads_.end() ? info.comm : symbols_.thread(main->second).comm;
}

CallStatistics Model::spec_statistics(SpecId id, const Window& window) const {
    return id.index() < histories_.size() ? histories_[id.index()].query(window, now_ns_)
                                          : CallStatistics{};
}

CallStatistics Model::probe_statistics(ProbeId id, const Window& window,
                                       const std::optional<HostChoice>& host) const {
    CallStatistics sum;
    for (size_t i = 0; i < specs_.size(); i++)
        if (specs_[i].probe == id && (!host || is_on(*host, specs_[i].machine)))
            sum.merge(histories_[i].query(window, now_ns_));
    return sum;
}

CallStatistics Model::all_calls() const {
    CallStatistics sum;
    for (const SpecHistory& history : histories_)
        sum.merge(history.totals());
    return sum;
}

size_t Model::memory_bytes() const {
    return samples_.size() * SampleStore::bytes_per_sample + calls_.memory_bytes();
}

size_t Model::calls_bytes() const {
    size_t bytes = slow_calls_.size() * sizeof(SlowCall);
    for (const SlowCall& call : slow_calls_) {
        bytes += call.values.capacity() * sizeof(CallValue) + call.longest_wait.what.capacity();
        for (const CallValue& value : call.values)
            bytes += value.name.capacity() + value.text.capacity();
    }
    for (const SpecHistory& history : histories_)
        bytes += history.memory_bytes();
    bytes += explained_calls_.memory_bytes();
    for (const std::string& label : labels_)
        bytes += sizeof label + label.capacity();
    return bytes;
}

} // namespace auger
