// SPDX-License-Identifier: GPL-3.0-or-later
// bench_hosts [HOSTS[/RELAYS][@HZ][:SECONDS]]...: what a console takes of the machine that it runs
// on while it observes so many hosts, of 4 busy CPUs each, sampled at 99 Hz or as HZ says, with a
// probe and a split; as Markdown. The console is auger's own: the backend over hosts, the model,
// and the live view without its terminal. Hosts and time are simulated (simulated_hosts.h), so a
// console that would be too slow is seen to be, by more CPU seconds than seconds. Exits with 1 when
// something could not be measured, with 4 when an aim was missed.
#include "bench/report.h"
#include "bench/simulated_hosts.h"
#include "bench/simulated_service.h"
#include "loader/base/read_clock.h"
#include "loader/recording/record_decoder.h"
#include "loader/remote/agent_stream.h"
#include "loader/remote/hosts_backend.h"
#include "views/model/model.h"
#include "views/screen/screen.h"

#include <fmt/core.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace auger::bench {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Whose aims these are: as many as the store holds a minute of.
constexpr size_t fleet = 84;
constexpr uint64_t usual_rate_hz = 99;
// Half of one of two CPUs: the other half is for whoever types, and the other CPU for names, an
// endpoint and whatever else there is.
constexpr double aim_cpus = 0.5;
constexpr double aim_frame_ms = 50; // of p99, as of keys (view_bench.cpp)

// Of memory: what is kept of the store's samples and, for a minute, of the fleet's hosts, by the
// sizes of what keeps it. Private types are written as bytes, with their names.
constexpr double aim_mb = [] {
    constexpr size_t samples = SampleStore::default_capacity;
    // At worst each sample is in a call of its own; arrays that grow double.
    constexpr size_t doubled = std::bit_ceil(samples);
    constexpr size_t store = samples * SampleStore::bytes_per_sample +
                             doubled * (sizeof(CallRecord) + 2 * sizeof(CallIndex));
    // The flame and the timeline have a ClassedSamples each: a Sample, and of a call a Group and
    // its number.
    constexpr size_t views = 2 * (samples * 32 + doubled * (32 + sizeof(uint32_t)));
    // A host's stacks: in the model, where they are vectors; in its MachineStream, by content, as
    // nodes of a hash table; and encoded in its DefinitionLog, two bytes a location. Of strings and
    // vectors the array that holds them doubles, and each piece of the heap takes 16 bytes more.
    constexpr size_t stack = SimulatedService::mean_depth * (sizeof(LocationId) * 2 + 2) +
                             2 * sizeof(std::vector<int>) + 3 * sizeof(std::string) + 24 + 4 * 16;
    // Its locations: LocationEntry and FrameEntry in the model; by content and with their names in
    // its MachineStream, nodes likewise; both encoded in its DefinitionLog, arrays that double.
    constexpr size_t encoded_name = 96; // function, file, line
    constexpr size_t location = 2 * (56 + 16) + 2 * (sizeof(std::string) + 24 + 16) + encoded_name +
                                2 * (encoded_name + 16 + 2 * sizeof(uint64_t));
    // Its statistics (SpecHistory): as many durations as there are calls, 185 a second and CPU.
    constexpr size_t calls = SimulatedHosts::cpus * 185 / SimulatedService::statistics_a_second;
    constexpr size_t statistics = 60 * SimulatedService::statistics_a_second *
                                  (sizeof(StatsEvent) + calls * sizeof(StatsEvent::Bucket));
    constexpr size_t host = SimulatedService::most_stacks * stack +
                            SimulatedService::most_locations * location + statistics;
    return static_cast<double>(store + views + fleet * host) / 1e6;
}();

constexpr uint64_t frame_ns = 100 * millisecond_ns, quick_frame_ns = 33 * millisecond_ns;
constexpr milliseconds frame_slice{5}; // as the live view's
constexpr size_t columns = 200, rows = 60;
// The console wakes when something has come; what comes while it works waits for it. A turn is no
// longer than agents' blocks are apart, so that nothing is left undone.
constexpr uint64_t shortest_turn_ns = millisecond_ns, longest_turn_ns = 50 * millisecond_ns;
constexpr uint64_t wait_step_ns = 10 * millisecond_ns; // while a command waits for hosts
constexpr uint64_t most_begin_ns = 120 * second_ns;    // of all hosts' agents
constexpr size_t refreshes = 5;

