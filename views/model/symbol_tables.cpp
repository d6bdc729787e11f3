// SPDX-License-Identifier: GPL-3.0-or-later
// Ids are dense in a sound stream, but a damaged recording may hold any: definitions far beyond the
// next free id are ignored, look-ups of undefined ids give a visible stand-in.
#include "views/model/symbol_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

// A sound stream defines the next id or an old one again; a gap beyond this is damage.
constexpr size_t max_gap = 1 << 16;
// Redefined threads that are remembered for those who follow.
constexpr size_t most_redefined = 10'000;
// Of an entry in a standard hash map, about.
constexpr size_t heap_block = 16; // what malloc adds to one, about
constexpr size_t hashed = 32;

template <typename T>
T* slot(std::vector<T>& table, size_t index) {
    if (index >= table.size() + max_gap)
        return nullptr;
    if (index >= table.size())
        table.resize(index + 1);
    return &table[index];
}

size_t heap_bytes(const std::vector<LocationId>& stack) {
    return stack.capacity() ? stack.capacity() * sizeof(LocationId) + heap_block : 0;
}

std::string_view base_name(std::string_view path) {
    size_t slash = path.rfind('/');
    return slash == path.npos ? path : path.substr(slash + 1);
}

} // namespace

StringId StringTable::intern(std::string_view text) {
    auto [it, is_new] = ids_.try_emplace(std::string(text), StringId{uint32_t(texts_.size())});
    if (is_new) {
        texts_.push_back(&it->first);
        text_bytes_ += it->first.capacity();
    }
    return it->second;
}

size_t StringTable::memory_bytes() const {
    return texts_.size() * (sizeof(std::string) + hashed) +
           texts_.capacity() * sizeof(const std::string*) + text_bytes_;
}

SymbolTables::SymbolTables() {
    FrameEntry frame;
    frame.file = strings_.intern("");
    frame.function = find_function("[unknown]", ModuleId{UINT32_MAX});
    set_frames(unknown_, {&frame, 1});
}

void SymbolTables::add_module(ModuleId id, const ModuleInfo& info) {
    if (ModuleInfo* module = slot(modules_, id.index()))
        *module = info;
}

void SymbolTables::add_location(LocationId id, const Location& location) {
    LocationEntry* entry = slot(locations_, id.index());
    if (!entry)
        return;
    // An old one again may have had names.
    uint64_t renamed_at = entry->defined ? ++names_version_ : 0;
    *entry = {location, {}, {}, false, true, renamed_at};
    FrameEntry frame;
    frame.function = find_function(unnamed(location.module, location.address), location.module);
    set_frames(*entry, {&frame, 1});
}

std::string SymbolTables::unnamed(ModuleId in, uint64_t address) const {
    return fmt::format("{}+{:#x}", base_name(module(in).path), address);
}

void SymbolTables::add_frames(LocationId id, std::span<const Frame> frames) {
    if (id.index() >= locations_.size() || !locations_[id.index()].defined || frames.empty())
        return;
    LocationEntry& entry = locations_[id.index()];
    std::vector<FrameEntry> entries;
    entries.reserve(frames.size());
    for (const Frame& frame : frames)
        entries.push_back({find_function(frame.function, entry.location.module),
                           strings_.intern(frame.file), frame.line, frame.inlined});
    set_frames(entry, entries);
    entry.named_at = ++names_version_;
}

// By the kernel's names for the ways into it that uprobes take, on x86: breakpoint, single step,
// and system calls of the trampolines (uretprobe from Linux 6.11, uprobe from 6.18). A program that
// raises its own breakpoints has the first two also; but then it is stopped by signals.
SymbolTables::ProbeRole SymbolTables::probe_role(std::string_view name) {
    static constexpr std::string_view entries[] = {
        "asm_exc_int3",        "exc_int3",        "asm_exc_debug",
        "exc_debug_user",      "noist_exc_debug", "__do_sys_uretprobe",
        "__x64_sys_uretprobe", "__do_sys_uprobe", "__x64_sys_uprobe"};
    static constexpr std::string_view others[] = {"schedule",
                                                  "__schedule",
                                                  "arch_do_signal_or_restart",
                                                  "get_signal",
                                                  "task_work_run",
                                                  "rseq_handle_notify_resume",
                                                  "__rseq_handle_notify_resume"};
    if (std::ranges::find(entries, name) != std::end(entries))
        return ProbeRole::entry;
    if (std::ranges::find(others, name) != std::end(others) ||
        (name.starts_with("asm_") &&
         (name.ends_with("_interrupt") || name.starts_with("asm_sysvec_"))))
        return ProbeRole::other_work;
    return ProbeRole::none;
}

