// SPDX-License-Identifier: GPL-3.0-or-later
// JitNames: address -> name in what one program generates, from its perf map and its jitdump: a JIT
// writes one or the other, by how it was started. Used by one thread of a confined process.
#pragma once

#include "loader/reader/names/appended_file.h"
#include "loader/reader/names/jit_dump.h"
#include "loader/reader/names/perf_map.h"
#include "loader/symbols/address_name.h"

namespace auger {

class JitNames {
  public:
    // Read on, each in what was written since the last time.
    AppendedFile::News read_map(int fd) { return map_file_.read(fd, map_); }
    AppendedFile::News read_dump(int fd) { return dump_file_.read(fd, dump_); }
    // The jitdump is none, or none from some place on.
    bool damaged() const { return dump_.damaged(); }

    AddressName find(const AddressQuery& query) const;
    size_t size() const { return map_.size() + dump_.size(); }
    size_t memory() const { return map_.memory() + dump_.memory(); } // bytes
    uint64_t skipped() const { return map_.skipped() + dump_.skipped(); }

  private:
    PerfMap map_;
    JitDump dump_;
    AppendedFile map_file_{PerfMap::size_limit};
    AppendedFile dump_file_{JitDump::size_limit};
};

} // namespace auger
