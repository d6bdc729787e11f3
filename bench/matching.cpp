// SPDX-License-Identifier: GPL-3.0-or-later
// bench_matching: what it costs that places for probes are found by another process, without power:
// a program's functions as `time PATTERN` finds them, by a new reader (which `auger` starts when it
// is first asked) and by one that knows the file, each beside the same done in this process.
#include "bench/report.h"

#include "loader/probes/code_readers.h"
#include "loader/process/safe_open.h"
#include "loader/reader/dwarf/dwarf_file.h"
#include "loader/reader/matching/probe_match.h"
#include "loader/reader/names/elf_questions.h"

#include <fmt/format.h>

#include <chrono>

namespace auger::bench {
namespace {

constexpr int rounds = 11;
// To be said, taken in and checked, a place of some 60 bytes takes half as long as to be found.
constexpr double most_of_alone = 1.6;
constexpr size_t many = 1000; // places; below it is the way there and back that is measured

double milliseconds(auto&& act) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    act();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

UniqueFd open_file(const std::string& path) {
    auto fd = open_regular(path);
    return fd ? *std::move(fd) : UniqueFd();
}

// False when it missed its aim, or could not be measured.
bool measure(ConfinedProcesses& processes, const std::string& path, const std::string& text) {
    const auto unowned = std::shared_ptr<ConfinedProcesses>(&processes, [](auto*) {});
    const ParsedProbe probe = parse_probe(text);
    const UniqueFd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    MatchOptions all;
    all.limit = 5000;
    size_t here = 0, there = 0;
    Series alone, alone_again, first, again;
    for (int round = 0; round < rounds; ++round) {
        std::optional<ProbeModule> module;
        const auto match = [&] {
            const auto found = match_probe(*probe.pattern, {&*module, 1}, all);
            here = found ? found->places.size() : 0;
        };
        alone.push_back(milliseconds([&] {
            const auto file = ElfFile::open(open_file(path), path);
            if (!file)
                return;
            // As the other process is handed it.
            SeparateDebug separate;
            if (!has_dwarf(**file))
                separate.file = open_debug_file(**file, path, {-1, root.get()});
            const bool stripped = !(*file)->has_symbols() && separate.file;
            auto index = std::make_shared<FunctionIndex>(*file, stripped ? separate.file : nullptr);
            const auto debug = std::make_shared<ModuleDebug>(*file, path, std::move(separate));
            module.emplace(ProbeModule{std::move(index), path, true, debug});
            match();
        }));
        if (module)
            alone_again.push_back(milliseconds(match));
        CodeReaders readers(unowned, {}, SwitchCache(""));
        std::vector<SearchedFile> files;
        const auto find = [&] {
            const auto found = readers.find(*probe.pattern, files, all);
            there = found ? found->places.size() : 0;
        };
        first.push_back(milliseconds([&] {
            if (auto file = CodeFile::open(open_file(path), path, nullptr, nullptr))
                files.push_back({std::move(file), true});
            find();
        }));
        again.push_back(milliseconds(find));
    }
    const double ratio = median(again) / median(alone_again);
    const bool met = here == there && here > 0 && (here < many || ratio <= most_of_alone);
    fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.2f}{} |\n", text, there,
               median(alone), median(first), median(alone_again), median(again), ratio,
               here < many ? std::string()
                           : fmt::format(" ({} {})", most_of_alone, met ? "met" : "**missed**"));
    std::fflush(stdout);
    return met;
}

} // namespace
} // namespace auger::bench

int main() {
    auto processes = auger::ConfinedProcesses::start(auger::reader_program());
    if (!processes) {
        fmt::print(stderr, "{}\n", processes.error().message());
        return 1;
    }
    fmt::print("\n### Finding places in a process without power\nMedians of {} rounds, wall clock, "
               "files in the page cache; aim: of many places again at most {} x as long as in one "
               "process.\n\n"
               "| | places | first, here, ms | first, there, ms | again, here, ms | again, there, "
               "ms | again, there / here |\n|---|--:|--:|--:|--:|--:|--:|\n",
               auger::bench::rounds, auger::bench::most_of_alone);
    bool met = true;
    for (const auto& [path, pattern] :
         {std::pair(AUGER_BENCH_PROGRAMS "/libmany_functions.so", "fn_*"),
          std::pair("/usr/lib/x86_64-linux-gnu/libc.so.6", "*"),
          std::pair("/usr/lib/x86_64-linux-gnu/libc.so.6", "recv")})
        met &= auger::bench::measure(**processes, path, pattern);
    return met ? 0 : 1;
}
