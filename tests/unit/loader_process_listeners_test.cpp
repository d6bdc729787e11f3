// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/listeners.h"

#include "loader/base/fd.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <sstream>

namespace auger::test {
namespace {

using testing::Contains;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(Listeners, OfTcpComeFirst) {
    std::istringstream text("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when "
                            "retrnsmt   uid  timeout "
                            "inode\n"
                            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 "
                            "00000000     0        0 "
                            "4711 1 0000000000000000 100 0 0 10 0\n"
                            "   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 "
                            "00000000     0        0 "
                            "4712 1 0000000000000000 100 0 0 10 0\n"
                            "   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 "
                            "00000000     0        0 "
                            "4713 1 0000000000000000 20 4 30 10 -1\n"
                            "   3: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 "
                            "00000000     0        0 "
                            "4714 1 0000000000000000 100 0 0 10 0\n");
    ListenersByInode found;
    read_tcp_listeners(text, found);
    EXPECT_THAT(found,
                UnorderedElementsAre(Pair(4711, Listener{8080, ""}), Pair(4712, Listener{22, ""})));
}

TEST(Listeners, OfUnixSocketsAcceptStreams) {
    std::istringstream text(
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 100 /run/app.sock\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 101 @abstract name\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03 102 /run/app.sock\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01 103 /run/udev/control\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 104\n"
        "what is no line\n"
        "0000000000000000: 00000002 00000000 99999999999 0001 01 105 /run/large\n");
    ListenersByInode found;
    read_unix_listeners(text, found);
    EXPECT_THAT(found, UnorderedElementsAre(Pair(100, Listener{0, "/run/app.sock"}),
                                            Pair(101, Listener{0, "@abstract name"})));
}

TEST(Listeners, AreThoseOfTheProcessAlone) {
    const TemporaryFolder folder;
    const UniqueFd tcp(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        bound(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        local(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto port_of = [](int fd) {
        sockaddr_in own{};
        socklen_t size = sizeof own;
        EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size), 0);
        return ntohs(own.sin_port);
    };
    for (const UniqueFd* one : {&tcp, &bound})
        ASSERT_EQ(bind(one->get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    sockaddr_un path{};
    path.sun_family = AF_UNIX;
    const std::string name = folder.path("socket");
    ASSERT_LT(name.size(), sizeof path.sun_path);
    name.copy(path.sun_path, name.size());
    ASSERT_EQ(bind(local.get(), reinterpret_cast<sockaddr*>(&path), sizeof path), 0);
    for (const UniqueFd* one : {&tcp, &local})
        ASSERT_EQ(listen(one->get(), 1), 0);
    const pid_t own = getpid(), gone = 1 << 22;
    const auto places = listeners_of(std::vector{gone, own}).places;
    EXPECT_THAT(places, Contains(Listener{port_of(tcp.get()), ""}));
    EXPECT_THAT(places, Contains(Listener{0, name}));
    EXPECT_THAT(places, Not(Contains(Listener{port_of(bound.get()), ""})));
    EXPECT_TRUE(std::ranges::is_sorted(places));
    EXPECT_TRUE(listeners_of(std::vector{gone}).places.empty());
}

} // namespace
} // namespace auger::test
