// SPDX-License-Identifier: GPL-3.0-or-later
// ThreadContexts: where the target's threads keep what they work for (thread_place.h), in the
// kernel, for as long as values of calls are made of it. Changes when programs say it in another
// way, or it is to be known of others.
#pragma once

#include "bpf/wire.h"
#include "loader/kernel/programs.h"
#include "loader/kernel/target_view.h"
#include "loader/probes/code_readers.h"
#include "loader/stream/events.h"
#include "loader/values/thread_variable.h"

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace auger {

class ThreadContexts {
  public:
    ThreadContexts(Programs& programs, CodeReaders& readers, EventSink& sink)
        : programs_(programs), readers_(readers), sink_(sink) {}

    // Values that are made of it are about to be read.
    void want(const TargetView& view);
    // They are no longer.
    void end();
    bool is_wanted() const { return wanted_; }
    // The target has new processes or modules.
    void update(const TargetView& view);
    void forget_process(pid_t pid);
    // Of some process it was too early: update() is to look again after so long. 0: it need not.
    uint64_t look_again_ns() const { return look_again_ns_; }

    // Whether one of the processes shares something with those who observe it, as OpenTelemetry's
    // process context (OTEP 4719): then it may say what threads work for. Quick.
    static bool may_be_there(const TargetView& view);

  private:
    using File = std::shared_ptr<const CodeFile>;

    std::optional<ThreadVariable> variable_of(const File& file);
    void find_place(pid_t pid, const TargetModule& module, const ThreadVariable& variable,
                    std::map<pid_t, wire_thread_place>& places);
    void look_again(pid_t pid);
    void enter(std::map<pid_t, wire_thread_place> places);
    void forget_children();
    void tell(const std::string& text);

    Programs& programs_;
    CodeReaders& readers_;
    EventSink& sink_;
    bool wanted_ = false;
    uint64_t look_again_ns_ = 0;
    bool is_exported_ = false;   // by some file that was read
    bool is_being_read_ = false; // some file is
    std::map<std::weak_ptr<const CodeFile>, std::optional<ThreadVariable>, std::owner_less<>>
        variables_;
    std::map<pid_t, wire_thread_place> places_; // that the kernel has
    std::map<pid_t, unsigned> early_;           // how often it was too early
    std::set<pid_t> refused_;                   // whose memory lets who reads it wait
    std::set<std::string> told_;
};

} // namespace auger
