// SPDX-License-Identifier: GPL-3.0-or-later
// The event stream: the one form in which everything that was observed reaches the model, whether
// it comes from the kernel now or from a recording. Definitions (modules, locations, stacks,
// threads, probes) come before their first use; ids are dense from 0 in the order of definition.
//
// All times are nanoseconds of the observed machine's CLOCK_MONOTONIC.
#pragma once

#include "loader/base/ids.h"
#include "loader/stream/branch.h"
#include "loader/stream/observed_exit.h"
#include "loader/stream/park_reason.h"
#include "loader/stream/threshold.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

enum class ModuleKind : uint8_t {
    file = 0,      // ELF file mapped into a process
    kernel = 1,    // the kernel and its modules; addresses are the kernel's
    vdso = 2,      // addresses as linked
    jit = 3,       // code written at run time; addresses are the process's
    unknown = 4,   // in no mapping that was known at the time
    syscall = 5,   // not code: the address is the number of a system call that a thread waits in
    waker = 6,     // not code: the address stands for the name of a thread that ended a wait
    cut = 7,       // not code: the address stands for why a stack ends here (wire_unwind_stop)
    python = 8,    // a file of Python's; the address stands for a function and a line
    task = 9,      // not code: the address stands for a task of an event loop that a thread runs
    java = 10,     // Java's methods; the address stands for some, inlined in one another, and lines
    js = 11,       // a script of V8's; the address stands for a function and a line
    php = 12,      // a file of PHP's, or "[php]"; the address stands for a function and a line
    ruby = 13,     // a file of Ruby's, or "[ruby]"; likewise
    perl = 14,     // a file of Perl's, or "[perl]"; the address stands for a sub and a line
    go_label = 15, // not code: the address stands for a label of a goroutine
};

struct ModuleInfo {
    ModuleKind kind = ModuleKind::unknown;
    std::string
        path; // as the target sees it; "[kernel]", "[vdso]", "[jit]", "[unknown]", "[syscall]",
              // "[waker]", "[stack cut]", "[task]", "[golabel]"
    std::string build_id; // lower-case hexadecimal; may be empty
};

// An address in a module: for files and vdso as linked, else as executed.
struct Location {
    ModuleId module;
    uint64_t address = 0;
    // True for a return address (a caller's frame): names are looked up at address - 1.
    bool is_return = false;
    friend bool operator==(const Location&, const Location&) = default;
};

// One source-level function at a location. A location has a chain of them, innermost inlined first;
// the last one is the function that owns the code.
struct Frame {
    std::string function; // demangled; "module+0x1234" when the address has no symbol
    std::string file;     // empty when unknown
    uint32_t line = 0;    // 0 when unknown
    bool inlined = false;
    friend bool operator==(const Frame&, const Frame&) = default;
};

// An observed machine.
struct MachineInfo {
    std::string name;     // its host name, raw: escape at output; empty when unknown
    uint64_t boot_ns = 0; // what its wall clock showed when its CLOCK_MONOTONIC was 0, in ns since
                          // 1970; 0 when unknown
    friend bool operator==(const MachineInfo&, const MachineInfo&) = default;
};

// What the files of a container's runtime, or of the kubelet, call it. Raw; empty: not known.
struct ContainerNames {
    std::string name;               // in its pod, where that is known
    std::string pod, pod_namespace; // of Kubernetes
    bool known() const { return !name.empty(); }
    friend auto operator<=>(const ContainerNames&, const ContainerNames&) = default;
};

struct ThreadInfo {
    uint32_t pid = 0;
    uint32_t tid = 0;
    std::string comm;     // raw, from the target: escape at output
    std::string cgroup{}; // path below the cgroup2 mount when its program was first seen, raw
    MachineId machine{};
    ContainerNames container{}; // that the control group is of
    bool kernel = false;        // it is the kernel's own, and runs no program
    friend bool operator==(const ThreadInfo&, const ThreadInfo&) = default;
};

// Names a call; see wire_call. `spec` is an id of this stream (never reused), not the kernel's
// slot.
struct CallKey {
    uint64_t start_ns = 0;
    uint32_t sequence = 0;
    SpecId spec;
    // A goroutine's, or a span: it may end on another thread than it began on.
    bool of_no_thread() const { return (sequence & no_thread_bit) != 0; }
    static constexpr uint32_t no_thread_bit = 0x80000000u;
    friend bool operator==(const CallKey&, const CallKey&) = default;
};
// Of a thread at once.
inline constexpr uint32_t most_open_calls = 32;

