// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a place that can be probed without harm: plain data, found by whoever reads the
// file (loader/reader/matching).
#pragma once

#include "loader/base/result.h"
#include "loader/probes/code_place.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace auger {

struct EntryPlace {
    uint64_t address;     // as linked
    uint64_t file_offset; // what the kernel is told
    ProbeCost cost;
    uint8_t repeats = no_condition; // see FunctionCode::Entry
};

struct ExitPlace {
    CodeExit code;
    uint64_t file_offset;
};

enum class PlaceKind : uint8_t {
    function,    // its entry place and its exits
    instruction, // `function+offset`, or an address inside a function: no exits
    line,        // `FILE:LINE`, where a copy of the line's code begins: no exits
    call_site,   // a call instruction, and where the call comes back to; or a jump
    usdt,        // a site of a USDT probe: no exits
    tracepoint,  // of the kernel's, in no file: no exits
};

// Of places without exits it is known how often they are reached, and not how long anything took.
inline bool has_duration(PlaceKind kind) {
    return kind == PlaceKind::function || kind == PlaceKind::call_site;
}

// What is known of a call instruction besides its place.
struct CallSite {
    struct Callee {
        size_t module;
        uint64_t address; // as linked
    };
    std::string function;         // that it calls, demangled, without parameters
    std::optional<Callee> callee; // where that is; nothing when only the dynamic linker knows
    std::string caller;           // the function that holds it, likewise
    std::string file;             // of the innermost inlined function; empty: no line information
    uint32_t line;
    uint8_t length; // bytes of the instruction
    // It is a jump by which the caller ends (a tail call): what it calls comes back to where the
    // caller was called.
    bool jump = false;
    uint64_t caller_address = 0; // first byte of the function that holds it, as linked
    // Of a call through a pointer: it is one of the function when it goes to one of `callees`.
    struct Pointer {
        CallOperand operand;
        std::vector<Callee> callees;
    };
    std::optional<Pointer> pointer;
};

// What its note says of a site of a USDT probe.
struct UsdtSite {
    std::string provider, name;
    std::string arguments;  // as the note has them, see usdt_values.h; empty: none
    uint64_t semaphore = 0; // its offset in the file, of two bytes; 0: none
};

// What tracefs says of a tracepoint.
struct TracepointSite {
    std::string category, name;
    std::string format; // the text of its file: event_format.h
    uint64_t id = 0;    // that perf events name it by
};

struct PlaceMatch {
    PlaceKind kind;
    size_t module;        // index into the modules that were searched; of a tracepoint in none
    std::string name;     // demangled; with `@FILE:LINE in CALLER` for a call site
    std::string mangled;  // the symbol that matched
    uint64_t address;     // first byte, as linked
    uint64_t size;        // bytes of the main part
    uint64_t file_offset; // of the first byte
    std::optional<CallSite> site;
    std::optional<UsdtSite> usdt;
    std::optional<TracepointSite> tracepoint{};
    EntryPlace entry;
    // Where the arguments can be read, as FunctionCode has it; only of functions.
    std::optional<EntryPlace> argument_entry;
    std::vector<ExitPlace> exits;
    std::vector<ExitPlace> cheap_exits; // as FunctionCode has them
    // Of a function all of whose exits are jumps to others of its file: where those end. Empty: not
    // all of that is known.
    std::vector<ExitPlace> tail_ends{};
    // Why a return probe (instead of probes on the exits) must not be used here; empty: no reason
    // in the function itself (see also unwind_proof.h).
    std::string no_return_probe;
    bool in_go = false;                // the code is Go's, not C's in a Go program
    std::vector<std::string> jumps_to; // by tail calls, without parameters; where that is known
    std::vector<std::string> notes;    // aliases, tail calls, clones ...: one sentence each
};

struct SkippedPlace {
    size_t module;
    std::string name; // demangled
    std::string reason;
};

struct ProbeMatches {
    std::vector<PlaceMatch> places; // by module, then address
    std::vector<SkippedPlace> skipped;
    std::vector<std::string> notes;
    // Modules that may have more, and are still being read. Until then there may be no places.
    std::vector<size_t> being_read{};
};

struct MatchOptions {
    size_t limit = 1000; // places; a glob that matches more is an error that says how many
    // Of a failure: look for what the user may have meant, which takes its time.
    bool explain = true;
};

// The error for when nothing of what was found can be probed.
inline Error nothing_to_probe(const std::vector<SkippedPlace>& skipped) {
    std::string more;
    if (skipped.size() > 1)
        more = std::to_string(skipped.size() - 1) + " more cannot be probed either";
    return {"probe", skipped.front().name, skipped.front().reason, std::move(more),
            Error::Kind::failed};
}

} // namespace auger
