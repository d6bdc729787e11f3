// SPDX-License-Identifier: GPL-3.0-or-later
// bench_unwind: what tables for unwinding cost: to compile, here and in a process without
// rights, to read back from the cache, and in memory, for programs and libraries of Debian's. A
// megabyte of text is one of .text.
#include "bench/report.h"

#include "loader/process/safe_open.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "loader/reader/tables/unwind_origin.h"
#include "loader/unwind/table_reader.h"
#include "loader/unwind/unwind_cache.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>

namespace auger::bench {
namespace {

constexpr double most_kb_per_mb = 140;
constexpr int rounds = 5;

double milliseconds(auto&& act) {
    const auto start = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

void measure(const std::string& path, const std::string& cache_folder) {
    const std::string name = std::filesystem::path(path).filename();
    const auto skip = [&](const std::string& reason) {
        fmt::print("| {} | | | | | | | not measured: {} |\n", name, reason);
    };
    auto fd = open_regular(path);
    if (!fd)
        return skip(fd.error().cause);
    const auto file = ElfFile::open(std::move(*fd), path);
    if (!file)
        return skip(file.error().cause);
    const auto text = (*file)->section(".text");
    auto tables = compile_unwind_tables(**file);
    if (!text || !tables || tables->tables.empty())
        return skip(tables ? "no call frame information" : tables.error().message());
    const UnwindCache cache(cache_folder);
    cache.store((*file)->build_id(), encode_unwind_file(*tables, **file));
    const auto readers = ConfinedProcesses::start(reader_program());
    if (!readers)
        throw std::runtime_error(readers.error().message());
    Series compiling, loading, confined;
    for (int round = 0; round < rounds; ++round) {
        compiling.push_back(milliseconds([&] { tables = compile_unwind_tables(**file); }));
        confined.push_back(milliseconds([&] {
            if (!read_unwind_tables(**readers, (*file)->fd(), name, nullptr))
                throw std::runtime_error(name + ": its reader has failed");
        }));
        loading.push_back(milliseconds([&] {
            const auto cached = cache.load((*file)->build_id());
            if (!is_unwind_file_of(cached, **file) || !decode_unwind_file(cached))
                throw std::runtime_error(name + ": the cache has lost it");
        }));
    }
    const double mb = static_cast<double>(text->size) / (1 << 20);
    size_t bytes = 0, rules = 0;
    for (const UnwindTable& table : tables->tables) {
        bytes += table.memory_size();
        rules += table.rules.size();
    }
    const double kb_per_mb = static_cast<double>(bytes) / 1024 / mb;
    fmt::print("| {} | {:.1f} | {} | {} | {} | {:.2f} | {:.1f} | {:.2f} | {:.0f} ({} {}) |\n", name,
               mb, tables->statistics.functions, tables->statistics.rows, rules,
               median(compiling) / mb, median(confined) - median(compiling), median(loading) / mb,
               kb_per_mb, most_kb_per_mb, verdict(kb_per_mb <= most_kb_per_mb));
    std::fflush(stdout);
}

} // namespace
} // namespace auger::bench

int main() {
    namespace fs = std::filesystem;
    std::string folder = fs::temp_directory_path() / "auger-bench-XXXXXX";
    if (!mkdtemp(folder.data()))
        return 1;
    fmt::print("\n### Tables for unwinding\nMedians of {} rounds, files in the page cache; aim: at "
               "most {} KB of tables per MB of text.\n\n"
               "| | text, MB | functions | rows | rules | compiled, ms per MB | and for being a "
               "process, ms | from the cache, ms per MB | KB per MB "
               "|\n|---|--:|--:|--:|--:|--:|--:|--:|---|\n",
               auger::bench::rounds, auger::bench::most_kb_per_mb);
    for (const char* path :
         {"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/lib/x86_64-linux-gnu/libc.so.6",
          "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
          "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", "/usr/sbin/mariadbd",
          "/usr/lib/postgresql/15/bin/postgres", "/usr/bin/python3", "/usr/bin/node"})
        auger::bench::measure(path, folder);
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    return auger::bench::exit_code();
}
