// SPDX-License-Identifier: GPL-3.0-or-later
// bench_pipeline: what user space makes of the kernel's records. Records as the ring holds them are
// decoded, their addresses located and interned, and the samples and ends of calls stored; then all
// are classed and folded. The store has its default capacity, and five times as many samples come.
#include "bench/report.h"

#include "loader/kernel/live_names.h"
#include "loader/stream/wire_decoder.h"
#include "views/model/fold.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace auger::bench {

namespace {

constexpr uint64_t ms = 1'000'000;
constexpr uint32_t threads = 16, stacks = 5'000, frames = 30, samples_per_call = 4;
constexpr uint64_t batch = 100'000;

double seconds(auto&& act) {
    auto start = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double resident_mb() {
    size_t total = 0, resident = 0;
    if (FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%zu %zu", &total, &resident) != 2)
            resident = 0;
        std::fclose(file);
    }
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

struct SampleRecord {
    wire_sample head;
    wire_call call;
    uint64_t user_frames[frames];
};

// The records of the ring, one behind the other.
struct Records {
    std::vector<uint64_t> words;
    std::vector<uint32_t> sizes;

    template <typename Record>
    void add(const Record& record) {
        static_assert(sizeof(Record) % 8 == 0);
        size_t at = words.size();
        words.resize(at + sizeof(record) / 8);
        std::memcpy(&words[at], &record, sizeof(record));
        sizes.push_back(sizeof(record));
    }
};

// Stacks of a program: few roots, many leaves, in this process's own code so that they resolve.
class Source {
  public:
    Source() {
        auto code = reinterpret_cast<uint64_t>(&std::qsort) & ~uint64_t{0xffff};
        stacks_.resize(stacks);
        for (auto& stack : stacks_) {
            for (uint32_t depth = 0; depth < frames; depth++)
                stack[frames - 1 - depth] =
                    code + 16 * (random_() % std::min(4096u, 2u << depth / 2));
        }
    }

    // `count` samples, four a call, and the ends of those calls.
    Records next(uint64_t count) {
        Records records;
        for (uint64_t i = 0; i < count; i++, made_++) {
            uint64_t call = made_ / samples_per_call;
            uint64_t start = call * samples_per_call * ms + 1;
            wire_event event = {WIRE_SAMPLE, sizeof(SampleRecord), made_ * ms + 2,
                                static_cast<uint32_t>(getpid()),
                                static_cast<uint32_t>(1000 + call % threads)};
            wire_call key = {start, static_cast<uint32_t>(call), 0, 1};
            SampleRecord sample = {};
            sample.head.event = event;
            std::memcpy(sample.head.comm, "service", 8);
            sample.head.weight_ns = ms;
            sample.head.user_frames = frames;
            sample.head.calls = 1;
            sample.call = key;
            std::memcpy(sample.user_frames, stacks_[random_() % stacks].data(),
                        sizeof(sample.user_frames));
            records.add(sample);
            if (made_ % samples_per_call == samples_per_call - 1) {
                wire_call_end end = {};
                end.event = event;
                end.event.kind = WIRE_CALL_END;
                end.event.size = sizeof(end);
                end.event.time_ns = made_ * ms + 3;
                end.call = key;
                end.duration_ns = random_() % (22 * ms);
                end.samples = samples_per_call;
                records.add(end);
            }
        }
        return records;
    }

  private:
    std::mt19937 random_{1};
    std::vector<std::array<uint64_t, frames>> stacks_;
    uint64_t made_ = 0;
};

// The same steps as LiveEvents, whose table of probes needs a kernel.
void consume(const Records& records, LiveNames& names, Model& model) {
    std::vector<CallKey> calls;
    size_t at = 0;
    for (uint32_t size : records.sizes) {
        auto* bytes = reinterpret_cast<const std::byte*>(records.words.data() + at);
        at += size / 8;
        auto view = decode_wire({bytes, size});
        if (!view)
            continue;
        if (const auto* sample = std::get_if<WireSampleView>(&*view)) {
            const wire_sample& head = *sample->head;
            calls.clear();
            for (const wire_call& call : sample->calls)
                calls.push_back({call.start_ns, call.sequence, SpecId{call.spec}});
            SampleEvent event;
            event.time_ns = head.event.time_ns;
            event.weight_ns = head.weight_ns;
            event.thread = names.thread(head.event.pid, head.event.tid, wire_comm(head.comm));
            event.stack = names.stack(static_cast<pid_t>(head.event.pid), head.event.time_ns,
                                      sample->kernel_frames, sample->user_frames);
            event.calls = calls;
            model.on_sample(event);
        } else if (const auto* end = std::get_if<WireCallEndView>(&*view)) {
            const wire_call_end& wire = *end->head;
            CallEndEvent event;
            event.time_ns = wire.event.time_ns;
            event.duration_ns = wire.duration_ns;
            event.thread = names.thread(wire.event.pid, wire.event.tid);
            event.call = {wire.call.start_ns, wire.call.sequence, SpecId{wire.call.spec}};
            event.samples = wire.samples;
            model.on_call_end(event);
        }
    }
}

void run() {
    Model model;
    LiveNames names(model);
    // Mappings are looked up by time, and the records' time begins at 0.
    (void)names.mappings().scan(getpid(), 0);
    model.on_spec(SpecId{0},
                  {ProbeId{1}, "handle", "/usr/bin/service", 0, ObservedExit::parse("ret")});
    model.on_probe({ProbeId{1}, "handle", {SpecId{0}}, {}, false});
    model.on_split({true, ProbeId{1}, {Threshold::Kind::fixed, 20 * ms, 0}, false});

    Source source;
    Series rates, folds;
    const uint64_t capacity = model.samples().capacity(), total = 5 * capacity;
    double before = resident_mb(), full = 0;
    for (uint64_t done = 0; done < total; done += batch) {
        Records records = source.next(batch);
        double spent = seconds([&] { consume(records, names, model); });
        rates.push_back(static_cast<double>(records.sizes.size()) / spent / 1e6);
        if (done + batch == capacity)
            full = resident_mb();
    }
    double after = resident_mb();
    for (int round = 0; round < 5; round++)
        folds.push_back(static_cast<double>(model.samples().size()) /
                        seconds([&] { (void)fold(model, {}).nodes.size(); }) / 1e6);

    begin_table("User space",
                fmt::format("Records of samples with {} frames ({} stacks) and of ends of calls.",
                            frames, stacks),
                "auger", "");
    print_absolute("decoded, located, interned, stored: records a second", rates, "M");
    print_absolute("classed and folded: samples a second", folds, "M");
    print_absolute(fmt::format("memory when the store is full, at {} samples", capacity),
                   {full - before}, "MB");
    print_absolute(fmt::format("memory after {} samples, of which it keeps the last {}", total,
                               model.samples().size()),
                   {after - before}, "MB");
    print_absolute("of which samples and calls, by its own account",
                   {static_cast<double>(model.memory_bytes()) / 1e6}, "MB");
}

} // namespace

} // namespace auger::bench

int main() {
    auger::bench::run();
    return auger::bench::exit_code();
}
