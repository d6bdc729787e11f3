// SPDX-License-Identifier: GPL-3.0-or-later
// bench_cheap_exits: of the functions of real programs that are stripped as they are shipped, how
// many are entered and left at cheap instructions only (FunctionCode::entry,
// loader/reader/code/cheap_exits.h).
#include "bench/report.h"

#include "loader/probes/probe_pattern.h"
#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/matching/probe_match.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger::bench {
namespace {

struct Counted {
    size_t functions = 0, dear = 0; // that can be left; by a stepped instruction, without more ado
    size_t cheap = 0, mixed = 0;    // of those: by none any more, by fewer
    size_t entered = 0;             // at a cheap instruction
};

bool is_dear(const ExitPlace& exit) {
    return exit.code.cost == ProbeCost::single_stepped;
}

Counted count(const ProbeMatches& matches) {
    Counted counted;
    for (const PlaceMatch& place : matches.places) {
        if (place.exits.empty())
            continue;
        counted.functions++;
        counted.entered += place.entry.cost != ProbeCost::single_stepped;
        if (std::ranges::none_of(place.exits, is_dear))
            continue;
        counted.dear++;
        if (place.cheap_exits.empty())
            continue;
        std::ranges::none_of(place.cheap_exits, is_dear) ? counted.cheap++ : counted.mixed++;
    }
    return counted;
}

void measure(const std::string& path) {
    auto fd = open_regular(path);
    auto file = fd ? ElfFile::open(*std::move(fd), path) : fd.error();
    if (!file) {
        print_skipped(path, file.error().message());
        return;
    }
    const ParsedProbe probe = parse_probe("*");
    ProbeModule module{std::make_shared<FunctionIndex>(*file, nullptr), path, true,
                       std::make_shared<ModuleDebug>(*file, path, SeparateDebug{})};
    MatchOptions all;
    all.limit = 1'000'000;
    const auto found = match_probe(*probe.pattern, {&module, 1}, all);
    if (!found) {
        print_skipped(path, found.error().message());
        return;
    }
    const Counted counted = count(*found);
    const auto percent = [&](size_t part) {
        return 100.0 * static_cast<double>(part) / static_cast<double>(counted.functions);
    };
    fmt::print("| {} | {} | {:.0f} % | {:.0f} % | {:.0f} % | {:.0f} % |\n", path, counted.functions,
               percent(counted.entered), percent(counted.functions - counted.dear),
               percent(counted.cheap), percent(counted.mixed));
    std::fflush(stdout);
}

} // namespace
} // namespace auger::bench

int main(int argc, char** argv) {
    std::vector<std::string> files(argv + 1, argv + argc);
    if (files.empty())
        files = {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                 "/usr/sbin/nginx", "/usr/bin/redis-server", "/usr/bin/python3.11"};
    fmt::print("\n### Functions that are entered and left at cheap instructions\n\n"
               "| file | functions that return | entered at one | without a ret | by cheap "
               "instructions only | by both |\n|---|--:|--:|--:|--:|--:|\n");
    for (const std::string& file : files)
        auger::bench::measure(file);
    return 0;
}
