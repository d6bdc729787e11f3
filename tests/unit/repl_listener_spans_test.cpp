// SPDX-License-Identifier: GPL-3.0-or-later
// Spans of programs of which nothing is known but where they listen.
#include "tests/unit/repl_fake_backend.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

// Of others it is what is asked and answered where they listen.
TEST(ListenerSpans, OfProgramsAreWhatIsAskedWhereTheyListen) {
    TestSession test;
    test.run("target 4711");
    test.backend.listeners.places = {{0, "/run/php/fpm 8.2.sock"}};
    EXPECT_THAT(test.run("suggest"), HasSubstr("\"span auto\" times what is asked and answered at "
                                               "unix \"/run/php/fpm 8.2.sock\"\n"));
    EXPECT_THAT(test.run("span auto"), HasSubstr("timing requests (probe 1) exchanges unix "));
    EXPECT_EQ(test.session.settings().probes.at(0).span.exchanges->unix_path,
              "/run/php/fpm 8.2.sock");
    test.run("delete 1");
    // Names are told apart, whatever the target calls its sockets.
    test.backend.listeners.places = {
        {0, "/a/app.sock"}, {0, "/b/app.sock"}, {0, "@\x1b[2J\xe2\x80\xae"}, {80, ""}};
    const std::string advice = test.run("suggest"), said = test.run("span auto");
    for (const char* name :
         {"requests-app-sock ", "requests-app-sock-2 ", "requests----2J--- ", "requests-80 "})
        EXPECT_THAT(said, HasSubstr(std::string("timing ") + name)) << said;
    for (const char* hostile : {"\x1b", "\xe2\x80\xae"}) {
        EXPECT_THAT(said, Not(HasSubstr(hostile)));
        EXPECT_THAT(advice, Not(HasSubstr(hostile)));
    }
    // A program of which spans are known is timed by those.
    test.backend.process_name = "nginx";
    EXPECT_THAT(test.run("span auto"), Not(HasSubstr("exchanges")));
}

} // namespace
} // namespace auger
