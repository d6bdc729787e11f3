// SPDX-License-Identifier: GPL-3.0-or-later
// Backend: the narrow interface between the console and what is observed. The live one drives the
// kernel (loader/kernel), the replaying one reads a recording (loader/recording), tests have a
// fake. Everything observed comes back through the EventSink given at construction, only during
// poll().
//
// Every edit is whole or not at all: when one fails, what was in force before still is.
#pragma once

#include "loader/base/result.h"
#include "loader/stream/events.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// What is observed.
struct TargetSpec {
    enum class Kind { none, pids, name, all, command };
    Kind kind = Kind::none;
    std::vector<pid_t> pids;
    std::string name;                 // comm or base name of the executable
    std::string user;                 // of kind name: whose processes (real user); empty: anybody's
    std::string cgroup;               // likewise: in or below which group, as FilterSpec has them
    std::vector<std::string> command; // started by auger when it first runs (see start_command)
    friend bool operator==(const TargetSpec&, const TargetSpec&) = default;
};

// Which processes of the name are meant, in words to go behind it: " of www-data in web-1".
inline std::string condition_text(const TargetSpec& target) {
    return (target.user.empty() ? "" : " of " + target.user) +
           (target.cgroup.empty() ? "" : " in " + target.cgroup);
}

// Which events of the target count: values of one kind are alternatives, kinds must all match.
struct FilterSpec {
    std::vector<pid_t> pids;
    std::vector<pid_t> tids;
    std::vector<std::string> comms;   // exact thread names, at most 15 bytes
    std::vector<std::string> cgroups; // paths below the cgroup2 mount, or containers (name or id)
    friend bool operator==(const FilterSpec&, const FilterSpec&) = default;
};

// How a function's end is observed; see ARCHITECTURE.md, "Ways out".
enum class WayOut { automatic, ret, trampoline };

struct ProbeRequest {
    ProbeId id;       // chosen by the caller, never used before
    std::string text; // "libc:recv", "ns::Class::method", "handle*", "f+0x10"
    Threshold slow;   // kind none: only timed
    CallConditions conditions{};
};

// What a probe's text matched, for the list that the user sees.
struct ProbePlace {
    SpecId spec;
    std::string function; // demangled
    std::string module;   // path
    uint64_t offset = 0;  // of the function in the file, bytes
    std::string kind;     // "entry+ret" , "entry+trampoline"
    std::string note;     // "1 exit is a tail call", "clone .constprop.0" ...; may be empty
};

struct ProbeReport {
    std::vector<ProbePlace> places;
    // Functions that matched and were not probed, with the reason.
    std::vector<std::string> skipped;
    // True when nothing matches yet and the probe waits for its library to be loaded.
    bool pending = false;
    std::vector<std::string> notes; // for the user: which way out was chosen and why, ...
};

// One instruction by which a function is called.
struct CallSiteInfo {
    std::string function; // that it calls, demangled, without parameters
    std::string caller;   // likewise
    std::string file;     // empty when there is no line information
    uint32_t line = 0;
    std::string module;  // path
    uint64_t offset = 0; // of the call instruction in the file, bytes
    std::string kind;    // as in ProbePlace
};

struct CallSites {
    std::vector<CallSiteInfo> sites;
    std::vector<std::string> skipped; // that cannot be timed, with the reason
};

// A call that is running.
struct OpenCall {
    ProbeId probe;
    SpecId spec;
    uint64_t age_ns = 0;
    ThreadInfo thread;
    uint32_t depth = 0;   // among the thread's open calls, 0: outermost
    bool running = false; // on a CPU, or waiting for one: its present stack cannot be read
    std::string wait;     // what it waits in and for: "recvfrom(9) tcp ..."; empty: unknown
    std::vector<LocationId> stack; // leaf first; empty: could not be read
};

struct SymbolProgress {
    size_t pending = 0;               // locations without final names
    size_t bytes = 0;                 // held of the stream: ids that were given, definitions
    std::vector<std::string> modules; // being read now: "libLLVM-14.so.1 (38 %)"
};

// What user stacks are walked with: compiled call frame information.
struct UnwindStatus {
    size_t modules = 0;               // known
    uint64_t bytes = 0;               // of tables and lists of mappings
    std::vector<std::string> pending; // modules whose tables are being made
    std::vector<std::string> notes;   // what is missing, and why
};

// Processes that read files for auger.
struct ReaderStatus {
    struct Service {
        size_t processes = 0;
        uint64_t bytes = 0; // of memory that they hold
    };
    std::map<std::string, Service> services; // by what they do: "names"
    uint64_t limit = 0;                      // bytes that all together may hold
};

// One line of `doctor`.
struct Capability {
    enum class State { available, degraded, missing };
    std::string name; // "uprobe_multi links"
    State state = State::available;
    std::string detail; // why, and what auger does instead
    std::string remedy; // what the user can do; may be empty
};

