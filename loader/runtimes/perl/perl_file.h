// SPDX-License-Identifier: GPL-3.0-or-later
// What a file says that holds Perl, an executable or a library: made where it is read, and used
// elsewhere.
#pragma once

#include "loader/runtimes/loop_code.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct PerlFile {
    uint32_t version = 0;     // 0x052400: 5.36.0; 0: it does not say
    bool has_threads = false; // ithreads: each thread may have an interpreter; else the rest is not
                              // there
    uint64_t key = 0;         // where PL_thr_key lies, as linked
    LoopCode loop;            // Perl_runops_standard(), which executes ops, as linked
    LoopCode run;             // perl_run(), which executes the program by it
    // Perl_call_sv(), Perl_eval_sv() and Perl_amagic_call(), by which C code executes subs and
    // texts.
    std::array<LoopCode, 3> calls{};

    friend bool operator==(const PerlFile&, const PerlFile&) = default;
};

std::string encode_perl_file(const PerlFile& file);
std::optional<PerlFile> decode_perl_file(std::string_view bytes);

} // namespace auger
