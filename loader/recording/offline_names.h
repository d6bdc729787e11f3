// SPDX-License-Identifier: GPL-3.0-or-later
// Names for what a recording left without: locations in files that had no names when it ended, or
// no lines. They are found as live, by the same symbolizer, in the files of a folder.
#pragma once

#include "loader/recording/sysroot_modules.h"
#include "loader/reports/symbol_progress.h"
#include "loader/stream/quiet_sink.h"
#include "loader/symbols/symbolizer.h"

#include <chrono>
#include <vector>

namespace auger {

class OfflineNames final : public QuietSink {
  public:
    // `readers`: whose processes read the files.
    OfflineNames(SysrootModules modules, std::shared_ptr<ConfinedProcesses> readers);

    // The stream's definitions, twice: first all of them, so that it is known what the recording
    // has in the end, then as they are told to `sink` of deliver().
    void begin_delivery();
    void on_module(ModuleId, const ModuleInfo&) override;
    void on_location(LocationId, const Location&) override;
    void on_frames(LocationId, std::span<const Frame>) override;

    // Asks for what has come without names, and tells of those found that are better than what was
    // recorded.
    void deliver(EventSink& sink);
    void settle(EventSink& sink, std::chrono::nanoseconds timeout);
    SymbolProgress progress() const;
    // Which modules have no file, in a sentence; empty when that was told.
    std::string take_problems();

  private:
    // What frames tell, the more the better.
    enum class Quality : uint8_t { offset, name, lines };
    struct Entry {
        Location location;
        Quality recorded = Quality::offset; // in the end
        Quality told = Quality::offset;     // what the sink knows by now
        bool asked = false;
    };
    Quality quality_of(const Location&, std::span<const Frame>) const;

    SysrootModules modules_;
    Symbolizer symbolizer_;
    std::vector<Entry> entries_; // by LocationId
    bool delivering_ = false;
    std::vector<uint32_t> fresh_; // not looked at yet
    std::vector<uint32_t> asked_; // whose answer may become better
    uint64_t generation_ = 0;
};

} // namespace auger