struct TargetStatus {
    TargetSpec spec;
    struct Process {
        pid_t pid;
        std::string comm; // raw
        std::string user; // whose it is, by its real user; empty: not known
        bool running;
        std::string exit; // "exit code 0", "killed by signal 9", empty when unknown or running
    };
    std::vector<Process> processes;
};

struct SamplingSettings {
    uint32_t rate_hz = 0; // 1 to 49,999; 0: off
    bool wall = false;    // waits too, in the same unit: wall-clock time
    // A higher rate for what this gate lets through; 0: none. Then rate_hz may be 0: nothing else
    // is sampled.
    uint32_t raised_hz = 0;
    Gate raised{};
    bool wakers = false; // with `wall`: blocked stacks go on with the stack of who woke them
    // With `wall`: waits at a lower rate than what runs, and stacks only of waits in which a sample
    // is to be expected; 0: as everything else.
    uint32_t waits_hz = 0;
    friend bool operator==(const SamplingSettings&, const SamplingSettings&) = default;
};

class Backend {
  public:
    virtual ~Backend() = default;

    // True for a recording: edits of the kernel fail with an Error that says so, but a recording's
    // own probes can be split on and their thresholds changed.
    virtual bool replaying() const = 0;
    // Whether things happen by themselves as time passes; else only as poll() is asked for them.
    virtual bool live() const { return !replaying(); }
    // CLOCK_MONOTONIC of the observed machine; a recording's own time when replaying.
    virtual uint64_t now_ns() const = 0;

    virtual Result<void> set_target(const TargetSpec&) = 0;
    virtual TargetStatus target_status() const = 0;
    // Lets a `-- COMMAND` target run; it was started stopped, so that probes miss nothing. Does
    // nothing when there is none or it runs already.
    virtual Result<void> start_command() = 0;

    virtual Result<ProbeReport> add_probe(const ProbeRequest&) = 0;
    virtual Result<void> remove_probe(ProbeId) = 0;
    // Takes off what is attached for a probe, which keeps all that was collected; or attaches it
    // anew. Calls that are open when it goes off are counted as `dropped`.
    virtual Result<void> set_attached(ProbeId, bool attached) = 0;
    // From where the code of the target calls a function (calls through pointers cannot be seen).
    virtual Result<CallSites> find_call_sites(const std::string& function) = 0;
    // Edits the threshold of slow calls (kind none stops tracing them), and what is asked of calls
    // and read of them. Attachments stay.
    virtual Result<void> set_slow(ProbeId, const Threshold&, const CallConditions& = {}) = 0;
    // Written into the stream, with what the backend fills in. Attaches to the branch's line.
    virtual Result<void> set_split(const SplitInfo&) = 0;
    // Likewise. The empty one keeps everything.
    virtual Result<void> set_only(const OnlyInfo&) = 0;
    // Calls that are running now, oldest first; of one probe, or of all.
    virtual Result<std::vector<OpenCall>> open_calls(std::optional<ProbeId>) = 0;
    virtual Result<void> set_sampling(const SamplingSettings& settings) = 0;
    virtual Result<void> set_filter(const FilterSpec&) = 0;
    virtual Result<void> set_way_out(WayOut) = 0; // of probes added from now on
    // A line for the user, as part of the stream.
    virtual void add_notice(const std::string& text) = 0;
    // Writes the stream from now on, with all definitions so far; an empty path ends the recording.
    virtual Result<void> record(const std::string& path) = 0;
    // Keeps the stream's last `span` in memory from now on; zero: no longer.
    virtual Result<void> keep_last(std::chrono::nanoseconds span) = 0;
    // Writes what is kept as a recording. May be called in a forked copy of the process.
    virtual Result<void> write_last(const std::string& path) const = 0;

    // Ids of the kernel links (or perf events) in force, ascending.
    virtual std::vector<uint64_t> links() const = 0;
    virtual std::vector<Capability> capabilities() const = 0;
    virtual SymbolProgress symbol_progress() const = 0;
    virtual UnwindStatus unwind_status() const = 0;
    virtual ReaderStatus reader_status() const { return {}; }
    // Function names of the target that begin with `prefix`, at most `limit`, for completion.
    virtual std::vector<std::string> complete_function(std::string_view prefix,
                                                       size_t limit) const = 0;

    // Delivers what has come to the sink; waits up to `timeout` when nothing has. A recording that
    // is not live delivers `timeout` worth of its own time and returns at once. `wake_fd` (or -1)
    // ends the wait when it is readable. Returns false when nothing will ever come again (recording
    // at its end, or every process of the target gone and everything they left delivered).
    virtual Result<bool> poll(std::chrono::nanoseconds timeout, int wake_fd) = 0;
    // Fetches counters and ledger now, so that what follows is up to date; delivers to the sink.
    virtual Result<void> refresh() = 0;
    // Waits for names of what was seen so far, at most `timeout`.
    virtual void settle_symbols(std::chrono::nanoseconds timeout) = 0;
};

} // namespace auger
