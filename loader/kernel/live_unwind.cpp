// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_unwind.h"

#include "loader/kernel/clock.h"
#include "loader/probes/module_name.h"
#include "loader/runtimes/v8/offset_words.h"
#include "loader/symbols/symbolizer.h"

#include <bpf/bpf.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <ranges>
#include <set>

namespace auger {

namespace {

constexpr size_t most_table_notes = 100;

// Each array begins at a multiple of the alignment.
size_t cells_of(size_t bytes) {
    constexpr size_t unit = WIRE_UNWIND_ALIGNMENT * sizeof(uint64_t);
    return (bytes + unit - 1) / unit * WIRE_UNWIND_ALIGNMENT;
}

template <typename Value>
void append(std::vector<uint64_t>& cells, const std::vector<Value>& values) {
    const size_t at = cells.size();
    cells.resize(at + cells_of(values.size() * sizeof(Value)));
    std::memcpy(cells.data() + at, values.data(), values.size() * sizeof(Value));
}

uint64_t base_of(const ElfSegment& segment) {
    return segment.address & ~uint64_t{WIRE_UNWIND_PAGE - 1};
}

} // namespace

LiveUnwind::LiveUnwind(const Programs& programs, LiveNames& names,
                       std::shared_ptr<ConfinedProcesses> readers)
    : processes_fd_(programs.map_fd(MapKind::unwind_processes)), modules_(names.modules()),
      mappings_(names.mappings()), cells_(programs.map_fd(MapKind::unwind_cells)),
      tables_(programs.unwind_tables()), walk_maps_(programs, cells_, tables_),
      python_(programs.map_fd(MapKind::python_layouts), names.python(), names.tasks()),
      hotspot_(programs.map_fd(MapKind::hotspot_processes), names.hotspot()),
      php_(programs.map_fd(MapKind::php_layouts), names.php()),
      ruby_(programs.map_fd(MapKind::ruby_layouts), names.ruby()),
      perl_(programs.map_fd(MapKind::perl_layouts), names.perl()),
      v8_(programs.map_fd(MapKind::v8_layouts), names.v8()), worker_(std::move(readers)) {}

void LiveUnwind::update(uint64_t now_ns) {
    // Before numbers run out: a file that changes all the time takes a new one at every look.
    const size_t numbers_left = WIRE_UNWIND_TABLES - next_table_ + free_tables_.size();
    if (numbers_left < WIRE_UNWIND_TABLES / 4 && now_ns >= next_search_ns_) {
        next_search_ns_ = now_ns + WIRE_UNWIND_REST_NS;
        forget_unused_modules(now_ns);
    }
    for (pid_t pid : mappings_.take_changed()) {
        if (mappings_.exited(pid))
            forget_process(pid, now_ns);
        else
            install_process(pid, now_ns);
    }
    // Now that no child is left with a list that it has inherited from its parent.
    cells_.recycle(now_ns);
    auto finished = std::exchange(unplaced_, {});
    std::ranges::move(worker_.take(), std::back_inserter(finished));
    for (UnwindWorker::Finished& module : finished) {
        if (!install_tables(module.module, module.tables, now_ns))
            unplaced_.push_back(std::move(module));
    }
    if (const auto pid = hotspot_.starting(now_ns))
        install_process(*pid, now_ns);
    if (const auto pid = ruby_.starting(now_ns))
        install_process(*pid, now_ns);
}

void LiveUnwind::settle(std::chrono::nanoseconds timeout) {
    update(clock_ns());
    worker_.wait_idle(std::chrono::steady_clock::now() + timeout);
    update(clock_ns());
}

uint32_t LiveUnwind::new_table_number(uint64_t now_ns) {
    if (next_table_ < WIRE_UNWIND_TABLES)
        return next_table_++;
    if (free_tables_.empty() || free_tables_.front().first > now_ns)
        return 0;
    const uint32_t number = free_tables_.front().second;
    free_tables_.pop_front();
    return number;
}

LiveUnwind::Module& LiveUnwind::know_module(ModuleId id, uint64_t now_ns) {
    auto [found, is_new] = known_.try_emplace(id.value);
    Module& module = found->second;
    if (!is_new)
        return module;
    for (const ElfSegment& segment : modules_.segments(id)) {
        if (!segment.executable)
            continue;
        module.segments.push_back({segment, new_table_number(now_ns), {}});
        tables_[module.segments.back().table].state =
            module.segments.back().table ? WIRE_UNWIND_PENDING : WIRE_UNWIND_ABSENT;
    }
    if (module.segments.empty())
        module.pending = false;
    else
        worker_.request(id, modules_.source(id));
    return module;
}

wire_unwind_mapping LiveUnwind::describe(const ModuleMapping& mapping, bool runs_v8,
                                         uint64_t now_ns) {
    wire_unwind_mapping described{mapping.start, mapping.end, 0, 0, WIRE_MAPPING_FILE};
    if (modules_.info(mapping.module).kind == ModuleKind::jit) {
        described.kind = runs_v8 ? WIRE_MAPPING_V8 : WIRE_MAPPING_JIT;
        return described;
    }
    const Module& module = know_module(mapping.module, now_ns);
    if (module.v8)
        described.kind = WIRE_MAPPING_V8_FILE;
    for (const Segment& one : module.segments) {
        const ElfSegment& segment = one.segment;
        // A mapping begins with the page of the file that the segment begins in.
        if (mapping.offset + (mapping.end - mapping.start) <= segment.offset ||
            mapping.offset >= segment.offset + segment.file_size)
            continue;
        const uint64_t linked = segment.address + mapping.offset - segment.offset;
        described.bias = mapping.start - (linked - base_of(segment));
        described.table = one.table;
        break;
    }
    return described;
}

std::vector<uint64_t> LiveUnwind::walk(const walked_thread& thread, PagedMemory& memory) {
    struct Owner {
        WalkMaps& maps;
        PagedMemory& memory;
    } owner{walk_maps_, memory};
    const walk_source source = {
        &owner,
        [](void* owner, walk_map map, uint32_t key) {
            return static_cast<Owner*>(owner)->maps.look_up(map, key);
        },
        [](void* owner, uint64_t address, void* bytes, size_t size) {
            return static_cast<Owner*>(owner)->memory.read(address, bytes, size);
        },
    };
    std::vector<uint64_t> words(WIRE_STACK_WORDS);
    words.resize(walk_thread(&thread, &source, words.data()));
    return words;
}

std::vector<wire_unwind_mapping> LiveUnwind::mappings(pid_t pid, uint64_t time_ns,
                                                      uint64_t now_ns) {
    std::vector<wire_unwind_mapping> described;
    // All that a heap of HotSpot's may ever take: it grows, and has code there before we hear of
    // it.
    const wire_hotspot* const hotspot = hotspot_.known(pid);
    for (const wire_hotspot_heap& heap :
         hotspot ? std::span(hotspot->heaps) : std::span<const wire_hotspot_heap>())
        if (heap.size)
            described.push_back({heap.low, heap.low + heap.size, 0, 0, WIRE_MAPPING_HOTSPOT});
    const size_t heaps = described.size();
    const auto is_in_heap = [&](const ModuleMapping& mapping) {
        return std::ranges::any_of(std::span(described).first(heaps), [&](const auto& heap) {
            return mapping.start < heap.end && heap.start < mapping.end;
        });
    };
    const bool runs_v8 = find_v8(pid, time_ns).has_value();
    for (const ModuleMapping& mapping : mappings_.mappings(pid, time_ns)) {
        if (mapping.module != unknown_module && !is_in_heap(mapping))
            described.push_back(describe(mapping, runs_v8, now_ns));
    }
    std::ranges::sort(described, {}, &wire_unwind_mapping::start);
    return described;
}

RuleAnswer LiveUnwind::find_rule(std::span<const wire_unwind_mapping> mappings,
                                 uint64_t code) const {
    const auto behind = std::ranges::upper_bound(mappings, code, {}, &wire_unwind_mapping::start);
    if (behind == mappings.begin() || code >= std::prev(behind)->end)
        return {WIRE_STOP_NO_MAPPING, {}};
    return find_rule(*std::prev(behind), code);
}

RuleAnswer LiveUnwind::find_rule(const wire_unwind_mapping& mapping, uint64_t code) const {
    const wire_unwind_table& table = tables_[mapping.table];
    // By frame pointers a walk would leave out compiled frames; how large they are is not looked up
    // here.
    if (mapping.kind == WIRE_MAPPING_HOTSPOT)
        return {WIRE_STOP_UNSUPPORTED, {}};
    const bool is_file = mapping.kind == WIRE_MAPPING_FILE || mapping.kind == WIRE_MAPPING_V8_FILE;
    if (!is_file || table.state == WIRE_UNWIND_ABSENT)
        return {WIRE_STOP_NO_TABLE, {}};
    if (table.state == WIRE_UNWIND_PENDING)
        return {WIRE_STOP_PENDING, {}};
    const auto word = [&](uint32_t first_cell, uint32_t index) {
        return static_cast<uint32_t>(cells_.read(first_cell + index / 2) >> (32 * (index % 2)));
    };
    const uint64_t page = (code - mapping.bias) >> WIRE_UNWIND_PAGE_BITS;
    const auto in_page = static_cast<uint32_t>((code - mapping.bias) % WIRE_UNWIND_PAGE);
    if (page >= table.pages)
        return {WIRE_STOP_NO_TABLE, {}};
    const auto index = static_cast<uint32_t>(page);
    const auto rows =
        std::views::iota(word(table.page_cell, index), word(table.page_cell, index + 1));
    const auto behind = std::ranges::upper_bound(rows, in_page, {}, [&](uint32_t row) {
        return word(table.row_cell, row) % WIRE_UNWIND_PAGE;
    });
    // The last row up to the address; it may go on from a page before.
    const uint32_t row = behind - rows.begin() + word(table.page_cell, index);
    if (row == 0)
        return {WIRE_STOP_NO_TABLE, {}};
    const uint32_t rule = word(table.row_cell, row - 1) >> WIRE_UNWIND_PAGE_BITS;
    const std::array<uint64_t, 2> halves = {cells_.read(table.rule_cell + 2 * rule),
                                            cells_.read(table.rule_cell + 2 * rule + 1)};
    RuleAnswer answer{WIRE_STOPS, std::bit_cast<wire_unwind_rule>(halves)};
    if (answer.rule.cfa == WIRE_CFA_NONE)
        answer.stop = WIRE_STOP_NO_TABLE;
    return answer;
}

void LiveUnwind::install_process(pid_t pid, uint64_t now_ns) {
    Process process;
    wire_unwind_process entry{};
    entry.hotspot = find_hotspot(pid, now_ns);
    entry.java = hotspot_.virtual_threads(pid);
    const auto described = mappings(pid, now_ns, now_ns);
    bool runs_ruby = false;
    for (const ModuleMapping& mapping : mappings_.mappings(pid, now_ns)) {
        process.modules.push_back(mapping.module);
        find_python(pid, mapping, entry);
        find_php(pid, mapping, entry);
        runs_ruby |= find_ruby(pid, mapping, now_ns, entry);
        find_perl(pid, mapping, entry);
        find_go(mapping, entry);
        find_tokio(mapping, entry);
    }
    entry.v8 = follow_v8(pid, now_ns);
    process.image_began_ns = mappings_.image_began(pid);
    process.php_layout = entry.php_layout;
    const auto before = processes_.find(pid);
    const bool is_same_image =
        before != processes_.end() && before->second.image_began_ns == process.image_began_ns;
    const auto know = [&](Process::Known Process::*one, uint64_t address) {
        const bool is_known = is_same_image && (before->second.*one).address == address;
        process.*one = {address, is_known ? (before->second.*one).since_ns : now_ns};
    };
    know(&Process::python, entry.python);
    know(&Process::php, entry.php);
    know(&Process::ruby, entry.ruby.way != 0);
    know(&Process::perl, entry.perl);
    if (entry.python)
        find_asyncio(pid, now_ns, entry);
    else
        python_.end(pid);
    if (!entry.php)
        php_.end(pid);
    if (!runs_ruby)
        ruby_.end(pid);
    if (!entry.perl)
        perl_.end(pid);
    std::vector<uint64_t> cells;
    append(cells, described);
    auto place = cells_.allocate(static_cast<uint32_t>(cells.size()));
    const auto key = static_cast<uint32_t>(pid);
    if (place) {
        process.cells = *place;
        cells_.write(place->first, cells);
    }
    entry.cell = process.cells.first;
    entry.mappings = static_cast<uint32_t>(described.size());
    if (!place || bpf_map_update_elem(processes_fd_, &key, &entry, BPF_ANY) < 0) {
        refused_processes_++;
        cells_.release(process.cells, now_ns);
        forget_process(pid, now_ns);
        return;
    }
    cells_.release(std::exchange(processes_[pid], std::move(process)).cells, now_ns);
}

void LiveUnwind::renew_processes(ModuleId id, uint64_t now_ns) {
    std::vector<pid_t> running;
    for (const auto& [pid, process] : processes_)
        if (std::ranges::find(process.modules, id) != process.modules.end())
            running.push_back(pid);
    for (const pid_t pid : running)
        install_process(pid, now_ns);
}

void LiveUnwind::forget_process(pid_t pid, uint64_t now_ns) {
    const auto key = static_cast<uint32_t>(pid);
    bpf_map_delete_elem(processes_fd_, &key);
    python_.end(pid);
    php_.end(pid);
    ruby_.end(pid);
    perl_.end(pid);
    hotspot_.end(pid, now_ns);
    v8_.end(pid);
    const auto found = processes_.find(pid);
    if (found == processes_.end())
        return;
    cells_.release(found->second.cells, now_ns);
    processes_.erase(found);
}

Result<void> LiveUnwind::install_table(Segment& segment, const UnwindTable& table,
                                       const std::vector<uint32_t>& handlers) {
    std::vector<uint64_t> cells;
    cells.reserve(cells_of(table.pages.size() * sizeof(uint32_t)) +
                  cells_of(table.rows.size() * sizeof(uint32_t)) +
                  cells_of(table.rules.size() * sizeof(wire_unwind_rule)) +
                  cells_of(handlers.size() * sizeof(uint32_t)));
    append(cells, table.pages);
    const size_t rows_at = cells.size();
    append(cells, table.rows);
    const size_t rules_at = cells.size();
    append(cells, table.rules);
    const size_t handlers_at = cells.size();
    append(cells, handlers);
    auto place = cells_.allocate(static_cast<uint32_t>(cells.size()));
    if (!place)
        return place.error();
    cells_.write(place->first, cells);
    segment.cells = *place;
    wire_unwind_table& entry = tables_[segment.table];
    entry.pages = static_cast<uint32_t>(table.pages.size() - 1);
    entry.rows = static_cast<uint32_t>(table.rows.size());
    entry.rules = static_cast<uint32_t>(table.rules.size());
    entry.page_cell = place->first;
    entry.row_cell = place->first + static_cast<uint32_t>(rows_at);
    entry.rule_cell = place->first + static_cast<uint32_t>(rules_at);
    entry.handlers_cell = handlers.empty() ? 0 : place->first + static_cast<uint32_t>(handlers_at);
    __atomic_store_n(&entry.state, WIRE_UNWIND_READY, __ATOMIC_RELEASE);
    return {};
}

bool LiveUnwind::install_tables(ModuleId id, const Result<UnwindTables>& tables, uint64_t now_ns) {
    const auto found = known_.find(id.value);
    if (found == known_.end())
        return true; // forgotten meanwhile
    Module& module = found->second;
    module.pending = false;
    if (tables)
        install_runtime(id, module, *tables, now_ns);
    else
        module.note = tables.error().message();
    for (Segment& segment : module.segments) {
        if (!segment.table || tables_[segment.table].state == WIRE_UNWIND_READY)
            continue;
        const UnwindTable* table = nullptr;
        if (tables) {
            const auto same =
                std::ranges::find(tables->tables, base_of(segment.segment), &UnwindTable::base);
            table = same != tables->tables.end() ? &*same : nullptr;
        }
        if (table && !table->rows.empty()) {
            std::vector<uint32_t> handlers;
            if (tables->v8)
                handlers = v8_offset_words(*tables->v8, table->base,
                                           segment.segment.address + segment.segment.file_size);
            auto installed = install_table(segment, *table, handlers);
            if (installed)
                continue;
            if (forget_unused_modules(now_ns) || cells_.any_rest()) {
                module.pending = true;
                return false;
            }
            module.note = installed.error().message();
        }
        tables_[segment.table].state = WIRE_UNWIND_ABSENT;
    }
    return true;
}

bool LiveUnwind::forget_unused_modules(uint64_t now_ns) {
    std::set<uint32_t> used;
    for (const auto& [pid, process] : processes_) {
        for (ModuleId module : process.modules)
            used.insert(module.value);
    }
    const size_t released = std::erase_if(known_, [&](const auto& entry) {
        const Module& module = entry.second;
        if (used.contains(entry.first) || module.pending)
            return false;
        for (const Segment& segment : module.segments) {
            if (!segment.table)
                continue;
            tables_[segment.table].state = WIRE_UNWIND_ABSENT;
            cells_.release(segment.cells, now_ns);
            free_tables_.emplace_back(now_ns + WIRE_UNWIND_REST_NS, segment.table);
        }
        return true;
    });
    return released > 0;
}

UnwindStatus LiveUnwind::status() const {
    UnwindStatus status;
    status.bytes = cells_.used() * sizeof(uint64_t);
    size_t more = 0;
    for (const auto& [id, module] : known_) {
        status.modules++;
        // Until a table is in place, not until it is made.
        if (module.pending)
            status.pending.emplace_back(module_base_name(modules_.info(ModuleId{id}).path));
        if (module.note.empty())
            continue;
        if (status.notes.size() < most_table_notes)
            status.notes.push_back(module.note);
        else
            more++;
    }
    if (refused_processes_)
        status.notes.push_back(
            fmt::format("no room for the mappings of {} processes", refused_processes_));
    std::ranges::sort(status.notes);
    if (more)
        status.notes.push_back(fmt::format("and {} more", more));
    return status;
}

} // namespace auger
