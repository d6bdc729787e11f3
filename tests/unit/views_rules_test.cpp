// SPDX-License-Identifier: GPL-3.0-or-later
// Rules change names and frames in every view and export alike, never a total, and leave what was
// collected as it is.
#include "tests/support/durations.h"
#include "views/model/rules.h"

#include "tests/unit/synthetic_stream.h"
#include "views/exports/collapsed.h"
#include "views/json/json_views.h"
#include "views/model/account.h"
#include "views/model/diff.h"
#include "views/model/function_probe.h"
#include "views/model/neighbours.h"
#include "views/model/stack_completeness.h"
#include "views/model/thread_sums.h"
#include "views/screen/drill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Kind = Rule::Kind;

Rules compiled(std::vector<Rule> rules) {
    auto compiled = Rules::compile(std::move(rules));
    EXPECT_TRUE(compiled) << compiled.error().message();
    return compiled ? *compiled : Rules();
}

TEST(Rules, RewriteEveryMatchWithGroups) {
    const Rules rules = compiled({{Kind::rewrite_frame, "std::__(1|cxx11)::", "std::"},
                                  {Kind::rewrite_thread, R"((raftstore)-\d+)", R"(\1 \\)"}});
    EXPECT_EQ(rules.frame_name("std::__1::map<std::__cxx11::string>").name,
              "std::map<std::string>");
    EXPECT_EQ(rules.thread_name("raftstore-17"), R"(raftstore \)");
    EXPECT_EQ(rules.thread_name("std::__1::x"), "std::__1::x");
    EXPECT_EQ(rules.frame_name("raftstore-17").name, "raftstore-17");
}

TEST(Rules, ApplyInTheirOrder) {
    const Rule rename{Kind::rewrite_frame, "^a$", "b"}, drop{Kind::drop_frame, "^b$", {}};
    EXPECT_TRUE(compiled({rename, drop}).frame_name("a").dropped);
    EXPECT_EQ(compiled({drop, rename}).frame_name("a").name, "b");
    EXPECT_FALSE(compiled({drop, rename}).frame_name("a").dropped);
    // Each once: what a rule made is not its own input.
    EXPECT_EQ(compiled({{Kind::rewrite_frame, "a", "aa"}}).frame_name("a").name, "aa");
}

TEST(Rules, ErrorsPointAtTheirPlace) {
    const auto at = [](const Rule& rule) {
        const auto rules = Rules::compile({rule});
        EXPECT_FALSE(rules);
        return rules || !rules.error().at ? Error::Range{99, 99} : *rules.error().at;
    };
    EXPECT_EQ(at({Kind::drop_frame, "ab[z-a]c", {}}), (Error::Range{3, 3}));
    EXPECT_EQ(at({Kind::drop_frame, R"(x\8)", {}}), (Error::Range{1, 2}));
    EXPECT_EQ(at({Kind::rewrite_frame, "(a)", R"(x\2)"}), (Error::Range{1, 2}));
    EXPECT_EQ(at({Kind::rewrite_frame, "(a)", R"(\1\x)"}), (Error::Range{2, 2}));
    EXPECT_EQ(at({Kind::rewrite_thread, "a", R"(x\)"}), (Error::Range{1, 1}));
    EXPECT_FALSE(Rules::compile({{Kind::drop_frame, "(a", {}}}));
    EXPECT_FALSE(Rules::compile({{Kind::drop_frame, std::string(5000, 'a'), {}}}));
}

