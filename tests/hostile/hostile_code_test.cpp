// SPDX-License-Identifier: GPL-3.0-or-later
// A file whose code makes its reader hang, of a user without rights, where somebody waits at a
// terminal: the test itself stops the reader, what no file is known to do.
#include "tests/hostile/hostile_session.h"
#include "tests/support/readers_of_file.h"

#include <filesystem>

namespace auger::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST_F(Hostile, CodeThatMakesItsReaderHangHoldsUpNobodyWhoAsks) {
    const std::string path = folder_.path("evil");
    std::filesystem::copy_file(program_path("spinner"), path);
    ASSERT_EQ(chown(path.c_str(), nobody_in_particular, nobody_in_particular), 0);
    Program evil(path, {"--seconds", "300"});
    evil.wait_ready();
    Shop shop;
    LiveAuger live({"-a"}, Program::Input::terminal);
    const auto of_evil = [&](const std::string& function) {
        return "'" + path + ":" + function + "'";
    };
    live.run({"exit ret", "sample 999", "time " + of_evil("main")});
    HangingReader hanging(live.pid(), path);
    const auto expect_time = [&](const std::string& probe) {
        EXPECT_LT(answer_time(live, "time " + probe), std::chrono::seconds(1)) << probe;
    };
    // Its own, again and again; of others.
    expect_time(of_evil("hot"));
    live.run({"undo"});
    const json waiting = live.ask("time " + of_evil("hot"));
    EXPECT_EQ(waiting["pending"], true);
    EXPECT_THAT(waiting["notes"].get<std::vector<std::string>>(),
                Contains(HasSubstr(path + " of user 64001 is still being read")));
    const std::string probe = "'" + program_path("shop") + ":serve'";
    expect_time(probe);
    expect_answers(live, 2);
    shop.open();
    expect_answers(live, 5);
    // What comes is looked over.
    Program other("spinner", {"--seconds", "300"});
    other.wait_ready();
    expect_answers(live, 5);
    shop.close();
    live.run({"wait until entries " + probe + " >= " + std::to_string(shop.served()) + " for 60s",
              "sample off"});
    expect_truth(live, shop);
    const auto is_timed = [&] {
        return std::ranges::any_of(live.notices, [&](const std::string& notice) {
            return notice.find("hot: now timed in " + path) != notice.npos;
        });
    };
    EXPECT_FALSE(is_timed());
    hanging.go_on();
    EXPECT_TRUE(wait_until([&] {
        live.run({"wait 1ms"});
        return is_timed();
    }));
    live.run({"wait until entries " + of_evil("hot") + " >= 1 for 60s"});
}

} // namespace
} // namespace auger::test
