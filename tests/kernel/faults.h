// SPDX-License-Identifier: GPL-3.0-or-later
// Edits of which each step is refused in turn: what was in force before still is, in the kernel's
// own maps and links and for who reads the stream, or the edit is whole.
#pragma once

#include "tests/kernel/session.h"

#include <functional>
#include <vector>

namespace auger::test {

struct FaultyEdit {
    const char* name; // begins with a dash when the edit asks nothing of the kernel
    std::function<Result<void>()> edit;
    std::function<Result<void>()> back; // to what was in force before
};

// Makes each edit as often as it asks something of the kernel, which is refused once at each place.
// One after which something else was done is whole. Both links and maps are compared.
void refuse_each_step(Session& session, const std::vector<FaultyEdit>& edits);

} // namespace auger::test
