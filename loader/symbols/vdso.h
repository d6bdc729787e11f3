// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel maps one and the same vdso image into every 64-bit process, so ours has the target's
// symbols.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

namespace auger {

// A memory file with the image, for ElfFile::open(). Fails when the kernel provides no vdso.
Result<UniqueFd> vdso_image();

} // namespace auger
