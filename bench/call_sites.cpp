// SPDX-License-Identifier: GPL-3.0-or-later
// What it costs to time the calls that one line makes of a function, and to watch whether a line is
// executed: for those calls and for all others, beside no probes, empty programs on the same
// places, and bpftrace asking each call for its return address.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

#include "loader/kernel/live_backend.h"
#include "views/model/model.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace auger::bench {

namespace {

constexpr int rounds = 15, peer_rounds = 5;
constexpr uint64_t calls = 10'000, peer_calls = 3'000;
constexpr const char* here = "starts_push@called.c:1001";
constexpr const char* pointer = "starts_push@called.c:1003";

// auger as its user has it: a target and one probe.
class Observed {
  public:
    Observed(pid_t pid, const std::string& probe)
        : model_(1'000), backend_(take(make_live_backend({}, model_))) {
        TargetSpec target;
        target.kind = TargetSpec::Kind::pids;
        target.pids = {pid};
        take(backend_->set_target(target));
        take(backend_->add_probe({ProbeId{1}, probe, {}}));
    }
    void watch(const std::string& line) {
        SplitInfo split;
        split.active = true;
        split.probe = ProbeId{1};
        split.branch = Branch::at_line(line);
        take(backend_->set_split(split));
    }
    double returns() {
        take(backend_->refresh());
        return model_.probe_statistics(ProbeId{1}).returns;
    }

  private:
    Model model_;
    std::unique_ptr<Backend> backend_;
};

double cost(Called& called, const char* site, uint64_t count) {
    called.call_site(site, count / 10); // the first calls find cold caches
    return called.call_site(site, count);
}

// Empty programs at the places of a probe: those of its ends too, where it has any.
class EmptyAt {
  public:
    EmptyAt(Tracker& tracker, const EmptyPrograms& empty, const std::string& probe)
        : tracker_(tracker), places_(Functions::find(Called::path(), probe)) {
        AttachmentRequest request =
            tracker.request(places_, ExitWay::instructions, AttachWay::multi, specs_);
        links_ = empty.attach(request);
    }
    ~EmptyAt() { tracker_.release(specs_); }

  private:
    Tracker& tracker_;
    Functions places_;
    std::vector<SpecId> specs_;
    std::vector<UniqueFd> links_;
};

void beside_empty(const Features& features) {
    Tracker tracker(features);
    const EmptyPrograms empty(features);
    Called called;
    Series bare, elsewhere, from_line, empty_line, to_it, to_another, empty_pointer, watched, timed,
        empty_watched;
    for (int round = 0; round < rounds; round++) {
        bare.push_back(cost(called, "elsewhere", calls * 100));
        {
            EmptyAt pair(tracker, empty, here);
            empty_line.push_back(cost(called, "here", calls));
        }
        {
            Observed auger(called.pid(), here);
            from_line.push_back(cost(called, "here", calls));
            elsewhere.push_back(cost(called, "elsewhere", calls * 100));
            if (const double counted = auger.returns(); counted != calls * 11 / 10)
                throw std::runtime_error(
                    fmt::format("{} calls were counted, not {}", counted, calls * 11 / 10));
        }
        {
            EmptyAt pair(tracker, empty, pointer);
            empty_pointer.push_back(cost(called, "pointer", calls));
        }
        {
            Observed auger(called.pid(), pointer);
            to_it.push_back(cost(called, "pointer", calls));
            to_another.push_back(cost(called, "pointer_elsewhere", calls));
        }
        {
            EmptyAt line(tracker, empty, "called.c:1001");
            empty_watched.push_back(cost(called, "here", calls));
        }
        {
            Observed auger(called.pid(), "call_here");
            auger.watch("called.c:1001");
            watched.push_back(cost(called, "here", calls));
        }
    }
    begin_table("Calls of a function from another line than the one that is timed",
                fmt::format("ns of CPU time a call of starts_push, while {} is timed.", here),
                "timed", "no probe");
    print_row("called from another line", elsewhere, bare, "ns", 1.05);
    begin_table("Calls from one line", "ns of CPU time a call, beside empty programs there.",
                "timed", "empty pair");
    print_row("from the line", from_line, empty_line, "ns");
    print_row("through a pointer", to_it, empty_pointer, "ns");
    print_row("through a pointer, of another function", to_another, empty_pointer, "ns");
    begin_table("A line that is watched",
                "ns of CPU time each time, in a call that is timed, beside an empty program there.",
                "watched", "empty");
    print_row("split at called.c:1001", watched, empty_watched, "ns");
}

// Where the process has the file mapped.
uint64_t base_address(pid_t pid, const std::string& path) {
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    for (std::string line; std::getline(maps, line);)
        if (line.ends_with(path))
            return std::stoull(line, nullptr, 16);
    throw std::runtime_error(path + " is not mapped");
}

void beside_bpftrace() {
    begin_table("Calls from one line, beside bpftrace",
                "ns of CPU time a call. bpftrace asks every call for its return address.", "auger",
                "bpftrace");
    const std::string bpftrace = find_program("bpftrace");
    if (bpftrace.empty()) {
        print_skipped("all", "it is not installed (package bpftrace)");
        return;
    }
    Called called;
    const double bare = called.call("starts_push", peer_calls);
    const Functions places = Functions::find(Called::path(), here);
    const PlaceMatch& site = places.matches.at(0);
    const std::string program = fmt::format(
        "uprobe:{0}:starts_push / *(uint64*)reg(\"sp\") == {1}/ {{ @start[tid] = nsecs; }} "
        "uretprobe:{0}:starts_push /@start[tid]/ {{ @ns = hist(nsecs - @start[tid]); "
        "delete(@start[tid]); }}",
        Called::path(),
        base_address(called.pid(), Called::path()) + site.address + site.site->length);
    Series here_ours, here_theirs, elsewhere_ours, elsewhere_theirs;
    for (int round = 0; round < peer_rounds; round++) {
        {
            Observed auger(called.pid(), here);
            here_ours.push_back(cost(called, "here", peer_calls));
            elsewhere_ours.push_back(cost(called, "elsewhere", peer_calls));
        }
        Child child({bpftrace, "-p", std::to_string(called.pid()), "-e", program}, Output::nowhere);
        wait_until_attached(child, called, "starts_push", bare);
        here_theirs.push_back(cost(called, "here", peer_calls));
        elsewhere_theirs.push_back(cost(called, "elsewhere", peer_calls));
        child.interrupt();
    }
    print_row("from the line", here_ours, here_theirs, "ns", 1.0);
    print_row("from another line", elsewhere_ours, elsewhere_theirs, "ns", 1.0);
}

} // namespace

void bench_call_sites(const Features& features) {
    beside_empty(features);
    beside_bpftrace();
}

} // namespace auger::bench
