// SPDX-License-Identifier: GPL-3.0-or-later
// What a sample with its stack costs by tables of call frame information, beside the kernel's walk
// by frame pointers on the same stacks, and beside perf record, which copies stacks.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/perf_record.h"
#include "bench/probing.h"
#include "bench/program_cost.h"
#include "bench/report.h"
#include "bench/scratch_folder.h"

#include "frame_pointers.skel.h"
#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/live_backend.h"
#include "views/model/model.h"
#include "views/model/stack_completeness.h"

#include <bpf/bpf.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

namespace auger::bench {

namespace {

constexpr int rounds = 9;
constexpr uint64_t milliseconds = 300;
constexpr uint32_t rate_hz = 4'999;
constexpr uint32_t perf_rate_hz = 999;

// The peer, switched on and off.
class FramePointerSampler {
  public:
    explicit FramePointerSampler(pid_t pid) : skeleton_(frame_pointers_bpf::open_and_load()) {
        if (!skeleton_)
            throw std::runtime_error("load the sampler by frame pointers");
        perf_event_attr attributes = {};
        attributes.type = PERF_TYPE_SOFTWARE;
        attributes.size = sizeof(attributes);
        attributes.config = PERF_COUNT_SW_CPU_CLOCK;
        attributes.freq = 1;
        attributes.sample_freq = rate_hz;
        attributes.disabled = 1;
        event_ = take(open_perf_event(attributes, pid, -1, "the program under test"));
        link_.reset(bpf_link_create(program_fd(), event_.get(), BPF_PERF_EVENT, nullptr));
        if (!link_)
            throw std::runtime_error("attach the sampler by frame pointers");
        ring_.reset(ring_buffer__new(
            bpf_map__fd(skeleton_->maps.ring),
            [](void* self, void*, size_t size) {
                static_cast<FramePointerSampler*>(self)->bytes_ += size;
                return 0;
            },
            this, nullptr));
    }

