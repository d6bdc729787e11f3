// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/runtimes/read_perl.h"

#include "loader/reader/elf/symbol_address.h"
#include "loader/reader/runtimes/find_loop_code.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace auger {
namespace {

constexpr std::string_view perl_loop = "Perl_runops_standard", perl_program = "perl_run",
                           perl_key = "PL_thr_key";
constexpr std::array<std::string_view, 3> perl_calls = {"Perl_call_sv", "Perl_eval_sv",
                                                        "Perl_amagic_call"};
constexpr size_t perl_exports_limit = 1 << 20; // bytes; Perl's names are 36 kB

// A constant of one byte; 0: there is none.
uint32_t number_named(const ElfFile& file, std::string_view name) {
    const auto address = symbol_address(file, name);
    const auto bytes = address ? file.read_code(*address, 1) : std::vector<std::byte>();
    return bytes.size() == 1 ? std::to_integer<uint32_t>(bytes[0]) : 0;
}

} // namespace

std::optional<PerlFile> read_perl(const ElfFile& file) {
    // Of nearly every file this is all that is read.
    const auto section = file.section(".dynstr");
    if (!section || section->size > perl_exports_limit)
        return std::nullopt;
    const auto exported = file.read_section(".dynstr", perl_exports_limit);
    const std::string_view names(reinterpret_cast<const char*>(exported.data()), exported.size());
    if (names.find(perl_loop) == names.npos || names.find(perl_program) == names.npos)
        return std::nullopt;
    const auto loop_at = symbol_address(file, perl_loop),
               run_at = symbol_address(file, perl_program);
    if (!loop_at || !run_at)
        return std::nullopt;
    PerlFile perl;
    perl.version = number_named(file, "PL_revision") << 16 | number_named(file, "PL_version") << 8 |
                   number_named(file, "PL_subversion");
    const auto key_at = symbol_address(file, perl_key);
    perl.has_threads = key_at.has_value();
    if (!key_at)
        return perl;
    perl.key = *key_at;
    const FunctionBounds functions(file);
    perl.loop = find_loop_code(file, functions, *loop_at, perl_loop);
    perl.run = find_loop_code(file, functions, *run_at, perl_program);
    for (size_t i = 0; i < perl_calls.size(); i++)
        if (const auto call_at = symbol_address(file, perl_calls[i]))
            perl.calls[i] = find_loop_code(file, functions, *call_at, perl_calls[i]);
    return perl;
}

} // namespace auger
