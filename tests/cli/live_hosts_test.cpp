// SPDX-License-Identifier: GPL-3.0-or-later
// Three hosts, each with a demo service and a truth of its own. They are this machine, three times:
// what starts an agent takes the other hosts' services out of its sight. Each is reached by a pipe,
// by ssh, or by ssh over a slow link.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/cli/ssh_hosts.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

enum class Link { pipe, ssh, slow_ssh };

class LiveHosts : public LiveTest {
  protected:
    static constexpr int calls = 1500; // of each service

    struct Host {
        std::string name;
        std::string truth; // path
        std::unique_ptr<Program> service;
        json account{};
    };

    // Under a name that no other process of this machine has.
    static std::string program() { return fmt::format("fleet_{}", ::getpid()); }
    void begin() {
        std::filesystem::copy_file(program_path("demo_service"), folder_.path(program()));
        for (const char* name : {"a", "b", "c"}) {
            Host host{name, folder_.path(std::string(name) + ".truth"), nullptr};
            host.service = std::make_unique<Program>(
                folder_.path(program()),
                std::vector<std::string>{"--calls", std::to_string(calls), "--wait", "--linger",
                                         "--truth", host.truth});
            host.service->wait_ready();
            hosts_.push_back(std::move(host));
        }
        std::filesystem::create_directory(folder_.path("nothing"));
        std::string script = "#!/bin/sh\nset -e\n";
        for (const Host& host : hosts_)
            script += fmt::format("[ \"$1\" = {} ] || mount --bind {} /proc/{}\n", host.name,
                                  folder_.path("nothing"), host.service->pid());
        script +=
            fmt::format("echo $$ > {}/$1.agent\nexec {} --agent\n", folder_.path(""), AUGER_BINARY);
        via_ = "unshare -m sh " + folder_.file("via", script) + " {}";
    }
    // ... each of which is reached so.
    void begin(Link link) {
        begin();
        if (link == Link::pipe)
            return;
        for (const Host& host : hosts_)
            ssh_.add(host.name, via_.substr(0, via_.size() - 2) + host.name,
                     link == Link::slow_ssh ? 100 : 0);
        via_ = ssh_.client() + " {} auger --agent";
    }
    // Two by name, one by a file.
    std::vector<std::string> arguments() const {
        return {"--host", "a,b",    "--hosts",   folder_.file("hosts", "# the third\nc\n"),
                "--via",  via_,     "--bwlimit", "20M",
                "-n",     program()};
    }
    pid_t agent(const std::string& name) const {
        pid_t pid = 0;
        std::ifstream(folder_.path(name + ".agent")) >> pid;
        EXPECT_GT(pid, 0) << name;
        return pid;
    }
    void open_all() {
        for (Host& host : hosts_)
            host.service->go();
        for (Host& host : hosts_)
            host.account = host.service->account();
    }
    static json row(const json& rows, const std::string& host) {
        for (const json& row : rows)
            if (row["host"] == host)
                return row;
        ADD_FAILURE() << host << " is not in " << rows;
        return json::object();
    }
    // CPU time of stacks that rebuild the index, with whatever parameters.
    static double rebuilding(const json& flame) {
        double sum = 0;
        for (const json& entry : flame["stacks"])
            for (const json& frame : entry["stack"])
                if (frame.get<std::string>().starts_with("rebuild_index(")) {
                    sum += entry["cpu"].get<double>();
                    break;
                }
        return sum;
    }
    // Durations of calls from their first to their last statement, and around them; sorted.
    struct Durations {
        std::vector<uint64_t> inside, outside;
    };
    Durations durations() const {
        Durations all;
        for (const Host& host : hosts_) {
            std::ifstream lines(host.truth);
            uint64_t start, end, tid, from, to;
            for (std::string kind; lines >> start >> end >> tid >> kind >> from >> to;) {
                all.inside.push_back(to - from);
                all.outside.push_back(end - start);
            }
        }
        std::ranges::sort(all.inside);
        std::ranges::sort(all.outside);
        return all;
    }
    static uint64_t quantile(const std::vector<uint64_t>& sorted, double q) {
        return sorted[static_cast<size_t>(std::ceil(q * double(sorted.size()))) - 1];
    }

    std::vector<Host> hosts_;
    std::string via_;
    SshHosts ssh_;
};

class LinkedHosts : public LiveHosts, public testing::WithParamInterface<Link> {
  protected:
    void SetUp() override {
        LiveHosts::SetUp();
        if (const std::string package = SshHosts::lacking();
            GetParam() != Link::pipe && !package.empty())
            GTEST_SKIP() << "install " << package;
    }
};

