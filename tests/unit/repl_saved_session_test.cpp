// SPDX-License-Identifier: GPL-3.0-or-later
// `save FILE.aug`: whatever is in force, the file leads to it again, in another session too.
#include "tests/support/temporary_folder.h"
#include "tests/unit/repl_fake_backend.h"

#include "repl/language/script.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines)
        text += line + "\n";
    return text;
}

// Probes are numbered in the order of their making, which is what settings refer to.
void expect_same(Settings settings, Settings again, const std::string& text) {
    uint32_t number = 1'000'000;
    for (Settings* each : {&settings, &again}) {
        number = 1'000'000;
        for (const ProbeSetting& probe : std::vector<ProbeSetting>(each->probes))
            rename_probe(*each, Rename{probe.id, ProbeId{number++}});
        each->recording.clear();
        each->only.text.clear(); // may say the same in other words
    }
    EXPECT_TRUE(settings == again) << text;
}

// What `text` brings in force is brought in force by what is saved of it, too.
std::vector<std::string> expect_round_trip(const std::string& text) {
    TestSession first, second;
    const std::string answer = first.run(text);
    EXPECT_EQ(first.failure, std::nullopt) << answer << text;
    const auto lines = spell_settings(first.session.settings(), command_table().settings());
    const std::string said = second.run(joined(lines));
    EXPECT_EQ(second.failure, std::nullopt) << said;
    expect_same(first.session.settings(), second.session.settings(), joined(lines));
    return lines;
}

TEST(SavedSession, EveryKindOfSettingComesBack) {
    EXPECT_THAT(
        expect_round_trip("exit ret; target -p 1 2,3; filter comm a 'b c'; filter pid 4; "
                          "filter tid 5 6; filter cgroup x.slice/y\n"
                          "time handle; slow recv > p99 if arg2 > 4096 and ret < 0 show "
                          "arg0, str(arg1); only recv if ret < 0\n"
                          "slow send > 5ms show off; slow other > 1.5ms\n"
                          "span request from open_it%return if ret != 0 key ret queued to 'f(int)' "
                          "key arg0 resume work key arg0 park idle limit 90s; "
                          "slow request > p99; time request off\n"
                          "split handle > p99.9 at main.cc:12 by arg1\n"
                          "explain handle by 'recv', other\n"
                          "only in handle and not (comm logger or tid 7) and at x.c:3 and "
                          "in py:app.get\n"
                          "sample wall wakers tasks 199; sample 4999 only handle > p95 or in send\n"
                          "ewma 90s"),
        ElementsAre("target -p 1 2 3", "filter pid 4", "filter tid 5 6", "filter comm a \"b c\"",
                    "filter cgroup x.slice/y", "exit ret", "time handle",
                    "slow recv > p99 if arg2 > 4096 and ret < 0 show arg0, str(arg1)",
                    "only recv if ret < 0", "slow send > 5ms show off", "slow other > 1.5ms",
                    "span request from open_it if ret != 0 key ret queued to \"f(int)\" key arg0 "
                    "resume work key arg0 park idle limit 90s",
                    "slow request > p99", "split handle > p99.9 at main.cc:12 by arg1",
                    "only in handle and not (comm logger or tid 7) and at x.c:3 and in py:app.get",
                    "explain handle by recv, other", "sample wall wakers tasks 199",
                    "sample wall tasks 4999 only ((handle > p95) or (in send))", "ewma 90s",
                    "time request off"));
    EXPECT_THAT(expect_round_trip("target 4711; explain 'by' by 'f(int, char)', g"),
                ElementsAre("target -p 4711", "time \"by\"", "time \"f(int, char)\"", "time g",
                            "explain \"by\" by \"f(int, char)\", g"));
    expect_round_trip("target 4711; time g; explain handle");
    // What is off stays off, whatever would attach it.
    expect_round_trip("target 4711; explain handle by recv; time recv off; time handle off");
    expect_round_trip("target 4711; time handle; sample wall wakers 4999 only in handle");
    expect_round_trip("target 4711; sample wall wakers 99; sample 4999 only in handle");
    expect_round_trip("target -a; window 10s; sample 999; split handle > 10ms so-far");
    expect_round_trip(
        "target 1; time f; slow f > 1ms if *(u32 *)(arg0 + 8) & 6 == 2 show p->items[i - 1], "
        "((struct request *)arg0)->len, str(*(char **)&p->name); "
        "split f by (u8)arg1 - 3 | 0x40");
    expect_round_trip("target -p 5 6 --tree");
    expect_round_trip("target -n nginx user www-data");
    expect_round_trip("target -n nginx cgroup /system.slice/nginx.service");
    expect_round_trip("target -n nginx user 33 cgroup web-1");
    expect_round_trip("target -n 'a name'; split handle if arg2 > 4096 by req->type");
    expect_round_trip("target -- ./server --name 'two words' ';'; split handle by str(arg1)");
    expect_round_trip("target 4711; sample wall 4999 only not in handle");
    expect_round_trip("target 4711; sample tasks 4999 only not in handle");
    EXPECT_THAT(expect_round_trip("sample tasks"), ElementsAre("sample tasks 999"));
    EXPECT_THAT(expect_round_trip("target 4711; sample wall golabel route 199; "
                                  "sample golabel 'span id' 4999 only not in handle"),
                testing::Contains("sample wall golabel \"span id\" 199"));
    EXPECT_THAT(expect_round_trip(""), ElementsAre());
}

