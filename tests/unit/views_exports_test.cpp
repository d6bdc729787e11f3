// SPDX-License-Identifier: GPL-3.0-or-later
// Exports: totals are the model's, class by class; whatever names a target has, the files are such
// as importers take.
#include "views/exports/export.h"
#include "views/exports/exported_samples.h"

#include "tests/unit/synthetic_stream.h"
#include "views/exports/collapsed.h"
#include "views/json/json_views.h"
#include "views/model/account.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>
#include <zlib.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr uint64_t ms = 1'000'000;
const std::string long_name = "std::map<" + std::string(10'000, 'T') + ">::find(int)";

class Exports : public testing::Test {
  protected:
    // Calls of handle, slow beyond 5 ms, with samples of 1 ms; and some outside.
    Exports() {
        const SpecId handle = stream.probe(1, "handle");
        stream.split(1, stream.fixed(5 * ms));
        const std::vector<std::string> names = {"(anonymous namespace)::f(int)",
                                                "a;b c",
                                                "x",
                                                long_name,
                                                "bad\xff\xfe",
                                                "esc\x1b[2J\nnext",
                                                "service+0x1f0e0",
                                                "k:do_syscall_64"};
        uint64_t now = 10 * ms;
        for (size_t i = 0; i < names.size(); i++) {
            const uint64_t duration = i % 2 ? 9 * ms : 2 * ms;
            const CallKey call = stream.call(handle, now);
            for (uint64_t at = 0; at < duration; at += ms)
                stream.sample(now + at, 101, stream.stack({"_start", "handle", names[i]}), {call},
                              ms);
            stream.end(101, call, duration);
            now += 20 * ms;
        }
        SlowCallEvent slow;
        slow.end.call = stream.call(handle, now);
        slow.end.thread = stream.thread(101);
        slow.end.time_ns = now + 8 * ms;
        slow.end.duration_ns = 8 * ms;
        slow.end.waits = {3 * ms, ms};
        slow.threshold_ns = 5 * ms;
        slow.stack = stream.stack({"_start", "handle"});
        slow.longest_wait = {3 * ms, "recvfrom(9) \"a,b\""};
        slow.values = {{"path", "=cmd()|</script>", true}, {"len", "not mapped", false}};
        const CallKey around = stream.call(handle, now - ms);
        slow.enclosing = {&around, 1};
        model.on_slow_call(slow);
        stream.end(101, around, 10 * ms);
        stream.stats(now + 9 * ms, handle, {2 * ms, 8 * ms, 9 * ms});
        for (int i = 0; i < 5; i++)
            stream.sample(now + i, 102, stream.stack({"_start", "idle"}), {}, ms);
        stream.ledger(now + ms, 0, 3);
    }
    std::string write(std::string_view format, const ExportQuery& query = {}) {
        StringSink sink;
        const ExportFormat* found = find_export_format(format);
        EXPECT_NE(found, nullptr) << format;
        const auto count = found->write(model, query, sink);
        EXPECT_TRUE(count);
        written = count ? *count : 0;
        return sink.text;
    }
    double expected_ns(CallClass one) const { return make_account(model).classes[one].weight_ns; }

    Model model;
    SyntheticStream stream{model};
    uint64_t written = 0;
};

TEST_F(Exports, AreFoundByExtensionAndName) {
    EXPECT_EQ(export_format_of_file("a.b/x.folded")->name, "collapsed");
    EXPECT_EQ(export_format_of_file("x.speedscope.json")->name, "speedscope");
    EXPECT_EQ(export_format_of_file("x.pb.gz")->name, "pprof");
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

TEST_F(Exports, TablesQuoteAndRunNothing) {
    const std::string calls = write("calls-csv");
    EXPECT_EQ(written, 1u);
    EXPECT_THAT(calls, StartsWith("# " + export_losses(model).front() + "\nprobe,class,"));
    EXPECT_THAT(calls, HasSubstr(",8000000,4000000,3000000,1000000,5000000,3000000,"
                                 "\"recvfrom(9) \"\"a,b\"\"\",path==cmd()|</script> "
                                 "len=(not mapped),handle;_start\r\n"));
    const std::string histogram = write("histogram-csv");
    EXPECT_EQ(written, 3u);
    double sum = 0;
    std::istringstream lines(histogram);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("handle,"))
            sum += std::stod(line.substr(line.rfind(',') + 1));
    EXPECT_EQ(sum, 3);
}

// The grammar of the text format, line by line.
TEST_F(Exports, PrometheusLinesAreWellFormed) {
    const std::regex value(R"(^[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? -?[0-9.e+-]+$)");
    const std::string text = write("prometheus");
    uint64_t values = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#'))
            continue;
        EXPECT_TRUE(std::regex_match(line, value)) << line;
        values++;
    }
    EXPECT_EQ(values, written);
    EXPECT_THAT(text, HasSubstr("auger_call_duration_seconds_count{probe=\"handle\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("auger_lost_events_total{cause=\"samples: event ring full\"} 3\n"));
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

std::string unzip(const std::string& bytes) {
    std::string text(64 << 20, '\0');
    z_stream stream{};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    text.resize(stream.total_out);
    inflateEnd(&stream);
    return text;
}

// Read by the numbers of profile.proto.
TEST_F(Exports, PprofHasClassesAndWeights) {
    const std::string bytes = unzip(write("pprof"));
    std::vector<std::string> strings;
    for (protozero::pbf_reader reader(bytes); reader.next();) {
        if (reader.tag() == 6)
            strings.push_back(reader.get_string());
        else
            reader.skip();
    }
    ASSERT_FALSE(strings.empty());
    EXPECT_EQ(strings[0], "");
    std::map<std::string, double> cpu;
    std::set<uint64_t> locations, functions, used_locations, used_functions;
    int64_t samples = 0;
    for (protozero::pbf_reader reader(bytes); reader.next();) {
        if (reader.tag() == 2) {
            protozero::pbf_reader sample = reader.get_message();
            std::vector<int64_t> values;
            std::string call_class;
            while (sample.next()) {
                if (sample.tag() == 1) {
                    for (const uint64_t id : sample.get_packed_uint64())
                        used_locations.insert(id);
                } else if (sample.tag() == 2) {
                    for (const int64_t value : sample.get_packed_int64())
                        values.push_back(value);
                } else if (sample.tag() == 3) {
                    protozero::pbf_reader label = sample.get_message();
                    int64_t key = 0, text = 0;
                    while (label.next()) {
                        if (label.tag() == 1)
                            key = label.get_int64();
                        else if (label.tag() == 2)
                            text = label.get_int64();
                        else
                            label.skip();
                    }
                    if (strings.at(static_cast<size_t>(key)) == "class")
                        call_class = strings.at(static_cast<size_t>(text));
                } else {
                    sample.skip();
                }
            }
            ASSERT_EQ(values.size(), 4u);
            samples += values[0];
            cpu[call_class] += static_cast<double>(values[1]);
        } else if (reader.tag() == 4) {
            protozero::pbf_reader location = reader.get_message();
            while (location.next()) {
                if (location.tag() == 1) {
                    locations.insert(location.get_uint64());
                } else if (location.tag() == 4) {
                    protozero::pbf_reader line = location.get_message();
                    while (line.next()) {
                        if (line.tag() == 1)
                            used_functions.insert(line.get_uint64());
                        else
                            line.skip();
                    }
                } else {
                    location.skip();
                }
            }
        } else if (reader.tag() == 5) {
            protozero::pbf_reader function = reader.get_message();
            while (function.next()) {
                if (function.tag() == 1)
                    functions.insert(function.get_uint64());
                else
                    function.skip();
            }
        } else {
            reader.skip();
        }
    }
    EXPECT_EQ(static_cast<size_t>(samples), model.samples().size());
    EXPECT_EQ(written, model.samples().size());
    for (const CallClass one : all_call_classes)
        EXPECT_EQ(cpu[std::string(to_string(one))], expected_ns(one)) << to_string(one);
    EXPECT_EQ(locations, used_locations);
    EXPECT_EQ(functions, used_functions);
    EXPECT_THAT(strings, testing::Contains(long_name));
    EXPECT_THAT(strings, testing::Contains("bad\\xff\\xfe"));
    EXPECT_THAT(strings, testing::Contains(export_losses(model).front()));
}

// Address, and the names of its lines, innermost first.
std::multimap<uint64_t, std::vector<std::string>> pprof_locations(const std::string& bytes) {
    std::vector<std::string> strings;
    std::map<uint64_t, size_t> names; // by function
    std::multimap<uint64_t, std::vector<uint64_t>> found;
    for (protozero::pbf_reader reader(bytes); reader.next();) {
        if (reader.tag() == 6) {
            strings.push_back(reader.get_string());
        } else if (reader.tag() == 5) {
            uint64_t id = 0;
            for (protozero::pbf_reader function = reader.get_message(); function.next();) {
                if (function.tag() == 1)
                    id = function.get_uint64();
                else if (function.tag() == 2)
                    names[id] = static_cast<size_t>(function.get_int64());
                else
                    function.skip();
            }
        } else if (reader.tag() == 4) {
            uint64_t address = 0;
            std::vector<uint64_t> functions;
            for (protozero::pbf_reader location = reader.get_message(); location.next();) {
                if (location.tag() == 3) {
                    address = location.get_uint64();
                } else if (location.tag() == 4) {
                    for (protozero::pbf_reader line = location.get_message(); line.next();) {
                        if (line.tag() == 1)
                            functions.push_back(line.get_uint64());
                        else
                            line.skip();
                    }
                } else {
                    location.skip();
                }
            }
            found.emplace(address, functions);
        } else {
            reader.skip();
        }
    }
    std::multimap<uint64_t, std::vector<std::string>> locations;
    for (const auto& [address, functions] : found) {
        std::vector<std::string> lines;
        for (const uint64_t function : functions)
            lines.push_back(strings.at(names.at(function)));
        locations.emplace(address, lines);
    }
    return locations;
}

TEST(PprofRules, KeepLocationsTrueWhereFramesAreDropped) {
    Model model;
    SyntheticStream stream{model};
    const LocationId outer = stream.location("outer"), inner = stream.location("inner");
    const uint64_t at_outer = model.symbols().location(outer).address,
                   at_inner = model.symbols().location(inner).address;
    const Frame of_inner[3] = {
        {"f", "a.cc", 1, true}, {"f", "a.cc", 2, true}, {"glue", "a.cc", 3, false}};
    const Frame of_outer[2] = {{"f", "a.cc", 4, true}, {"main", "a.cc", 5, false}};
    model.on_frames(inner, of_inner);
    model.on_frames(outer, of_outer);
    stream.sample(1, 1, stream.stack({"outer", "outer"})); // it called itself from one place
    stream.sample(2, 1, stream.stack({"outer", "inner"}));
    stream.sample(3, 1, stream.stack({"outer"}));
    const auto locations = [&](std::vector<Rule> rules) {
        model.set_rules(*Rules::compile(std::move(rules)));
        StringSink sink;
        EXPECT_TRUE(find_export_format("pprof")->write(model, {}, sink));
        return pprof_locations(unzip(sink.text));
    };
    using Locations = std::multimap<uint64_t, std::vector<std::string>>;
    const Rule no_glue{Rule::Kind::drop_frame, "glue", {}},
        fold{Rule::Kind::fold_recursion, {}, {}};
    EXPECT_EQ(locations({}),
              (Locations{{at_inner, {"f", "f", "glue"}}, {at_outer, {"f", "main"}}}));
    EXPECT_EQ(locations({no_glue}), (Locations{{at_inner, {"f", "f"}}, {at_outer, {"f", "main"}}}));
    // One address has other lines where recursion goes on further in.
    EXPECT_EQ(locations({fold, no_glue}),
              (Locations{{at_inner, {"f"}}, {at_outer, {"f", "main"}}, {at_outer, {"main"}}}));
    EXPECT_EQ(locations({{Rule::Kind::drop_frame, "f|glue", {}}}),
              (Locations{{at_outer, {"main"}}}));
}

} // namespace
} // namespace auger
