// SPDX-License-Identifier: GPL-3.0-or-later
// LiveNames: from addresses in processes to locations with names in the stream. Locations come with
// the best name known at once; better ones follow as the symbolizer's worker finds them.
#pragma once

#include "loader/base/time_slice.h"
#include "loader/kernel/hotspot_names.h"
#include "loader/kernel/named_room.h"
#include "loader/kernel/perl_names.h"
#include "loader/kernel/php_names.h"
#include "loader/kernel/python_names.h"
#include "loader/kernel/ruby_names.h"
#include "loader/kernel/task_names.h"
#include "loader/kernel/v8_names.h"
#include "loader/process/container_names.h"
#include "loader/reports/symbol_progress.h"
#include "loader/runtimes/go/label_words.h"
#include "loader/stream/interner.h"
#include "loader/stream/task_samples.h"
#include "loader/symbols/module_map.h"
#include "loader/symbols/module_table.h"
#include "loader/symbols/symbolizer.h"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace auger {

class LiveNames {
  public:
    explicit LiveNames(
        EventSink& sink, RetentionOf retention = [] { return Retention(); },
        SymbolizerOptions options = {});

    ModuleTable& modules() { return modules_; }
    ModuleMap& mappings() { return mappings_; }
    PythonNames& python() { return python_; }
    TaskNames& tasks() { return task_names_; }
    HotspotNames& hotspot() { return hotspot_; }
    V8Names& v8() { return v8_; }
    PhpNames& php() { return php_; }
    RubyNames& ruby() { return ruby_; }
    PerlNames& perl() { return perl_; }
    const ModuleTable& modules() const { return modules_; }
    const ModuleMap& mappings() const { return mappings_; }
    const PythonNames& python() const { return python_; }
    const HotspotNames& hotspot() const { return hotspot_; }
    const V8Names& v8() const { return v8_; }
    const PhpNames& php() const { return php_; }
    const RubyNames& ruby() const { return ruby_; }
    const PerlNames& perl() const { return perl_; }

    // Reads the mappings of a process of which no event has told.
    void know_process(pid_t pid, uint64_t time_ns);
    // What follows is of another sample, or of another slow call.
    void next_sample() { interner_.next_sample(); }
    void next_slow_call() { interner_.next_slow_call(); }

    // Addresses leaf first, as walks give them: user frames as of bpf/unwind_table.h.
    // `user_leaf_is_return`: the first user address is a return address too.
    StackId stack(pid_t pid, uint64_t time_ns, std::span<const uint64_t> kernel_frames,
                  std::span<const uint64_t> user_frames, bool user_leaf_is_return = false);
    // Of a thread that waits. `syscall`: what it waits in; see no_syscall. With a waker the stack
    // goes on inwards with who ended the wait, and on to the beginning of that thread's stack.
    struct Waker {
        pid_t pid = 0; // 0: no thread
        std::string_view comm;
        std::span<const uint64_t> frames; // leaf first
    };
    StackId waiting_stack(pid_t pid, uint64_t time_ns, uint64_t syscall,
                          std::span<const uint64_t> user_frames,
                          const std::optional<Waker>& waker = {});
    // Instead of a number: blocked without having asked the kernel for anything.
    static constexpr uint64_t no_syscall = UINT64_MAX;
    // ... a goroutine: ready, and not executed yet; or parked, plus the number of the reason.
    static constexpr uint64_t queued_goroutine = UINT64_MAX - 1;
    static constexpr uint64_t first_parked_goroutine = UINT64_MAX - 1 - park_reasons;
    // ... a task of an event loop: for what it awaits; where that is there it is queued, too.
    static constexpr uint64_t parked_task = first_parked_goroutine - 1;
    // The same with a function, given by its file and linked address, as the leaf.
    StackId stack_under(const Location& leaf, pid_t pid, uint64_t time_ns,
                        std::span<const uint64_t> user_frames);
    // Of a thread that waits now; without a system call when it is stopped or faults. Or of a
    // goroutine, without what it waits for where that is not known. For whoever shows it at once:
    // it is no stack of the stream.
    std::vector<LocationId> present_stack(pid_t pid, uint64_t time_ns,
                                          std::optional<uint64_t> syscall,
                                          std::span<const uint64_t> user_frames);
    // What a coroutine awaits, likewise: the innermost function first, tasks around those of
    // theirs.
    std::vector<LocationId> await_stack(pid_t pid, uint64_t time_ns, const AwaitChain& chain);
    // Of a task that waits: as await_stack(), which task it is where `with_tasks`, and innermost
    // that it is parked or queued.
    TaskSamples::WaitStack parked_stack(pid_t pid, uint64_t time_ns, const AwaitChain& chain,
                                        bool with_tasks);
    // Of the stream.
    StackId stack_of(const TaskSamples::WaitStack& wait);
    // Of a task: what its coroutine is of, "app.handler"; empty: not known.
    std::string function_of(pid_t pid, const AwaitChain::Link& task);
    ThreadId thread(uint32_t pid, uint32_t tid, std::string_view comm);
    // A thread whose present name is not at hand: the one under which it was seen last.
    ThreadId thread(uint32_t pid, uint32_t tid);
    // The module of a file that was seen mapped; unknown_module when none was.
    ModuleId find_module(uint64_t device, uint64_t inode) const;