TEST(Rules, NamesStayBounded) {
    const Rules rules = compiled({{Kind::rewrite_frame, "a", std::string(500, 'a')}});
    EXPECT_LE(rules.frame_name(std::string(10'000, 'a')).name.size(), Rules::longest_name);
}

class RuledModel : public testing::Test {
  protected:
    // Calls of handle, slow beyond 5 ms: those are in rebuild, which calls itself.
    RuledModel() {
        const SpecId handle = stream.probe(1, "handle");
        stream.split(1, stream.fixed(5 * ms));
        uint64_t now = 10 * ms;
        std::vector<uint64_t> durations;
        for (int i = 0; i < 20; i++, now += 20 * ms) {
            const uint64_t duration = i % 2 ? 9 * ms : 2 * ms;
            const CallKey call = stream.call(handle, now);
            const std::vector<std::string> path =
                i % 2 ? std::vector<std::string>{"_start",  "loop", "handle",  "glue",
                                                 "rebuild", "glue", "rebuild", "rebuild"}
                      : std::vector<std::string>{"_start", "loop", "handle", "glue", "parse"};
            for (uint64_t at = 0; at < duration; at += ms)
                sample(now + at, i % 3 ? "worker-1" : "worker-2", path, call);
            stream.end(101, call, duration);
            durations.push_back(duration);
        }
        SlowCallEvent slow;
        slow.end.call = stream.call(handle, now);
        slow.end.thread = stream.thread(101, "worker-1");
        slow.end.time_ns = now + 8 * ms;
        slow.end.duration_ns = 8 * ms;
        slow.stack = stream.stack({"_start", "loop", "glue", "handle"});
        model.on_slow_call(slow);
        stream.stats(now, handle, durations);
        stream.ledger(now);
    }
    void sample(uint64_t time_ns, const std::string& comm, const std::vector<std::string>& path,
                const CallKey& call) {
        SampleEvent event;
        event.time_ns = time_ns;
        event.weight_ns = ms;
        event.thread = stream.thread(comm == "worker-1" ? 101 : 102, comm);
        event.stack = stream.stack(path);
        event.calls = {&call, 1};
        model.on_sample(event);
    }
    void rule(std::vector<Rule> rules) { model.set_rules(compiled(std::move(rules))); }
    std::string stacks(GroupBy by = *GroupBy::named("comm")) const {
        return collapsed_stacks(model, {{{}, by, ""}, {}});
    }
    std::string write(const char* format) const {
        StringSink sink;
        EXPECT_TRUE(find_export_format(format)->write(model, {}, sink));
        return sink.text;
    }
    double self_ns(const std::string& name) const {
        double sum = 0;
        for (const FunctionSums& function : sum_functions(model, {}))
            if (model.symbols().name(function.function) == name)
                sum += function.self.sum().weight_ns;
        return sum;
    }

    Model model;
    SyntheticStream stream{model};
};

TEST_F(RuledModel, EveryViewShowsWhatRulesMake) {
    const Account before = make_account(model);
    rule({{Kind::rewrite_thread, R"(worker-\d)", "worker"},
          {Kind::rewrite_frame, "^re(build)$", R"(\1_tree)"},
          {Kind::drop_frame, "^(_start|glue)$", {}},
          {Kind::fold_recursion, {}, {}}});
    EXPECT_EQ(stacks(), "# rule: rewrite thread /worker-\\d/ worker.\n"
                        "# rule: rewrite frame /^re(build)$/ \\1_tree.\n"
                        "# rule: drop frame /^(_start|glue)$/.\n"
                        "# rule: fold recursion.\n"
                        "worker;loop;handle;build_tree 90\n"
                        "worker;loop;handle;parse 20\n");
    std::vector<std::string> all = {
        to_text(flame_view(model, {}, {}, *GroupBy::named("comm"))),
        to_text(top_view(model, {})),
        to_text(threads_view(model, {})),
        to_text(*calls_view(model, {}, {})),
        to_text(*diff_view(model, {}, CallClass::slow, CallClass::fast)),
        to_text(neighbours_view(
            model, {},
            {find_functions(model.symbols(), "handle").at(0), FunctionFocus::Kind::callees}, {})),
        flame_json(model, {}),
        top_json(model, {}),
        threads_json(model, {}),
        *diff_json(model, {}, CallClass::slow, CallClass::fast),
        calls_json(model, {})->at(0)};
    for (const char* format : {"collapsed", "perf-script", "speedscope", "html", "svg",
                               "chrome-trace", "calls-csv", "calls-json"})
        all.push_back(write(format));
    for (std::string text : all) {
        // The rules themselves have the names.
        for (size_t at = 0; (at = text.find("rule: ", at)) != text.npos;)
            text.erase(at, text.find_first_of("\n\"", at) - at);
        EXPECT_THAT(text, Not(HasSubstr("_start")));
        EXPECT_THAT(text, Not(HasSubstr("glue")));
        EXPECT_THAT(text, Not(HasSubstr("rebuild")));
        EXPECT_THAT(text, Not(HasSubstr("worker-")));
        EXPECT_THAT(text, testing::AnyOf(HasSubstr("build_tree"), HasSubstr("handle"),
                                         HasSubstr("worker")));
    }
    // What was collected is the same.
    const Account after = make_account(model);
    for (const CallClass one : all_call_classes)
        EXPECT_EQ(after.classes[one].weight_ns, before.classes[one].weight_ns);
    EXPECT_EQ(sum_threads(model, {}, {}).size(), 2u); // they are told apart by number
    EXPECT_THAT(
        nlohmann::json::parse(status_json(model, {}))["rules"].get<std::vector<std::string>>(),
        testing::Contains("fold recursion"));
    EXPECT_THAT(to_text(status_view(model, {}, {})), HasSubstr("drop frame /^(_start|glue)$/"));
}

TEST_F(RuledModel, TotalsStayAndOwnTimeGoesToTheCallerThatIsLeft) {
    const double parse = self_ns("parse"), handle = self_ns("handle");
    EXPECT_EQ(parse, 20.0 * ms);
    EXPECT_EQ(handle, 0);
    rule({{Kind::drop_frame, "^(glue|parse|rebuild)$", {}}});
    EXPECT_EQ(self_ns("handle"), 110.0 * ms);
    EXPECT_EQ(self_ns("parse"), 0);
    EXPECT_EQ(stacks(GroupBy::process),
              "# rule: drop frame /^(glue|parse|rebuild)$/.\n"
              "worker-1;_start;loop;handle 75\nworker-2;_start;loop;handle 35\n");
    // Without any frame a sample is its label's.
    rule({{Kind::drop_frame, ".", {}}});
    const FlameTree tree = fold(model, {});
    EXPECT_EQ(tree.total(0).weight_ns, 110.0 * ms);
    EXPECT_THAT(stacks(GroupBy::process), testing::EndsWith("\nworker-1 75\nworker-2 35\n"));
    const StackCompleteness complete = stack_completeness(model);
    EXPECT_EQ(complete.whole, 110u);
}

TEST_F(RuledModel, WithoutRulesEverythingIsAsItWas) {
    const std::string before = stacks(), html = write("html"), calls = write("calls-csv");
    rule({{Kind::rewrite_thread, "worker", ""},
          {Kind::rewrite_frame, "e", "EE"},
          {Kind::drop_frame, "l", {}}});
    EXPECT_NE(stacks(), before);
    rule({{Kind::rewrite_thread, "worker", "w"}});
    EXPECT_THAT(stacks(), HasSubstr("\nw-1;"));
    rule({});
    EXPECT_EQ(stacks(), before);
    EXPECT_EQ(write("html"), html);
    EXPECT_EQ(write("calls-csv"), calls);
}

TEST_F(RuledModel, RecursionIsFoldedBehindTheOtherRules) {
    rule({{Kind::fold_recursion, {}, {}}});
    EXPECT_THAT(stacks(), HasSubstr(";glue;rebuild;glue;rebuild 63\n")); // adjacent alone
    rule({{Kind::fold_recursion, {}, {}}, {Kind::drop_frame, "glue", {}}});
    EXPECT_THAT(stacks(), HasSubstr(";handle;rebuild 63\n"));
    rule({{Kind::drop_frame, "glue", {}}});
    EXPECT_THAT(stacks(), HasSubstr(";handle;rebuild;rebuild;rebuild 63\n"));
}

// Names that come later, and threads and functions that were not there yet, obey too.
TEST_F(RuledModel, RulesHoldForWhatComesLater) {
    rule({{Kind::rewrite_frame, "^new$", "renamed"},
          {Kind::drop_frame, "^gone", {}},
          {Kind::rewrite_thread, "^late", "early"}});
    const CallKey none{};
    sample(900 * ms, "late-1", {"_start", "new", "gone_1"}, none);
    EXPECT_THAT(stacks(), HasSubstr("\nearly-1;_start;renamed 1\n"));
    Frame frames[2] = {{"gone_inlined", "a.cc", 1, true}, {"better", "a.cc", 2, false}};
    model.on_frames(stream.location("new"), frames);
    EXPECT_THAT(stacks(), HasSubstr("\nearly-1;_start;better 1\n"));
    rule({});
    EXPECT_THAT(stacks(), HasSubstr("late-1;_start;better;gone_inlined;gone_1 1\n"));
}

// Probes are named as the program names functions.
TEST_F(RuledModel, ADifferenceBeginsAtTheProbeWhateverItIsCalled) {
    const auto names = [&] {
        std::set<std::string> names;
        const auto difference = diff_classes(model, {}, CallClass::slow, CallClass::fast);
        for (const FunctionDiff& function : difference->functions)
            names.emplace(model.symbols().name(function.function));
        return names;
    };
    EXPECT_EQ(names(), (std::set<std::string>{"handle", "glue", "rebuild", "parse"}));
    rule({{Kind::rewrite_frame, "handle", "h"}});
    EXPECT_EQ(names(), (std::set<std::string>{"h", "glue", "rebuild", "parse"}));
    rule({{Kind::drop_frame, "handle", {}}});
    EXPECT_EQ(names(), (std::set<std::string>{"glue", "rebuild", "parse"}));
}

TEST_F(RuledModel, FunctionsAreFoundByTheNamesThatAreShown) {
    rule({{Kind::rewrite_frame, "^(parse|rebuild)$", "work"}, {Kind::drop_frame, "^loop$", {}}});
    EXPECT_TRUE(find_functions(model.symbols(), "parse").empty());
    EXPECT_TRUE(find_functions(model.symbols(), "loop").empty());
    ASSERT_EQ(find_functions(model.symbols(), "work").size(), 1u);
    EXPECT_THAT(collapsed_stacks(model, {{{}, GroupBy::process, "work"}, {}}),
                HasSubstr("\nworker-1;work;glue;work;work 63\n"));
    // A key pressed there times what the program has; of several functions it cannot tell which.
    Subject subject;
    subject.function = find_functions(model.symbols(), "work")[0];
    EXPECT_THAT(drill_command(Action::time_it, model, {}, subject).why_not,
                HasSubstr("2 functions"));
    rule({{Kind::rewrite_frame, "^parse$", "work"}});
    subject.function = find_functions(model.symbols(), "work").at(0);
    EXPECT_EQ(drill_command(Action::time_it, model, {}, subject).command, "time parse");
    rule({{Kind::rewrite_frame, "^handle$", "work"}});
    subject.function = find_functions(model.symbols(), "work").at(0);
    ASSERT_NE(probe_of(model, *subject.function), nullptr);
    EXPECT_EQ(probe_of(model, *subject.function)->text, "handle");
}

TEST_F(RuledModel, NastyNamesStayHarmless) {
    const CallKey none{};
    const std::string long_name = "std::map<" + std::string(10'000, 'T') + ">::find(int)";
    for (const std::string& name :
         {std::string("(anonymous namespace)::f"), std::string("a;b c"), std::string("x"),
          std::string("bad\xff\xfe"), std::string("esc\x1b[2J\nnext"), std::string(), long_name,
          std::string("nul\0in", 6)})
        sample(900 * ms, "c\xff\x1b;omm", {"_start", name, "leaf"}, none);
    for (const Rule& one :
         {Rule{Kind::rewrite_frame, "T+", "T"}, Rule{Kind::rewrite_frame, ".", ""},
          Rule{Kind::rewrite_frame, "$", "\x1b]0;<script>"},
          Rule{Kind::rewrite_frame, "x*", "\\0;\\0"}, Rule{Kind::rewrite_thread, ".*", "\n,\"\x1b"},
          Rule{Kind::drop_frame, R"(\C)", {}}}) {
        rule({one});
        for (const ExportFormat& format : export_formats()) {
            const std::string text = write(std::string(format.name).c_str());
            if (format.name == "pprof" || format.name == "otlp") // bytes
                continue;
            EXPECT_EQ(text.find('\x1b'), text.npos) << format.name;
            const bool json = format.name == "speedscope" || format.name == "chrome-trace";
            EXPECT_TRUE(!json || nlohmann::json::accept(text)) << format.name;
        }
        EXPECT_EQ(to_text(flame_view(model, {})).find('\x1b'), std::string::npos);
        EXPECT_EQ(fold(model, {}).total(0).weight_ns, 118.0 * ms);
    }
}

} // namespace
} // namespace auger
