// SPDX-License-Identifier: GPL-3.0-or-later
// What the stream defined: modules, locations, their frames, stacks and threads, by id. An id of a
// stack or a thread may be given to another one, once nothing that is held refers to it.
// Names are interned: a function is one id however many addresses it has, so that views compare
// numbers. Better names for a location may come at any time; whoever caches what names lead to
// compares `names_version`.
//
// This is also where rules apply: frames and names of threads are as rules show them, so that no
// view knows of rules. What was found is kept beside. Rules are decided when a name is first found,
// and anew when they change, which is told as if better names had come.
#pragma once

#include "loader/stream/events.h"
#include "views/model/rules.h"

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace auger {

using StringId = Id<struct StringTag>;
using FunctionId = Id<struct FunctionTag>; // a function's name in a module

class StringTable {
  public:
    StringId intern(std::string_view text);
    std::string_view operator[](StringId id) const { return *texts_[id.index()]; }
    size_t size() const { return texts_.size(); }
    size_t memory_bytes() const;

  private:
    std::unordered_map<std::string, StringId> ids_;
    std::vector<const std::string*> texts_; // keys of ids_, whose addresses are stable
    size_t text_bytes_ = 0;
};

struct Function {
    StringId name;
    ModuleId module;
    bool kernel = false;
};

// One frame of a location, as views need it.
struct FrameEntry {
    FunctionId function;
    StringId file; // empty text when unknown
    uint32_t line = 0;
    bool inlined = false;
};

// A thread, whatever machine it runs on.
inline uint64_t thread_key(const ThreadInfo& thread) {
    return uint64_t{thread.machine.value} << 32 | thread.tid;
}
// A process, likewise.
inline uint64_t process_key(const ThreadInfo& thread) {
    return uint64_t{thread.machine.value} << 32 | thread.pid;
}

class SymbolTables {
  public:
    SymbolTables();

    void add_module(ModuleId, const ModuleInfo&);
    void add_location(LocationId, const Location&);
    void add_frames(LocationId, std::span<const Frame>);
    void add_stack(StackId, std::span<const LocationId>);
    void add_thread(ThreadId, const ThreadInfo&);
    void set_rules(Rules);
    const Rules& rules() const { return rules_; }

    const ModuleInfo& module(ModuleId) const;
    const ThreadInfo& thread(ThreadId) const;
    size_t threads() const { return threads_.size(); }
    size_t stacks() const { return stacks_.size(); }
    size_t functions() const { return functions_.size(); }
    size_t locations() const { return locations_.size(); }

    // Leaf first; empty for an undefined stack.
    std::span<const LocationId> stack(StackId) const;
    // Innermost inlined first: without names, one frame "module+0x1234". Empty where rules drop all
    // of them.
    std::span<const FrameEntry> frames(LocationId) const;
    // The same before rules; never empty.
    std::span<const FrameEntry> found_frames(LocationId) const;
    // What is shown of a stack: calls visit(index in it, const FrameEntry&), leaf first. Of
    // recursion that is folded, the innermost call.
    template <typename Visit>
    void for_each_frame(std::span<const LocationId> stack, Visit visit) const {
        const FrameEntry* last = nullptr;
        const size_t probe = probe_handling(stack);
        auto see = [&](size_t i, const FrameEntry& frame) {
            if (!last || last->function != frame.function || !rules_.fold_recursion())
                visit(i, frame);
            last = &frame;
        };
        for (size_t i = 0; i < stack.size(); i++) {
            for (const FrameEntry& frame : frames(stack[i]))
                see(i, frame);
            if (i + 1 == probe && shown_probe_)
                see(i, *shown_probe_);
        }
    }
    // How many of the innermost locations are the kernel at work for a probe of the target's code:
    // what it did on a breakpoint, a single step or the way out through a return trampoline. They
    // have a frame "[probe]" around them. 0: none. Where the kernel goes on to schedule or to
    // deliver signals on its way back, and in interrupts, it is not at work for the probe.
    size_t probe_handling(std::span<const LocationId> stack) const;
    // That frame, as rules show it; nothing before the first, or where it is dropped.
    std::optional<FunctionId> probe_function() const {
        return shown_probe_ ? std::optional(shown_probe_->function) : std::nullopt;
    }
    // How rules show a function that was found; nothing where they drop it.
    std::optional<FunctionId> shown(FunctionId found) const;
    // Whether it is how some function is shown.
    bool is_shown(FunctionId id) const { return verdicts_[id.index()].is_shown; }
    // The functions that were found and are shown as this one.
    std::vector<FunctionId> found_as(FunctionId shown) const;
    // Where it is; unknown_module for one that was never defined.
    Location location(LocationId id) const {
        return id.index() < locations_.size() ? locations_[id.index()].location : Location{};
    }
    const Function& function(FunctionId id) const { return functions_[id.index()]; }
    std::string_view name(FunctionId id) const { return strings_[function(id).name]; }
    std::string_view text(StringId id) const { return strings_[id]; }
    // Grows whenever frames of a location change.
    uint64_t names_version() const { return names_version_; }
    // When the location's frames changed: names_version() then; 0 for unnamed ones.
    uint64_t named_at(LocationId id) const {
        return id.index() < locations_.size() ? locations_[id.index()].named_at : 0;
    }
    // Grows whenever a thread's id is defined anew: under another name, or for another thread.
    uint64_t threads_version() const { return threads_version_; }
    // Those since then, some perhaps several times; nothing when they are too many to remember.
    std::optional<std::vector<ThreadId>> threads_redefined_since(uint64_t version) const;
    size_t memory_bytes() const; // but for modules

  private:
    struct Range {
        uint32_t first = 0;
        uint32_t count = 0;
    };
    struct LocationEntry {
        Location location;
        Range found;        // in found_frames_
        Range shown;        // in shown_frames_, where rules change something
        bool ruled = false; // they do
        bool defined = false;
        uint64_t named_at = 0;
    };
    // What rules make of a function that was found.
    struct Verdict {
        FunctionId shown;
        bool found = false;    // else it is only what another one is shown as
        bool dropped = false;  // where found
        bool is_shown = false; // another one as this, or itself
    };
    // What a kernel function is to the handling of probes.
    enum class ProbeRole : uint8_t { none, entry, other_work };
    static ProbeRole probe_role(std::string_view kernel_function);
    void show_probe();
    FunctionId intern_function(std::string_view name, ModuleId module);
    FunctionId find_function(std::string_view name, ModuleId module);
    void decide(FunctionId);
    std::string unnamed(ModuleId module, uint64_t address) const;
    const LocationEntry& entry(LocationId) const;
    void set_frames(LocationEntry&, std::span<const FrameEntry>);
    void show_frames(LocationEntry&);

    StringTable strings_;
    std::vector<ModuleInfo> modules_;
    std::vector<ThreadInfo> threads_;
    std::vector<LocationEntry> locations_;
    std::vector<FrameEntry> found_frames_;
    std::vector<FrameEntry> shown_frames_;
    std::vector<std::vector<LocationId>> stacks_;
    size_t stack_bytes_ = 0; // of their locations
    std::vector<Function> functions_;
    std::vector<ProbeRole> probe_roles_;                    // by function
    std::optional<FunctionId> probe_;                       // as found
    std::optional<FrameEntry> shown_probe_;                 // of that
    std::vector<Verdict> verdicts_;                         // by function
    std::unordered_map<uint64_t, FunctionId> function_ids_; // name << 32 | module
    LocationEntry unknown_;                                 // for those that were never defined
    std::unordered_map<ThreadId, std::string> found_comms_; // of threads that rules rename
    Rules rules_;
    uint64_t names_version_ = 0;
    uint64_t threads_version_ = 0;
    std::deque<ThreadId> redefined_threads_; // the last of them
};

} // namespace auger