uint64_t used_ns() {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
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

void demand(const Result<void>& result) {
    if (!result)
        throw std::runtime_error(result.error().message());
}

// The live view, drawn by the console's clock.
class View {
  public:
    View(const Model& model, uint64_t rate_hz)
        : screen_(model, {true, [](const std::string& path) -> Result<std::string> {
                              return Error{"read", path, "it is simulated", ""};
                          }}) {
        state_.target = "service";
        state_.rate_hz = static_cast<uint32_t>(rate_hz);
    }
    void draw_if_due(uint64_t now_ns) {
        if (now_ns < next_ns_)
            return;
        const uint64_t before = used_ns();
        const bool unfinished = screen_.refresh(state_, TimeSlice(used_ns, frame_slice));
        if (screen_.draw(columns, rows).height() == 0)
            throw std::runtime_error("nothing is drawn");
        const uint64_t took = used_ns() - before;
        used_ns_ += took;
        frames_ms_.push_back(static_cast<double>(took) / 1e6);
        next_ns_ = now_ns + (unfinished ? quick_frame_ns : frame_ns);
    }
    uint64_t used() const { return used_ns_; }
    const Series& frames_ms() const { return frames_ms_; }

  private:
    Screen screen_;
    ScreenState state_;
    Series frames_ms_;
    uint64_t next_ns_ = 0, used_ns_ = 0;
};

struct Figures {
    double samples_per_second = 0, folded = 1, backend_cpus = 0, view_cpus = 0;
    double mb = 0;
    double frame_ms = 0, frame_p99_ms = 0, refresh_ms = 0;
    double bytes_per_host_second = 0, bytes_per_sample = 0;
    double history_seconds = 0;
};

void begin_session(Backend& backend, uint64_t rate_hz) {
    TargetSpec target;
    target.kind = TargetSpec::Kind::name;
    target.name = "service";
    demand(backend.set_target(target));
    if (auto added = backend.add_probe({ProbeId{1}, "handle", {}, {}, {}}); !added)
        throw std::runtime_error(added.error().message());
    demand(backend.set_split({true, ProbeId{1}, {Threshold::Kind::percentile, 0, 95}, false}));
    SamplingSettings sampling;
    sampling.rate_hz = static_cast<uint32_t>(rate_hz);
    demand(backend.set_sampling(sampling));
}

struct Run {
    size_t hosts;
    size_t relays; // between them and the console; 0: none
    uint64_t seconds = 10;
    uint64_t rate_hz = usual_rate_hz; // of samples

    std::string text() const {
        return fmt::format("{}{}{}", hosts, relays ? fmt::format(" behind {} relays", relays) : "",
                           rate_hz == usual_rate_hz ? "" : fmt::format(", {} Hz", rate_hz));
    }
};

Figures observe(const Run& run) {
    const double before_mb = resident_mb();
    const size_t count = run.relays ? run.relays : run.hosts;
    SimulatedHosts hosts(count, run.relays ? run.hosts / run.relays : 0);
    Model model;
    remote::HostsOptions options;
    options.program = "bench_hosts";
    options.clock = [&] { return hosts.now_ns(); };
    options.go_on = [&] {
        hosts.pass(wait_step_ns);
        return true;
    };
    for (size_t i = 0; i < count; i++)
        options.agents.push_back({fmt::format("web{}", i + 1), hosts.connect(i)});
    auto backend = remote::make_hosts_backend(options, model);
    if (!backend)
        throw std::runtime_error(backend.error().message());
    // They are started a few at a time.
    while (std::ranges::any_of((*backend)->hosts(), [](const HostReport& host) {
        return host.state != HostReport::State::live;
    })) {
        hosts.pass(wait_step_ns);
        (void)(*backend)->poll(nanoseconds(0), -1);
        if (hosts.now_ns() > SimulatedHosts::begin_ns + most_begin_ns)
            throw std::runtime_error("not all hosts can be had");
    }
    begin_session(**backend, run.rate_hz);
    View view(model, run.rate_hz);

    hosts.begin_work();
    const uint64_t begin = hosts.now_ns(), end = begin + run.seconds * second_ns;
    const uint64_t bytes_before = hosts.bytes();
    uint64_t backend_ns = 0, turn = shortest_turn_ns;
    while (hosts.now_ns() < end) {
        hosts.pass(turn);
        const uint64_t before = used_ns();
        if (auto polled = (*backend)->poll(nanoseconds(0), -1); !polled)
            throw std::runtime_error(polled.error().message());
        const uint64_t took = used_ns() - before;
        backend_ns += took;
        turn = std::clamp(took, shortest_turn_ns, longest_turn_ns);
        view.draw_if_due(hosts.now_ns());
    }
    const double simulated = static_cast<double>(hosts.now_ns() - begin) / 1e9;
    const auto bytes = static_cast<double>(hosts.bytes() - bytes_before);
    const auto samples = static_cast<double>(hosts.samples()),
               taken = static_cast<double>(hosts.taken_samples());
    Series refresh_ms;
    uint64_t said = 0;
    for (size_t i = 0; i < refreshes; i++) {
        hosts.pass(longest_turn_ns);
        said = hosts.samples();
        const uint64_t before = used_ns();
        demand((*backend)->refresh());
        refresh_ms.push_back(static_cast<double>(used_ns() - before) / 1e6);
    }

    // All are there, and what they said before somebody wanted to have it all.
    for (const HostReport& host : (*backend)->hosts())
        if (host.state != HostReport::State::live || host.times_lost > 0)
            throw std::runtime_error(
                fmt::format("{} is {}: {}", host.name, state_text(host.state), host.cause));
    if (model.samples_received() < said || model.samples_received() > hosts.samples())
        throw std::runtime_error(
            fmt::format("of {} samples {} came", said, model.samples_received()));
    Figures figures;
    figures.samples_per_second = taken / simulated;
    figures.folded = taken / samples;
    figures.backend_cpus = static_cast<double>(backend_ns) / 1e9 / simulated;
    figures.view_cpus = static_cast<double>(view.used()) / 1e9 / simulated;
    figures.mb = resident_mb() - before_mb;
    figures.frame_ms = median(view.frames_ms());
    figures.frame_p99_ms = quantile(view.frames_ms(), 0.99);
    figures.refresh_ms = median(refresh_ms);
    figures.bytes_per_host_second = bytes / static_cast<double>(run.hosts) / simulated;
    figures.bytes_per_sample = bytes / taken;
    figures.history_seconds = static_cast<double>(model.samples().capacity()) * simulated / samples;
    return figures;
}

// The floor: the records of one machine that has as many CPUs, decoded and taken in, without
// pipes, frames, ids of several machines and their order. CPU ns a sample.
double one_stream_ns() {
    constexpr uint64_t seconds = 10;
    remote::AgentStream stream([] { return false; });
    SimulatedService service(stream, 1, fleet * SimulatedHosts::cpus, usual_rate_hz,
                             SimulatedHosts::begin_ns);
    service.define(ProbeId{1});
    std::vector<std::string> blocks;
    for (uint64_t i = 1; i <= seconds * 20; i++) {
        service.run_until(SimulatedHosts::begin_ns + i * second_ns / 20);
        blocks.push_back(stream.take_block()->records);
    }
    Model model;
    RecordDecoder decoder;
    const uint64_t before = used_ns();
    for (const std::string& block : blocks) {
        decoder.start_block(block);
        RecordDecoder::Step step{};
        while ((step = decoder.step(model, UINT64_MAX)) == RecordDecoder::Step::delivered)
            ;
        if (step != RecordDecoder::Step::block_end)
            throw std::runtime_error(decoder.problem());
    }
    return static_cast<double>(used_ns() - before) / static_cast<double>(service.samples());
}

void print_figures(const Run& run, const Figures& f, double floor_ns) {
    const double cpus = f.backend_cpus + f.view_cpus;
    std::string aims;
    if (run.hosts == fleet && !run.relays && run.rate_hz == usual_rate_hz)
        aims = fmt::format(
            "{} CPUs {}, {} ms {}, {:.0f} MB {}", aim_cpus, verdict(cpus <= aim_cpus), aim_frame_ms,
            verdict(f.frame_p99_ms <= aim_frame_ms), aim_mb, verdict(f.mb <= aim_mb));
    fmt::print("| {} | {:.0f} | {:.2f} | {:.3f} | {:.3f} | {:.3f} | {:.2f} | {:.0f} | {:.2f} | "
               "{:.1f}, {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {} |\n",
               run.text(), f.samples_per_second, f.folded, f.backend_cpus, f.view_cpus, cpus,
               f.backend_cpus * 1e9 / f.samples_per_second / floor_ns, f.mb,
               f.mb / static_cast<double>(run.hosts), f.frame_ms, f.frame_p99_ms, f.refresh_ms,
               f.bytes_per_host_second / 1e3, f.bytes_per_sample, f.history_seconds, aims);
}

// No more memory than leaves the machine some of it.
void limit_memory() {
    long pages = 0;
    if (FILE* file = std::fopen("/proc/meminfo", "r")) {
        char line[128];
        while (std::fgets(line, sizeof line, file))
            if (std::sscanf(line, "MemAvailable: %ld", &pages) == 1)
                break;
        std::fclose(file);
    }
    const rlim_t bytes = static_cast<rlim_t>(pages) * 1024 / 4 * 3;
    const rlimit limit{bytes, bytes};
    if (bytes > 0)
        ::setrlimit(RLIMIT_AS, &limit);
}

// In a process of its own, whose memory is that of nothing else. Returns its exit code.
template <typename Measure>
int measure_apart(const std::string& what, const Measure& measure) {
    std::fflush(stdout);
    const pid_t process = ::fork();
    if (process == 0) {
        int code = 1;
        try {
            limit_memory();
            measure();
            code = exit_code();
        } catch (const std::bad_alloc&) {
            fmt::print("| {} | not measured: it takes more memory than there is |\n", what);
        } catch (const std::exception& error) {
            fmt::print("| {} | not measured: {} |\n", what, error.what());
        }
        std::fflush(stdout);
        ::_exit(code);
    }
    int status = 0;
    if (process < 0 || ::waitpid(process, &status, 0) != process || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status);
}

// "84:60", "10000/100@9:3"
std::optional<Run> parse_run(const char* text) {
    Run run{0, 0};
    const char* end = text + std::strlen(text);
    auto read = std::from_chars(text, end, run.hosts);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '/')
        read = std::from_chars(read.ptr + 1, end, run.relays);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '@')
        read = std::from_chars(read.ptr + 1, end, run.rate_hz);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == ':')
        read = std::from_chars(read.ptr + 1, end, run.seconds);
    if (read.ec != std::errc() || read.ptr != end || run.hosts == 0 || run.seconds == 0 ||
        run.rate_hz == 0 || (run.relays > 0 && run.hosts % run.relays > 0))
        return std::nullopt;
    return run;
}

