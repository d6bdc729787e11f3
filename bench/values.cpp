// SPDX-License-Identifier: GPL-3.0-or-later
// What it costs to read values of a call, to ask a predicate, and to leave calls out by one: beside
// calls that are only timed, beside empty programs on the same places, and beside bpftrace doing
// the same.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

#include "loader/kernel/call_programs.h"
#include "loader/reader/values/compile_program.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>

namespace auger::bench {

namespace {

constexpr int rounds = 15, peer_rounds = 5, batches = 5;
constexpr uint64_t calls = 20'000, peer_calls = 3'000;
constexpr const char* function = "starts_push";

struct Case {
    std::string name;
    CallConditions conditions;
    std::string bpftrace; // the same; empty: nothing to compare with
};

CallConditions showing(std::vector<std::string> show) {
    CallConditions conditions;
    conditions.show = std::move(show);
    conditions.show_default = false;
    return conditions;
}

CallConditions keeping(const std::string& predicate) {
    CallConditions conditions = showing({});
    conditions.only_if = predicate;
    return conditions;
}

// bpftrace keeps a value until the end of its call in a map of its own, as a start is kept.
std::string keep_values(const std::vector<std::string>& values) {
    std::string entry = "@start[tid] = nsecs;", end;
    for (size_t i = 0; i < values.size(); i++) {
        entry += fmt::format(" @v{}[tid] = {};", i, values[i]);
        end += fmt::format(" delete(@v{}[tid]);", i);
    }
    return fmt::format("uprobe:PLACE {{ {} }} uretprobe:PLACE /@start[tid]/ {{ @ns = hist(nsecs - "
                       "@start[tid]); delete(@start[tid]);{} }}",
                       entry, end);
}

std::vector<Case> cases() {
    const std::string timed = " @ns = hist(nsecs - @start[tid]); delete(@start[tid]); }";
    return {
        {"one argument read", showing({"arg0"}), keep_values({"arg0"})},
        {"four arguments and the result read", showing({"arg0", "arg1", "arg2", "arg3", "ret"}),
         keep_values({"arg0", "arg1", "arg2", "arg3"})},
        {"left out by an argument", keeping("arg0 == 0xfffffffffffffff0"),
         "uprobe:PLACE /arg0 == 0xfffffffffffffff0/ { @start[tid] = nsecs; } uretprobe:PLACE "
         "/@start[tid]/ {" +
             timed},
        {"left out by the result", keeping("ret == 0xfffffffffffffff0"),
         "uprobe:PLACE { @start[tid] = nsecs; } uretprobe:PLACE /@start[tid] && retval == "
         "0xfffffffffffffff0/ {" +
             timed + " uretprobe:PLACE { delete(@start[tid]); }"},
    };
}

// One function, timed in the cheap way, with what is asked of its calls.
class Asked {
  public:
    Asked(Tracker& tracker, const Features& features, const CallConditions* conditions)
        : tracker_(tracker), programs_(tracker.programs()),
          places_(Functions::find(Called::path(), function)) {
        const ExitWay way = features.uprobe_session ? ExitWay::session : ExitWay::return_probe;
        AttachmentRequest request = tracker.request(places_, way, AttachWay::multi, specs_);
        if (conditions) {
            ProgramRequest asked;
            asked.conditions = *conditions;
            asked.traces_slow = true;
            auto program = take(compile_program(asked, ValueScope{function}));
            SpecSettings settings;
            Transaction edit;
            settings.program = take(programs_.enter(specs_[0], std::move(program), edit));
            edit.commit();
            take(tracker.specs().set(specs_[0], settings));
        }
        attachment_.emplace(take(Attachment::make(tracker.programs(), request)));
    }
    ~Asked() {
        attachment_.reset();
        tracker_.release(specs_);
        programs_.remove(specs_[0]);
    }

  private:
    Tracker& tracker_;
    CallPrograms programs_;
    Functions places_;
    std::vector<SpecId> specs_;
    std::optional<Attachment> attachment_;
};

void beside_timing(Tracker& tracker, Called& called, const Features& features) {
    const EmptyPrograms empty(features);
    const Functions places = Functions::find(Called::path(), function);
    std::map<std::string, Series> asked;
    Series timed, bare;
    for (int round = 0; round < rounds; round++) {
        {
            std::vector<SpecId> specs;
            const ExitWay way = features.uprobe_session ? ExitWay::session : ExitWay::return_probe;
            auto links = empty.attach(tracker.request(places, way, AttachWay::multi, specs));
            bare.push_back(called.call(function, calls));
            links.clear();
            tracker.release(specs);
        }
        {
            Asked only_timed(tracker, features, nullptr);
            timed.push_back(called.call(function, calls));
        }
        for (const Case& one : cases()) {
            Asked with(tracker, features, &one.conditions);
            asked[one.name].push_back(called.call(function, calls));
        }
    }
    begin_table("Values and predicates of a call", "ns a call of starts_push.", "asked",
                "only timed");
    for (const Case& one : cases())
        print_row(one.name, asked[one.name], timed, "ns");
    begin_table("The same beside a pair of empty programs", "ns a call of starts_push.", "asked",
                "empty pair");
    print_row("only timed", timed, bare, "ns");
    for (const Case& one : cases())
        print_row(one.name, asked[one.name], bare, "ns");
}

double cost(Called& called) {
    Series series;
    called.call(function, peer_calls / 10);
    for (int batch = 0; batch < batches; batch++)
        series.push_back(called.call(function, peer_calls));
    return median(series);
}

void beside_bpftrace(Tracker& tracker, Called& called, const Features& features) {
    begin_table("The same beside bpftrace", "ns a call of starts_push.", "auger", "bpftrace");
    const std::string bpftrace = find_program("bpftrace");
    if (bpftrace.empty()) {
        print_skipped("all", "it is not installed (package bpftrace)");
        return;
    }
    const double bare = called.call(function, peer_calls);
    for (const Case& one : cases()) {
        Series ours, theirs;
        std::string program = one.bpftrace;
        const std::string place = Called::path() + ":" + function;
        for (size_t at; (at = program.find("PLACE")) != std::string::npos;)
            program.replace(at, 5, place);
        std::string missing;
        for (int round = 0; round < peer_rounds && missing.empty(); round++) {
            {
                Asked with(tracker, features, &one.conditions);
                ours.push_back(cost(called));
            }
            Child child({bpftrace, "-p", std::to_string(called.pid()), "-e", program},
                        Output::nowhere);
            try {
                wait_until_attached(child, called, function, bare);
                theirs.push_back(cost(called));
            } catch (const std::runtime_error& error) {
                missing = error.what();
            }
            child.interrupt();
        }
        if (missing.empty())
            print_row(one.name, ours, theirs, "ns", 1.0);
        else
            print_skipped(one.name, missing);
    }
}

} // namespace

void bench_values(const Features& features) {
    Tracker tracker(features);
    Called called;
    tracker.observe(called.pid());
    beside_timing(tracker, called, features);
    beside_bpftrace(tracker, called, features);
}

} // namespace auger::bench
