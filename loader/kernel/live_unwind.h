// SPDX-License-Identifier: GPL-3.0-or-later
// LiveUnwind: keeps what walks of user stacks read (bpf/unwind_table.h) in step with the processes
// observed: each process's executable mappings, and one set of tables a module, shared by all
// processes that map it.
#pragma once

#include "bpf/unwind_table.h"
#include "loader/kernel/hotspot_processes.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/perl_processes.h"
#include "loader/kernel/php_processes.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/python_processes.h"
#include "loader/kernel/ruby_processes.h"
#include "loader/kernel/unwind_cells.h"
#include "loader/kernel/unwind_worker.h"
#include "loader/kernel/v8_processes.h"
#include "loader/kernel/walk_maps.h"
#include "loader/process/paged_memory.h"
#include "loader/reports/unwind_status.h"
#include "loader/symbols/module_map.h"
#include "loader/unwind/stack_walk.h"

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace auger {

class LiveUnwind {
  public:
    LiveUnwind(const Programs& programs, LiveNames& names,
               std::shared_ptr<ConfinedProcesses> readers);

    // Takes in what has changed: mappings of processes, tables that are done.
    void update(uint64_t now_ns);
    // Waits until the tables of what is mapped now are in place, at most `timeout`.
    void settle(std::chrono::nanoseconds timeout);
    UnwindStatus status() const;

    // What the kernel side reads, for walks that it had to leave to us. A process's mappings at a
    // time, by address:
    std::vector<wire_unwind_mapping> mappings(pid_t pid, uint64_t time_ns, uint64_t now_ns);
    // The rule at an address of one of them.
    RuleAnswer find_rule(std::span<const wire_unwind_mapping> mappings, uint64_t code) const;
    // The process runs a CPython, PHP, Ruby or Perl that walks did not know of then, or a V8, whose
    // functions only they know.
    bool lacked_functions(pid_t pid, uint64_t time_ns) const;
    // The stack of a thread that waits: see thread_walk.h.
    std::vector<uint64_t> walk(const walked_thread& thread, PagedMemory& memory);
    // The code of a process's execute_ex(), as it lies there. Empty when it is none of PHP's.
    LoopCode php_loop(pid_t pid) const;
    // Where the executor_globals of a process that runs PHP lie; 0: it is not known to run any.
    uint64_t php_globals(pid_t pid) const;
    // No table is being made.
    bool settled() const { return worker_.idle(); }

  private:
    // The table of an executable segment.
    struct Segment {
        ElfSegment segment;
        uint32_t table = 0;
        CellRange cells;
    };
    struct Module {
        std::vector<Segment> segments;
        bool pending = true;
        std::string note; // why there is no table, or what is missing in it
        // What the file says of a runtime in it, and the number of its layout.
        template <typename File>
        struct Runtime {
            File file;
            uint32_t layout;
        };
        // Of CPython, where _PyRuntime is; of PHP, executor_globals.
        std::optional<Runtime<uint64_t>> python{}, php{};
        std::optional<Runtime<RubyFile>> ruby{};
        std::optional<Runtime<PerlFile>> perl{};
        std::optional<Runtime<GoFile>> go{};
        std::optional<Runtime<TokioFile>> tokio{};
        std::optional<AsyncioFile> asyncio{};
        std::optional<HotspotFile> hotspot{};
        std::optional<uint32_t> v8{}; // the number of its layout
    };
    struct Process {
        CellRange cells;
        std::vector<ModuleId> modules;
        // Where walks find _PyRuntime, executor_globals or PL_thr_key, or 1 of Ruby, and since
        // when; 0: nowhere.
        struct Known {
            uint64_t address = 0;
            uint64_t since_ns = 0;
        };
        Known python, php, ruby, perl;
        uint32_t php_layout = 0;
        uint64_t image_began_ns = 0;
    };

    Module& know_module(ModuleId id, uint64_t now_ns);
    uint32_t new_table_number(uint64_t now_ns);
    RuleAnswer find_rule(const wire_unwind_mapping& mapping, uint64_t code) const;
    wire_unwind_mapping describe(const ModuleMapping& mapping, bool runs_v8, uint64_t now_ns);
    // What is to be added to addresses as linked, if an executable segment of the module is mapped
    // here: where that is tells where the rest is.
    static std::optional<uint64_t> bias_of(const Module& module, const ModuleMapping& mapping);
    void install_process(pid_t pid, uint64_t now_ns);
    // Of these two there is nothing that has a number.
    void enter_go(ModuleId id, const GoFile& file, Module& module);
    void enter_tokio(ModuleId id, const TokioFile& file, Module& module);
    // What the module's file holds beside code.
    void install_runtime(ModuleId id, Module& module, const UnwindTables& tables, uint64_t now_ns);
    // Whose files a module's are.
    FileOwner owner_of(ModuleId id) const;
    // What a file says that a process maps so, and how far from where it is linked it lies there.
    template <typename File>
    struct Found {
        const Module::Runtime<File>& runtime;
        uint64_t bias;
    };
    template <typename File>
    std::optional<Found<File>>
    find_runtime(const ModuleMapping& mapping,
                 std::optional<Module::Runtime<File>> Module::*which) const;
    void find_python(pid_t pid, const ModuleMapping& mapping, wire_unwind_process& entry);
    void find_php(pid_t pid, const ModuleMapping& mapping, wire_unwind_process& entry);
    // Whether it is one of Ruby's code.
    bool find_ruby(pid_t pid, const ModuleMapping& mapping, uint64_t now_ns,
                   wire_unwind_process& entry);
    // Where the process's threads have a variable of the file that is mapped there.
    Result<std::optional<wire_thread_place>>
    find_variable_of_threads(pid_t pid, const ModuleMapping& mapping,
                             const ThreadVariable& variable, bool& is_late);
    void find_perl(pid_t pid, const ModuleMapping& mapping, wire_unwind_process& entry);
    void find_go(const ModuleMapping& mapping, wire_unwind_process& entry) const;
    void find_tokio(const ModuleMapping& mapping, wire_unwind_process& entry) const;
    // Of what the process maps, once its CPython is known.
    void find_asyncio(pid_t pid, uint64_t now_ns, const wire_unwind_process& entry);
    // The number of the layout of what the process maps.
    std::optional<uint32_t> find_v8(pid_t pid, uint64_t time_ns) const;
    // As wire_unwind_process::v8 has it.
    uint32_t follow_v8(pid_t pid, uint64_t now_ns);
    // Installs the processes that map the module anew.
    void renew_processes(ModuleId id, uint64_t now_ns);
    // As wire_unwind_process::hotspot has it.
    uint32_t find_hotspot(pid_t pid, uint64_t now_ns);
    void forget_process(pid_t pid, uint64_t now_ns);
    // False when there was no room, but will be.
    bool install_tables(ModuleId id, const Result<UnwindTables>& tables, uint64_t now_ns);
    // `handlers`: as at wire_unwind_table::handlers_cell.
    Result<void> install_table(Segment& segment, const UnwindTable& table,
                               const std::vector<uint32_t>& handlers);
    // Lets go of the tables of modules that nobody maps. False: there are none.
    bool forget_unused_modules(uint64_t now_ns);

    int processes_fd_;
    ModuleTable& modules_;
    ModuleMap& mappings_;
    UnwindCells cells_;
    wire_unwind_table* tables_; // by number
    WalkMaps walk_maps_;
    PythonProcesses python_;
    HotspotProcesses hotspot_;
    PhpProcesses php_;
    RubyProcesses ruby_;
    PerlProcesses perl_;
    V8Processes v8_;
    UnwindWorker worker_;
    std::unordered_map<uint32_t, Module> known_; // by module id
    std::unordered_map<pid_t, Process> processes_;
    uint32_t next_table_ = 1;                               // table 0 is of what has none
    std::deque<std::pair<uint64_t, uint32_t>> free_tables_; // from when on, number
    std::vector<UnwindWorker::Finished> unplaced_;          // for which there was no room
    uint64_t next_search_ns_ = 0;                           // for modules that nobody maps
    uint64_t refused_processes_ = 0;
};

} // namespace auger
