// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

// AUGER_FUZZ_TARGET: one of the functions in fuzz_targets.h.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    auger::test::AUGER_FUZZ_TARGET(data, size);
    return 0;
}
