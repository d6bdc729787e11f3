// SPDX-License-Identifier: GPL-3.0-or-later
// Hosts as a user names them, and one report of what several say.
#include "loader/remote/host_command.h"
#include "loader/remote/joined_reports.h"
#include "loader/reports/host_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace auger::remote {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(HostCommands, AreSshUnlessSomethingElseIsSaid) {
    const std::vector<std::string> hosts{"web1,ops@web2", "ssh://root@web3:2222"};
    const auto by_ssh = host_commands(hosts, "");
    ASSERT_TRUE(by_ssh);
    ASSERT_EQ(by_ssh->size(), 3u);
    EXPECT_EQ((*by_ssh)[1].name, "ops@web2");
    EXPECT_EQ((*by_ssh)[2].name, "root@web3:2222");
    EXPECT_EQ((*by_ssh)[0].arguments.front(), "ssh");
    EXPECT_EQ((*by_ssh)[1].arguments.back(), "exec sudo -n auger --agent");
    EXPECT_EQ((*by_ssh)[2].arguments.back(), "exec auger --agent");
    const auto via = host_commands(std::vector<std::string>{"it's"}, "podman exec -i {} auger {}");
    ASSERT_TRUE(via);
    EXPECT_THAT(via->front().arguments,
                ElementsAre("/bin/sh", "-c", "podman exec -i 'it'\\''s' auger 'it'\\''s'"));
}

// Else the recording of one would take the place of the other's.
TEST(HostFiles, HaveNamesThatNoOtherHostHas) {
    EXPECT_EQ(path_of_host("dir/x.auger", "web1"), "dir/x-web1.auger");
    std::set<std::string> names;
    for (const char* host : {"ns/pod", "ns_pod", "ns%2Fpod", ".x", "_x", "%2Ex", "..", "x.y"}) {
        const std::string name = host_file_name(host);
        EXPECT_TRUE(names.insert(name).second) << host;
        EXPECT_EQ(name.find('/'), name.npos);
        EXPECT_NE(name.front(), '.');
    }
    EXPECT_TRUE(names.contains("ns%2Fpod"));
}

TEST(HostCommands, AreRefusedWhereTheyWouldBeSomethingElse) {
    const auto refused = [](std::vector<std::string> hosts, const std::string& via = "") {
        const auto commands = host_commands(hosts, via);
        return commands ? "" : commands.error().cause;
    };
    EXPECT_THAT(refused({"-oProxyCommand=evil"}), HasSubstr("no name of a host"));
    EXPECT_THAT(refused({"a b"}), HasSubstr("no name of a host"));
    EXPECT_THAT(refused({"a,,b"}), HasSubstr("missing"));
    EXPECT_THAT(refused({"a", "b,a"}), HasSubstr("twice"));
    EXPECT_EQ(refused({std::string(256, 'a')}), "");
    EXPECT_THAT(refused({std::string(257, 'a')}), HasSubstr("256 bytes at most"));
    EXPECT_THAT(refused({"a", "b"}, "ssh one auger --agent"), HasSubstr("where the host's name"));
    EXPECT_EQ(refused({"a"}, "ssh one auger --agent"), "");
    EXPECT_THAT(*hosts_in("# web\nweb1 # first\n\n  web2\r\n", "f"), ElementsAre("web1", "web2"));
    EXPECT_FALSE(hosts_in("# nobody\n", "f"));
}

TEST(JoinedReports, SayOnceWhatAllSay) {
    ProbeReport one, other;
    one.places = {{SpecId{0}, "f", "/bin/x", 16, "entry+ret", ""}};
    one.notes = {"common", "only here"};
    other = one;
    other.notes = {"common"};
    other.places.push_back({SpecId{1}, "f", "/lib/y", 32, "entry+ret", "a clone"});
    const ProbeReport all = joined(OfHosts<ProbeReport>{{"web1", one}, {"web2", other}});
    ASSERT_EQ(all.places.size(), 2u);
    EXPECT_EQ(all.places[0].note, "");
    EXPECT_EQ(all.places[1].note, "a clone, on web2");
    EXPECT_THAT(all.notes, ElementsAre("common", "web1: only here"));
    const Error no{"time", "f", "no function matches", ""};
    EXPECT_EQ(joined(OfHosts<Error>{{"a", no}, {"b", no}}, 2).message(), no.message());
    EXPECT_THAT(joined(OfHosts<Error>{{"b", no}}, 2).message(),
                HasSubstr("b: no function matches (nothing was changed on any host)"));
}

} // namespace
} // namespace auger::remote
