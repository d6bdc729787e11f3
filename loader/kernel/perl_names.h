// SPDX-License-Identifier: GPL-3.0-or-later
// PerlNames: from the words that a walk has of Perl's frames to subs, files and lines, which are
// read out of the process at once; and where its code is, by which frames find their places.
#pragma once

#include "loader/kernel/process_names.h"
#include "loader/kernel/unnamed_frames.h"
#include "loader/runtimes/perl/frame_places.h"
#include "loader/runtimes/perl/frame_reader.h"
#include "loader/runtimes/perl/layout.h"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace auger {

class PerlNames {
  public:
    using Name = FunctionName;
    static constexpr size_t causes = UnnamedFrames::causes;
    // See ProcessNames.
    static constexpr size_t most_bytes = 256 << 20, most_bytes_of_process = 16 << 20;

    struct Process {
        PerlCode code;
        PerlOps ops;
        friend bool operator==(const Process&, const Process&) = default;
    };
    // The process runs this Perl since it has executed its program.
    void set_process(pid_t pid, uint64_t executed_ns, const Process& process);
    // It runs none any more.
    void end(pid_t pid) { processes_.end(pid); }
    // Null: it has run none.
    const PerlCode* code(pid_t pid);

    // Until the next call.
    const Name& name(pid_t pid, const PerlFrameWords& words);
    // Of what is known of all processes.
    size_t memory_bytes() const { return processes_.bytes(); }
    // Frames without names, by FunctionProblem.
    const std::array<uint64_t, causes>& missing() const { return unnamed_.counts(); }

  private:
    struct WordsHash {
        size_t operator()(const PerlFrameWords& words) const noexcept;
    };
    using Known = std::unordered_map<PerlFrameWords, Name, WordsHash>;
    using Processes = ProcessNames<Process, Known>;

    Processes processes_{most_bytes, most_bytes_of_process};
    UnnamedFrames unnamed_{"perl"};
};

} // namespace auger
