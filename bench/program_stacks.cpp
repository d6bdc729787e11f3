// SPDX-License-Identifier: GPL-3.0-or-later
// bench_programs [--details] [start-up|PROGRAM]...: real programs of Debian's under load, and how
// many of their stacks are whole, on CPU and by the wall clock; and how long it takes to the first
// flame. PROGRAM is part of a row's name. Needs root.
#include "bench/programs.h"
#include "bench/stack_shares.h"
#include "bench/start_up.h"

#include "loader/kernel/live_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

namespace auger::bench {
namespace {

using std::chrono::steady_clock;

constexpr double least_share = 95; // per cent: of whole stacks, and of those from the beginning
constexpr uint32_t rate_hz = 999;
constexpr auto span = std::chrono::seconds(4);
constexpr auto patience = std::chrono::seconds(10);
constexpr size_t most_details = 12;

bool not_measured = false; // one of the programs, though it is there

void must(const Result<void>& result) {
    if (!result)
        throw std::runtime_error(result.error().message());
}

// Of all that the script has started by now, and will.
StackShares observe(const RunningProgram& program, const char* process, bool wall) {
    Model model;
    auto backend = make_live_backend({}, model);
    if (!backend)
        throw std::runtime_error(backend.error().message());
    TargetSpec target;
    target.kind = TargetSpec::Kind::pids;
    // Some are gone again before they are looked at.
    for (int tries = 0;; tries++) {
        target.pids = program.processes();
        const auto set = (*backend)->set_target(target);
        if (!set && tries < 200) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            continue;
        }
        must(set);
        break;
    }
    must((*backend)->set_sampling({rate_hz, wall}));
    const auto poll = [&] {
        if (auto more = (*backend)->poll(std::chrono::milliseconds(20), -1); !more)
            throw std::runtime_error(more.error().message());
    };
    for (const auto end = steady_clock::now() + patience; steady_clock::now() < end;) {
        poll();
        if ((*backend)->unwind_status().pending.empty())
            break;
    }
    const uint64_t from_ns = (*backend)->now_ns();
    for (const auto end = steady_clock::now() + span; steady_clock::now() < end;)
        poll();
    must((*backend)->set_sampling({}));
    (*backend)->settle_symbols(std::chrono::seconds(30));
    return stack_shares(model, process, from_ns);
}

double percent(uint64_t part, uint64_t all) {
    return all ? 100 * static_cast<double>(part) / static_cast<double>(all) : 0;
}

std::vector<std::pair<std::string, uint64_t>> largest_first(const StackShares::Counts& counts) {
    std::vector<std::pair<std::string, uint64_t>> sorted(counts.begin(), counts.end());
    std::ranges::sort(sorted, std::greater{}, [](const auto& one) { return one.second; });
    return sorted;
}

std::string causes_text(const StackShares& shares) {
    std::string text;
    for (const auto& [cause, samples] : largest_first(shares.cut))
        text += fmt::format("{}{} {:.2f} %", text.empty() ? "" : ", ", cause,
                            percent(samples, shares.samples));
    return text;
}

void print_details(const char* title, const StackShares::Counts& counts, uint64_t samples) {
    size_t left = most_details;
    for (const auto& [what, count] : largest_first(counts)) {
        if (left-- == 0)
            break;
        fmt::print(stderr, "    {} {:.2f} %: {}\n", title, percent(count, samples), what);
    }
}

void print(const RealProgram& program, const char* clock, const StackShares& shares, bool details) {
    if (shares.samples == 0)
        throw std::runtime_error("no samples");
    const auto judged = [&](uint64_t samples) {
        const double share = percent(samples, shares.samples);
        return fmt::format("{:.2f} % ({:.0f} {})", share, least_share,
                           verdict(share >= least_share));
    };
    fmt::print("| {} | {} | {} | {} | {} | {:.1f} % | {:.0f} | {} |\n", program.name, clock,
               shares.samples, judged(shares.whole), judged(shares.from_the_beginning),
               percent(shares.named, shares.frames), median(shares.depths), causes_text(shares));
    std::fflush(stdout);
    if (details) {
        print_details("cut", shares.cut_at, shares.samples);
        print_details("begins", shares.other_beginnings, shares.samples);
    }
}

void measure(const RealProgram& program, bool details) {
    if (const std::string packages = missing_packages(program); !packages.empty()) {
        fmt::print("| {} | | | | | | | not installed: apt-get install {} |\n", program.name,
                   packages);
        return;
    }
    try {
        const RunningProgram running(program);
        for (const bool wall : {false, true})
            print(program, wall ? "wall" : "CPU", observe(running, program.process, wall), details);
    } catch (const std::exception& error) {
        fmt::print("| {} | | | | | | | not measured: {} |\n", program.name, error.what());
        not_measured = true;
    }
}

void begin_programs() {
    fmt::print(
        "\n### Stacks of real programs\n{} s each at {} Hz, of the running processes and of "
        "those they start, from when the first tables are there; aim: {:.0f} % of the "
        "samples have the whole user stack, and as many are from the beginning. "
        "Whole: auger found no reason to cut it. From the beginning: whatever auger says, "
        "its outermost frame is where processes or threads begin, by the file's symbols, its "
        "entry point, or the system call that makes threads.\n\n"
        "| program | clock | samples | whole | from the beginning | frames with names | "
        "median depth | cut |\n|---|---|--:|---|---|--:|--:|---|\n",
        span.count(), rate_hz, least_share);
}

} // namespace
} // namespace auger::bench

int main(int argc, char** argv) {
    using namespace auger::bench;
    const bool details = argc > 1 && std::strcmp(argv[1], "--details") == 0;
    const std::vector<std::string_view> names(argv + (details ? 2 : 1), argv + argc);
    const auto chosen = [&](std::string_view what) {
        return names.empty() || std::ranges::any_of(names, [&](std::string_view name) {
                   return what.find(name) != what.npos;
               });
    };
    if (std::ranges::any_of(real_programs(), [&](const auto& one) { return chosen(one.name); }))
        begin_programs();
    for (const RealProgram& program : real_programs()) {
        if (chosen(program.name))
            measure(program, details);
    }
    if (chosen("start-up"))
        bench_start_up();
    return not_measured ? 1 : exit_code();
}
