// SPDX-License-Identifier: GPL-3.0-or-later
// The language: words and their places, values, what a complaint looks like, hostile bytes.
#include "loader/probes/edit_distance.h"
#include "repl/language/complaint.h"
#include "repl/language/lexer.h"
#include "repl/language/script.h"
#include "repl/language/suggest.h"
#include "repl/language/values.h"

#include "tests/support/invoking_user.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <random>
#include <thread>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words(std::string_view line) {
    auto commands = lex(line);
    if (!commands)
        return {"complaint", commands.complaint().message};
    std::vector<std::string> all;
    for (const CommandText& command : *commands) {
        for (const Word& word : command.words)
            all.push_back(word.text);
        all.push_back(";");
    }
    if (!all.empty())
        all.pop_back();
    return all;
}

TEST(Lexer, WordsCommandsAndComments) {
    EXPECT_THAT(words("time handle"), ElementsAre("time", "handle"));
    EXPECT_THAT(words(" a\tb ;; c; # rest; of line"), ElementsAre("a", "b", ";", "c"));
    EXPECT_THAT(words("a;b"), ElementsAre("a", ";", "b"));
    EXPECT_THAT(words("# only a comment"), ElementsAre());
    EXPECT_THAT(words(""), ElementsAre());
    EXPECT_THAT(words("echo a#b"), ElementsAre("echo", "a#b"));
}

TEST(Lexer, NumberSignNamesAProbeOnlyBehindACommand) {
    EXPECT_THAT(words("hist #2"), ElementsAre("hist", "#2"));
    EXPECT_THAT(words("hist #2;x"), ElementsAre("hist", "#2", ";", "x"));
    EXPECT_THAT(words("#2"), ElementsAre());
    EXPECT_THAT(words("hist h #2nd try"), ElementsAre("hist", "h"));
    EXPECT_THAT(words("hist h # 2"), ElementsAre("hist", "h"));
}

TEST(Lexer, QuotationsAndEscapes) {
    EXPECT_THAT(words(R"(a 'b ; # "c"' d)"), ElementsAre("a", R"(b ; # "c")", "d"));
    EXPECT_THAT(words(R"(a "t\tn\nq\"b\\x\x41")"), ElementsAre("a", "t\tn\nq\"b\\xA"));
    EXPECT_THAT(words(R"(a x'y z'w)"), ElementsAre("a", "xy zw"));
    EXPECT_THAT(words(R"(a '' b)"), ElementsAre("a", "", "b"));
    EXPECT_THAT(words(R"(a b\ c)"), ElementsAre("a", "b c"));
    EXPECT_THAT(words("a 'b"), ElementsAre("complaint", "this quotation is not closed"));
    EXPECT_THAT(words(R"(a "b\q")"), ElementsAre("complaint", "unknown escape"));
    EXPECT_THAT(words(R"(a "b\x0")"), ElementsAre("complaint", "unknown escape"));
    EXPECT_THAT(words(R"(a "b\x00")"), ElementsAre("complaint", "unknown escape"));
    EXPECT_THAT(words(R"(a "b\)"), ElementsAre("complaint", "unknown escape"));
}

TEST(Lexer, CppAndRustNamesAreOneWord) {
    EXPECT_THAT(words("time f(int, std::map<a, b>) x"),
                ElementsAre("time", "f(int, std::map<a, b>)", "x"));
    EXPECT_THAT(words("time A::operator()(int, char)"),
                ElementsAre("time", "A::operator()(int, char)"));
    EXPECT_THAT(words("split A::operator< > p95"),
                ElementsAre("split", "A::operator<", ">", "p95"));
    EXPECT_THAT(words("time A::operator-> x"), ElementsAre("time", "A::operator->", "x"));
    EXPECT_THAT(words("time <T as core::Drop>::drop"),
                ElementsAre("time", "<T as core::Drop>::drop"));
    EXPECT_THAT(words("time f::{lambda(int)#1}::g"), ElementsAre("time", "f::{lambda(int)#1}::g"));
    // What is never closed separates at blanks again.
    EXPECT_THAT(words("echo (a b"), ElementsAre("echo", "(a", "b"));
    EXPECT_THAT(words("echo (a b; c d"), ElementsAre("echo", "(a", "b", ";", "c", "d"));
}

