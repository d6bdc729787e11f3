// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/perl_processes.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

namespace auger {

Result<uint32_t> PerlProcesses::enter(const PerlFile& file, const FileOwner& owner) {
    const auto layout = perl_layout(file);
    if (!layout)
        return layout.error();
    const auto number = layouts_.number(*layout, owner);
    if (!number || bpf_map_update_elem(layouts_fd_, &*number, &layout->walk, BPF_ANY) < 0)
        return Error{"show Perl's subs",
                     fmt::format("of a Perl of version {}.{}", layout->walk.version >> 8,
                                 layout->walk.version & 255),
                     "there are too many kinds of Perl, or too many of this user's",
                     "the interpreter's own functions are shown instead"};
    return *number;
}

} // namespace auger
