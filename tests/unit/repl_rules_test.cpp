// SPDX-License-Identifier: GPL-3.0-or-later
// Rules as commands: read with their expressions as they stand, listed, taken away and undone.
#include "tests/unit/repl_fake_backend.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string flame(TestSession& test) {
    const std::string text = test.run("flame --folded by comm");
    EXPECT_EQ(test.failure, std::nullopt) << text;
    return text;
}

TEST(RuleCommands, AreInForceAtOnceAndUndone) {
    TestSession test;
    test.run("target 4711; time handle; sample 99; wait 100ms");
    const std::string before = flame(test);
    EXPECT_THAT(before, HasSubstr("service;main;handle;ns::parse(int) "));
    EXPECT_THAT(test.run(R"(rewrite frame /ns::(\w+)\(int\)/ \1; drop frame /^main$/
rewrite thread /^serv/ SERV)"),
                HasSubstr(R"(rule 1: rewrite frame /ns::(\w+)\(int\)/ \1)"));
    EXPECT_THAT(flame(test), HasSubstr("\nSERVice;handle;parse "));
    EXPECT_EQ(test.run("rules"), "  1  rewrite frame /ns::(\\w+)\\(int\\)/ \\1\n"
                                 "  2  drop frame /^main$/\n"
                                 "  3  rewrite thread /^serv/ SERV\n");
    EXPECT_THAT(test.run("rules off 2 1"), HasSubstr("1 rule left"));
    EXPECT_THAT(flame(test), HasSubstr("\nSERVice;main;handle;ns::parse(int) "));
    test.run("undo");
    EXPECT_THAT(flame(test), HasSubstr("\nSERVice;handle;parse "));
    test.run("rules off");
    EXPECT_EQ(flame(test), before);
    test.run("undo; undo; undo; undo");
    EXPECT_EQ(flame(test), before);
    EXPECT_THAT(test.run("rules"), HasSubstr("no rules"));
    // The backend never hears of them.
    EXPECT_THAT(test.backend.log, Not(testing::Contains(HasSubstr("rule"))));
}

TEST(RuleCommands, FoldRecursionOnce) {
    TestSession test;
    test.run("fold recursion");
    EXPECT_THAT(test.run("fold recursion"), HasSubstr("in force already"));
    EXPECT_EQ(test.session.settings().rules.size(), 1u);
    test.run("undo");
    EXPECT_TRUE(test.session.settings().rules.empty());
}

// An expression is one word, however the command before it is abbreviated.
TEST(RuleCommands, AreAbbreviatedBeforeExpressions) {
    TestSession test;
    for (const char* line : {"rewrite frame /a b/ x", "rewr fr /a b/ x", "dr f /a b/"}) {
        EXPECT_THAT(test.run(line), HasSubstr("/a b/")) << line;
        EXPECT_EQ(test.failure, std::nullopt) << line;
    }
}

TEST(RuleCommands, ComplainAtTheExactPlace) {
    TestSession test;
    EXPECT_THAT(test.run("drop frame /ab[z-a]c/"),
                HasSubstr("test.aug:1:16: error: invalid character class range: z-a\n"
                          "    drop frame /ab[z-a]c/\n"
                          "                   ^~~\n"));
    EXPECT_THAT(test.run(R"(rewrite frame /(a)/ x\2)"),
                HasSubstr("is not a group of the expression\n"
                          "    rewrite frame /(a)/ x\\2\n"
                          "                         ^~\n"));
    EXPECT_THAT(test.run("drop frame /(a/"), HasSubstr("missing )"));
    EXPECT_THAT(test.run("drop frame main"), HasSubstr("write /main/"));
    EXPECT_THAT(test.run("drop frame /main"), HasSubstr("this expression is not closed"));
    EXPECT_THAT(test.run("drop frame /main/i"), HasSubstr("(?i)"));
    EXPECT_THAT(test.run("drop frame //"), HasSubstr("fits everywhere"));
    EXPECT_THAT(test.run("rewrite frame /x/"), HasSubstr("is missing"));
    EXPECT_THAT(test.run("rewrite threads /x/ y"), HasSubstr("error"));
    EXPECT_THAT(test.run("fold"), HasSubstr("is missing"));
    EXPECT_THAT(test.run("drop frame /x/\nrules off 2"),
                HasSubstr("test.aug:2:11: error: there is no rule 2\n"));
    EXPECT_EQ(test.session.settings().rules.size(), 1u);
}

TEST(RuleCommands, CallersSeeNamesAsRulesMadeThem) {
    TestSession test;
    test.run("target 4711; time handle; sample 99; wait 100ms; rewrite frame /^handle$/ h");
    EXPECT_THAT(test.run("callees h"), HasSubstr("rebuild"));
    EXPECT_THAT(test.run("callers handle"), HasSubstr("no sample had a function \"handle\""));
    EXPECT_THAT(test.run("hist handle"), HasSubstr("handle")); // a probe means the program's name
    EXPECT_EQ(test.failure, std::nullopt);
}

// A file of thousands of rules: names are decided once for all of them, and each rule is compiled
// once, however many come behind it (copying the others costs a hundredth of that).
TEST(RuleCommands, ManyAreDecidedOnce) {
    TestSession test;
    test.run("target 4711; time handle; sample 99; wait 100ms");
    const auto version = test.model.symbols().names_version();
    std::string script;
    std::vector<Rule> rules;
    for (int i = 0; i < 200; i++) {
        rules.push_back({Rule::Kind::drop_frame, fmt::format("^(name|other_{0})_[a-z]+$", i)});
        script += spell_rule(rules.back()) + "\n";
    }
    test.run(script);
    EXPECT_EQ(test.failure, std::nullopt);
    EXPECT_EQ(test.model.symbols().rules().list(), rules);
    EXPECT_LE(test.model.symbols().names_version(), version + 1);

    const auto cpu_ns = [](auto work) {
        const auto now = [] {
            timespec time{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
            return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
        };
        const double begin = now();
        work();
        return now() - begin;
    };
    const Rules known = *Rules::compile(rules);
    const double anew = cpu_ns([&] { EXPECT_TRUE(Rules::compile(rules)); });
    const double again = cpu_ns([&] { EXPECT_TRUE(Rules::compile(rules, known)); });
    EXPECT_LT(again, anew / 5);
}

} // namespace
} // namespace auger