    // Tells the sink of names that have become better, until the slice is over; the rest comes the
    // next time.
    void deliver(const TimeSlice&);
    void settle(std::chrono::nanoseconds timeout);
    SymbolProgress progress() const;
    // Of what has no names, or not all: why. Those that were seen first, and how many more.
    std::vector<std::string> notes() const;

  private:
    bool begin_sweep(); // false: nothing has changed since the last one began
    void deliver_one();
    void tell_modules();
    LocationId locate(const Location& location);
    LocationId intern(const Location& location);
    LocationId intern_waker(const Waker& waker);
    LocationId intern_cut(uint64_t cause);
    LocationId intern_task(std::string_view function, std::string_view name);
    // The functions of a chain, and which tasks they are of.
    TaskSamples::WaitStack read_awaits(pid_t pid, const AwaitChain& chain);
    void append_wait(const TaskSamples::WaitStack& wait);
    LocationId intern_go_label(const std::string& label);
    LocationId intern_named(pid_t pid, ModuleKind kind, const std::string& file, uint64_t address,
                            std::span<const Frame> frames);
    LocationId intern_further(ModuleKind kind);
    // Of a frame of a runtime, by its two words.
    void append_runtime_words(pid_t pid, uint64_t time_ns, uint64_t first, uint64_t second);
    void append_python_words(pid_t pid, uint64_t time_ns, uint64_t first, uint64_t second);
    // "app.handler", of a code object; empty: not known.
    std::string task_function(std::span<const pid_t> lineage, uint64_t code, uint32_t cookie);
    void append_v8_words(pid_t pid, uint64_t first, uint64_t second);
    void append_ruby_words(pid_t pid, uint64_t time_ns, uint64_t first, uint64_t second);
    void append_perl_words(pid_t pid, uint64_t time_ns, uint64_t first, uint64_t second);
    // Of a goroutine, whose words are all there.
    void append_go_label();
    void append_user_frames(pid_t pid, uint64_t time_ns, std::span<const uint64_t> user_frames,
                            bool leaf_is_return);
    // Each frame of Ruby's and Perl's at its place.
    std::span<const uint64_t> placed_frames(pid_t pid, uint64_t time_ns,
                                            std::span<const uint64_t> user_frames,
                                            bool leaf_is_return);
    // Of the stack at hand: see ModuleMap.
    std::span<const pid_t> lineage(pid_t pid, uint64_t time_ns);

    EventSink& sink_;
    ModuleTable modules_;
    ModuleMap mappings_;
    Symbolizer symbolizer_;
    PythonNames python_;
    TaskNames task_names_;
    HotspotNames hotspot_;
    V8Names v8_;
    PhpNames php_;
    RubyNames ruby_;
    PerlNames perl_;
    Interner interner_;
    NamedRoom named_room_;
    size_t modules_told_ = 0;
    uint64_t generation_ = 0;    // of the symbolizer, when the last sweep of `waiting_` began
    size_t sweep_at_ = SIZE_MAX; // in `waiting_`: to be looked at from here on
    std::unordered_map<std::string, uint64_t> wakers_; // address in waker_module, by frame name
    std::unordered_map<std::string, uint64_t> tasks_;  // address in task_module, likewise
    std::unordered_map<std::string, uint64_t> labels_; // in go_label_module, likewise
    std::string task_function_;                        // of the stack at hand
    std::vector<pid_t> lineage_;                       // likewise; empty: not asked for yet
    GoLabelWords go_label_;                            // likewise
    bool is_waker_ = false;                            // it is another's, of an earlier time
    V8FrameWords v8_frame_;                            // likewise: the code, before the function
    RubyFrameWords ruby_frame_;                        // likewise: the method around the code
    PerlFrameWords perl_frame_;                        // likewise: what is executed, not yet where
    std::vector<uint64_t> placed_;                     // likewise: its words, all in their places
    struct Process {
        uint64_t image_began = 0; // ModuleMap::image_began()
        std::string cgroup;       // empty: unknown
        std::string container_id; // empty: of none that has one
        ContainerNames container;
        bool kernel = false;   // the kernel's own
        bool has_name = false; // its main thread has been in the stream
    };
    std::unordered_map<uint32_t, Process> known_processes_; // by pid
    ContainerFiles containers_;
    struct Waiting {
        LocationId location;
        Detail told;
    };
    std::vector<Waiting> waiting_;
    std::vector<LocationId> stack_; // kept to reuse its memory
};

} // namespace auger