size_t SymbolTables::probe_handling(std::span<const LocationId> stack) const {
    if (!probe_)
        return 0;
    // The kernel's frames are the innermost; the entry is its outermost but for what all system
    // calls begin with.
    constexpr size_t syscall_entry = 2; // entry_SYSCALL_64_after_hwframe, do_syscall_64
    size_t kernel = 0, entry = 0;
    for (; kernel < stack.size(); kernel++) {
        const FunctionId function = found_frames(stack[kernel]).back().function;
        if (!functions_[function.index()].kernel)
            break;
        switch (probe_roles_[function.index()]) {
        case ProbeRole::other_work:
            return 0;
        case ProbeRole::entry:
            entry = kernel + 1;
            break;
        case ProbeRole::none:
            break;
        }
    }
    if (entry == 0 || kernel - entry > syscall_entry)
        return 0;
    return kernel;
}

void SymbolTables::show_probe() {
    shown_probe_.reset();
    if (!probe_)
        return;
    if (const auto function = shown(*probe_))
        shown_probe_ = FrameEntry{*function, strings_.intern(""), 0, false};
}

void SymbolTables::set_frames(LocationEntry& entry, std::span<const FrameEntry> frames) {
    // Names come at most a few times a location, so the old ones' place is simply given up unless
    // the new ones fit in.
    if (frames.size() > entry.found.count) {
        entry.found.first = static_cast<uint32_t>(found_frames_.size());
        found_frames_.resize(found_frames_.size() + frames.size());
    }
    entry.found.count = static_cast<uint32_t>(frames.size());
    std::copy(frames.begin(), frames.end(), found_frames_.begin() + entry.found.first);
    show_frames(entry);
}

void SymbolTables::show_frames(LocationEntry& entry) {
    const std::span<const FrameEntry> found(found_frames_.data() + entry.found.first,
                                            entry.found.count);
    entry.ruled = std::ranges::any_of(
        found, [&](const FrameEntry& frame) { return shown(frame.function) != frame.function; });
    if (!entry.ruled)
        return;
    entry.shown.first = static_cast<uint32_t>(shown_frames_.size());
    for (FrameEntry frame : found) {
        if (const auto function = shown(frame.function)) {
            frame.function = *function;
            shown_frames_.push_back(frame);
        }
    }
    entry.shown.count = static_cast<uint32_t>(shown_frames_.size()) - entry.shown.first;
}

void SymbolTables::add_stack(StackId id, std::span<const LocationId> locations) {
    std::vector<LocationId>* stack = slot(stacks_, id.index());
    if (!stack)
        return;
    stack_bytes_ -= heap_bytes(*stack);
    *stack = std::vector<LocationId>(locations.begin(), locations.end());
    stack_bytes_ += heap_bytes(*stack);
}

void SymbolTables::add_thread(ThreadId id, const ThreadInfo& info) {
    if (id.index() < threads_.size()) {
        threads_version_++;
        redefined_threads_.push_back(id);
        if (redefined_threads_.size() > most_redefined)
            redefined_threads_.pop_front();
    }
    ThreadInfo* thread = slot(threads_, id.index());
    if (!thread)
        return;
    *thread = info;
    thread->comm = rules_.thread_name(info.comm);
    if (thread->comm == info.comm)
        found_comms_.erase(id);
    else
        found_comms_[id] = info.comm;
}

void SymbolTables::set_rules(Rules rules) {
    rules_ = std::move(rules);
    for (Verdict& verdict : verdicts_)
        verdict.is_shown = false;
    for (uint32_t i = 0, found = static_cast<uint32_t>(functions_.size()); i < found; i++)
        decide(FunctionId{i});
    shown_frames_.clear();
    show_probe();
    show_frames(unknown_);
    names_version_++;
    for (LocationEntry& entry : locations_) {
        if (!entry.defined)
            continue;
        show_frames(entry);
        entry.named_at = names_version_;
    }
    const auto comms = std::exchange(found_comms_, {});
    for (uint32_t i = 0; i < threads_.size(); i++) {
        const auto found = comms.find(ThreadId{i});
        const std::string comm = found == comms.end() ? threads_[i].comm : found->second;
        threads_[i].comm = rules_.thread_name(comm);
        if (threads_[i].comm != comm)
            found_comms_[ThreadId{i}] = comm;
    }
    threads_version_++;
    redefined_threads_.clear(); // all of them
}

