// SPDX-License-Identifier: GPL-3.0-or-later
// Spans by the USDT probes of auger.h: which names make one, and `span auto` with them.
#include "repl/language/span_arguments.h"
#include "repl/session/marked_spans.h"
#include "tests/unit/repl_fake_backend.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

UsdtProbes probes_named(const std::vector<std::string>& names) {
    UsdtProbes probes;
    for (const std::string& name : names)
        probes.add_site({"/usr/bin/shop", "auger", name, "8@%rdi", true});
    return probes;
}

TEST(MarkedSpans, ABeginningAndAnEndMakeOne) {
    const MarkedSpans found = marked_spans(
        probes_named({"order__end", "order__begin", "order__begin", "cache_miss", "job__resume",
                      "job__begin", "job__park", "job__end", "a__begin__begin", "a__begin__end"}));
    ASSERT_THAT(found.spans, SizeIs(3));
    EXPECT_EQ(found.spans[0].name, "a__begin");
    EXPECT_EQ(found.spans[2].name, "order");
    EXPECT_EQ(found.spans[2].definition,
              "from usdt:auger:order__begin key arg0 to usdt:auger:order__end key arg0");
    EXPECT_EQ(found.spans[1].definition,
              "from usdt:auger:job__begin key arg0 to usdt:auger:job__end key arg0 "
              "park usdt:auger:job__park key arg0 resume usdt:auger:job__resume key arg0");
    // It is what `span` reads.
    EXPECT_EQ(span_of(found.spans[1].definition).text, found.spans[1].definition);
    EXPECT_THAT(found.left_out, IsEmpty());
}

TEST(MarkedSpans, OthersAreLeftOutWithTheReason) {
    UsdtProbes probes = probes_named({"half__begin", "other__end", "x y__begin", "x y__end",
                                      "\x1b[2J__begin", "__begin", "__end", "lone__park"});
    probes.add_site({"/usr/bin/shop", "postgresql", "query__begin", "", false});
    probes.add_site({"/usr/bin/shop", "postgresql", "query__end", "", false});
    const MarkedSpans found = marked_spans(probes);
    EXPECT_THAT(found.spans, IsEmpty());
    EXPECT_THAT(found.left_out,
                ElementsAre(": this is no name for a span", "\x1b[2J: this is no name for a span",
                            "half: there is no usdt:auger:half__end",
                            "lone: there is no usdt:auger:lone__begin",
                            "other: there is no usdt:auger:other__begin",
                            "x y: this is no name for a span"));
}

TEST(MarkedSpans, AreNotAnyNumber) {
    UsdtProbes probes;
    for (int i = 0; i < 1000; ++i)
        for (const char* role : {"begin", "end"})
            probes.probes.push_back(
                {"/usr/bin/shop", "auger", "s" + std::to_string(i) + "__" + role, "", true, 1});
    const MarkedSpans found = marked_spans(probes);
    EXPECT_THAT(found.spans, SizeIs(64));
    EXPECT_THAT(found.left_out, SizeIs(1000 - 64));
}

TEST(MarkedSpans, AreMadeBySpanAuto) {
    TestSession test;
    test.run("target 4711");
    test.backend.marks =
        probes_named({"order__begin", "order__end", "bad name__begin", "half__end"});
    test.backend.marks.skipped = {"usdt:auger:far__begin in /usr/bin/shop: it is no code"};
    const std::string said = test.run("span auto");
    EXPECT_THAT(said,
                HasSubstr("timing order (probe 1) from usdt:auger:order__begin key arg0 to "));
    EXPECT_THAT(said, HasSubstr("  left out: bad name: this is no name for a span\n"));
    EXPECT_THAT(said, HasSubstr("  left out: half: there is no usdt:auger:half__begin\n"));
    EXPECT_THAT(said, HasSubstr("  left out: usdt:auger:far__begin in /usr/bin/shop: "));
    EXPECT_THAT(test.run("hist order"), Not(HasSubstr("error")));
    EXPECT_THAT(test.run("span auto"), HasSubstr("order (probe 1) is timed already"));
    // Beside what is known of the program.
    test.backend.process_name = "nginx";
    EXPECT_THAT(test.run("span auto"), HasSubstr("timing request (probe 2) from ngx_http_"));
}

// What cannot be made of the one program is no reason to do without the other's.
TEST(MarkedSpans, AreMadeWithoutThoseThatCannotBe) {
    TestSession nginx, both;
    for (TestSession* test : {&nginx, &both}) {
        test->backend.process_name = "nginx";
        test->run("target 4711");
    }
    nginx.run("span auto");
    const auto made = std::ranges::find_if(nginx.backend.log, [](const std::string& line) {
        return line.starts_with("add 1 request ");
    });
    ASSERT_NE(made, nginx.backend.log.end());
    both.backend.marks = probes_named({"order__begin", "order__end"});
    both.backend.failing = {*made};
    const std::string said = both.run("span auto");
    EXPECT_THAT(said, HasSubstr("from usdt:auger:order__begin key arg0 to "));
    EXPECT_THAT(said, HasSubstr("  left out: nginx: "));
    EXPECT_EQ(both.failure, std::nullopt);
}

TEST(MarkedSpans, AreSuggested) {
    TestSession test;
    test.run("target 4711");
    EXPECT_THAT(test.run("suggest"), Not(HasSubstr("span auto")));
    test.backend.marks = probes_named({"order__begin", "order__end", "job__begin", "job__end"});
    EXPECT_THAT(test.run("suggest"),
                HasSubstr("\"span auto\" times what the program marks: job, order\n"));
}

TEST(MarkedSpans, OneThatCannotBeMadeIsLeftOut) {
    TestSession test;
    test.run("target 4711");
    test.run("time order");
    test.backend.marks = probes_named({"order__begin", "order__end"});
    EXPECT_THAT(test.run("span auto"),
                HasSubstr("test.aug:1:1: error: \"order\" is a probe already"));
    test.backend.marks = probes_named({"order__begin", "order__end", "job__begin", "job__end"});
    const std::string said = test.run("span auto");
    EXPECT_THAT(said, HasSubstr("timing job (probe 2)"));
    EXPECT_THAT(said, HasSubstr("  left out: order: \"order\" is a probe already\n"));
    test.run("delete job");
    test.backend.marks = probes_named({"half__begin"});
    EXPECT_THAT(test.run("span auto"),
                HasSubstr("no program of the target is one that spans are known of (half: there is "
                          "no usdt:auger:half__end)"));
}

} // namespace
} // namespace auger
