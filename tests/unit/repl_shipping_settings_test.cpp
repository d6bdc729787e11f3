// SPDX-License-Identifier: GPL-3.0-or-later
// The command `ship` and its files of headers.
#include "tests/support/temporary_folder.h"
#include "tests/unit/repl_fake_backend.h"

#include "repl/services/header_file.h"
#include "repl/services/services.h"
#include "repl/services/shipper.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

namespace auger {
namespace {

using test::TemporaryFolder;
using testing::AllOf, testing::Contains, testing::ElementsAre, testing::HasSubstr, testing::Not,
    testing::SizeIs, testing::StartsWith;

TEST(ShippingHeaders, WhatIsNoneIsRefusedAndNotRepeated) {
    const TemporaryFolder folder;
    const auto refusal = [&](const std::string& text, mode_t mode = 0600) {
        const std::string path = folder.file("headers", text);
        chmod(path.c_str(), mode);
        const auto headers = read_header_file(path);
        EXPECT_FALSE(headers) << text;
        const std::string message = headers ? "" : headers.error().message();
        EXPECT_THAT(message, Not(HasSubstr("secret")));
        return message;
    };
    EXPECT_THAT(refusal("A: b\n\nsecret\n"), HasSubstr("line 3 is no header"));
    EXPECT_THAT(refusal("A b: secret\n"), HasSubstr("line 1 is no header"));
    EXPECT_THAT(refusal("A: secret\x01\n"), HasSubstr("line 1 has control characters"));
    EXPECT_THAT(refusal("content-LENGTH: 7\n"), HasSubstr("line 1 is a header that auger makes"));
    EXPECT_THAT(refusal(std::string(70'000, 'a')), HasSubstr("too large"));
    std::string many;
    for (int i = 0; i < 65; i++)
        many += "A: b\n";
    EXPECT_THAT(refusal(many), HasSubstr("more than 64"));
    EXPECT_THAT(refusal("A: secret\n", 0604), HasSubstr("others may read or change it"));
    EXPECT_THAT(refusal("A: secret\n", 0620), HasSubstr("others may read or change it"));
    EXPECT_THAT(read_header_file(folder.path("none")).error().message(), HasSubstr("no such file"));
    const std::string path = folder.file("headers", "A: b\r\nC:d");
    chmod(path.c_str(), 0640);
    EXPECT_THAT(*read_header_file(path), ElementsAre("A: b", "C:d"));
}

// What is wrong, and where: the line, and what is below it.
std::string complaint(const std::string& line) {
    TestSession test;
    const std::string said = test.run("target 4711\n" + line);
    EXPECT_EQ(test.failure, Error::Kind::usage) << said;
    return said.substr(std::min(said.find("test.aug:2:"), said.size()));
}

TEST(ShippingGrammar, ComplaintsPointAtWhatIsWrong) {
    EXPECT_THAT(complaint("ship zipkin http://h"), HasSubstr("test.aug:2:6: error"));
    EXPECT_THAT(complaint("ship otlp"), HasSubstr("the receiver's URL"));
    EXPECT_THAT(complaint("ship otlp collector:4318"), HasSubstr("is no URL of HTTP"));
    EXPECT_EQ(complaint("ship otlp https://me:secret@host/x every 10s"),
              "test.aug:2:19: error: a password in a URL is read by others, as in ps\n"
              "    ship otlp https://me:secret@host/x every 10s\n"
              "                      ^~~~~~~~~\n"
              "  put it into a headers file, as Authorization: Basic ..., and name that: headers "
              "FILE\n");
    EXPECT_THAT(complaint("ship otlp http://:4318"), HasSubstr("names no host"));
    EXPECT_THAT(complaint("ship otlp http://h:port"),
                HasSubstr("test.aug:2:19: error: the URL names "
                          "no port"));
    EXPECT_THAT(complaint("ship otlp http://h:65536"), HasSubstr("names no port"));
    EXPECT_THAT(complaint("ship otlp http://[::1"), HasSubstr("names no host"));
    EXPECT_THAT(complaint("ship otlp http://h/?x=1"),
                HasSubstr("test.aug:2:20: error: a receiver's "
                          "URL ends with its path"));
    EXPECT_THAT(complaint("ship otlp \"http://h/a b\""), HasSubstr("no such character"));
    EXPECT_THAT(complaint("ship otlp http://h every 5"), HasSubstr("has no unit"));
    EXPECT_THAT(complaint("ship otlp http://h every 5ms"), HasSubstr("between 1s and 86400s"));
    EXPECT_THAT(complaint("ship otlp http://h keep 1s"), HasSubstr("between 60s and"));
    EXPECT_THAT(complaint("ship otlp http://h size 256MB"), HasSubstr("is not a size"));
    EXPECT_THAT(complaint("ship otlp http://h size 1K"), HasSubstr("between 1M and"));
    EXPECT_THAT(complaint("ship otlp http://h as"), HasSubstr("the service"));
    EXPECT_THAT(complaint("ship otlp http://h nicely"), HasSubstr("nicely"));
}

TEST(ShippingGrammar, SettingsComeBackAsTheyWereSaid) {
    const TemporaryFolder folder;
    TestSession test;
    const std::string spool = folder.path("spool");
    const std::string headers = folder.file("headers", "A: b\n");
    chmod(headers.c_str(), 0600);
    test.run("target 4711");
    const std::string line =
        "ship pyroscope http://127.0.0.1:1 every 15s as \"my shop\" headers \"" + headers +
        "\" spool \"" + spool + "\" keep 24h size 1G threads";
    const std::string said = test.run(line);
    EXPECT_EQ(test.failure, std::nullopt) << said;
    EXPECT_THAT(said, HasSubstr("shipping intervals of 15s to pyroscope http://127.0.0.1:1; they "
                                "wait in " +
                                spool + " for 24 h 00 min at most, and in 1G"));
    EXPECT_THAT(said, HasSubstr("sampling CPU time at 49 Hz"));
    const auto lines = spell_settings(test.session.settings(), command_table().settings());
    EXPECT_THAT(lines, Contains(HasSubstr("as \"my shop\"")));
    const std::vector<Shipping> before = test.session.settings().shipping;
    EXPECT_THAT(test.run("ship"), HasSubstr("intervals: 0 found + 0 written = 0 shipped"));
    EXPECT_THAT(test.run("ship off"), HasSubstr("no more intervals are shipped"));
    EXPECT_THAT(test.run("ship"), HasSubstr("nothing is shipped"));
    test.run("undo");
    EXPECT_EQ(test.session.settings().shipping, before);
    test.run("ship off");
    for (const std::string& saved : lines)
        if (saved.starts_with("ship"))
            test.run(saved);
    EXPECT_EQ(test.failure, std::nullopt);
    EXPECT_EQ(test.session.settings().shipping, before);
}

TEST(ShippingGrammar, AFileThatOthersReadIsRefused) {
    const TemporaryFolder folder;
    TestSession test;
    const std::string headers = folder.file("headers", "Authorization: Bearer secret\n");
    chmod(headers.c_str(), 0644);
    const std::string said = test.run("target 4711; ship otlp http://127.0.0.1:1 headers " +
                                      headers + " spool " + folder.path("spool"));
    EXPECT_EQ(test.failure, Error::Kind::failed);
    EXPECT_THAT(said, HasSubstr("others may read or change it"));
    EXPECT_THAT(said, Not(HasSubstr("secret")));
    EXPECT_FALSE(test.session.services().shippers().active());
}

// None is in another one's way, and each ends by itself.
TEST(ShippingGrammar, ThereMayBeSeveralReceivers) {
    const TemporaryFolder folder;
    TestSession test;
    test.run("target 4711");
    const auto ship = [&](const std::string& to, const std::string& more = "") {
        return test.run("ship " + to + " spool " + folder.path(to.substr(to.rfind(':') + 1)) +
                        more);
    };
    ship("otlp http://127.0.0.1:1");
    ship("parca http://127.0.0.1:2");
    EXPECT_EQ(test.failure, std::nullopt);
    EXPECT_THAT(test.session.settings().shipping, SizeIs(2));
    EXPECT_THAT(test.run("ship"), AllOf(HasSubstr("to otlp http://127.0.0.1:1;"),
                                        HasSubstr("to parca http://127.0.0.1:2;")));
    EXPECT_THAT(spell_settings(test.session.settings(), command_table().settings()),
                AllOf(Contains(StartsWith("ship otlp http://127.0.0.1:1 ")),
                      Contains(StartsWith("ship parca http://127.0.0.1:2 "))));
    // The same one, otherwise.
    ship("otlp http://127.0.0.1:1", " every 30s");
    EXPECT_THAT(test.session.settings().shipping, SizeIs(2));
    EXPECT_EQ(test.session.settings().shipping[0].every_ns, 30'000'000'000u);
    const std::vector<ShippingStatus> status = test.session.services().shippers().status();
    ASSERT_THAT(status, SizeIs(2));
    EXPECT_EQ(status[0].receiver, "otlp http://127.0.0.1:1");
    EXPECT_EQ(status[1].receiver, "parca http://127.0.0.1:2");
    // What one waits in is no other's, and then nothing has changed.
    const std::string refused =
        test.run("ship pyroscope http://127.0.0.1:3 spool " + folder.path("1"));
    EXPECT_NE(test.failure, std::nullopt) << refused;
    test.failure = std::nullopt;
    EXPECT_THAT(test.session.settings().shipping, SizeIs(2));
    EXPECT_THAT(test.run("ship off http://127.0.0.1:9"), HasSubstr("nothing is shipped there"));
    test.failure = std::nullopt;
    EXPECT_THAT(test.run("ship off http://127.0.0.1:1"),
                HasSubstr("no more intervals are shipped to http://127.0.0.1:1"));
    EXPECT_THAT(test.session.settings().shipping, SizeIs(1));
    EXPECT_THAT(test.session.services().shippers().status(), SizeIs(1));
    test.run("undo");
    EXPECT_THAT(test.session.services().shippers().status(), SizeIs(2));
    for (int port = 3; port <= 8; port++)
        ship("parca http://127.0.0.1:" + std::to_string(port));
    EXPECT_EQ(test.failure, std::nullopt);
    EXPECT_THAT(ship("parca http://127.0.0.1:9"), HasSubstr("at most 8 receivers"));
    EXPECT_THAT(test.run("ship off"), HasSubstr("http://127.0.0.1:1, http://127.0.0.1:2"));
    EXPECT_THAT(test.session.services().shippers().status(), SizeIs(0));
}

} // namespace
} // namespace auger