// What a sample's time was spent on: running, waiting to be woken, waiting for a CPU.
enum class SampleKind : uint8_t { cpu = 0, blocked = 1, runnable = 2 };
inline constexpr size_t sample_kinds = 3;

struct SampleEvent {
    uint64_t time_ns = 0;
    uint64_t weight_ns = 0;
    ThreadId thread;
    StackId stack;
    SampleKind kind = SampleKind::cpu;
    uint32_t cpu = 0;
    std::span<const CallKey> calls; // the calls it was taken in, outermost first
    uint32_t stands_for = 1;        // so many were folded into it; not recorded
};

// How long a call was off the CPU.
struct CallWaits {
    uint64_t blocked_ns = 0;
    uint64_t runnable_ns = 0;
    friend bool operator==(const CallWaits&, const CallWaits&) = default;
};

struct CallEndEvent {
    uint64_t time_ns = 0;
    uint64_t duration_ns = 0;
    ThreadId thread;
    CallKey call;
    uint32_t samples = 0;
    bool unwound = false;
    std::optional<CallWaits> waits{}; // nothing when they were not watched all the time
    uint32_t marks = 0;               // bit i: the mark that has bit i held for the call
    std::optional<LabelId> label{};   // of a split by a value
    bool marks_known = true;          // false: nothing is known of any mark, whenever it began
    bool filtered = false; // `only PROBE if ...` did not hold: nothing counts as being in it
    // Of a span: no thread worked for it, and before the first one did. Of a goroutine's call: it
    // was parked, and ready without having a thread.
    uint64_t parked_ns = 0;
    uint64_t queued_ns = 0;

    // A place was reached, such as a line, which takes no time: calls take some.
    bool is_hit() const { return duration_ns == 0; }
};

// Of a call whose waits were watched.
inline uint64_t cpu_ns(const CallEndEvent& end) {
    uint64_t waited = end.waits ? end.waits->blocked_ns + end.waits->runnable_ns : 0;
    waited += end.parked_ns + end.queued_ns;
    return end.duration_ns > waited ? end.duration_ns - waited : 0;
}

// Of an explained call what one timed function took of it, in all its calls there: without what
// other parts took inside those.
struct CallPart {
    SpecId spec;
    uint32_t calls = 0;
    // Below zero by some nanoseconds where what sampling cost has been taken out.
    int64_t self_ns = 0;
    friend bool operator==(const CallPart&, const CallPart&) = default;
};
inline constexpr size_t most_parts = 32;

// A call of the probe that is explained, with its parts. What they leave of its duration is its
// own.
struct CallPartsEvent {
    CallEndEvent end;        // of its own; `samples` and `marks` as there
    uint32_t set = 0;        // another number whenever there are other functions that are parts
    uint32_t stands_for = 1; // of so many calls that last about as long it is told
    bool incomplete = false; // the end of a call inside it was not seen: it has no parts
    std::span<const CallPart> parts{}; // those that were called
};

// A wait of a blocked thread. Nothing is known of it when blocked_ns is 0.
struct Wait {
    uint64_t blocked_ns = 0;
    std::string what; // "recvfrom(9) tcp 127.0.0.1:80 -> 127.0.0.1:4711"; raw: escape at output
    friend bool operator==(const Wait&, const Wait&) = default;
};

// A value of a call as text: {"len", "4096"}, {"fd", "17 (tcp 127.0.0.1:80 -> 127.0.0.1:4711)"}.
struct CallValue {
    std::string name;
    std::string text;     // raw where it holds a target's string: escape at output
    bool readable = true; // else `text` says why it could not be read
    friend bool operator==(const CallValue&, const CallValue&) = default;
};

// A call beyond its probe's `slow` threshold. When it also held samples, a CallEndEvent comes
// before.
struct SlowCallEvent {
    CallEndEvent end;
    uint64_t threshold_ns = 0; // in force when it ended
    StackId stack;             // the timed function first, then its callers
    Wait longest_wait{};
    std::vector<CallValue> values{};
    std::span<const CallKey> enclosing{}; // open calls around it, outermost first
};

// One timed function, or one call site of one: "recv@main.cc:9 in f".
struct SpecInfo {
    ProbeId probe;
    std::string function; // demangled
    std::string module;   // path
    uint64_t offset = 0;  // of the function or the call instruction in the file, bytes
    ObservedExit way_out;
    MachineId machine{};
};

