// SPDX-License-Identifier: GPL-3.0-or-later
// bench_code: what it costs to read all code of a file for switches of stacks, which `exit auto`
// does before it uses return probes: anew, and with the answer from the cache. A megabyte is one of
// code.
#include "bench/report.h"

#include "loader/probes/switch_cache.h"
#include "loader/process/safe_open.h"
#include "loader/reader/matching/switch_record.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace auger::bench {
namespace {

constexpr double most_ms_per_mb = 50;
constexpr int rounds = 5;

// Of CPU time: whatever else the machine does meanwhile is not the reading's cost.
double milliseconds(auto&& act) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
    };
    const double start = now();
    act();
    return now() - start;
}

std::shared_ptr<const ElfFile> open_file(const std::string& path) {
    auto fd = open_regular(path);
    auto file = fd ? ElfFile::open(std::move(*fd), path) : fd.error();
    return file ? *file : nullptr;
}

// False when it missed its aim.
bool measure(const std::string& path, const std::string& cache_folder) {
    const std::string name = std::filesystem::path(path).filename();
    const auto file = open_file(path);
    if (!file) {
        fmt::print("| {} | | | | not measured: no such file |\n", name);
        return true;
    }
    double mb = 0;
    for (const auto& [begin, end] : file->code_ranges())
        mb += static_cast<double>(end - begin) / (1 << 20);
    ModuleSwitches found{};
    Series reading, cached;
    const auto opened = open_regular(path);
    const auto code = CodeFile::open(duplicate(opened->get()), path, nullptr, nullptr);
    const auto look_up = [&] {
        const auto read =
            SwitchCache(cache_folder)
                .switches_in(code,
                             [&](std::span<const std::byte> record) -> Result<SwitchCache::Read> {
                                 auto all = read_switches(*file, record);
                                 return SwitchCache::Read{all.objection, all.record};
                             });
        if (!read)
            fmt::print(stderr, "{}\n", read.error().message());
    };
    look_up();
    for (int round = 0; round < rounds; ++round) {
        reading.push_back(milliseconds([&] { found = find_switches(*file); }));
        cached.push_back(milliseconds(look_up));
    }
    // Reading ends where something is found: only what was read to its end says what that costs.
    const bool whole = found.verdict == ModuleSwitches::Verdict::none;
    const bool met = !whole || median(reading) / mb <= most_ms_per_mb;
    fmt::print("| {} | {:.2f} | {} | {:.2f} | {} |\n", name, mb,
               whole ? fmt::format("{:.1f} ({} {})", median(reading) / mb, most_ms_per_mb,
                                   met ? "met" : "**missed**")
                     : fmt::format("{:.1f} in all", median(reading)),
               median(cached) / mb, whole ? "nothing" : text_of(found, *file));
    std::fflush(stdout);
    return met;
}

} // namespace
} // namespace auger::bench

int main() {
    namespace fs = std::filesystem;
    std::string folder = fs::temp_directory_path() / "auger-bench-XXXXXX";
    if (!mkdtemp(folder.data()))
        return 1;
    fmt::print("\n### Reading code for switches of stacks\nMedians of {} rounds, files in the page "
               "cache, CPU time; aim: at most {} ms per MB of code.\n\n"
               "| | code, MB | read, ms per MB | from the cache, ms per MB | found |\n"
               "|---|--:|--:|--:|---|\n",
               auger::bench::rounds, auger::bench::most_ms_per_mb);
    bool met = true;
    for (const char* path :
         {"/bin/cat", "/bin/ls", "/lib/x86_64-linux-gnu/libz.so.1",
          "/lib/x86_64-linux-gnu/libm.so.6", "/lib/x86_64-linux-gnu/liblzma.so.5",
          "/lib/x86_64-linux-gnu/libzstd.so.1", "/usr/lib/x86_64-linux-gnu/libpcre2-8.so.0",
          "/usr/lib/x86_64-linux-gnu/libssl.so.3", "/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0",
          "/usr/sbin/nginx", "/usr/bin/redis-server", "/usr/bin/git", "/usr/bin/bash",
          "/usr/lib/postgresql/15/bin/postgres"})
        met &= auger::bench::measure(path, folder);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    return met ? 0 : 1;
}
