// SPDX-License-Identifier: GPL-3.0-or-later
// brief: whether an instruction may be left out of a call's time, by what Zydis tells of it. Of
// this folder alone.
#pragma once

#include "loader/reader/code/decoder.h"

#include <Zydis/Zydis.h>

#include <span>

namespace auger {

Instruction::Brief brief(const ZydisDecodedInstruction& decoded,
                         std::span<const ZydisDecodedOperand> operands);

} // namespace auger
