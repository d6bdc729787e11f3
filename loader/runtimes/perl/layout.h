// SPDX-License-Identifier: GPL-3.0-or-later
// Where a version of Perl keeps what is read of its interpreter, contexts and subs. Changes with
// versions of Perl.
#pragma once

#include "bpf/wire/perl.h"
#include "loader/base/result.h"
#include "loader/runtimes/perl/perl_file.h"

#include <cstdint>

namespace auger {

// Numbers of ops.
struct PerlOps {
    uint32_t statement; // OP_NEXTSTATE
    uint32_t scope;
    friend bool operator==(const PerlOps&, const PerlOps&) = default;
};

struct PerlLayout {
    wire_perl_layout walk;
    PerlOps ops;
};

// Fails when Perl's subs cannot be shown, and says why. The file may claim anything.
Result<PerlLayout> perl_layout(const PerlFile& file);

} // namespace auger