TEST(Lexer, ComparisonsStandAloneOrBeforeAValue) {
    auto commands = lex("split f >p95 >=5ms >x");
    ASSERT_TRUE(commands);
    const auto& found = (*commands)[0].words;
    ASSERT_EQ(found.size(), 7u);
    EXPECT_EQ(found[2].text, ">");
    EXPECT_TRUE(found[2].comparison);
    EXPECT_EQ(found[3].text, "p95");
    EXPECT_EQ(found[4].text, ">=");
    EXPECT_TRUE(found[4].comparison);
    EXPECT_EQ(found[6].text, ">x");
    EXPECT_FALSE(found[6].comparison);
}

TEST(Lexer, PlacesCountBytesOfWhatWasWritten) {
    auto commands = lex("  time 'a b' ; x");
    ASSERT_TRUE(commands);
    EXPECT_EQ((*commands)[0].words[0].span, (Span{2, 4}));
    EXPECT_EQ((*commands)[0].words[1].span, (Span{7, 5}));
    EXPECT_EQ((*commands)[1].words[0].span, (Span{15, 1}));
}

TEST(Lexer, RefusesWhatIsNoText) {
    EXPECT_THAT(words(std::string_view("a\0b", 3)),
                ElementsAre("complaint", "the line contains a NUL byte"));
    EXPECT_THAT(words("a \x1b[2J"), ElementsAre("complaint", "control character 0x1b"));
    EXPECT_THAT(words("a \xff"), ElementsAre("complaint", "byte 0xff is no UTF-8 text"));
    EXPECT_THAT(words("a \xc3\xa9"), ElementsAre("a", "\xc3\xa9"));
    EXPECT_THAT(words("a \xed\xa0\x80"), ElementsAre("complaint", "byte 0xed is no UTF-8 text"));
    auto commands = lex("abc \xff");
    ASSERT_FALSE(commands);
    EXPECT_EQ(commands.complaint().at, (Span{4, 1}));
    EXPECT_FALSE(lex(std::string(line_limit + 1, 'a')));
    EXPECT_TRUE(lex(std::string(line_limit, 'a')));
}

TEST(Lexer, LongLinesOfOpenBracketsTakeLinearTime) {
    std::string line;
    while (line.size() + 3 < line_limit)
        line += "( ";
    auto commands = lex(line);
    ASSERT_TRUE(commands);
    EXPECT_EQ((*commands)[0].words.size(), line.size() / 2);
}

TEST(Lexer, QuotedWordsComeBack) {
    for (const std::string text :
         {"plain", "a b", "a\"b\\c", "tab\there", "\xff\x01 raw", "", ";#'"}) {
        auto commands = lex("x " + quote_word(text));
        ASSERT_TRUE(commands) << text;
        ASSERT_EQ((*commands)[0].words.size(), 2u);
        EXPECT_EQ((*commands)[0].words[1].text, text);
    }
}

TEST(Lexer, SpelledWordsComeBackAsTheyWere) {
    EXPECT_EQ(spell_word("libc:recv"), "libc:recv");
    EXPECT_EQ(spell_word("ns::f"), "ns::f");
    for (const std::string text : {"f", "std::vector<int>::at", "operator<", "f(int) [clone .cold]",
                                   "-n", "#3", "at", "12", "a;b", "x\xff\n", ""}) {
        auto commands = lex("split " + spell_word(text) + " > p95");
        ASSERT_TRUE(commands) << text;
        ASSERT_EQ(commands->size(), 1u) << text;
        ASSERT_EQ((*commands)[0].words.size(), 4u) << text;
        EXPECT_EQ((*commands)[0].words[1].text, text);
        EXPECT_FALSE((*commands)[0].words[1].text == "at" && !(*commands)[0].words[1].quoted);
    }
}

TEST(Lexer, RandomBytesNeitherCrashNorEscape) {
    std::mt19937 random(20260721);
    const std::string favourites = "\"'\\;#<>()[]{}=! \tp95ms\n\r";
    for (int round = 0; round < 20'000; ++round) {
        std::string line(random() % 40, ' ');
        for (char& c : line)
            c = random() % 3 ? favourites[random() % favourites.size()]
                             : static_cast<char>(random());
        auto commands = lex(line);
        if (commands) {
            for (const CommandText& command : *commands) {
                ASSERT_FALSE(command.words.empty());
                for (const Word& word : command.words)
                    ASSERT_LE(word.span.offset + word.span.length, line.size());
            }
            continue;
        }
        const std::string shown = Diagnostic{{"f", 1, line}, commands.complaint()}.render();
        for (const char c : shown)
            ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << line;
    }
}

