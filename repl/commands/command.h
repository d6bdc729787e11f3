// SPDX-License-Identifier: GPL-3.0-or-later
// Command: what a line asks for, as data. Parsing yields it, the session acts on it; nothing here
// touches the outside.
#pragma once

#include "loader/backend.h"
#include "repl/commands/condition.h"
#include "repl/commands/keep_condition.h"
#include "repl/language/complaint.h"
#include "repl/services/service_settings.h"
#include "views/exports/export.h"
#include "views/model/call_class.h"
#include "views/model/function_pass.h"
#include "views/model/rules.h"
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
    std::optional<uint64_t> until_ns; // since observation began; else it goes on to now
    Span until_at;
};
struct WayOutCommand {
    WayOut way_out = WayOut::automatic;
};
struct SampleCommand {
    SamplingSettings sampling; // without `raised`
    // The rate is for what this lets through, beside the rate in force.
    std::optional<KeepCondition> only;
};

// Without a value it shows the shares.
struct OverheadCommand {
    std::optional<OverheadLimit> limit;
};

struct TimeCommand {
    ProbeRef probe;
    bool off = false; // what is attached for it goes
};
struct SlowCommand {
    ProbeRef probe;
    Threshold threshold; // kind none: off
    std::string slow_if; // predicate, as typed; empty: none
    std::vector<std::string> show;
    bool show_default = true;
};
// The parts that are given; those in force on the same probe stay.
struct SplitCommand {
    std::optional<ProbeRef> probe; // else that of the split in force
    Span at;                       // of the first part, where there is no probe
    std::optional<Threshold> threshold;
    bool so_far = false;               // belongs to the threshold
    std::optional<std::string> branch; // as in SplitInfo
    std::optional<std::string> label;
};
struct ThresholdCommand {
    ProbeRef probe;
    Threshold threshold;
};
struct UnsplitCommand {};
struct OnlyCommand {
    enum class Kind { show, off, condition, calls };
    Kind kind = Kind::show;
    KeepCondition condition;
    // calls: of this probe only those for which the predicate holds; empty: all again
    ProbeRef probe;
    std::string only_if;
};
struct DeleteCommand {
    std::vector<ProbeRef> probes;
};

struct FlameCommand {
    SampleSelection query;
    bool folded = false;
};
struct DiffCommand {
    ClassFilter first = CallClass::slow;
    ClassFilter second = CallClass::fast;
};
struct TopCommand {
    ClassFilter filter;
    std::optional<size_t> limit; // rows
};
struct ThreadsCommand {
    ClassFilter filter;
    std::optional<size_t> limit; // rows
};
struct NeighboursCommand { // callers, callees
    FunctionFocus::Kind kind = FunctionFocus::Kind::callers;
    std::string function;
    Span function_at;
    ClassFilter filter;
    std::optional<size_t> limit; // rows
};
struct HistCommand {
    ProbeRef probe;
};
struct CallsCommand {
    std::optional<ProbeRef> probe;
    ClassFilter filter;
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
struct ViewCommand {
    std::string pane; // empty: the one shown last
};

struct RecordCommand {
    enum class Kind { show, off, stream, intervals };
    Kind kind = Kind::show;
    std::string path;        // of the stream's file
    IntervalFiles intervals; // likewise of these
};
struct TriggerCommand { // on
    enum class Kind { show, off, off_probe, slow };
    Kind kind = Kind::show;
    ProbeRef probe;
    Threshold threshold;
    Trigger trigger; // without the probe's id
};
struct ServeCommand {
    enum class Kind { show, off, address };
    Kind kind = Kind::show;
    std::string address;    // as typed; with off: empty is all of them
    Span at;                // of it
    std::string token_file; // empty: none
};
struct SaveCommand {
    std::string path;
    const ExportFormat* format = nullptr; // null: this session, as commands
    SampleSelection query;                // of an export
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

struct RuleCommand { // rewrite, drop, fold
    Rule rule;
};
struct RulesCommand {
    enum class Kind { show, off };
    struct Number {
        size_t number; // as `rules` shows it, from 1
        Span at;
    };
    Kind kind = Kind::show;
    std::vector<Number> numbers; // off: these; all where there are none
};

struct UndoCommand {};
struct DoctorCommand {};
struct HelpCommand {
    std::string topic; // empty: the list
};
struct QuitCommand {};

using Command =
    std::variant<TargetCommand, FilterCommand, WindowCommand, WayOutCommand, SampleCommand,
                 OverheadCommand, TimeCommand, SlowCommand, SplitCommand, ThresholdCommand,
                 UnsplitCommand, OnlyCommand, DeleteCommand, FlameCommand, DiffCommand, TopCommand,
                 ThreadsCommand, HistCommand, CallsCommand, NeighboursCommand, OpenCommand,
                 ProbesCommand, SitesCommand, StatusCommand, ViewCommand, RecordCommand,
                 TriggerCommand, ServeCommand, SaveCommand, SourceCommand, WaitCommand,
                 AssertCommand, EchoCommand, RuleCommand, RulesCommand, UndoCommand, DoctorCommand,
                 HelpCommand, QuitCommand>;

} // namespace auger
