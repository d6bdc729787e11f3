// SPDX-License-Identifier: GPL-3.0-or-later
// Host: one machine that a console observes: the agent on it, started again when it is lost, its
// stream among those of all machines, and how it is. Changes when a host is to be treated otherwise
// while it is slow, silent or gone.
#pragma once

#include "loader/recording/machine_stream.h"
#include "loader/remote/agent_link.h"
#include "loader/remote/agent_process.h"
#include "loader/remote/host_recording.h"
#include "loader/remote/settings_in_force.h"
#include "loader/reports/host_report.h"

#include <poll.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace auger::remote {

// What all hosts have in common; outlives them.
struct HostSurroundings {
    CommonStream& common;
    EventSink& sink;
    const SettingsInForce& settings;
    Hello own;
    OpenRequest open;
    bool alone = false;                           // there is one host
    uint64_t bytes_per_second = 0;                // that are read of one host at most
    std::function<void(const std::string&)> tell; // a line for the user
    RecordingWish recording{};
    // The settings in force are about to be others: no host is given them meanwhile.
    bool edit_under_way = false;
};

class Host {
  public:
    using State = HostReport::State;

    Host(std::string name, MachineId id, ConnectAgent connect,
         const HostSurroundings& surroundings);
    ~Host();

    const std::string& name() const { return name_; }
    State state() const { return state_; }
    bool live() const { return state_ == State::live; }
    const std::string& cause() const { return cause_; } // of being lost
    // Whether it has been live, or lost, at least once.
    bool tried() const { return begun_ || was_told_; }
    size_t agents() const { return agents_; } // that were started so far
    HostReport report(uint64_t now_ns) const;
    // Of a relay: its hosts, as far as it is here.
    std::vector<HostReport> relayed_reports() const;
    // Of its agent; there is one unless it is starting or lost.
    const AgentLink& link() const { return *link_; }
    bool observes() const { return link_ && link_->open(); }
    const MachineStream& stream() const { return *stream_; }
    HostRecording& recording() { return recording_; }
    const HostRecording& recording() const { return recording_; }
    Result<void> record_intervals(const IntervalRecording& wanted, uint64_t now_ns);

    // Starts the agent when it is time to, and may be; reads and writes what is there, and looks
    // how it is.
    void work(uint64_t now_ns, bool may_start);
    // Its agent was started, and has not said a word yet.
    bool waits_for_hello() const { return link_ && !link_->hello(); }
    // What to wait for.
    void add_descriptors(std::vector<pollfd>& to, uint64_t now_ns) const;
    // Closes its end of the pipe; it may be started again.
    void lose(const std::string& cause, uint64_t now_ns);
    // Closes it for good.
    void close();
    bool closed() const { return ending_.empty(); } // and all processes are gone
    void collect();

    // Of one that is live.
    uint64_t ask(const Request& request) { return link_->ask(adapted(request)); }
    std::optional<Result<std::string>> take_answer(uint64_t number) {
        return link_->take_answer(number);
    }
    void forget(uint64_t number) { link_->forget(number); }
    // Behind what it is given anyway: of one that is joining.
    void give(const Request& request) { given_.push_back({link_->ask(adapted(request)), request}); }
    // The same, of an edit that another host has refused: `backward` takes back what was given
    // last, which it may have refused as well.
    void take_back(const Request& backward);
    // One that is live is long at work on an edit, asked for by this number, which others have
    // made. It is joining until it is done.
    void follow(uint64_t number, const Request& request);

    // The common clock: all that was before is here.
    uint64_t until_ns() const { return stream_ ? stream_->common_time(link_->until_ns()) : 0; }
    // Whether others' events wait for its own.
    bool waited_for(uint64_t now_ns) const;
    // When its next event was, if there is one; and what comes up to then. By the common clock. A
    // stream that makes no sense is the end of its agent.
    std::optional<uint64_t> next_ns(uint64_t now_ns);
    void deliver(uint64_t until_ns, const std::function<bool()>& go_on, uint64_t now_ns);

  private:
    void start(uint64_t now_ns);
    bool write_out();
    bool read_in(uint64_t now_ns);
    bool holds_enough() const;
    void read_complaints();
    void join(uint64_t now_ns);
    void take_given(uint64_t now_ns);
    void end(const std::string& cause, uint64_t now_ns, bool deliver_rest);
    std::string complaint(const std::string& otherwise) const;

    struct Given {
        uint64_t number; // of the request
        Request request;
        bool taken_back = false; // by the next one
        bool may_be_refused = false;
    };
    // Whether it goes on all the same.
    bool may_refuse(const Given& given, const Error& why);
    // What is asked in place of an edit of a probe that it goes without.
    Request adapted(const Request& request) const;
    void tell_what_it_lacks();

    const std::string name_;
    const MachineId id_;
    const ConnectAgent connect_;
    const HostSurroundings& surroundings_;

    State state_ = State::lost;
    std::string cause_;
    AgentPipe pipe_;
    std::unique_ptr<AgentLink> link_;
    std::unique_ptr<MachineStream> stream_;
    HostRecording recording_; // where the stream goes through
    std::string complaints_;  // the last of them
    std::deque<Given> given_; // while it is joining
    // Probes that it goes without, by number: it has no such function, or cannot probe it, as it
    // has said when it was given what is in force.
    struct Lacking {
        std::string text, why;
    };
    std::map<ProbeId, Lacking> lacking_;
    std::set<ProbeId> told_lacking_; // of all agents
    std::vector<LaunchedProcess> ending_;
    uint64_t heard_ns_ = 0, pinged_ns_ = 0;
    uint64_t start_ns_ = 0;         // when it is to be started
    uint64_t pause_ns_ = 0;         // before the next time
    uint64_t read_budget_ = 0;      // bytes
    uint64_t budget_ns_ = 0;        // when that was told
    uint64_t received_bytes_ = 0;   // of all agents
    uint64_t rate_bytes_ = 0;       // of that, at the beginning of ...
    uint64_t rate_ns_ = 0;          // ... this span
    uint64_t bytes_per_second_ = 0; // in the span before
    uint64_t times_lost_ = 0;
    size_t agents_ = 0;
    bool begun_ = false, was_told_ = false, follows_ = false;
};

} // namespace auger::remote