TEST_P(LinkedHosts, AreTheSumOfWhatEachOfThemKnows) {
    begin(GetParam());
    auto auger = std::make_unique<LiveAuger>(arguments());
    auger->run({"time handle_request", "split handle_request > 2ms", "sample 999"});
    open_all();
    auger->run({"wait until calls handle_request >= 4500 for 60s"});
    const json hist = auger->ask("hist handle_request by host");
    EXPECT_EQ(hist["count"], 3 * calls);
    std::map<uint64_t, uint64_t> buckets;
    for (const Host& host : hosts_) {
        const json of = row(hist["hosts"], host.name);
        EXPECT_EQ(of["count"], calls) << host.name;
        EXPECT_EQ(host.account["calls"], calls);
        for (const json& bucket : of["buckets"])
            buckets[bucket[0]] += bucket[2].get<uint64_t>();
        EXPECT_EQ(auger->ask("hist handle_request host=" + host.name)["p95"], of["p95"]);
    }
    std::map<uint64_t, uint64_t> of_all;
    for (const json& bucket : hist["buckets"])
        of_all[bucket[0]] = bucket[2];
    EXPECT_EQ(of_all, buckets) << "histograms do not add up";
    // Only slow calls rebuild the index: as on one host, and on each of them.
    const auto slow_share = [&](const std::string& more) {
        const double slow = rebuilding(auger->ask("flame slow" + more)),
                     fast = rebuilding(auger->ask("flame fast" + more));
        EXPECT_GT(slow, 0);
        return slow / (slow + fast);
    };
    EXPECT_GT(slow_share(""), 0.95);
    EXPECT_GT(slow_share("+host=b"), 0.95);
    EXPECT_EQ(labels_of(auger->ask("flame by host")), (std::set<std::string>{"a", "b", "c"}));
    // A percentile is that of all hosts' calls, whatever is asked of one of them.
    auger->run({"split handle_request > p95"});
    const json threshold = auger->ask("flame slow+host=b")["split"]["threshold"];
    EXPECT_EQ(threshold["calls"], 3 * calls) << threshold;
    // Late calls weigh more in a threshold that moves: a percent of all of them, either way.
    const Durations truth = durations();
    ASSERT_EQ(truth.inside.size(), size_t{3 * calls});
    EXPECT_GE(threshold["ns"].get<double>() * 1.011, double(quantile(truth.inside, 0.94)));
    EXPECT_LE(threshold["ns"].get<double>() / 1.011, double(quantile(truth.outside, 0.96)));
    auger->run({"split handle_request > 2ms"});
    const json diff = auger->ask("diff host=c others");
    EXPECT_EQ(diff["first"]["calls"], calls);
    EXPECT_EQ(diff["second"]["calls"], 2 * calls);
    const json status = auger->ask("status");
    EXPECT_EQ(status["checks"], (json{{"ticks", true}, {"samples", true}, {"calls", true}}));
    for (const Host& host : hosts_) {
        const json of = row(status["hosts"], host.name);
        EXPECT_EQ(of["state"], "live");
        EXPECT_GT(of["received_bytes"], 0);
        EXPECT_GT(of["clock_error"], 0);
    }
    std::vector<BpfObjects> held;
    for (const Host& host : hosts_)
        held.push_back(BpfObjects::held_by(agent(host.name)));
    auger.reset();
    for (const BpfObjects& objects : held)
        EXPECT_TRUE(objects.wait_gone()) << "an agent left something behind";
}

// The others' numbers are whole, whatever becomes of one; and it comes back to what is in force.
TEST_P(LinkedHosts, OneIsStoppedAndKilled) {
    begin(GetParam());
    LiveAuger auger(arguments());
    auger.run({"time handle_request"});
    const auto state = [&](const std::string& host) {
        return row(auger.ask("status")["hosts"], host)["state"].get<std::string>();
    };
    const pid_t stopped = agent("b");
    ::kill(stopped, SIGSTOP);
    while (state("b") != "stale")
        auger.run({"wait 100ms"});
    // Without it an edit is one of the others; they are not held up, and it is given it later.
    auger.run({"split handle_request > 4ms"});
    EXPECT_THAT(state("b"), testing::AnyOf("lost", "starting")); // anew
    ::kill(stopped, SIGKILL);
    while (state("b") != "live")
        auger.run({"wait 100ms"});
    EXPECT_THAT(auger.error("time no_such_function"), HasSubstr("no_such_function"));
    EXPECT_EQ(auger.all("probes").size(), 1u);
    open_all();
    auger.run({"wait until calls handle_request >= 4500 for 60s"});
    const json hist = auger.ask("hist handle_request by host");
    for (const Host& host : hosts_)
        EXPECT_EQ(row(hist["hosts"], host.name)["count"], calls) << host.name;
    // That of all calls: what is measured lies between the two, and a bucket is 1/64 octave wide,
    // about 1.1 %.
    const Durations truth = durations();
    ASSERT_EQ(truth.inside.size(), size_t{3 * calls});
    for (const auto& [name, q] : std::map<std::string, double>{{"p50", 0.5}, {"p95", 0.95}}) {
        EXPECT_GE(hist[name].get<double>() * 1.011, double(quantile(truth.inside, q))) << name;
        EXPECT_LE(hist[name].get<double>() / 1.011, double(quantile(truth.outside, q))) << name;
    }
    EXPECT_EQ(row(auger.ask("status")["hosts"], "b")["times_lost"], 1);
    EXPECT_TRUE(auger.ask("status")["checks"]["calls"]);
}

