// SPDX-License-Identifier: GPL-3.0-or-later
// PerlProcesses: which processes run which Perl: what walks need of it, in the kernel, and what
// names need.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/perl_names.h"
#include "loader/runtimes/layout_table.h"
#include "loader/runtimes/perl/layout.h"

#include <algorithm>
#include <cstdint>

namespace auger {

class PerlProcesses {
  public:
    PerlProcesses(int layouts_fd, PerlNames& names) : layouts_fd_(layouts_fd), names_(names) {}

    // The number under which walks find the layout of a file's Perl. Fails when it is of a version
    // that is not known, or when there are too many.
    Result<uint32_t> enter(const PerlFile& file, const FileOwner& owner);
    // The process runs it since it has executed its program. `bias`: of addresses as linked.
    void set(pid_t pid, uint64_t executed_ns, uint32_t number, const PerlFile& file,
             uint64_t bias) {
        PerlProcess process{{file.loop.moved(bias), file.run.moved(bias), {}},
                            layouts_[number]->ops};
        std::ranges::transform(file.calls, process.code.calls.begin(),
                               [&](const LoopCode& code) { return code.moved(bias); });
        names_.set_layout(pid, executed_ns, process);
    }
    // It runs none any more.
    void end(pid_t pid) { names_.end(pid); }

  private:
    int layouts_fd_;
    PerlNames& names_;
    LayoutTable<PerlLayout, WIRE_PERL_LAYOUTS> layouts_;
};

} // namespace auger
