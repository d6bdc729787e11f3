// SPDX-License-Identifier: GPL-3.0-or-later
// What the stream defined: modules, locations, their frames, stacks and threads, by id. An id of a
// stack or a thread may be given to another one, once nothing that is held refers to it.
// Names are interned: a function is one id however many addresses it has, so that views compare
// numbers. Better names for a location may come at any time; whoever caches what names lead to
// compares `names_version`.
#pragma once

#include "loader/stream/events.h"

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

class SymbolTables {
  public:
    SymbolTables();

    void add_module(ModuleId, const ModuleInfo&);
    void add_location(LocationId, const Location&);
    void add_frames(LocationId, std::span<const Frame>);
    void add_stack(StackId, std::span<const LocationId>);
    void add_thread(ThreadId, const ThreadInfo&);

    const ModuleInfo& module(ModuleId) const;
    const ThreadInfo& thread(ThreadId) const;
    size_t threads() const { return threads_.size(); }
    size_t stacks() const { return stacks_.size(); }
    size_t functions() const { return functions_.size(); }
    size_t locations() const { return locations_.size(); }

    // Leaf first; empty for an undefined stack.
    std::span<const LocationId> stack(StackId) const;
    // Innermost inlined first, never empty: without names, one frame "module+0x1234".
    std::span<const FrameEntry> frames(LocationId) const;
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
        Range frames;
        bool defined = false;
        uint64_t named_at = 0;
    };
    FunctionId intern_function(std::string_view name, ModuleId module);
    std::string unnamed(ModuleId module, uint64_t address) const;
    void set_frames(LocationEntry&, std::span<const FrameEntry>);

    StringTable strings_;
    std::vector<ModuleInfo> modules_;
    std::vector<ThreadInfo> threads_;
    std::vector<LocationEntry> locations_;
    std::vector<FrameEntry> frame_pool_;
    std::vector<std::vector<LocationId>> stacks_;
    std::vector<Function> functions_;
    std::unordered_map<uint64_t, FunctionId> function_ids_; // name << 32 | module
    FrameEntry unknown_frame_;                              // of locations that were never defined
    uint64_t names_version_ = 0;
    uint64_t threads_version_ = 0;
    std::deque<ThreadId> redefined_threads_; // the last of them
};

} // namespace auger
