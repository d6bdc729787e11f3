// SPDX-License-Identifier: GPL-3.0-or-later
// How long it takes to attach and detach 1,000 functions of a library that a process has mapped;
// and, a probe at a time, in the way of older kernels.
#include "bench/benches.h"
#include "bench/child.h"
#include "bench/probing.h"
#include "bench/report.h"

#include "loader/kernel/bpf_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>

namespace auger::bench {

namespace {

constexpr int rounds = 9, perf_probes = 20;
constexpr size_t many_processes = 32;

double milliseconds(auto&& act) {
    auto start = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

} // namespace

void bench_attach(const Features& features) {
    const std::string folder = AUGER_BENCH_PROGRAMS;
    Tracker tracker(features);
    Child target({folder + "/many_functions", "--wait"}, Output::pipe);
    target.read_line(); // ready
    tracker.observe(target.pid());

    begin_table("Attaching and detaching", "ms of wall clock; the process has the library mapped.",
                "auger", "");
    Functions functions;
    Series analysis;
    for (int round = 0; round < 3; round++)
        analysis.push_back(milliseconds(
            [&] { functions = Functions::find(folder + "/libmany_functions.so", "fn_*"); }));
    size_t count = functions.matches.size();
    print_absolute(fmt::format("find and analyse {} functions (kept for the next probe)", count),
                   analysis, "ms");

    auto measure = [&](ExitWay way, const std::string& name) {
        Series specs_ms, attach, detach;
        for (int round = 0; round < rounds; round++) {
            std::vector<SpecId> specs;
            AttachmentRequest request;
            specs_ms.push_back(milliseconds(
                [&] { request = tracker.request(functions, way, AttachWay::multi, specs); }));
            std::optional<Attachment> attachment;
            attach.push_back(milliseconds(
                [&] { attachment.emplace(take(Attachment::make(tracker.programs(), request))); }));
            detach.push_back(milliseconds([&] { attachment.reset(); }));
            tracker.release(specs);
        }
        print_absolute(fmt::format("{}: make {} specs", name, count), specs_ms, "ms");
        print_absolute(fmt::format("{}: attach {}", name, count), attach, "ms", 50);
        print_absolute(fmt::format("{}: detach {}", name, count), detach, "ms", 100);
    };
    if (features.uprobe_session)
        measure(ExitWay::session, "session link");
    else
        print_skipped("session link", "this kernel has none (Linux 6.13)");
    measure(ExitWay::instructions, "exit instructions");

    // Of a library that others map too every process of the target has links of its own.
    std::deque<Child> processes;
    while (processes.size() < many_processes)
        processes
            .emplace_back(std::vector<std::string>{folder + "/many_functions", "--wait"},
                          Output::pipe)
            .read_line();
    Functions one = functions;
    one.matches.resize(std::min<size_t>(one.matches.size(), 1));
    Series one_by_one, together;
    for (int round = 0; round < 3; round++) {
        for (Series* series : {&one_by_one, &together}) {
            std::vector<SpecId> specs;
            AttachmentRequest request =
                tracker.request(one, ExitWay::instructions, AttachWay::multi, specs);
            std::vector<Attachment> attachments;
            for (const Child& process : processes) {
                request.pid = process.pid();
                attachments.push_back(take(Attachment::make(tracker.programs(), request)));
            }
            series->push_back(milliseconds([&] {
                if (series == &together)
                    Attachment::detach(std::move(attachments));
                while (!attachments.empty())
                    attachments.pop_back();
            }));
            tracker.release(specs);
        }
    }
    print_absolute(fmt::format("one function in {} processes: detach, a process after the other",
                               many_processes),
                   one_by_one, "ms");
    print_absolute(
        fmt::format("one function in {} processes: detach, as auger does", many_processes),
        together, "ms", 1'000);

    // Programs for uprobe_multi links do not go on perf events, so this has programs of its own.
    Features old = features;
    old.uprobe_multi = old.uprobe_session = false;
    Tracker perf(old);
    Functions few = functions;
    few.matches.resize(std::min<size_t>(few.matches.size(), perf_probes));
    std::vector<SpecId> specs;
    AttachmentRequest request = perf.request(few, ExitWay::instructions, AttachWay::perf, specs);
    const int program = take(perf.programs().program(ProgramKind::call_entry));
    std::string path = fmt::format("/proc/self/fd/{}", request.file_fd);
    std::vector<UniqueFd> probes;
    Series attach, detach;
    for (size_t i = 0; i < request.entries.offsets.size(); i++)
        attach.push_back(milliseconds([&] {
            probes.push_back(take(create_perf_uprobe(program, path, request.entries.offsets[i],
                                                     request.entries.cookies[i], 0, false)));
        }));
    while (!probes.empty())
        detach.push_back(milliseconds([&] { probes.pop_back(); }));
    print_absolute("perf event: attach one probe", attach, "ms");
    print_absolute("perf event: detach one probe (in the background)", detach, "ms");
    perf.release(specs);
}

} // namespace auger::bench
