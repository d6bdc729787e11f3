// SPDX-License-Identifier: GPL-3.0-or-later
// Command: what a line asks for, as data. Parsing yields it, the session acts on it; nothing here
// touches the outside.
#pragma once

#include "loader/backend.h"
#include "repl/commands/condition.h"
#include "repl/language/complaint.h"
#include "views/model/call_class.h"
#include "views/model/fold.h"
#include "views/model/window.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace auger {

// Without a value, these four show what is in force.
struct TargetCommand {
    std::optional<TargetSpec> spec; // kind none: observe nothing
};
struct FilterCommand {
    enum class Kind { show, off, pid, tid, comm, cgroup };
    Kind kind = Kind::show;
    FilterSpec values; // only of `kind`; empty: this kind no longer filters
};
struct WindowCommand {
    std::optional<Window> window;
};
struct WayOutCommand {
    WayOut way_out = WayOut::automatic;
};
struct SampleCommand {
    SamplingSettings sampling;
};

struct TimeCommand {
    ProbeRef probe;
};
struct SlowCommand {
    ProbeRef probe;
    Threshold threshold; // kind none: off
};
struct SplitCommand {
    ProbeRef probe;
    Threshold threshold;
    bool so_far = false;
};
struct ThresholdCommand {
    ProbeRef probe;
    Threshold threshold;
};
struct UnsplitCommand {};
struct DeleteCommand {
    std::vector<ProbeRef> probes;
};

struct FlameCommand {
    ClassFilter filter;
    GroupBy by = GroupBy::process;
    bool folded = false;
};
struct DiffCommand {
    CallClass first = CallClass::slow;
    CallClass second = CallClass::fast;
};
struct TopCommand {
    ClassFilter filter;
    std::optional<size_t> limit; // rows
};
struct HistCommand {
    ProbeRef probe;
};
struct CallsCommand {
    std::optional<ProbeRef> probe;
    std::optional<size_t> limit; // rows
};
struct OpenCommand {
    std::optional<ProbeRef> probe;
    std::optional<size_t> limit; // rows
};
struct ProbesCommand {};
struct SitesCommand {
    ProbeRef function;  // as a probe names it
    std::string within; // glob of callers, files or modules; empty: everywhere
};
struct StatusCommand {};

struct RecordCommand {
    std::string path; // empty: off
};
struct SaveCommand {
    std::string path;
    ClassFilter filter;
};
struct SourceCommand {
    std::string path;
};

struct WaitCommand {
    std::optional<Condition> until;   // else for `duration_ns`
    uint64_t duration_ns = 0;         // without a condition
    std::optional<uint64_t> limit_ns; // of waiting for the condition
};
struct AssertCommand {
    Condition condition;
};
struct EchoCommand {
    std::string text;
};

struct UndoCommand {};
struct DoctorCommand {};
struct HelpCommand {
    std::string topic; // empty: the list
};
struct QuitCommand {};

using Command =
    std::variant<TargetCommand, FilterCommand, WindowCommand, WayOutCommand, SampleCommand,
                 TimeCommand, SlowCommand, SplitCommand, ThresholdCommand, UnsplitCommand,
                 DeleteCommand, FlameCommand, DiffCommand, TopCommand, HistCommand, CallsCommand,
                 OpenCommand, ProbesCommand, SitesCommand, StatusCommand, RecordCommand,
                 SaveCommand, SourceCommand, WaitCommand, AssertCommand, EchoCommand, UndoCommand,
                 DoctorCommand, HelpCommand, QuitCommand>;

} // namespace auger