// What is asked of a probe's calls, and read of them, as typed; see loader/values.
struct CallConditions {
    std::string only_if;           // predicate: other calls do not count; empty: all do
    std::string slow_if;           // predicate: other slow calls are not traced
    std::vector<std::string> show; // expressions: read of slow calls
    bool show_default = true;      // `show` was not given: parameters and result as far as known
    friend bool operator==(const CallConditions&, const CallConditions&) = default;
};

struct ProbeInfo {
    ProbeId id;       // as shown to the user and taken by `delete`
    std::string text; // as typed: "libc:recv"
    std::vector<SpecId> specs;
    Threshold slow; // of `slow PROBE > ...` and `trace PROBE`; kind none when it is only timed
    bool deleted = false;
    CallConditions conditions{};
    bool off = false;   // nothing is attached for it; what was collected stays
    std::string span{}; // what the span is from and to, as typed; empty: it is none

    // Its calls end with the last send, which is known later: what is sampled meanwhile is in none.
    bool is_exchanges() const { return span.starts_with("exchanges"); }
};

// A yes-or-no fact that is watched of calls: a line was executed in them, or a predicate held. Its
// bit stands in CallEndEvent::marks. Of calls that began before `since_ns` it is not known. A bit
// is used again for another mark; then this one's definition comes anew.
struct MarkInfo {
    uint32_t bit = 0;
    std::string text; // "at main.cc:1290", "if arg2 > 4096"
    uint64_t since_ns = 0;
    uint64_t until_ns = UINT64_MAX; // nor of those that ended later (of a recording)
    friend bool operator==(const MarkInfo&, const MarkInfo&) = default;
};
inline constexpr uint32_t most_marks = 32; // watched at once: their bits are below it

// The split in force: which probe's calls class the samples, and by what. Its parts combine.
struct SplitInfo {
    bool active = false;
    ProbeId probe;
    Threshold threshold; // slow, fast; kind none: not by duration
    bool so_far = false; // by the time already elapsed at the sample
    Branch branch{};     // taken, not taken
    std::string label{}; // by the value of this expression; or empty
    // Filled in by the backend.
    uint32_t branch_bit = 0; // of the mark
    uint64_t branch_since_ns = 0;
    uint64_t branch_until_ns = UINT64_MAX; // as in MarkInfo
    uint64_t label_since_ns = 0; // labels of calls that began before are none, or another split's
    uint64_t label_until_ns = UINT64_MAX;
};

// What `only` keeps. `clauses`: of the terms, in disjunctive normal form; empty: everything.
struct GateTerm {
    enum class Kind : uint8_t { call = 0, pid = 1, tid = 2, comm = 3, cgroup = 4 };
    Kind kind = Kind::call;
    ProbeId probe{};     // call: in a call of it ...
    Threshold older{};   // ... that has lasted longer; kind none: any
    uint64_t number = 0; // pid, tid
    std::string text{};  // comm; cgroup as given
    friend bool operator==(const GateTerm&, const GateTerm&) = default;
};
struct Clause {
    std::vector<uint32_t> all;  // indices of terms that must hold
    std::vector<uint32_t> none; // ... that must not
    friend bool operator==(const Clause&, const Clause&) = default;
};
struct Gate {
    static constexpr size_t most_terms = 8;
    static constexpr size_t most_clauses = 8; // of a predicate, too

    std::vector<GateTerm> terms;
    std::vector<Clause> clauses;
    bool empty() const { return clauses.empty(); }
    friend bool operator==(const Gate&, const Gate&) = default;
};

// `only CONDITION`: the part that the kernel decides when something happens, and the part that is
// known when the enclosing call ends (`at FILE:LINE`). Both must hold.
struct OnlyInfo {
    std::string text; // as typed; empty: everything is kept
    Gate gate;
    std::vector<std::string> lines; // terms of `line_clauses`: "main.cc:1290"
    std::vector<Clause> line_clauses;
    std::vector<MarkInfo> marks; // of `lines`, filled in by the backend
    friend bool operator==(const OnlyInfo&, const OnlyInfo&) = default;
};

// Exchanges that do not count, since what was asked by what cannot be told from the socket; in
// StatsEvent::filtered.
struct AmbiguousCounts {
    uint64_t early = 0;   // data came before what had been asked was answered
    uint64_t unasked = 0; // the connection sends without being asked
    uint64_t tls = 0;
    uint64_t http2 = 0;