std::string name_of(Link link) {
    return link == Link::pipe ? "Pipe" : link == Link::ssh ? "Ssh" : "SlowSsh";
}

INSTANTIATE_TEST_SUITE_P(By, LinkedHosts, testing::Values(Link::pipe, Link::ssh, Link::slow_ssh),
                         [](const auto& info) { return name_of(info.param); });

// Another target would end what is open in the one before, and miss what comes until it is back.
TEST_F(LiveHosts, ATargetThatOneRefusesDisturbsNoOther) {
    begin();
    LiveAuger auger(arguments());
    auger.run({"time handle_request"});
    for (Host& host : hosts_)
        host.service->go();
    const std::string refused = auger.error(fmt::format("target {}", agent("a")));
    EXPECT_THAT(refused, HasSubstr("a: that is auger itself"));
    EXPECT_THAT(refused, HasSubstr("nothing was changed on any host"));
    auger.run({"wait until calls handle_request >= 4500 for 60s"});
    const json hist = auger.ask("hist handle_request by host");
    for (const Host& host : hosts_)
        EXPECT_EQ(row(hist["hosts"], host.name)["count"], calls) << host.name;
    EXPECT_EQ(hist["dropped"], 0);
    EXPECT_EQ(hist["open"], 0);
    for (Host& host : hosts_)
        EXPECT_EQ(host.service->account()["calls"], calls);
}

// b and c behind a relay, which is one of two hosts to the console.
TEST_F(LiveHosts, ThoseBehindARelayAreHostsAsAny) {
    begin();
    const std::string relay =
        folder_.file("relay", fmt::format("[ \"$1\" = a ] && exec {0} a\n"
                                          "exec {1} --agent --host b,c --via '{0} {{}}'\n",
                                          via_.substr(0, via_.size() - 3), AUGER_BINARY));
    LiveAuger auger({"--host", "a,r", "--via", "sh " + relay + " {}", "-n", program()});
    // Calls that are made before all are there would be nobody's.
    const auto all_live = [&] {
        const json hosts = auger.ask("status")["hosts"];
        return hosts.size() == 4 &&
               std::ranges::all_of(hosts, [](const json& host) { return host["state"] == "live"; });
    };
    while (!all_live())
        auger.run({"wait 100ms"});
    auger.run({"time handle_request", "split handle_request > 2ms", "sample 999"});
    open_all();
    auger.run({"wait until calls handle_request >= 4500 for 60s"});
    const json hist = auger.ask("hist handle_request by host");
    EXPECT_EQ(hist["count"], 3 * calls);
    for (const char* host : {"a", "r/b", "r/c"})
        EXPECT_EQ(row(hist["hosts"], host)["count"], calls) << host;
    EXPECT_EQ(labels_of(auger.ask("flame by host")), (std::set<std::string>{"a", "r/b", "r/c"}));
    const double slow = rebuilding(auger.ask("flame slow+host=r/b")),
                 fast = rebuilding(auger.ask("flame fast+host=r/b"));
    EXPECT_GT(slow, 0);
    EXPECT_GT(slow / (slow + fast), 0.95);
    const json status = auger.ask("status");
    EXPECT_EQ(status["checks"], (json{{"ticks", true}, {"samples", true}, {"calls", true}}));
    for (const char* host : {"a", "r", "r/b", "r/c"})
        EXPECT_EQ(row(status["hosts"], host)["state"], "live") << host;
}

TEST_F(LiveHosts, AnAgentIsForConsoles) {
    // Whose pipe is closed.
    EXPECT_EQ(auger({"--agent"}).code, 0);
    const Outcome options = auger({"--agent", "-n", "nginx"});
    EXPECT_EQ(options.code, 2);
    EXPECT_THAT(options.err, HasSubstr("takes no other option"));
    const Outcome nobody = auger({"--host", "a", "--via", "echo nobody; false {}", "--batch"});
    EXPECT_EQ(nobody.code, 3);
    EXPECT_THAT(nobody.err, HasSubstr("a: nobody"));
}

} // namespace
} // namespace auger::test
