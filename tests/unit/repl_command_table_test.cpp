// SPDX-License-Identifier: GPL-3.0-or-later
// The table of commands: every one parses as its examples say, abbreviations, help, completion.
#include "tests/unit/command_lines.h"

#include "repl/session/completion.h"
#include "repl/session/help_text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace auger {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Table, EveryExampleParsesAsItsOwnCommand) {
    for (const CommandRow& row : command_table().rows()) {
        std::string_view rest = row.examples;
        while (!rest.empty()) {
            const std::string line(rest.substr(0, rest.find('\n')));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            auto commands = lex(line);
            ASSERT_TRUE(commands) << line;
            auto command = command_table().parse(commands->at(0), line);
            ASSERT_TRUE(command) << line << ": " << command.complaint().message;
            EXPECT_EQ(command->row, &row) << line;
        }
    }
}

size_t longest_line(const std::string& text) {
    size_t longest = 0, length = 0;
    for (const char c : text) {
        length = c == '\n' ? 0 : length + 1;
        longest = std::max(longest, length);
    }
    return longest;
}

TEST(Table, HelpNamesEveryCommand) {
    const std::string all = help_text(command_table());
    for (const CommandRow& row : command_table().rows()) {
        EXPECT_THAT(all, HasSubstr("  " + std::string(row.name) + " "));
        const std::string own = help_text(row);
        EXPECT_THAT(own, HasSubstr(std::string(row.usage)));
        EXPECT_LE(longest_line(wrap_help(row.details)), help_width) << row.name;
        EXPECT_FALSE(row.summary.empty()) << row.name;
        EXPECT_FALSE(row.arguments.empty()) << row.name;
        EXPECT_TRUE(row.usage.starts_with(row.name)) << row.name;
    }
}

TEST(Table, HelpIsFilledToTheWidth) {
    EXPECT_EQ(wrap_help("\none two\nthree\n\nfour\n  a  table\nfive", 9),
              "one two\nthree\n\nfour\n  a  table\nfive");
    EXPECT_EQ(wrap_help("one two three", 7), "one two\nthree");
    EXPECT_EQ(wrap_help("a-word-that-is-too-long b", 7), "a-word-that-is-too-long\nb");
    EXPECT_EQ(wrap_help("", 7), "");
}

TEST(Table, NamesAndLettersAreUnique) {
    std::set<std::string_view> names;
    for (const CommandRow& row : command_table().rows()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        if (!row.letter.empty()) {
            EXPECT_TRUE(names.insert(row.letter).second) << row.letter;
        }
    }
}

TEST(Table, Abbreviations) {
    expect_fine("sp f > p95");
    expect_fine("f");
    expect_fine("w 5s");
    expect_fine("h");
    expect_fine("q");
    EXPECT_EQ(wrong("t f"),
              "1: \"t\" is ambiguous (one of: target, time, trace, threshold, top, threads)");
    EXPECT_EQ(wrong("splt f"), "1: there is no command \"splt\" (did you mean \"split\"?)");
    EXPECT_EQ(wrong("zzz"), "1: there is no command \"zzz\" (\"help\" lists the commands)");
    EXPECT_EQ(wrong("''"), "1: there is no command \"\" (\"help\" lists the commands)");
}

TEST(Table, EverySettingIsNamedOnce) {
    std::set<const SettingRow*> seen;
    for (const SettingRow* row : command_table().settings())
        EXPECT_TRUE(seen.insert(row).second);
    EXPECT_EQ(seen.size(), 15u) << "a setting without a row is neither put in force nor saved";
}

std::vector<std::string> completed(const std::string& line, size_t* start = nullptr) {
    CompletionSource source;
    source.probes = [] { return std::vector<std::string>{"handle", "libc:recv"}; };
    source.functions = [](std::string_view) {
        return std::vector<std::string>{"handle_all", "ns::f(int, char)", "a'b c"};
    };
    source.files = [](std::string_view) { return std::vector<std::string>{"dir/", "my file.aug"}; };
    const Completion completion = complete(command_table(), line, source);
    if (start)
        *start = completion.start;
    return completion.candidates;
}

TEST(Completion, CommandsWordsProbesAndFiles) {
    size_t start = 99;
    EXPECT_THAT(completed("spl", &start), ElementsAre("split"));
    EXPECT_EQ(start, 0u);
    EXPECT_THAT(completed(""), Contains("status"));
    EXPECT_THAT(completed("echo a; uns", &start), ElementsAre("unsplit"));
    EXPECT_EQ(start, 8u);
    EXPECT_THAT(completed("split ha", &start), ElementsAre("handle", "handle_all"));
    EXPECT_EQ(start, 6u);
    EXPECT_THAT(completed("split handle "), ElementsAre(">", "at", "by", "if"));
    EXPECT_THAT(completed("only comm a an"), ElementsAre("and"));
    EXPECT_THAT(completed("split handle > p9"), ElementsAre("p90", "p95", "p99", "p99.9"));
    EXPECT_THAT(completed("hist "), ElementsAre("handle", "libc:recv"));
    EXPECT_THAT(completed("save f by cp"), ElementsAre("cpu"));
    EXPECT_THAT(completed("save f slow by cpu under ns"), ElementsAre("ns::f(int, char)"));
    EXPECT_THAT(completed("save f slow --format c"),
                ElementsAre("calls-csv", "calls-json", "chrome-trace", "collapsed"));
    EXPECT_THAT(completed("flame slow under ns --f"), ElementsAre("--folded"));
    EXPECT_THAT(completed("help spl"), ElementsAre("split"));
    EXPECT_THAT(completed("unsplit "), ElementsAre());
    EXPECT_THAT(completed("nonsense x"), ElementsAre());
}

TEST(Completion, InsertsWhatReadsBackAsOneWord) {
    EXPECT_THAT(completed("time ns"), ElementsAre("ns::f(int, char)"));
    EXPECT_THAT(completed("source my"), ElementsAre("'my file.aug'"));
    EXPECT_THAT(completed("source 'my f"), ElementsAre("'my file.aug'"));
    EXPECT_THAT(completed("time a"), ElementsAre("\"a'b c\""));
}

} // namespace
} // namespace auger