    static constexpr auto members() {
        return std::array{&AmbiguousCounts::early, &AmbiguousCounts::unasked, &AmbiguousCounts::tls,
                          &AmbiguousCounts::http2};
    }
    friend bool operator==(const AmbiguousCounts&, const AmbiguousCounts&) = default;
};

// What is counted of a span beside its calls, and of a Go function. Times are of spans that
// returned, or calls that did and whose waits were watched: their duration is attached + queued +
// parked. Of spans there may be more: that in which a goroutine or a task worked for one of which
// it is not known when it was parked.
struct SpanCounts {
    uint64_t expired = 0;     // given up: open for longer than the limit
    uint64_t stray = 0;       // ends that found nothing to end
    uint64_t attached_ns = 0; // a thread, or a goroutine on one, worked for it
    uint64_t queued_ns = 0;
    uint64_t parked_ns = 0;
    // Of `attached_ns` that in which all waits were watched, and these.
    uint64_t watched_ns = 0;
    uint64_t blocked_ns = 0;
    uint64_t runnable_ns = 0;
    AmbiguousCounts ambiguous{};
    // Of a Go function: what its goroutines were parked for.
    std::array<uint64_t, park_reasons> parked_for_ns{};

    // But for what is ambiguous.
    static constexpr auto members() {
        return std::array{&SpanCounts::expired,     &SpanCounts::stray,
                          &SpanCounts::attached_ns, &SpanCounts::queued_ns,
                          &SpanCounts::parked_ns,   &SpanCounts::watched_ns,
                          &SpanCounts::blocked_ns,  &SpanCounts::runnable_ns};
    }
    SpanCounts& operator+=(const SpanCounts& other) {
        for (const auto member : members())
            this->*member += other.*member;
        for (const auto member : AmbiguousCounts::members())
            ambiguous.*member += other.ambiguous.*member;
        for (size_t i = 0; i < park_reasons; i++)
            parked_for_ns[i] += other.parked_for_ns[i];
        return *this;
    }
    SpanCounts operator-(const SpanCounts& other) const {
        SpanCounts difference = *this;
        for (const auto member : members())
            difference.*member -= other.*member;
        for (const auto member : AmbiguousCounts::members())
            difference.ambiguous.*member -= other.ambiguous.*member;
        for (size_t i = 0; i < park_reasons; i++)
            difference.parked_for_ns[i] -= other.parked_for_ns[i];
        return difference;
    }
    friend bool operator==(const SpanCounts&, const SpanCounts&) = default;
};

// What happened to one function's calls since the last StatsEvent (differences, but for min and
// max, which are since the beginning; min is 0 while no call has returned).
struct StatsEvent {
    uint64_t time_ns = 0;
    SpecId spec;
    uint64_t entries = 0;
    uint64_t returns = 0;
    uint64_t unwound = 0;
    uint64_t dropped = 0;
    int64_t open = 0;
    uint64_t sum_ns = 0;
    uint64_t min_ns = 0;
    uint64_t max_ns = 0;
    struct Bucket {
        uint32_t index; // as bucket_of() has it (loader/stats/histogram.h)
        uint64_t count;
    };
    std::vector<Bucket> buckets; // ascending, count > 0
    // Returned calls of which a mark is known: that had it, and that had not; for the marks of the
    // split and of `only`. Ascending by bit, one of the counts > 0.
    struct MarkCount {
        uint32_t bit;
        uint64_t taken;
        uint64_t not_taken;
    };
    std::vector<MarkCount> marked{};
    uint64_t filtered = 0;  // `only PROBE if ...` did not hold; entries = returns + ... + filtered
    SpanCounts span{};      // of a span: entries = ... + expired, too; of a Go function times
    uint64_t nested_ns = 0; // of sum_ns: in other timed calls
    bool is_nested_known = true; // false: of an old recording
};

// Causes in LedgerEvent::lost that others look for.
inline constexpr char lost_samples[] = "samples: event ring full";
inline constexpr char lost_wait_samples[] = "samples of waits: event ring full";
inline constexpr char lost_explained_calls[] = "explained calls: event ring full";
inline constexpr char explained_on_other_stacks[] =
    "explained calls: not known to be on the thread's own stack";

