// SPDX-License-Identifier: GPL-3.0-or-later
// bench_view [keys|cpu]...: the live view at a terminal. How long a key waits for the frame that
// shows it while auger has much else to do, beside a view of a process that does nothing; and what
// the view costs. Needs root.
#include "bench/busy_stream.h"
#include "bench/child.h"
#include "bench/report.h"
#include "bench/view_terminal.h"

#include "loader/recording/recording_writer.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <random>

namespace auger::bench {
namespace {

using std::chrono::milliseconds;

constexpr char view_is_there[] = "[1 flame]";
constexpr double aim_ms = 50;
constexpr size_t keys_each = 120;

// People do not keep step with the screen.
milliseconds a_moment() {
    static std::mt19937 random(1);
    return milliseconds(20 + random() % 60);
}

// A folder that goes with the object.
class Scratch {
  public:
    Scratch() {
        path_ = (std::filesystem::temp_directory_path() / "auger-bench-XXXXXX").string();
        if (!mkdtemp(path_.data()))
            throw std::runtime_error("make a temporary folder");
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

void type(ViewTerminal& terminal, size_t keys, Series& times) {
    terminal.press(":");
    terminal.watch(milliseconds(60));
    for (size_t i = 0; i < keys; i++) {
        times.push_back(terminal.type_and_see());
        terminal.watch(a_moment());
    }
    terminal.press("\x15\x7f"); // cleared; an empty line goes away
    terminal.watch(milliseconds(60));
}

Series idle_keys() {
    Called sleeper;
    ViewTerminal terminal({"-p", std::to_string(sleeper.pid())});
    terminal.await(view_is_there);
    terminal.watch(milliseconds(500));
    Series times;
    type(terminal, keys_each, times);
    return times;
}

// clang itself is what is looked at: libLLVM and libclang-cpp are 170 MB, and every compilation
// runs through thousands of their functions. Every start of auger reads them anew.
Series keys_while_names_resolve() {
    const std::string compiler = find_program("clang++");
    if (compiler.empty())
        throw std::runtime_error("clang++ is not installed");
    const Scratch scratch;
    Child load({"/bin/sh", "-c",
                fmt::format("while :; do echo '#include <regex>' | nice {} -O2 -x c++ -c -o {} -; "
                            "done",
                            compiler, scratch / "object")},
               Output::nowhere);
    Series times;
    for (int round = 0; round < 4; round++) {
        ViewTerminal terminal({"-n", std::filesystem::path(compiler).filename()});
        terminal.await(view_is_there);
        terminal.press(":sample 4999\r");
        type(terminal, keys_each / 4, times);
    }
    return times;
}

std::vector<std::string> spinner() {
    return {std::string(AUGER_BENCH_PROGRAMS) + "/spinner", "--threads", "8", "--seconds", "600"};
}

Series keys_at_a_high_rate() {
    Child target(spinner(), Output::nowhere);
    ViewTerminal terminal({"-p", std::to_string(target.pid())});
    terminal.await(view_is_there);
    terminal.press(":sample 49999\r");
    terminal.watch(milliseconds(1000));
    Series times;
    type(terminal, keys_each, times);
    return times;
}

// While auger is stopped the ring fills up; then all of it lies there when a key is pressed.
Series keys_with_a_full_ring() {
    Child target(spinner(), Output::nowhere);
    ViewTerminal terminal({"-p", std::to_string(target.pid())});
    terminal.await(view_is_there);
    terminal.press(":sample 49999\r");
    terminal.watch(milliseconds(1000));
    terminal.press(":");
    Series times;
    for (size_t i = 0; i < keys_each / 5; i++) {
        terminal.watch(milliseconds(300));
        kill(terminal.pid(), SIGSTOP);
        terminal.watch(milliseconds(1500));
        kill(terminal.pid(), SIGCONT);
        times.push_back(terminal.type_and_see());
    }
    return times;
}

std::string recording_of_a_million(const Scratch& scratch) {
    const std::string path = scratch / "million.auger";
    auto writer = RecordingWriter::create(path);
    if (!writer)
        throw std::runtime_error(writer.error().message());
    BusyStream stream(**writer);
    stream.feed(1'000'000);
    if (auto finished = (*writer)->finish(); !finished)
        throw std::runtime_error(finished.error().message());
    return path;
}

// `prepare` is pressed before each few keys, and has auger look at all of a million samples again.
Series keys_over_a_million(const std::string& recording, const std::string& prepare,
                           const std::string& settle) {
    ViewTerminal terminal({"--replay", recording});
    terminal.await(view_is_there);
    terminal.watch(milliseconds(3000));
    Series times;
    for (size_t i = 0; i < keys_each / 5; i++) {
        terminal.press(prepare);
        type(terminal, 5, times);
        terminal.press(settle);
        terminal.watch(milliseconds(100));
    }
    return times;
}

void print_times(const std::string& what, const std::function<Series()>& measure,
                 const Series& idle) {
    try {
        const Series times = measure();
        const double p99 = quantile(times, 0.99);
        fmt::print("| {} | {} | {:.1f} ms | {:.1f} ms | {:.1f} ms | {:.2f} | {:.2f} | 50 ms {} |\n",
                   what, times.size(), median(times), p99, quantile(times, 1),
                   median(times) / median(idle), p99 / quantile(idle, 0.99),
                   verdict(p99 <= aim_ms));
    } catch (const std::exception& error) {
        fmt::print("| {} | | | | | | | not measured: {} |\n", what, error.what());
    }
    std::fflush(stdout);
}

void bench_keys() {
    fmt::print("\n### From a key to the frame that shows it\nA key is typed into the command line "
               "of the live view at any moment; ratios are to the idle view.\n\n"
               "| the view | keys | median | p99 | longest | median / idle | p99 / idle | aim of "
               "p99 |\n|---|--:|--:|--:|--:|--:|--:|---|\n");
    const Series idle = idle_keys();
    print_times(
        "idle", [&] { return idle; }, idle);
    print_times("names of libLLVM and libclang resolve", keys_while_names_resolve, idle);
    print_times("49,999 samples a second and CPU", keys_at_a_high_rate, idle);
    print_times("the event ring is full", keys_with_a_full_ring, idle);
    const Scratch scratch;
    const std::string recording = recording_of_a_million(scratch);
    print_times(
        "a million samples are classed anew",
        [&] { return keys_over_a_million(recording, "c", ""); }, idle);
    print_times(
        "a million frames are searched",
        [&] { return keys_over_a_million(recording, "/function_1\r", "n"); }, idle);
    print_times(
        "slow and fast of a million are compared",
        [&] { return keys_over_a_million(recording, "2", "1"); }, idle);
}

// On the demo, whose flame changes all the time, and of a process that sleeps.
void bench_cpu() {
    begin_table("What the live view costs", "CPU time of auger, of one core, over 20 s.", "CPU",
                "");
    const auto measure = [](const std::string& what, const std::vector<std::string>& arguments,
                            const std::string& keys, std::optional<double> aim) {
        ViewTerminal terminal(arguments);
        terminal.await(view_is_there);
        terminal.press(keys);
        terminal.watch(milliseconds(3000)); // names are there
        Series shares;
        size_t bytes = 0;
        for (int second = 0; second < 20; second++) {
            const double before = terminal.cpu_seconds();
            const auto begin = std::chrono::steady_clock::now();
            bytes += terminal.watch(milliseconds(1000));
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            shares.push_back(100 * (terminal.cpu_seconds() - before) / took.count());
        }
        print_absolute(fmt::format("{}; {} bytes a second to the terminal", what, bytes / 20),
                       shares, "%", aim);
    };
    {
        Child demo({std::string(AUGER_BENCH_PROGRAMS) + "/demo_service"}, Output::nowhere);
        const std::string pid = std::to_string(demo.pid());
        measure("`auger -p DEMO`: 10 frames a second", {"-p", pid}, "", 3.0);
        measure("with `split handle_request > p95`", {"-p", pid}, ":split handle_request > p95\r",
                3.0);
    }
    Called sleeper;
    measure("of a process that sleeps", {"-p", std::to_string(sleeper.pid())}, "", {});
}

} // namespace
} // namespace auger::bench

int main(int argc, char** argv) {
    using namespace auger::bench;
    const auto chosen = [&](const char* name) {
        bool named = argc < 2;
        for (int i = 1; i < argc; i++)
            named |= std::strcmp(argv[i], name) == 0;
        return named;
    };
    // The terminal's side must not be what keys wait for.
    setpriority(PRIO_PROCESS, 0, -10);
    try {
        if (chosen("keys"))
            bench_keys();
        if (chosen("cpu"))
            bench_cpu();
    } catch (const std::exception& error) {
        fmt::print("\nthe view was not measured: {}\n", error.what());
        return 1;
    }
    return exit_code();
}
