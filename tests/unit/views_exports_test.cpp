// SPDX-License-Identifier: GPL-3.0-or-later
// Exports: totals are the model's, class by class; whatever names a target has, the files are such
// as importers take.
#include "views/exports/export.h"
#include "views/exports/exported_samples.h"

#include "tests/unit/views_exports_fixture.h"
#include "views/exports/collapsed.h"
#include "views/json/json_views.h"
#include "views/model/account.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Exports, AreFoundByExtensionAndName) {
    EXPECT_EQ(export_format_of_file("a.b/x.folded")->name, "collapsed");
    EXPECT_EQ(export_format_of_file("x.speedscope.json")->name, "speedscope");
    EXPECT_EQ(export_format_of_file("x.pb.gz")->name, "pprof");
    EXPECT_EQ(export_format_of_file("x.otlp")->name, "otlp");
    EXPECT_EQ(export_format_of_file("x.perf.txt")->name, "perf-script");
    EXPECT_EQ(export_format_of_file("x.txt"), nullptr);
    EXPECT_EQ(find_export_format("nothing"), nullptr);
}

TEST_F(Exports, SayWhatWasLost) {
    ASSERT_FALSE(export_losses(model).empty());
    const std::string loss = export_losses(model).front();
    EXPECT_THAT(loss, HasSubstr("3"));
    // In a comment that no importer takes for a stack.
    EXPECT_THAT(write("collapsed"), StartsWith("# " + loss + ".\n"));
    EXPECT_THAT(write("perf-script"), StartsWith("# " + loss + "\n"));
    EXPECT_EQ(nlohmann::json::parse(write("speedscope"))["auger"]["losses"][0], loss);
}

