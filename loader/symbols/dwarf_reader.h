// SPDX-License-Identifier: GPL-3.0-or-later
// DwarfReader: lines and inlined frames of one file, read by libdw in a confined process of its
// own: the file comes from a target, and libdw was not made for files that mean harm. What that
// process answers is not trusted either.
#pragma once

#include "loader/process/confined_process.h"
#include "loader/process/message.h"
#include "loader/symbols/dwarf_source.h"
#include "loader/symbols/progress.h"
#include "loader/symbols/source_frame.h"

#include <chrono>
#include <memory>
#include <span>
#include <vector>

namespace auger {

// What such a process does, and its name.
inline constexpr const char* dwarf_service = "dwarf";

class DwarfReader {
  public:
    // Innermost first, functions demangled; empty: nothing is known.
    using Frames = std::vector<SourceFrame>;

    // Fails when there is nothing usable, or the process came to grief over it. One that dies is
    // replaced once: it may have been killed; `died` says whether that one died, too. A request is
    // given `patience`; then the process is given up.
    static Result<std::unique_ptr<DwarfReader>>
    open(ConfinedProcesses& processes, const DwarfSource& source, WorkProgress& progress,
         bool& died, std::chrono::seconds patience = std::chrono::seconds(60));
    ~DwarfReader();

    // As many as addresses. Once it has failed it always fails.
    Result<std::vector<Frames>> frames(std::span<const uint64_t> addresses, WorkProgress& progress);
    // Whether it failed because its process is no more.
    bool died() const { return died_; }
    size_t section_bytes() const { return section_bytes_; } // held in memory there

  private:
    DwarfReader(ConfinedProcess process, std::string name, std::chrono::seconds patience)
        : process_(std::move(process)), name_(std::move(name)), patience_(patience) {}
    static Result<std::unique_ptr<DwarfReader>> attempt(ConfinedProcesses& processes,
                                                        const DwarfSource& source,
                                                        WorkProgress& progress,
                                                        std::chrono::seconds patience, bool& died);
    Result<void> share_progress();
    // The answer to a request.
    Result<std::string> ask(std::string_view request, std::span<const int> descriptors,
                            WorkProgress& progress);

    ConfinedProcess process_;
    std::string name_;
    std::chrono::seconds patience_;
    UniqueFd progress_file_;
    WorkProgress* shared_progress_ = nullptr; // written by the process, whatever it likes
    size_t section_bytes_ = 0;
    bool died_ = false;
};

} // namespace auger