TEST(Values, Durations) {
    EXPECT_EQ(read_duration("5ms"), 5'000'000u);
    EXPECT_EQ(read_duration("1.5s"), 1'500'000'000u);
    EXPECT_EQ(read_duration("100us"), 100'000u);
    EXPECT_EQ(read_duration("100\xc2\xb5s"), 100'000u);
    EXPECT_EQ(read_duration("10m"), 600'000'000'000u);
    EXPECT_EQ(read_duration("0.1us"), 100u);
    EXPECT_EQ(read_duration("7ns"), 7u);
    for (const char* text : {"", "5", "ms", "-5ms", "5 ms", "5msx", "1e3s", "nans", "infs", "0x5s",
                             "99999999999999h", "1,5s"})
        EXPECT_EQ(read_duration(text), std::nullopt) << text;
}

TEST(Values, Percentiles) {
    EXPECT_EQ(read_percentile("p95"), 95);
    EXPECT_EQ(read_percentile("p99.9"), 99.9);
    for (const char* text : {"p", "p0", "p100", "p999", "95", "p-5", "p95%", "pnan"})
        EXPECT_EQ(read_percentile(text), std::nullopt) << text;
}

TEST(Values, Counts) {
    EXPECT_EQ(read_count("1000"), 1000u);
    EXPECT_EQ(read_count("1,000"), 1000u);
    EXPECT_EQ(read_count("10k"), 10'000u);
    EXPECT_EQ(read_count("18446744073709551615"), UINT64_MAX);
    for (const char* text : {"", "k", "-1", "1.5", "18446744073709551616", "18446744073709551615k"})
        EXPECT_EQ(read_count(text), std::nullopt) << text;
}

TEST(Values, ThresholdsSayWhatIsWrong) {
    const auto hint = [](const char* text) {
        auto value = threshold_of({text, {}, false, false});
        return value ? "fine" : value.complaint().hint;
    };
    EXPECT_EQ(hint("p95"), "fine");
    EXPECT_EQ(hint("p999"), "did you mean \"p99.9\"?");
    EXPECT_EQ(hint("5"), "write 5ms for a duration or p5 for a percentile");
    EXPECT_THAT(hint("soon"), HasSubstr("5ms"));
    EXPECT_EQ(hint("0ms"), "try p95 or 5ms");
}

TEST(Values, SpellingReadsBack) {
    for (const uint64_t ns : {1ull, 999ull, 1'000ull, 1'500ull, 5'000'000ull, 1'234'567ull,
                              1'500'000'000ull, 60'000'000'000ull})
        EXPECT_EQ(read_duration(spell_duration(ns)), ns) << spell_duration(ns);
    EXPECT_EQ(spell_duration(5'000'000), "5ms");
    EXPECT_EQ(spell_percentile(99.9), "p99.9");
}

TEST(Diagnostic, PointsAtTheCharacter) {
    const Diagnostic diagnostic{{"demo.aug", 3, "split hndle > p95"},
                                {{6, 5}, "\"hndle\" is not timed", "did you mean \"handle\"?"}};
    EXPECT_EQ(diagnostic.render(), "demo.aug:3:7: error: \"hndle\" is not timed\n"
                                   "    split hndle > p95\n"
                                   "          ^~~~~\n"
                                   "  did you mean \"handle\"?\n");
}

TEST(Diagnostic, ColumnsAreCharactersNotBytes) {
    const Diagnostic diagnostic{{"f", 1, "echo \xc3\xa9\xc3\xa9; x"}, {{11, 1}, "no", ""}};
    EXPECT_EQ(diagnostic.column(), 10u);
    EXPECT_EQ(diagnostic.render(), "f:1:10: error: no\n"
                                   "    echo \xc3\xa9\xc3\xa9; x\n"
                                   "             ^\n");
}

// Of what takes two columns, and of what takes none: the caret is below, the column is the
// character's.
TEST(Diagnostic, TheCaretStandsInTheColumnsOfATerminal) {
    const Diagnostic wide{{"f", 1, "echo \u65e5\u672c; x\u65e5\u672cx y"}, {{13, 8}, "no", ""}};
    EXPECT_EQ(wide.render(), "f:1:10: error: no\n"
                             "    echo \u65e5\u672c; x\u65e5\u672cx y\n"
                             "               ^~~~~~\n");
    const Diagnostic combining{{"f", 1, "echo e\u0301; x"}, {{10, 1}, "no", ""}};
    EXPECT_EQ(combining.render(), "f:1:10: error: no\n"
                                  "    echo e\u0301; x\n"
                                  "            ^\n");
}

TEST(Diagnostic, LongLinesBecomeExcerpts) {
    const std::string line = std::string(5000, 'a') + "X" + std::string(5000, 'b');
    const std::string shown = Diagnostic{{"f", 1, line}, {{5000, 1}, "no", ""}}.render();
    EXPECT_LT(shown.size(), 400u);
    const size_t text = shown.find("    ...");
    const size_t caret = shown.find('^');
    const size_t line_end = shown.find('\n', text);
    EXPECT_EQ(shown[text + (caret - line_end - 1)], 'X');
}

TEST(Diagnostic, NothingOfTheLineReachesATerminalRaw) {
    const std::string shown =
        Diagnostic{{"a\x1b", 1, "x\x1b[2J\x07\xc2\x9b\xff"}, {{0, 1}, "\x1b", "\x1b"}}.render();
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
    EXPECT_EQ(shown.find('\x07'), std::string::npos);
    EXPECT_EQ(shown.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(shown.find('\xff'), std::string::npos);
}

TEST(Diagnostic, AtThePromptThereIsNoFile) {
    EXPECT_THAT((Diagnostic{{"", 1, "x"}, {{0, 1}, "no", ""}}.render()),
                testing::StartsWith("error: no\n"));
}

TEST(Suggest, NearestWithinATypingErrorOrTwo) {
    const std::vector<std::string> known{"slow", "split", "save", "status", "handle_request"};
    EXPECT_EQ(nearest("slwo", known), "slow");
    EXPECT_EQ(nearest("splt", known), "split");
    EXPECT_EQ(nearest("handle_rqeuest", known), "handle_request");
    EXPECT_EQ(nearest("zzz", known), "");
    EXPECT_EQ(nearest("", known), "");
    EXPECT_EQ(nearest("SPLIT", known), "split") << "case is ignored";
    EXPECT_EQ(edit_distance("ab", "ba", 5), 1u);
    EXPECT_EQ(edit_distance("kitten", "sitting", 5), 3u);
    EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3u) << "more than the limit";
}

TEST(Script, LinesOfAnyFile) {
    const auto texts = [](std::string_view text) {
        std::vector<std::string> all;
        for (const ScriptLine& line : script_lines("f", text))
            all.push_back(std::to_string(line.number) + line.text);
        return all;
    };
    EXPECT_THAT(texts("a\nb\n"), ElementsAre("1a", "2b"));
    EXPECT_THAT(texts("a\r\n\r\nb"), ElementsAre("1a", "2", "3b"));
    EXPECT_THAT(texts("\xEF\xBB\xBF"
                      "a"),
                ElementsAre("1a"));
    EXPECT_THAT(texts(""), ElementsAre());
    EXPECT_EQ(read_script("/").error().cause, "it is a directory");
    EXPECT_EQ(read_script("/no/such").error().cause, "No such file or directory");
}

// Else whoever may start auger by sudo, and nothing else, would have root read any file, of which
// messages about its lines tell.
TEST(Script, IsReadWithTheRightsOfWhoCalledSudo) {
    if (geteuid() != 0 || !getpwnam("nobody"))
        GTEST_SKIP() << "needs root and the user nobody";
    const test::TemporaryFolder folder;
    const std::string secret = folder.file("secret", "of root's"), fifo = folder.path("fifo");
    ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
    EXPECT_EQ(*read_script(secret), "of root's");
    const test::AsCalledBySudo nobody("nobody");
    const auto refused = read_script(secret);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().cause, "Permission denied");
    EXPECT_THAT(refused.error().hint, testing::HasSubstr("the rights of nobody"));
    ASSERT_EQ(chmod(secret.c_str(), 0644), 0);
    EXPECT_EQ(*read_script(secret), "of root's");

    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    ASSERT_EQ(chown(fifo.c_str(), nobody.uid, nobody.gid), 0);
    std::thread writer([&] { std::ofstream(fifo) << "of a pipe"; });
    const auto piped = read_script(fifo);
    writer.join();
    ASSERT_TRUE(piped) << piped.error().message();
}

// Standard input is read with the rights that it was opened with.
TEST(Script, StandardInputMayBeAPipeOfRoots) {
    const bool root = geteuid() == 0 && getpwnam("nobody");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], "status\n", 7), 7);
    close(ends[1]);
    const int before = dup(STDIN_FILENO);
    ASSERT_EQ(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    {
        std::optional<test::AsCalledBySudo> nobody;
        if (root)
            nobody.emplace("nobody");
        const auto text = read_script("/dev/stdin");
        EXPECT_TRUE(text && *text == "status\n") << (text ? *text : text.error().message());
    }
    dup2(before, STDIN_FILENO);
    close(before);
}

} // namespace
} // namespace auger
