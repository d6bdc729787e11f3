// SPDX-License-Identifier: GPL-3.0-or-later
// Where descriptors lead: of this process, and of lines as the kernel writes them.
#include "loader/base/fd.h"
#include "loader/process/fd_target.h"

#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace auger {
namespace {

TEST(InetSocket, BothEndsOfAConnection) {
    uint64_t inode = 0;
    std::string text;
    ASSERT_TRUE(
        parse_inet_socket("   1: 0100007F:1F90 0200000A:D431 01 00000000:00000000 00:00000000 "
                          "00000000  1000        0 48213 1 0000000000000000 20 4 30 10 -1",
                          "tcp", inode, text));
    EXPECT_EQ(inode, 48213u);
    EXPECT_EQ(text, "tcp 127.0.0.1:8080 -> 10.0.0.2:54321");
}

TEST(InetSocket, OneThatListensHasOneEnd) {
    uint64_t inode = 0;
    std::string text;
    ASSERT_TRUE(parse_inet_socket("   0: 00000000000000000000000001000000:0050 "
                                  "00000000000000000000000000000000:0000 0A 00000000:00000000 "
                                  "00:00000000 00000000     0        0 77 1 0 100 0 0 10 0",
                                  "tcp", inode, text));
    EXPECT_EQ(inode, 77u);
    EXPECT_EQ(text, "tcp [::1]:80");
}

TEST(InetSocket, WhatIsNoLineIsRefused) {
    uint64_t inode = 0;
    std::string text;
    for (const char* line :
         {"", "  sl  local_address rem_address   st tx_queue", "0: 1 2 3",
          "0: zz:1 zz:2 1 2 3 4 5 6 7", "0: 0100007F:1F90 0100007F:1F91 01 a b c d e x"})
        EXPECT_FALSE(parse_inet_socket(line, "tcp", inode, text)) << line;
}

TEST(FdTargets, FilesPipesAndSocketsOfAProcess) {
    FdTargets targets;
    UniqueFd file(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(targets.find(getpid(), static_cast<uint64_t>(file.get()), 1), "/etc/passwd");
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    UniqueFd reader(ends[0]), writer(ends[1]);
    EXPECT_THAT(targets.find(getpid(), static_cast<uint64_t>(ends[0]), 1),
                testing::StartsWith("pipe:["));
    EXPECT_EQ(targets.find(getpid(), 1'000'000, 1), "");
    EXPECT_EQ(targets.find(getpid(), UINT64_MAX, 1), "");

    UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener.get(), 1), 0);
    ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_THAT(targets.find(getpid(), static_cast<uint64_t>(client.get()), 1),
                testing::EndsWith(fmt::format("-> 127.0.0.1:{}", ntohs(address.sin_port))));
    // A table is not read again at once, and then it is.
    UniqueFd later(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(later.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    auto fd = static_cast<uint64_t>(later.get());
    EXPECT_THAT(targets.find(getpid(), fd, 2), testing::StartsWith("socket:["));
    EXPECT_THAT(targets.find(getpid(), fd, 1 + FdTargets::refresh_interval_ns),
                testing::StartsWith("tcp 127.0.0.1:"));
}

} // namespace
} // namespace auger
