// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/unpack_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace auger {

UniqueFd unpack_memory() {
    UniqueFd memory(memfd_create("unpacked", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memory || ftruncate(memory.get(), unpack_limit) != 0 ||
        fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return {};
    return memory;
}

} // namespace auger
