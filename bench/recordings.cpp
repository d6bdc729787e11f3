// SPDX-License-Identifier: GPL-3.0-or-later
// bench_recordings [HOURS]: what it takes to read recordings of intervals: 15 minutes of a folder
// beside all of it, all of it beside the bytes alone, and several hosts as one stream beside one
// after the other. A host has 4 CPUs that are sampled at 99 Hz, and 50 calls a second.
#include "bench/report.h"
#include "bench/scratch_folder.h"

#include "loader/recording/merged_recordings.h"
#include "loader/recording/recorders.h"
#include "loader/stream/quiet_sink.h"
#include "loader/stream/tee.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace auger::bench {
namespace {

constexpr uint64_t second = 1'000'000'000, minute = 60 * second;
constexpr uint64_t boot_ns = 1'700'000'000 * second, begin_ns = 1'000 * second;
constexpr uint32_t samples_a_second = 4 * 99, calls_a_second = 50, stacks = 3'000, depth = 30;
constexpr int rounds = 5;

double seconds(auto&& act) {
    const auto start = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Writes a host's recordings of a minute each.
void record_host(const std::string& folder, const std::string& name, uint64_t seed,
                 uint64_t minutes) {
    Tee tee;
    Recorders recorders(tee, seed);
    std::mt19937_64 random(seed);
    tee.on_machine(MachineId{}, {name, boot_ns});
    tee.on_module(ModuleId{0}, {ModuleKind::file, "/usr/bin/service", "abcd"});
    for (uint32_t i = 0; i < stacks; i++) {
        tee.on_location(LocationId{i}, {ModuleId{0}, 0x1000 + 16 * i, true});
        const Frame frame{fmt::format("ns::Class{}::method_{}(int, char const*)", i % 100, i),
                          "/usr/src/service/file.cc", i, false};
        tee.on_frames(LocationId{i}, {&frame, 1});
    }
    std::vector<LocationId> stack(depth);
    for (uint32_t i = 0; i < stacks; i++) {
        for (LocationId& location : stack)
            location = LocationId{static_cast<uint32_t>(random() % stacks)};
        tee.on_stack(StackId{i}, stack);
    }
    for (uint32_t i = 0; i < 16; i++)
        tee.on_thread(ThreadId{i}, {70, 70 + i, "service"});
    tee.on_spec(SpecId{0}, {ProbeId{1}, "handle", "/usr/bin/service", 0x1000, {}});
    tee.on_probe({ProbeId{1}, "handle", {SpecId{0}}, {}, false});
    if (auto begun = recorders.record_intervals({folder, minute, 100'000}, begin_ns); !begun)
        throw std::runtime_error(begun.error().message());
    uint64_t now = begin_ns;
    uint32_t calls = 0;
    CallKey call{};
    for (uint64_t i = 0; i < minutes * 60 * samples_a_second; i++) {
        now += second / samples_a_second;
        if (i % (samples_a_second / calls_a_second) == 0) {
            if (calls > 0)
                tee.on_call_end(
                    {now, now - call.start_ns, ThreadId{calls % 16}, call, 7, false, {}});
            call = {now, ++calls, SpecId{0}};
        }
        tee.on_sample({now,
                       second / 99,
                       ThreadId{calls % 16},
                       StackId{static_cast<uint32_t>(random() % stacks)},
                       SampleKind::cpu,
                       static_cast<uint32_t>(i % 4),
                       {&call, 1}});
        if (i % 40 == 0) {
            StatsEvent stats{};
            stats.time_ns = now;
            stats.spec = SpecId{0};
            stats.entries = stats.returns = 5;
            stats.buckets = {{700, 5}};
            tee.on_stats(stats);
            tee.on_time(now);
        }
    }
    if (auto ended = recorders.record_intervals({}, now); !ended)
        throw std::runtime_error(ended.error().message());
}

class Nothing final : public QuietSink {};

struct Read {
    double seconds;
    uint64_t bytes;
};

// As a replay does: what there is, then all of it.
Read read(const std::vector<std::string>& paths, const RecordedSelection& selection) {
    Read done{};
    done.seconds = seconds([&] {
        auto merged = MergedRecordings::open(paths, selection);
        if (!merged)
            throw std::runtime_error(merged.error().message());
        Nothing nothing;
        merged->rewind(MergedRecordings::Pass::definitions);
        merged->deliver(nothing);
        merged->rewind(MergedRecordings::Pass::events);
        merged->deliver(nothing);
        if (!merged->damage_text().empty())
            throw std::runtime_error(merged->damage_text());
        done.bytes = merged->bytes_read();
    });
    return done;
}

Read read_bytes(const std::string& folder) {
    Read done{};
    std::vector<char> buffer(1 << 20);
    done.seconds = seconds([&] {
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.is_symlink())
                continue;
            std::ifstream file(entry.path(), std::ios::binary);
            while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
                   file.gcount() > 0)
                done.bytes += static_cast<uint64_t>(file.gcount());
        }
    });
    return done;
}

void run(uint64_t hours) {
    const ScratchFolder scratch;
    const std::string day = scratch.path() + "/day";
    record_host(day, "web-1", 1, 60 * hours);
    const uint64_t size = read_bytes(day).bytes; // and into the page cache
    const RecordedSelection last_minutes{
        RecordedTime{RecordedTime::Kind::before_end, 15 * minute}, {}, ""};
    Series part, whole, bytes, part_share;
    for (int round = 0; round < rounds; round++) {
        const Read of_part = read({day}, last_minutes);
        part.push_back(of_part.seconds);
        whole.push_back(read({day}, {}).seconds);
        bytes.push_back(read_bytes(day).seconds);
        part_share.push_back(100.0 * static_cast<double>(of_part.bytes) /
                             static_cast<double>(size));
    }
    begin_table("Recordings of intervals",
                fmt::format("A folder of {} h, {:.0f} MB in {} files, from the page cache.", hours,
                            static_cast<double>(size) / 1e6, 60 * hours),
                "this", "beside it");
    print_row("15 minutes of it, beside all of it", part, whole, "s", 0.1);
    print_row("all of it, beside its bytes alone", whole, bytes, "s");
    print_absolute("bytes read of the folder for 15 minutes", part_share, "%", 15);

    std::vector<std::string> hosts;
    for (uint64_t host = 0; host < 16; host++) {
        hosts.push_back(fmt::format("{}/host-{}", scratch.path(), host));
        record_host(hosts.back(), fmt::format("host-{}", host), 100 + host, 10);
    }
    Series merged, apart;
    for (int round = 0; round < rounds; round++) {
        merged.push_back(read(hosts, {}).seconds);
        apart.push_back(seconds([&] {
            for (const std::string& host : hosts)
                read({host}, {});
        }));
    }
    begin_table("Recordings of 16 hosts", "10 minutes each, as one stream.", "this", "beside it");
    print_row("as one, beside one after the other", merged, apart, "s", 3);
}

} // namespace
} // namespace auger::bench

int main(int argc, char** argv) {
    try {
        auger::bench::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4);
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_recordings: {}\n", error.what());
        return 1;
    }
    return auger::bench::exit_code();
}