std::optional<std::vector<ThreadId>> SymbolTables::threads_redefined_since(uint64_t version) const {
    const uint64_t since = threads_version_ - version;
    if (since > redefined_threads_.size())
        return std::nullopt;
    return std::vector(redefined_threads_.end() - static_cast<ptrdiff_t>(since),
                       redefined_threads_.end());
}

size_t SymbolTables::memory_bytes() const {
    size_t bytes =
        strings_.memory_bytes() + locations_.capacity() * sizeof(LocationEntry) +
        (found_frames_.capacity() + shown_frames_.capacity()) * sizeof(FrameEntry) +
        functions_.capacity() * (sizeof(Function) + sizeof(Verdict) + sizeof(ProbeRole)) +
        function_ids_.size() * hashed + stacks_.capacity() * sizeof(stacks_[0]) + stack_bytes_ +
        threads_.capacity() * sizeof(ThreadInfo);
    for (const ThreadInfo& thread : threads_)
        bytes += thread.comm.capacity() + thread.cgroup.capacity() +
                 thread.container.name.capacity() + thread.container.pod.capacity() +
                 thread.container.pod_namespace.capacity();
    return bytes;
}

const ModuleInfo& SymbolTables::module(ModuleId id) const {
    static const ModuleInfo unknown{ModuleKind::unknown, "[unknown]", ""};
    return id.index() < modules_.size() ? modules_[id.index()] : unknown;
}

const ThreadInfo& SymbolTables::thread(ThreadId id) const {
    static const ThreadInfo unknown{0, 0, "?"};
    return id.index() < threads_.size() ? threads_[id.index()] : unknown;
}

std::span<const LocationId> SymbolTables::stack(StackId id) const {
    if (id.index() >= stacks_.size())
        return {};
    return stacks_[id.index()];
}

const SymbolTables::LocationEntry& SymbolTables::entry(LocationId id) const {
    const bool defined = id.index() < locations_.size() && locations_[id.index()].defined;
    return defined ? locations_[id.index()] : unknown_;
}

std::span<const FrameEntry> SymbolTables::frames(LocationId id) const {
    const LocationEntry& location = entry(id);
    const Range& range = location.ruled ? location.shown : location.found;
    return {(location.ruled ? shown_frames_ : found_frames_).data() + range.first, range.count};
}

std::span<const FrameEntry> SymbolTables::found_frames(LocationId id) const {
    const Range& range = entry(id).found;
    return {found_frames_.data() + range.first, range.count};
}

std::optional<FunctionId> SymbolTables::shown(FunctionId found) const {
    const Verdict& verdict = verdicts_[found.index()];
    return verdict.dropped ? std::nullopt : std::optional(verdict.shown);
}

std::vector<FunctionId> SymbolTables::found_as(FunctionId as) const {
    if (!rules_.of_frames())
        return {as};
    std::vector<FunctionId> found;
    for (uint32_t i = 0; i < verdicts_.size(); i++)
        if (verdicts_[i].found && shown(FunctionId{i}) == as)
            found.push_back(FunctionId{i});
    return found;
}

FunctionId SymbolTables::intern_function(std::string_view name, ModuleId in) {
    StringId string = strings_.intern(name);
    auto [it, is_new] = function_ids_.try_emplace(uint64_t{string.value} << 32 | in.value,
                                                  FunctionId{uint32_t(functions_.size())});
    if (is_new) {
        const bool kernel = module(in).kind == ModuleKind::kernel;
        functions_.push_back({string, in, kernel});
        probe_roles_.push_back(kernel ? probe_role(name) : ProbeRole::none);
        verdicts_.push_back({it->second});
    }
    return it->second;
}

// Of a frame that was found.
FunctionId SymbolTables::find_function(std::string_view name, ModuleId in) {
    const FunctionId id = intern_function(name, in);
    if (!std::exchange(verdicts_[id.index()].found, true))
        decide(id);
    if (!probe_ && probe_roles_[id.index()] == ProbeRole::entry) {
        probe_ = intern_function("[probe]", in);
        verdicts_[probe_->index()].found = true;
        decide(*probe_);
        show_probe();
    }
    return id;
}

void SymbolTables::decide(FunctionId id) {
    if (!verdicts_[id.index()].found)
        return;
    FunctionId as = id;
    bool dropped = false;
    if (rules_.of_frames()) {
        const Rules::FrameName frame = rules_.frame_name(name(id));
        dropped = frame.dropped;
        if (!dropped)
            as = intern_function(frame.name, function(id).module);
    }
    verdicts_[id.index()].shown = as;
    verdicts_[id.index()].dropped = dropped;
    verdicts_[as.index()].is_shown |= !dropped;
}

} // namespace auger