    int program_fd() const { return bpf_program__fd(skeleton_->progs.sample_by_frame_pointers); }
    void enable(bool on) {
        ioctl(event_.get(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    }
    void drain() { ring_buffer__consume(ring_.get()); }

  private:
    struct Destroy {
        void operator()(frame_pointers_bpf* skeleton) const {
            frame_pointers_bpf::destroy(skeleton);
        }
        void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
    };
    std::unique_ptr<frame_pointers_bpf, Destroy> skeleton_;
    UniqueFd event_, link_;
    std::unique_ptr<ring_buffer, Destroy> ring_;
    uint64_t bytes_ = 0;
};

// Lets the target work in a stack so deep. ns of CPU time a step.
template <typename Drain>
double work(Called& called, int frames, Drain drain) {
    called.begin_work(milliseconds, frames);
    for (bool answered = false; !answered;) {
        drain();
        pollfd waiting = {called.answer_fd(), POLLIN, 0};
        answered = poll(&waiting, 1, 20) > 0;
    }
    const double steps = called.end_work();
    drain();
    return 1e9 / steps;
}

// ns a sample of the program meanwhile.
template <typename Drain>
double sample_cost(Called& called, int frames, int program_fd, Drain drain) {
    const Runs before = runs_of(program_fd);
    work(called, frames, drain);
    return cost_of_run(before, runs_of(program_fd));
}

std::unique_ptr<Backend> observe(const Called& called, Model& model) {
    auto backend = take(make_live_backend({}, model));
    TargetSpec target;
    target.kind = TargetSpec::Kind::pids;
    target.pids = {called.pid()};
    take(backend->set_target(target));
    return backend;
}

void beside_frame_pointers() {
    begin_table("A sample with its stack, by call frame information",
                "ns a run of the sampler, beside one whose stacks the kernel walks by frame "
                "pointers; the program has both.",
                "auger", "frame pointers");
    const UniqueFd statistics = program_statistics();
    Called called;
    Model model;
    auto backend = observe(called, model);
    take(backend->set_sampling({rate_hz, false})); // loads it
    const UniqueFd ours = find_bpf_program("take_sample");
    FramePointerSampler peer(called.pid());
    auto poll_backend = [&] { take(backend->poll(std::chrono::milliseconds(0), -1)); };
    for (int frames : {10, 50, 124}) {
        Series by_tables, by_frame_pointers;
        for (int round = -1; round < rounds; round++) {
            take(backend->set_sampling({rate_hz, false}));
            double tables = sample_cost(called, frames, ours.get(), poll_backend);
            take(backend->set_sampling({}));
            peer.enable(true);
            double pointers = sample_cost(called, frames, peer.program_fd(), [&] { peer.drain(); });
            peer.enable(false);
            if (round < 0)
                continue; // tables are being made
            by_tables.push_back(tables);
            by_frame_pointers.push_back(pointers);
        }
        print_row(fmt::format("{} frames", frames), by_tables, by_frame_pointers, "ns", 1.05);
    }
}

// Of what a sampler collected.
struct Collected {
    uint64_t samples = 0;
    uint64_t whole = 0; // stacks up to _start
    uint64_t bytes = 0;
    double cpu_ns = 0; // that the sampler's own process takes to come to names

    Series cpu_us_each() const { return {cpu_ns / 1e3 / samples}; }
    Series share() const { return {100.0 * static_cast<double>(whole) / samples}; }
    Series bytes_each() const { return {static_cast<double>(bytes) / samples}; }
};

double cpu_ns(int who) {
    rusage usage;
    getrusage(who, &usage);
    const auto ns = [](const timeval& time) { return 1e9 * time.tv_sec + 1e3 * time.tv_usec; };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

Collected collected_by_auger(const Model& model, double cpu_ns) {
    const StackCompleteness stacks = stack_completeness(model);
    Collected result{stacks.samples(), stacks.whole, 0, cpu_ns};
    for (size_t i = 0; i < model.samples().size(); i++)
        result.bytes +=
            sizeof(wire_sample) + 8 * model.symbols().stack(model.samples().stacks()[i]).size();
    return result;
}

Collected collected_by_perf(const std::string& perf, const std::string& file) {
    Collected result;
    result.bytes = std::filesystem::file_size(file);
    const double before = cpu_ns(RUSAGE_CHILDREN);
    std::unique_ptr<FILE, int (*)(FILE*)> script(
        popen(fmt::format("{} script -i {} -F ip,sym 2>/dev/null", perf, file).c_str(), "r"),
        pclose);
    if (!script)
        throw std::runtime_error("read perf's samples");
    // A line a frame, leaf first, and an empty one behind the outermost.
    std::string last;
    char line[4096];
    while (fgets(line, sizeof(line), script.get())) {
        std::string frame(line);
        if (frame != "\n") {
            last = frame;
        } else if (!last.empty()) {
            result.samples++;
            result.whole += last.ends_with(" _start\n");
            last.clear();
        }
    }
    script.reset();
    result.cpu_ns = cpu_ns(RUSAGE_CHILDREN) - before;
    if (!result.samples)
        throw std::runtime_error("perf script shows no samples");
    return result;
}

void beside_copied_stacks() {
    begin_table("Sampling with whole stacks, beside perf record --call-graph dwarf",
                "perf copies 8 KB of stack with each sample and walks them afterwards.", "", "");
    const std::string perf = find_program("perf");
    if (perf.empty()) {
        print_skipped("all", "perf is not installed (package linux-perf)");
        return;
    }
    ScratchFolder scratch;
    for (int frames : {20, 50, 124}) {
        Called called;
        Model model;
        auto backend = observe(called, model);
        auto poll_backend = [&] { take(backend->poll(std::chrono::milliseconds(0), -1)); };
        const std::string file = fmt::format("{}/perf.{}", scratch.path(), frames);
        std::optional<PerfRecord> record;
        record.emplace(perf, called.pid(), perf_rate_hz, "dwarf", file);
        Series bare, ours, theirs;
        double own_cpu = 0;
        for (int round = 0; round < rounds; round++) {
            bare.push_back(work(called, frames, [] {}));
            take(backend->set_sampling({perf_rate_hz, false}));
            own_cpu -= cpu_ns(RUSAGE_SELF);
            ours.push_back(work(called, frames, poll_backend));
            own_cpu += cpu_ns(RUSAGE_SELF);
            take(backend->set_sampling({}));
            record->tell("enable");
            theirs.push_back(work(called, frames, [] {}));
            record->tell("disable");
        }
        record.reset();
        const Collected by_auger = collected_by_auger(model, own_cpu);
        const Collected by_perf = collected_by_perf(perf, file);
        print_row(fmt::format("{} frames: auger's slowdown", frames), ours, bare, "ns");
        print_row(fmt::format("{} frames: perf's slowdown", frames), theirs, bare, "ns");
        print_row(fmt::format("{} frames: auger beside perf", frames), ours, theirs, "ns", 1.05);
        print_row(fmt::format("{} frames: bytes a sample, auger beside perf", frames),
                  by_auger.bytes_each(), by_perf.bytes_each(), "B", 0.2);
        print_row(
            fmt::format("{} frames: CPU time a sample besides, auger beside perf script", frames),
            by_auger.cpu_us_each(), by_perf.cpu_us_each(), "us", 1.0);
        print_row(fmt::format("{} frames: whole stacks, perf beside auger", frames),
                  by_perf.share(), by_auger.share(), "%", 1.0);
    }
}

} // namespace

void bench_stacks(const Features&) {
    beside_frame_pointers();
    beside_copied_stacks();
}

} // namespace auger::bench