// A clock beside the samples: what it finds is where the thread was, as often as that lasted.
TEST(ThinnedSamples, AreWhereAClockFindsTheThread) {
    Model model;
    SyntheticStream stream(model);
    const StackId a = stream.stack({"main", "a"}), b = stream.stack({"main", "b"});
    // 300 ms of a, in samples of 1 ms; a wait of 500 ms in b; 200 ms that nothing is known of.
    for (uint64_t i = 1; i <= 300; i++)
        stream.sample(i * ms, 1, a, {}, ms);
    stream.sample(800 * ms, 1, b, {}, 500 * ms, SampleKind::blocked);
    model.on_time(1'000 * ms);
    const auto found = [&](uint64_t every, Window window) {
        std::map<std::string, std::vector<uint64_t>> times;
        ExportQuery query{{}, window};
        query.every_ns = every;
        ExportedSamples(model, query).for_each([&](const ExportedSample& one) {
            EXPECT_EQ(one.weight_ns, static_cast<double>(every));
            EXPECT_EQ(one.samples, 1);
            times[std::string(model.symbols().name(one.frames[0].entry->function))].push_back(
                one.sample.time_ns);
        });
        return times;
    };
    auto times = found(10 * ms, {Window::Kind::last, 1'000 * ms, 1'000 * ms});
    EXPECT_EQ(times["a"].size(), 30u);
    EXPECT_EQ(times["b"].size(), 50u);
    EXPECT_EQ(times["b"].front(), 310 * ms);
    EXPECT_EQ(times["b"].back(), 800 * ms);
    EXPECT_TRUE(std::ranges::is_sorted(times["b"]));
    // Nothing from before the window: 245 ms of the wait are in it.
    times = found(10 * ms, {Window::Kind::last, 250 * ms, 805 * ms});
    EXPECT_NEAR(times["b"].size(), 24.5, 0.5);
    EXPECT_GT(times["b"].front(), 555 * ms);
    EXPECT_TRUE(times["a"].empty());
    // A program in step with the clock: every fifth of 100 samples is of c.
    const StackId c = stream.stack({"main", "c"});
    for (uint64_t i = 1; i <= 1'000; i++)
        stream.sample(2'000 * ms + i * ms, 2, i % 5 ? a : c, {}, ms);
    model.on_time(3'000 * ms);
    times = found(5 * ms, {Window::Kind::last, 1'000 * ms, 3'000 * ms});
    EXPECT_EQ(times["a"].size() + times["c"].size(), 200u);
    EXPECT_NEAR(times["c"].size(), 40, 28); // five standard deviations
    // Samples of the clock's own period are found once each, whenever they were taken.
    stream.sample(806 * ms, 1, a, {}, 5 * ms);
    stream.sample(807 * ms, 1, b, {}, 5 * ms);
    stream.sample(820 * ms, 1, a, {}, 5 * ms);
    model.on_time(1'000 * ms);
    times = found(5 * ms, {Window::Kind::last, 199 * ms, 999 * ms});
    EXPECT_EQ(times["a"], (std::vector<uint64_t>{806 * ms, 820 * ms}));
    EXPECT_EQ(times["b"], (std::vector<uint64_t>{807 * ms}));
    // More often than was sampled: a sample stands for all of its time.
    times = found(ms / 4, {Window::Kind::last, 1'000 * ms, 400 * ms});
    EXPECT_EQ(times["a"].size(), 1'200u);
}

// The patterns of stackcollapse-perf.pl and Firefox Profiler, whose importer cannot be had to try:
// name, pid/tid, [cpu], time and event; frames of an address, a name that does not begin with '('
// and does not end with an offset, and a module without blanks, the kernel's with "kallsyms" in it.
TEST_F(Exports, PerfScriptIsWhatImportersTake) {
    const std::string text = write("perf-script");
    const std::regex header(R"(^(\S.+?)\s+(-?\d+)/(\d+)\s+\[\d+\]\s+(\d+\.\d+):\s+(\d+) (\w+):$)");
    const std::regex frame(R"(^\s*(\w+)\s*(.+) \(([^)]*)\)$)");
    uint64_t samples = 0, weight = 0, frames = 0;
    bool inside = false;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (line.starts_with('#'))
            continue;
        if (line.empty()) {
            inside = false;
        } else if (!inside) {
            ASSERT_TRUE(std::regex_match(line, match, header)) << line;
            samples++;
            weight += std::stoull(match[5]);
            EXPECT_EQ(match[6], "cpu");
            inside = true;
        } else if (line.size() < 1000) { // std::regex would recurse too deeply
            ASSERT_TRUE(std::regex_match(line, match, frame)) << line;
            EXPECT_FALSE(std::string(match[2]).starts_with('('));
            EXPECT_FALSE(std::regex_search(std::string(match[2]), std::regex(R"(\+0x[0-9a-f]+$)")));
            EXPECT_EQ(std::string(match[3]).find(' '), std::string::npos);
            EXPECT_EQ(match[3] == "[kernel.kallsyms]", match[2] == "do_syscall_64");
            EXPECT_EQ(std::string(match[2]).find(';'), std::string::npos);
            frames++;
        }
    }
    EXPECT_EQ(samples, model.samples().size());
    EXPECT_EQ(written, samples);
    EXPECT_EQ(static_cast<double>(weight), make_account(model).classes.sum().weight_ns);
    EXPECT_GT(frames, 2 * samples);
    EXPECT_THAT(text, HasSubstr("{anonymous}::f(int)"));
    EXPECT_THAT(text, HasSubstr(long_name));
}

TEST_F(Exports, OfAClassHoldNothingElse) {
    for (const CallClass one : {CallClass::slow, CallClass::fast, CallClass::outside}) {
        const std::string text = write("perf-script", {{one, GroupBy::process, ""}, {}});
        EXPECT_EQ(static_cast<double>(written) * ms, expected_ns(one));
        EXPECT_EQ(text.find("idle") != std::string::npos, one == CallClass::outside);
    }
    // Below a function, its callers are left out.
    const std::string under = write("perf-script", {{{}, GroupBy::process, "handle"}, {}});
    EXPECT_EQ(under.find("_start"), std::string::npos);
    EXPECT_THAT(under, HasSubstr(" handle ("));
    EXPECT_EQ(static_cast<double>(written) * ms,
              expected_ns(CallClass::slow) + expected_ns(CallClass::fast));
}

TEST_F(Exports, SpeedscopeHasAProfileAClass) {
    const auto file = nlohmann::json::parse(write("speedscope"));
    const size_t frames = file["shared"]["frames"].size();
    std::map<std::string, double> sums;
    for (const auto& profile : file["profiles"]) {
        ASSERT_EQ(profile["samples"].size(), profile["weights"].size());
        for (const auto& stack : profile["samples"])
            for (const auto& frame : stack)
                ASSERT_LT(frame.get<size_t>(), frames);
        double sum = 0;
        for (const auto& weight : profile["weights"])
            sum += weight.get<double>();
        EXPECT_EQ(profile["endValue"].get<double>(), sum);
        sums[profile["name"]] = sum;
    }
    EXPECT_EQ(sums["all"], make_account(model).classes.sum().weight_ns);
    for (const CallClass one : all_call_classes)
        EXPECT_EQ(sums.at(std::string(to_string(one))), expected_ns(one));
}

TEST_F(Exports, TracesHaveSlowCallsAndThoseAround) {
    const auto trace = nlohmann::json::parse(write("chrome-trace"));
    EXPECT_EQ(written, 1u);
    std::map<std::string, nlohmann::json> by_category;
    for (const auto& event : trace["traceEvents"])
        by_category[event.value("cat", "names")] = event;
    const auto& slow = by_category["slow"];
    EXPECT_EQ(slow["dur"], 8000.0);
    EXPECT_EQ(slow["args"]["blocked_ns"], 3 * ms);
    EXPECT_EQ(slow["args"]["path"], "=cmd()|</script>");
    EXPECT_EQ(slow["args"]["stack"][0], "handle");
    const auto& around = by_category["enclosing"];
    EXPECT_EQ(around["dur"], 10'000.0);
    EXPECT_LT(around["ts"].get<double>(), slow["ts"].get<double>());
    EXPECT_EQ(around["tid"], slow["tid"]);
    EXPECT_EQ(trace["otherData"]["losses"][0], export_losses(model).front());
}

// Which overlap, on one thread.
TEST_F(Exports, TracesHaveSpansAsPairsOfEvents) {
    Model spans;
    SyntheticStream of_spans(spans);
    const SpecId request = of_spans.probe(1, "request");
    for (const uint64_t start : {10 * ms, 15 * ms}) {
        SlowCallEvent slow;
        slow.end.call = {start, static_cast<uint32_t>(start / ms) | CallKey::no_thread_bit,
                         request};
        slow.end.thread = of_spans.thread(101);
        slow.end.time_ns = start + 9 * ms;
        slow.end.duration_ns = 9 * ms;
        slow.end.parked_ns = 4 * ms;
        slow.end.queued_ns = ms;
        slow.stack = of_spans.stack({"_start"});
        spans.on_slow_call(slow);
    }
    StringSink sink;
    ASSERT_EQ(*find_export_format("chrome-trace")->write(spans, {}, sink), 2u);
    std::map<std::string, std::pair<double, double>> times; // by id
    const auto trace = nlohmann::json::parse(sink.text);
    for (const auto& event : trace["traceEvents"]) {
        EXPECT_NE(event["ph"], "X");
        if (event["ph"] == "b") {
            EXPECT_EQ(event["name"], "request");
            EXPECT_EQ(event["args"]["parked_ns"], 4 * ms);
            EXPECT_EQ(event["args"]["queued_ns"], ms);
            times[event["id"]].first = event["ts"];
        } else if (event["ph"] == "e") {
            EXPECT_EQ(event["cat"], "slow");
            times[event["id"]].second = event["ts"];
        }
    }
    ASSERT_EQ(times.size(), 2u);
    for (const auto& [id, time] : times)
        EXPECT_EQ(time.second - time.first, 9000.0) << id;
}

TEST_F(Exports, TablesQuoteAndRunNothing) {
    const std::string calls = write("calls-csv");
    EXPECT_EQ(written, 1u);
    EXPECT_THAT(calls, StartsWith("# " + export_losses(model).front() + "\nprobe,class,"));
    EXPECT_THAT(calls, HasSubstr(",8000000,4000000,3000000,1000000,5000000,3000000,"
                                 "\"recvfrom(9) \"\"a,b\"\"\",path==cmd()|</script> "
                                 "len=(not mapped),handle;_start,\r\n"));
    const std::string histogram = write("histogram-csv");
    EXPECT_EQ(written, 3u);
    double sum = 0;
    std::istringstream lines(histogram);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("handle,"))
            sum += std::stod(line.substr(line.rfind(',', line.rfind(',') - 1) + 1));
    EXPECT_EQ(sum, 3);
}

// The page's data, which ends neither the script nor its text.
TEST_F(Exports, TheFlamePageHasEveryClass) {
    const std::string page = write("html");
    EXPECT_EQ(std::string::npos, page.find("/*DATA*/"));
    EXPECT_EQ(page.find("</script>"), page.rfind("</script>"));
    const size_t begin = page.find("const data = ") + sizeof("const data = ") - 1;
    const auto data = nlohmann::json::parse(page.substr(begin, page.find(";\n", begin) - begin));
    const size_t nodes = data["parent"].size();
    EXPECT_EQ(written, nodes - 1);
    for (size_t i = 1; i < nodes; i++)
        ASSERT_LT(data["parent"][i].get<size_t>(), i);
    for (size_t i = 0; i < call_classes; i++) {
        ASSERT_EQ(data["weights"][i].size(), nodes);
        EXPECT_EQ(data["weights"][i][0].get<double>(), expected_ns(all_call_classes[i]));
    }
    double calls = 0;
    for (const auto& bucket : data["histogram"]["buckets"])
        calls += bucket[2].get<double>();
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(data["losses"][0], export_losses(model).front());
}

// Frames as far as they can be seen, with all names; exact totals.
TEST_F(Exports, ThePictureHasEveryFrameAndClass) {
    stream.sample(400 * ms, 102, stream.stack({"_start", "dust"}), {}, 1000); // of 0.02 pixels
    const std::string picture = write("svg");
    const auto number = [&](const std::string& name) {
        std::smatch match;
        EXPECT_TRUE(std::regex_search(picture, match, std::regex(name + "=\"([0-9]+)\""))) << name;
        return std::stod(match[1]);
    };
    EXPECT_EQ(number("data-all-ns"), make_account(model).classes.sum().weight_ns);
    for (const CallClass one : all_call_classes)
        EXPECT_EQ(number("data-" + std::string(to_string(one)) + "-ns"), expected_ns(one));
    EXPECT_THAT(picture, HasSubstr("<title>a;b c \u00b7 9.00 ms, "));
    EXPECT_THAT(picture, HasSubstr("<title>bad\\xff\\xfe \u00b7 2.00 ms, "));
    EXPECT_THAT(picture, HasSubstr("std::map&lt;TTT"));
    EXPECT_THAT(picture, HasSubstr(">" + export_losses(model).front() + "</text>"));
    EXPECT_THAT(picture, HasSubstr("too narrow to be drawn: 1<"));
    EXPECT_EQ(picture.find("dust"), picture.npos);
    // Frames of one stack lie within each other.
    const std::regex box("<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\"");
    double widest = 0;
    uint64_t boxes = 0;
    std::istringstream lines(picture);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (!line.starts_with("<g><title>") ||
            !std::regex_search(line.cbegin() + static_cast<long>(line.find("<rect")), line.cend(),
                               match, box))
            continue;
        const double right = std::stod(match[1]) + std::stod(match[3]);
        if (!boxes++)
            widest = right;
        EXPECT_LE(right, widest + 0.01);
    }
    EXPECT_EQ(boxes, written + 1); // the root
    // Of a class, nothing else.
    const std::string slow = write("svg", {{CallClass::slow, GroupBy::process, ""}, {}});
    EXPECT_THAT(slow,
                HasSubstr(fmt::format("data-all-ns=\"{:.0f}\"", expected_ns(CallClass::slow))));
    EXPECT_EQ(slow.find("idle"), slow.npos);
}

TEST_F(Exports, DocumentsHaveWhatTheConsoleAnswers) {
    const auto calls = nlohmann::json::parse(write("calls-json"));
    EXPECT_EQ(written, 1u);
    EXPECT_EQ(calls["losses"][0], export_losses(model).front());
    auto answer = nlohmann::json::parse(calls_json(model, {})->front());
    for (const char* of_answers : {"schema", "command"})
        answer.erase(of_answers);
    EXPECT_EQ(calls["calls"], nlohmann::json({answer}));
    EXPECT_EQ(calls["calls"][0]["values"]["path"], "=cmd()|</script>");
    EXPECT_EQ(calls["calls"][0]["blocked"], 3 * ms);

    const auto histograms = nlohmann::json::parse(write("histogram-json"));
    EXPECT_EQ(written, 3u);
    answer = nlohmann::json::parse(*hist_json(model, {}, ProbeId{1}));
    for (const char* of_answers : {"schema", "command"})
        answer.erase(of_answers);
    EXPECT_EQ(histograms["histograms"], nlohmann::json({answer}));
    // Of a class without slow calls.
    EXPECT_EQ(nlohmann::json::parse(
                  write("calls-json", {{CallClass::outside, GroupBy::process, ""}, {}}))["calls"],
              nlohmann::json::array());
}

} // namespace
} // namespace auger
