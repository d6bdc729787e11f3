// SPDX-License-Identifier: GPL-3.0-or-later
// Hosts: the machines that a console observes, all at once: what is asked of each, waiting for the
// answers and for what happens, and their events in the order of time. Changes when hosts are to be
// waited for in another way.
#pragma once

#include "loader/base/result.h"
#include "loader/base/time_slice.h"
#include "loader/process/message.h"
#include "loader/recording/machine_stream.h"
#include "loader/remote/host.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace auger::remote {

struct NamedAgent {
    std::string name;
    ConnectAgent connect;
};

struct HostsOptions {
    std::vector<NamedAgent> agents;
    std::string program; // what the console calls itself
    OpenRequest open{};
    uint64_t bytes_per_second = 8 << 20; // that are read of one host at most
    // Agents that are started at once. A bastion, through which all connections may lead, drops
    // those beyond ten that are still to say who they are (sshd's MaxStartups).
    size_t most_starting = 8;
    // What is observed goes on to a console: it is folded (sample_fold.h), and no host may be a
    // relay, too.
    bool relays = false;
    // Asked while a command waits for hosts: false ends that.
    GoOn go_on{};
    // CLOCK_MONOTONIC; tests have another.
    std::function<uint64_t()> clock{};
};

class Hosts {
  public:
    Hosts(const HostsOptions& options, const SettingsInForce& settings, EventSink& sink);
    ~Hosts(); // ends all agents, and waits for that a little
    Hosts(const Hosts&) = delete;
    Hosts& operator=(const Hosts&) = delete;

    // Until each is there or is lost, or has had its time. Fails when none is there.
    Result<void> begin();

    uint64_t now_ns() const { return clock_(); }
    const std::vector<std::unique_ptr<Host>>& all() const { return hosts_; }
    CommonStream& common() { return common_; }
    // What recording hosts are to begin with that come later.
    RecordingWish& recording() { return surroundings_.recording; }
    std::vector<HostReport> reports() const;

    // Answers by host: of those that were live and still are.
    using Answers = std::map<Host*, Result<std::string>>;
    // For how long answers are waited for.
    struct Patience {
        std::chrono::nanoseconds longest;                // in all
        std::chrono::nanoseconds behind_first = longest; // once there is one
    };
    // What becomes of those that did not answer in time. Asked for nothing but their answer, it is
    // not wanted any more. Of an edit nobody knows whether they made it: where others have
    // answered, they follow when they are done (Host::follow()), else they are lost.
    enum class Unanswered { forgotten, follow };
    // Asks these, and waits for their answers for as long as they give signs of life, and no longer
    // than that.
    Answers ask(const std::vector<Host*>& hosts, const Request& request, Patience patience,
                Unanswered unanswered);
    std::vector<Host*> live() const;
    // For as long as it is there, hosts that begin to be observed wait with it. From before an edit
    // is asked for until the settings in force are what it made them: who is given these has not
    // been asked.
    class Edit {
      public:
        explicit Edit(Hosts& hosts) : under_way_(hosts.surroundings_.edit_under_way) {
            under_way_ = true;
        }
        ~Edit() { under_way_ = false; }
        Edit(const Edit&) = delete;
        Edit& operator=(const Edit&) = delete;

      private:
        bool& under_way_;
    };

    // Lets what has come reach the sink, in the order of time, as far as nothing of before is still
    // to come from a host that is waited for. Returns how many steps that took.
    size_t deliver(const TimeSlice& slice);
    // Waits until all is there that was when this was called, and lets it reach the sink.
    void catch_up();
    // Reads and writes what there is; waits for that until `wake_fd` is readable (true), or then.
    bool wait_until(uint64_t time_ns, int wake_fd);

  private:
    void work();
    size_t deliver_until(uint64_t until_ns, const std::function<bool()>& go_on);

    const std::function<uint64_t()> clock_;
    const GoOn go_on_;
    const size_t most_starting_;
    CommonStream common_;
    EventSink& sink_;
    HostSurroundings surroundings_;
    std::vector<std::unique_ptr<Host>> hosts_;
    uint64_t told_time_ns_ = 0;
    uint64_t looked_ns_ = 0; // at all hosts
};

} // namespace auger::remote
