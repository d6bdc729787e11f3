// SPDX-License-Identifier: GPL-3.0-or-later
// What a sample with frames of Python costs, beside one with as many native frames.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/program_cost.h"
#include "bench/report.h"

#include "loader/kernel/live_backend.h"
#include "views/model/model.h"

#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <memory>

namespace auger::bench {

namespace {

constexpr int rounds = 9;
constexpr int milliseconds = 300;
constexpr uint32_t rate_hz = 4'999;

// Works in a stack of so many functions.
constexpr char program[] = R"(
def down(n):
    if n > 1:
        down(n - 1)
    while True:
        pass
print("ready", flush=True)
down({})
)";

std::unique_ptr<Backend> observe(pid_t pid, Model& model) {
    auto backend = take(make_live_backend({}, model));
    TargetSpec target;
    target.kind = TargetSpec::Kind::pids;
    target.pids = {pid};
    take(backend->set_target(target));
    take(backend->set_sampling({rate_hz, false}));
    return backend;
}

// ns a sample of a program that works all the time.
double sample_cost(Backend& backend, int program_fd) {
    const Runs before = runs_of(program_fd);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (std::chrono::steady_clock::now() < end)
        take(backend.poll(std::chrono::milliseconds(20), -1));
    return cost_of_run(before, runs_of(program_fd));
}

void beside_native_frames(const std::string& python, int frames) {
    Child script({python, "-S", "-c", fmt::format(fmt::runtime(program), frames)}, Output::pipe);
    script.read_line();
    Called native;
    Series of_python, of_native;
    for (int round = -1; round < rounds; round++) {
        double python_ns = 0, native_ns = 0;
        {
            Model model;
            const auto backend = observe(script.pid(), model);
            const UniqueFd ours = find_bpf_program("take_sample");
            take(backend->poll(std::chrono::milliseconds(100), -1));
            python_ns = sample_cost(*backend, ours.get());
        }
        {
            Model model;
            const auto backend = observe(native.pid(), model);
            const UniqueFd ours = find_bpf_program("take_sample");
            native.begin_work(2 * milliseconds, frames);
            native_ns = sample_cost(*backend, ours.get());
            native.end_work();
        }
        if (round < 0)
            continue;
        of_python.push_back(python_ns);
        of_native.push_back(native_ns);
    }
    print_row(fmt::format("{} frames", frames), of_python, of_native, "ns", 2);
}

} // namespace

void bench_python(const Features&) {
    begin_table("A sample with frames of Python",
                "ns a run of the sampler, beside one of as many native frames. Python's stack has "
                "those of the interpreter besides.",
                "Python", "native");
    const std::string python = find_program("python3");
    if (python.empty()) {
        print_skipped("all", "python3 is not installed");
        return;
    }
    const UniqueFd statistics = program_statistics();
    for (const int frames : {10, 50, 100})
        beside_native_frames(python, frames);
}

} // namespace auger::bench
