// SPDX-License-Identifier: GPL-3.0-or-later
// bench_kernel
// [calls|exits|peers|split|values|call-sites|attach|off-cpu|sampling|stacks|spans|exchanges|
// python]...: what observing costs, on this machine, as Markdown. Needs root; without arguments,
// everything. Exits with 1 when something could not be measured, with 4 when an aim was missed.
#include "bench/benches.h"
#include "bench/report.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace {

struct Bench {
    const char* name;
    void (*run)(const auger::Features&);
};

constexpr Bench benches[] = {
    {"calls", auger::bench::bench_calls},       {"peers", auger::bench::bench_peers},
    {"exits", auger::bench::bench_exits},       {"split", auger::bench::bench_split},
    {"values", auger::bench::bench_values},     {"call-sites", auger::bench::bench_call_sites},
    {"attach", auger::bench::bench_attach},     {"off-cpu", auger::bench::bench_off_cpu},
    {"sampling", auger::bench::bench_sampling}, {"stacks", auger::bench::bench_stacks},
    {"spans", auger::bench::bench_spans},       {"exchanges", auger::bench::bench_exchanges},
    {"python", auger::bench::bench_python},
};

} // namespace

int main(int argc, char** argv) {
    auger::Features features = auger::Features::detect();
    if (!features.privileged || !features.uprobe_multi) {
        fmt::print(stderr,
                   "bench_kernel: needs root and Linux 6.6 or later (uprobe_multi links)\n");
        return 3;
    }
    std::vector<const Bench*> chosen;
    for (const Bench& bench : benches) {
        bool named = argc < 2;
        for (int i = 1; i < argc; i++)
            named = named || std::strcmp(argv[i], bench.name) == 0;
        if (named)
            chosen.push_back(&bench);
    }
    if (chosen.empty()) {
        fmt::print(stderr, "usage: bench_kernel "
                           "[calls|exits|peers|split|values|call-sites|attach|off-cpu|sampling|"
                           "stacks|spans|exchanges|python]...\n");
        return 2;
    }
    int status = 0;
    for (const Bench* bench : chosen) {
        try {
            bench->run(features);
        } catch (const std::exception& error) {
            fmt::print("\n{} was not measured: {}\n", bench->name, error.what());
            status = 1;
        }
        std::fflush(stdout);
    }
    return status ? status : auger::bench::exit_code();
}