TEST(SavedSession, RulesComeBackAsTheyWere) {
    EXPECT_THAT(expect_round_trip(R"(rewrite thread /raftstore-\d+/ raftstore
drop frame /^__libc_start|a;b #c 'd" \/e/; fold recursion
rewrite frame /([A-Z](x) )/ <\2>\\
rewrite frame /(x)/ 'a \1'; rules off 5
rewrite frame /y/ ''; rewrite frame /z/ "two  words\t")"),
                ElementsAre(R"(rewrite thread /raftstore-\d+/ raftstore)",
                            R"(drop frame /^__libc_start|a;b #c 'd" \/e/)", "fold recursion",
                            R"(rewrite frame /([A-Z](x) )/ "<\\2>\\\\")", R"(rewrite frame /y/ "")",
                            R"(rewrite frame /z/ "two  words\x09")"));
}

TEST(SavedSession, ProbesAreNamedNotNumbered) {
    EXPECT_THAT(
        joined(expect_round_trip("target 4711; time gone; time handle; time recv; delete 1\n"
                                 "only (2 > 5ms or in 3) and at x.c:3"
                                 "; split 3 > p95")),
        HasSubstr("\nonly ((handle > 5ms) or (in recv)) and at x.c:3\n"));
}

TEST(SavedSession, NamesLikePartsOfTheLanguageAreQuoted) {
    expect_round_trip("target 4711; time 'in'; time 'if'; time 'ns::f(int, char)'; time 'parse_*'\n"
                      "split 'at' > p95; only 'by' > p95 or in 'ns::f(int, char)'");
}

TEST(SavedSession, IntervalsAsRecordingsAreSaved) {
    test::TemporaryFolder folder;
    expect_round_trip("target 4711; record " + folder.path("a") + " every 60s keep 7 auger");
    EXPECT_THAT(joined(expect_round_trip("target 4711; record " + folder.path("b") +
                                         " every 60s keep 7 html auger")),
                HasSubstr(" every 60s keep 7 auger html\n"));
}

TEST(SavedSession, IsAFileForSource) {
    const std::string path =
        testing::TempDir() + "auger_session_" + std::to_string(getpid()) + ".aug";
    TestSession first, second;
    EXPECT_THAT(first.run("target 4711; split handle > p95; record /tmp/x; save '" + path + "'"),
                HasSubstr("saved 3 commands to " + path + "\n"));
    second.run("source '" + path + "'");
    EXPECT_EQ(second.failure, std::nullopt);
    EXPECT_EQ(second.session.settings().split.threshold.percentile, 95);
    EXPECT_EQ(second.session.settings().recording, "") << "would overwrite it";
    unlink(path.c_str());
    EXPECT_THAT(first.run("save /nowhere/x.aug"), HasSubstr("error: write /nowhere/x.aug"));
}

} // namespace
} // namespace auger