// What observing takes of the target's CPU time, over some second.
struct Overhead {
    struct Cause {
        // Clocks: of threads that are sampled; the kernel stops and starts them at each switch.
        enum class Kind : uint8_t { samples = 0, waits = 1, probe = 2, lines = 3, clocks = 4 };
        Kind kind = Kind::samples;
        ProbeId probe{};      // of its kind
        uint64_t events = 0;  // ticks; waits that ended; hits of probes; context switches
        uint64_t cost_ns = 0; // measured of samples and waits, else events times what one costs
        friend bool operator==(const Cause&, const Cause&) = default;
    };
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;    // 0: nothing was measured
    uint64_t target_ns = 0; // CPU time of the target, with what observing takes of it
    std::vector<Cause> causes{};
    // In it: samples of waits that were lost, and what the figures of waits mean: see Brake.
    uint64_t waits = 0;
    uint64_t wait_samples = 0;
    uint64_t lost_wait_samples = 0;
    uint64_t lost_samples = 0;
    uint64_t waited_ns = 0;
    friend bool operator==(const Overhead&, const Overhead&) = default;
};

// The account of everything seen, as totals since the beginning.
struct LedgerEvent {
    uint64_t time_ns = 0;
    uint64_t ticks = 0;    // sampling interrupts; = samples + filtered + gated + lost[lost_samples]
    uint64_t samples = 0;  // sent to user space
    uint64_t filtered = 0; // outside target or filter
    uint64_t gated = 0;    // kept back by a gate (`only`, or a rate raised inside one)
    uint64_t on_cpu_ns = 0;      // time for which the sampled threads ran (or CPUs were watched)
    uint64_t rate_hz = 0;        // asked for; 0 when sampling is off
    double rate_achieved_hz = 0; // ticks per second of on-CPU time since the rate was set
    // What one sample costs the thread that it hits, on average as measured; taken out of
    // durations. 0: not measured.
    uint64_t sample_gap_ns = 0;
    uint64_t waits = 0;            // of sampled threads, that ended
    uint64_t wait_samples = 0;     // of waits in which the clock ticked, of threads and of tasks
    uint64_t gated_waits = 0;      // samples of waits that a gate kept back
    uint64_t gated_slow_calls = 0; // likewise of slow calls
    bool wall = false;             // waits are being sampled
    uint64_t waits_hz = 0;         // at this rate; 0: at `rate_hz`
    // Whether it is watched when goroutines leave threads and come back: nobody asks, it is, or it
    // was too often; and how often they did.
    enum class Goroutines : uint8_t { unwatched = 0, watched = 1, too_often = 2 };
    Goroutines goroutines = Goroutines::unwatched;
    uint64_t goroutine_switches = 0;
    Overhead overhead{};                  // the last one that was measured
    std::map<std::string, uint64_t> lost; // cause -> events; every cause present, also at 0
};

// Receives the stream. Strings and spans live only for the call.
class EventSink {
  public:
    virtual ~EventSink() = default;

    virtual void on_machine(MachineId, const MachineInfo&) {}
    virtual void on_module(ModuleId, const ModuleInfo&) = 0;
    virtual void on_location(LocationId, const Location&) = 0;
    // May come again for the same location when better names are known.
    virtual void on_frames(LocationId, std::span<const Frame>) = 0;
    virtual void on_stack(StackId, std::span<const LocationId>) = 0; // leaf first
    virtual void on_thread(ThreadId, const ThreadInfo&) = 0;

    virtual void on_spec(SpecId, const SpecInfo&) = 0;
    // From now on the ends of its calls are seen in another way. Who keeps the stream keeps the
    // first one.
    virtual void on_exit_changed(SpecId, const ObservedExit&) {}
    virtual void on_probe(const ProbeInfo&) = 0; // new, edited or deleted
    virtual void on_split(const SplitInfo&) = 0;
    virtual void on_only(const OnlyInfo&) = 0;
    virtual void on_label(LabelId, const std::string&) = 0; // raw: escape at output

    virtual void on_sample(const SampleEvent&) = 0;
    virtual void on_call_end(const CallEndEvent&) = 0;
    virtual void on_slow_call(const SlowCallEvent&) = 0;
    virtual void on_call_parts(const CallPartsEvent&) {}
    virtual void on_stats(const StatsEvent&) = 0;
    virtual void on_ledger(const LedgerEvent&) = 0;
    // Processes of the target come and go; a line for the user ("4711 nginx: exited").
    virtual void on_notice(uint64_t time_ns, const std::string& text) = 0;
    // Time passes also when nothing happens; monotonic.
    virtual void on_time(uint64_t time_ns) = 0;
};

} // namespace auger
