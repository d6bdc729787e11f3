// SPDX-License-Identifier: GPL-3.0-or-later
// Each view of one made-up session, at 80 columns, beside the file that a person has looked at.
// AUGER_UPDATE_GOLDEN=1 writes the files anew, and fails.
#include "tests/support/durations.h"
#include "tests/unit/golden.h"
#include "tests/unit/synthetic_stream.h"
#include "views/exports/collapsed.h"
#include "views/json/json_views.h"
#include "views/text/views.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace auger {
namespace {

class Golden : public testing::Test {
  protected:
    // 2,000 requests; each twentieth scans, and one in a hundred waits in recv.
    Golden() {
        SpecId handle = stream.probe(1, "handle");
        slow = stream.probe(2, "libc:recv", stream.fixed(5 * ms));
        stream.split(1, stream.percentile(95));
        std::vector<std::string> base = {"_start", "std::thread::_M_run", "worker", "handle"};
        auto path = [&](std::vector<std::string> rest) {
            std::vector<std::string> all = base;
            all.insert(all.end(), rest.begin(), rest.end());
            return stream.stack(all);
        };
        StackId parse = path({"parse"}),
                reply = path({"respond", "send", "k:do_syscall_64", "k:tcp_sendmsg"});
        StackId scan = path({"respond",
                             "lookup(Request const&, std::basic_string_view<char, "
                             "std::char_traits<char> >)",
                             "full_scan\x1b[2J(std::vector<int>&)"});
        StackId read = path({"recv", "k:do_syscall_64", "k:tcp_recvmsg", "k:schedule"});
        StackId idle = stream.stack({"_start", "idle"});
        std::mt19937 random(42);
        std::vector<uint64_t> durations;
        for (uint64_t i = 1; i <= 2000; i++) {
            uint64_t start = i * 10 * ms;
            bool scans = i % 25 == 0, waits = i % 100 == 7;
            uint64_t duration =
                800 * us + random() % (400 * us) + (scans ? 6 * ms : 0) + (waits ? 8 * ms : 0);
            CallKey call = stream.call(handle, start);
            uint32_t tid = 101 + i % 3;
            bool sampled = false;
            for (uint64_t at = random() % ms; at < duration; at += ms, sampled = true) {
                StackId stack = at < 300 * us   ? parse
                                : at < 800 * us ? reply
                                : scans         ? scan
                                : waits         ? read
                                                : reply;
                stream.sample(start + at, tid, stack, {call}, 1'001'001);
            }
            if (sampled && i < 1999)
                stream.end(tid, call, duration);
            durations.push_back(duration);
            if (i % 7 == 0)
                stream.sample(start + 9 * ms, tid, idle, {}, 1'001'001);
            if (waits)
                model.on_slow_call(
                    {{start + duration, 8 * ms + i * us, stream.thread(tid),
                      stream.call(slow, start + us), 8, i == 1907, CallWaits{7 * ms, ms / 4}},
                     5 * ms,
                     read,
                     {7 * ms, "recvfrom(9) tcp 127.0.0.1:80 -> 127.0.0.1:4711"},
                     {{"fd", "9 (tcp 127.0.0.1:80 -> 127.0.0.1:4711)"},
                      {"buf", "page not present", false},
                      {"ret", "-1"},
                      {"errno", "EAGAIN (11)"}},
                     {&call, 1}});
            if (i % 100 == 0) {
                stream.stats(start, handle, durations, i == 1000 ? 2 : 0, i == 2000 ? 1 : 0);
                stream.stats(start, slow, std::vector<uint64_t>(100, 40 * us), 0, 0, i == 500);
                durations.clear();
            }
        }
        stream.ledger(20'000 * ms, 120, 3);
        model.on_notice(20'000 * ms, "104 service\x07: exited");
        model.on_time(20'050 * ms);
        context.target.spec.kind = TargetSpec::Kind::pids;
        context.target.processes = {{100, "service", "www-data", true, ""},
                                    {104, "ser\nvice", "", false, "exit code 1"}};
        context.links = {11, 12, 13, 15};
        context.symbols.pending = 4;
        context.symbols.modules = {"libLLVM-14.so.1 (38 %)"};
        context.readers.services = {{"dwarf", {2, 31'000'000}}, {"names", {1, 2'720'000}}};
        context.readers.limit = 8'590'000'000;
    }

    void check(const std::string& name, const std::string& text) {
        expect_golden(name, text);
        if (name.ends_with(".txt"))
            for (size_t at = 0; at < text.size();) {
                size_t end = text.find('\n', at);
                size_t columns = 0; // of UTF-8 whose characters are one column wide here
                for (size_t i = at; i < end; i++)
                    columns += (text[i] & 0xc0) != 0x80;
                EXPECT_LE(columns, 80u);
                at = end + 1;
            }
    }

    Model model{5'000};
    SyntheticStream stream{model};
    SpecId slow;
    StatusContext context;
    ViewOptions options;
};

TEST_F(Golden, Flame) {
    check("flame.txt", to_text(flame_view(model, options)));
}
TEST_F(Golden, FlameSlow) {
    check("flame_slow.txt", to_text(flame_view(model, options, CallClass::slow)));
}
TEST_F(Golden, FlameAscii) {
    options.unicode = false;
    std::string text = to_text(flame_view(model, options));
    for (char c : text)
        ASSERT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
    check("flame_ascii.txt", text);
}
TEST_F(Golden, Diff) {
    Result<Canvas> canvas = diff_view(model, options, CallClass::slow, CallClass::fast);
    ASSERT_TRUE(canvas);
    check("diff.txt", to_text(*canvas));
}
TEST_F(Golden, Top) {
    check("top.txt", to_text(top_view(model, options)));
}
TEST_F(Golden, Threads) {
    check("threads.txt", to_text(threads_view(model, options)));
}
TEST_F(Golden, Hist) {
    check("hist.txt", to_text(*hist_view(model, options, ProbeId{1})));
}
TEST_F(Golden, Calls) {
    options.limit = 2;
    check("calls.txt", to_text(*calls_view(model, options)));
}
TEST_F(Golden, Probes) {
    check("probes.txt", to_text(probes_view(model, options)));
}
// A glob's functions, one without a call, and two of equal name.
TEST_F(Golden, Functions) {
    const std::vector<std::string> names = {
        "parse_header(Request&)", "parse_body(Request&)", "parse_trailer(Request&)",
        "ns::detail::Parser<std::map<int, std::string> >::parse_chunk(char const*, unsigned long)",
        "parse_body(Request&)"};
    std::vector<SpecId> specs;
    for (const std::string& name : names)
        specs.push_back(stream.add_spec(3, name));
    stream.edit_probe(3, "parse_*", specs, {});
    stream.stats(20'010 * ms, specs[0], {5 * us, 7 * us, 9 * us, 900 * us});
    stream.stats(20'010 * ms, specs[1], {2 * ms, 3 * ms}, 0, 1);
    stream.stats(20'010 * ms, specs[3], std::vector<uint64_t>(1'234'567, 3 * us));
    stream.stats(20'010 * ms, specs[4], {}, 0, 1);
    check("functions.txt", to_text(functions_view(model, options)));
    options.width = 120;
    expect_golden("functions_p99.txt",
                  to_text(functions_view(model, options, ProbeId{3}, FunctionColumn::p99)));
}
TEST_F(Golden, Status) {
    // How much memory things take is the compiler's and its library's affair.
    std::string text = to_text(status_view(model, options, context));
    const size_t memory = text.find("\nmemory ");
    ASSERT_NE(memory, text.npos);
    size_t end = text.find('\n', memory + 1);
    while (end != text.npos && text.compare(end + 1, 4, "    ") == 0)
        end = text.find('\n', end + 1);
    EXPECT_NE(text.substr(memory, end - memory).find("stacks and names"), text.npos);
    text.erase(memory, end - memory);
    check("status.txt", text);
}
TEST_F(Golden, Folded) {
    check("stacks.folded", collapsed_stacks(model, {{CallClass::slow, GroupBy::process, ""}, {}}));
}

TEST_F(Golden, NarrowAndEmptyViewsStayWithinTheirWidth) {
    Model empty;
    for (const Model* m : {&model, &empty})
        for (size_t width : {1, 40, 57, 200}) {
            options.width = width;
            for (const Canvas& canvas :
                 {flame_view(*m, options), top_view(*m, options), probes_view(*m, options),
                  status_view(*m, options, context), *calls_view(*m, options)})
                for (size_t y = 0; y < canvas.height(); y++)
                    ASSERT_LE(canvas.row(y).size(), std::max<size_t>(width, 40));
        }
    EXPECT_FALSE(hist_view(empty, options, ProbeId{1}));
    EXPECT_FALSE(calls_view(empty, options, ProbeId{9}));
}

// The fields that others rely on.
TEST_F(Golden, JsonHasItsFields) {
    using nlohmann::json;
    json hist = json::parse(*hist_json(model, {}, ProbeId{1}));
    EXPECT_EQ(hist["schema"], 1);
    EXPECT_EQ(hist["command"], "hist");
    EXPECT_EQ(hist["probe"], "handle");
    EXPECT_EQ(hist["count"], 2000);
    EXPECT_EQ(hist["unwound"], 2);
    EXPECT_EQ(hist["open"], 1);
    EXPECT_EQ(hist["dropped"], 0);
    uint64_t in_buckets = 0;
    for (const json& bucket : hist["buckets"]) {
        ASSERT_EQ(bucket.size(), 3u);
        in_buckets += bucket[2].get<uint64_t>();
    }
    EXPECT_EQ(in_buckets, 2000u);
    for (const char* field : {"min", "max", "p50", "p95", "p99", "p999"})
        EXPECT_TRUE(hist[field].is_number_integer()) << field;

    json flame = json::parse(flame_json(model, {}));
    uint64_t samples = 0, weight = 0;
    for (const char* c : {"slow", "fast", "open", "outside"}) {
        samples += flame["classes"][c]["samples"].get<uint64_t>();
        weight += flame["classes"][c]["weight"].get<uint64_t>();
    }
    EXPECT_EQ(samples, model.samples().size());
    for (const json& stack : flame["stacks"]) {
        samples -= stack["samples"].get<uint64_t>();
        weight -= stack["weight"].get<uint64_t>();
        EXPECT_EQ(stack["stack"][0], "service"); // root first
        EXPECT_TRUE(stack["class"].is_string());
    }
    EXPECT_EQ(samples, 0u);
    EXPECT_EQ(weight, 0u);

    auto calls = *calls_json(model, {});
    ASSERT_EQ(calls.size(), 20u);
    json call = json::parse(calls[0]);
    EXPECT_EQ(call["probe"], "libc:recv");
    EXPECT_EQ(call["tid"], 102);
    EXPECT_EQ(call["comm"], "service");
    EXPECT_EQ(call["start"], 70 * ms + us);
    EXPECT_EQ(call["duration"], 8 * ms + 7 * us);
    EXPECT_EQ(call["stack"][0], "schedule"); // leaf first

    json status = json::parse(status_json(model, context));
    EXPECT_EQ(status["samples"], model.samples_received());
    EXPECT_EQ(status["calls"]["entries"].get<int>(),
              status["calls"]["returns"].get<int>() + status["calls"]["unwound"].get<int>() +
                  status["calls"]["open"].get<int>() + status["calls"]["dropped"].get<int>());
    EXPECT_EQ(status["lost"][lost_samples], 3);
    EXPECT_EQ(status["links"], (json{11, 12, 13, 15}));
    EXPECT_TRUE(status.contains("rate_achieved"));

    auto probes = probes_json(model);
    ASSERT_EQ(probes.size(), 2u);
    json probe = json::parse(probes[1]);
    EXPECT_EQ(probe["id"], 2);
    EXPECT_EQ(probe["spec"], "libc:recv");
    EXPECT_EQ(probe["threshold"], 5 * ms);
    EXPECT_TRUE(probe.contains("module") && probe.contains("offset") &&
                probe.contains("function") && probe.contains("kind"));

    json diff = json::parse(*diff_json(model, {}, CallClass::slow, CallClass::fast));
    EXPECT_TRUE(diff["functions"][0]["significant"].get<bool>());
    json threads = json::parse(threads_json(model, {}, {}));
    double of_threads = 0;
    for (const json& thread : threads["threads"])
        of_threads += thread["total"]["samples"].get<double>();
    EXPECT_EQ(of_threads, static_cast<double>(model.samples().size()));
    json top = json::parse(top_json(model, {}));
    EXPECT_GT(top["functions"].size(), 5u);
    const json three = json::parse(top_json(model, {}, {}, 3))["functions"];
    EXPECT_EQ(three,
              json(std::vector<json>(top["functions"].begin(), top["functions"].begin() + 3)));
    EXPECT_EQ(json::parse(threads_json(model, {}, {}, 1))["threads"],
              json({threads["threads"][0]}));
}

} // namespace
} // namespace auger
