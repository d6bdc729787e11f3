// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/vdso.h"

#include "loader/process/proc_maps.h"

#include <sys/auxv.h>
#include <sys/mman.h>

namespace auger {

Result<UniqueFd> vdso_image() {
    const uint64_t start = getauxval(AT_SYSINFO_EHDR);
    const auto mappings = read_maps(getpid());
    if (!mappings)
        return mappings.error();
    for (const Mapping& mapping : *mappings) {
        if (mapping.start != start || mapping.path != "[vdso]")
            continue;
        UniqueFd image(memfd_create("vdso", MFD_CLOEXEC));
        const size_t size = mapping.end - mapping.start;
        if (!image || write(image.get(), reinterpret_cast<const void*>(start), size) !=
                          static_cast<ssize_t>(size))
            return system_error("copy", "[vdso]");
        return image;
    }
    return Error{"copy", "[vdso]", "the kernel provides none", {}};
}

} // namespace auger