int run(const std::vector<Run>& runs) {
    // Of all processes.
    auto* const floor_ns = static_cast<double*>(
        ::mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (floor_ns == MAP_FAILED)
        return 1;
    fmt::print(
        "\n### One console over many hosts\n"
        "Simulated hosts of {} busy CPUs at {} Hz (or as it says), a timed probe, a split by its "
        "p95, the live "
        "view at 10 frames a second; CPU seconds of the console for each second that is simulated. "
        "The floor is one stream of as many samples, decoded and stored.\n\n"
        "| hosts | samples/s | folded by | backend, model: CPUs | view: CPUs | in all | backend / "
        "floor | MB | "
        "MB a host | frame: median, p99 ms | refresh ms | kB/s a host | bytes a sample | store "
        "holds s | aim |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
        SimulatedHosts::cpus, usual_rate_hz);
    int status = measure_apart("the floor", [&] { *floor_ns = one_stream_ns(); });
    for (const Run& one : runs) {
        const int code =
            measure_apart(one.text(), [&] { print_figures(one, observe(one), *floor_ns); });
        // What was not measured is the worse of the two.
        status = status == 1 || code == 0 ? status : code;
    }
    return status;
}

} // namespace

} // namespace auger::bench

int main(int argc, char** argv) {
    using namespace auger::bench;
    std::vector<Run> runs;
    for (int i = 1; i < argc; i++) {
        const auto run = parse_run(argv[i]);
        if (!run) {
            fmt::print(stderr, "usage: bench_hosts [HOSTS[/RELAYS][@HZ][:SECONDS]]...\n");
            return 2;
        }
        runs.push_back(*run);
    }
    if (runs.empty())
        runs = {{fleet, 0, 60}, {1'000, 0, 10},   {1'000, 10, 10},
                {10'000, 0, 2}, {10'000, 100, 3}, {10'000, 100, 3, 7}};
    return run(runs);
}
