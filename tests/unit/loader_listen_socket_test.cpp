// SPDX-License-Identifier: GPL-3.0-or-later
// Where the endpoint may listen, and what becomes of what stands there.
#include "loader/process/listen_socket.h"

#include "tests/support/invoking_user.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace auger {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;
using Kind = ListenAddress::Kind;

TEST(ListenAddress, HasThreeForms) {
    const auto is = [](std::string_view text, ListenAddress wanted) {
        auto address = parse_listen_address(text);
        return address && *address == wanted;
    };
    EXPECT_TRUE(is("unix:/run/a.sock", {Kind::unix_socket, "/run/a.sock", 0}));
    EXPECT_TRUE(is("unix:///run/a.sock", {Kind::unix_socket, "/run/a.sock", 0}));
    EXPECT_TRUE(is("unix:a b", {Kind::unix_socket, "a b", 0}));
    EXPECT_TRUE(is("127.0.0.1:7400", {Kind::ipv4_loopback, "", 7400}));
    EXPECT_TRUE(is("localhost:0", {Kind::ipv4_loopback, "", 0}));
    EXPECT_TRUE(is("[::1]:65535", {Kind::ipv6_loopback, "", 65535}));
}

TEST(ListenAddress, OthersAreRefusedAtTheirPlace) {
    struct Wrong {
        std::string text, cause;
        size_t offset;
    };
    const std::vector<Wrong> wrong = {
        {"0.0.0.0:80", "only this machine", 0},
        {"example.com:80", "only this machine", 0},
        {":80", "only this machine", 0},
        {"80", "is not an address", 0},
        {"127.0.0.1:", "a port is a number", 10},
        {"127.0.0.1:65536", "a port is a number", 10},
        {"127.0.0.1:80x", "a port is a number", 10},
        {"127.0.0.1:-1", "a port is a number", 10},
        {"unix:", "needs a path", 0},
        {"unix://", "needs a path", 0},
        {"unix:" + std::string(108, 'x'), "at most 107 bytes", 5},
        {std::string("unix:a\0b", 8), "NUL byte", 5},
    };
    for (const Wrong& one : wrong) {
        auto address = parse_listen_address(one.text);
        ASSERT_FALSE(address) << one.text;
        EXPECT_THAT(address.error().cause, HasSubstr(one.cause)) << one.text;
        EXPECT_EQ(address.error().kind, Error::Kind::usage);
        ASSERT_TRUE(address.error().at);
        EXPECT_EQ(address.error().at->offset, one.offset) << one.text;
        EXPECT_LE(one.offset + address.error().at->length, one.text.size());
    }
}

class UnixSockets : public testing::Test {
  protected:
    Result<ListenSocket> listen(const std::string& path) {
        return ListenSocket::open({Kind::unix_socket, path, 0});
    }
    std::string message(const std::string& path) {
        auto socket = listen(path);
        return socket ? "listens" : socket.error().message();
    }
    TemporaryFolder folder_;
    std::string path_ = folder_.path("s");
};

TEST_F(UnixSockets, AreTheirUsersAlone) {
    struct stat status {};
    const mode_t before = umask(0);
    auto socket = listen(path_);
    umask(before);
    ASSERT_TRUE(socket) << socket.error().message();
    ASSERT_EQ(lstat(path_.c_str(), &status), 0);
    EXPECT_TRUE(S_ISSOCK(status.st_mode));
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(socket->text(), "unix:" + path_);
}

TEST_F(UnixSockets, GoWhenNobodyListens) {
    {
        auto socket = listen(path_);
        ASSERT_TRUE(socket);
        EXPECT_THAT(message(path_), HasSubstr("another process is listening there"));
        EXPECT_TRUE(std::filesystem::exists(path_)) << "another's socket was removed";
        const ListenSocket moved = std::move(*socket);
        EXPECT_TRUE(std::filesystem::exists(path_));
    }
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(path_)));
}

TEST_F(UnixSockets, LeftBehindAreReplaced) {
    // As of one that was killed.
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int old = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(bind(old, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    close(old);
    EXPECT_EQ(message(path_), "listens");
}

TEST_F(UnixSockets, ReplaceNothingElse) {
    const std::string file = folder_.path("file"), link = folder_.path("link");
    std::ofstream(file) << "mine";
    std::filesystem::create_symlink(path_, link);
    EXPECT_THAT(message(file), HasSubstr("is not a socket"));
    EXPECT_THAT(message(link), HasSubstr("is not a socket"));
    EXPECT_THAT(message(folder_.path(".")), HasSubstr("is not a socket"));
    EXPECT_EQ(std::filesystem::file_size(file), 4u);
    EXPECT_FALSE(std::filesystem::exists(path_)) << "a link was followed";
    EXPECT_THAT(message(folder_.path("none/s")), HasSubstr("No such file"));
}

// A process that asks for its own is told by the kernel, whatever it says.
TEST_F(UnixSockets, PeersAreKnown) {
    auto listening = listen(path_);
    ASSERT_TRUE(listening);
    const auto made_by = [&]() -> std::pair<pid_t, std::optional<pid_t>> {
        const pid_t child = fork();
        if (child == 0) {
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
            const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
            _exit(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 ? 0 : 1);
        }
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        const UniqueFd connection(accept4(listening->fd(), nullptr, nullptr, SOCK_CLOEXEC));
        EXPECT_TRUE(connection);
        EXPECT_EQ(peer_user(connection.get()), geteuid());
        return {child, peer_process(connection.get())};
    };
    // Also when it has gone.
    const auto [child, peer] = made_by();
    EXPECT_EQ(peer, child);
    const auto port = ListenSocket::open({Kind::ipv4_loopback, "", 0});
    ASSERT_TRUE(port);
    sockaddr_in to{};
    socklen_t size = sizeof(to);
    ASSERT_EQ(getsockname(port->fd(), reinterpret_cast<sockaddr*>(&to), &size), 0);
    const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&to), size), 0);
    const UniqueFd connection(accept4(port->fd(), nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(connection);
    EXPECT_FALSE(peer_process(connection.get()));
}

TEST_F(UnixSockets, TheNextOwnersIsNotRemoved) {
    auto first = listen(path_);
    ASSERT_TRUE(first);
    std::filesystem::remove(path_);
    auto second = listen(path_);
    ASSERT_TRUE(second);
    { const ListenSocket gone = std::move(*first); }
    EXPECT_TRUE(std::filesystem::exists(path_));
}

// The folder's permissions are the user's, and so is what is made there.
TEST_F(UnixSockets, AreMadeWithTheRightsOfWhoCalledSudo) {
    if (geteuid() != 0 || !getpwnam("nobody"))
        GTEST_SKIP() << "needs root and the user nobody";
    const std::string roots = folder_.path("roots");
    const auto left_behind = [](const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        const UniqueFd old(socket(AF_UNIX, SOCK_STREAM, 0));
        return bind(old.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    };
    ASSERT_TRUE(left_behind(roots));
    const test::AsCalledBySudo nobody("nobody");
    EXPECT_THAT(message(path_), HasSubstr("Permission denied"));
    EXPECT_THAT(message(path_), HasSubstr("the rights of nobody"));
    EXPECT_NE(message(roots), "listens");
    EXPECT_TRUE(std::filesystem::exists(roots)) << "what only root may remove was removed";

    ASSERT_EQ(chmod(folder_.path("").c_str(), 0777), 0);
    {
        auto socket = listen(path_);
        ASSERT_TRUE(socket) << socket.error().message();
        struct stat status {};
        ASSERT_EQ(lstat(path_.c_str(), &status), 0);
        EXPECT_EQ(status.st_uid, nobody.uid);
        EXPECT_EQ(status.st_gid, nobody.gid);
        EXPECT_EQ(status.st_mode & 07777, 0600u);
    }
    EXPECT_FALSE(std::filesystem::exists(path_));
}

// Its new owner may leave it behind, and auger's next session takes its place.
TEST_F(UnixSockets, AreGivenToAnotherUser) {
    if (geteuid() != 0 || !getpwnam("nobody"))
        GTEST_SKIP() << "needs root and the user nobody";
    constexpr uid_t other = 4711;
    const auto owner = [&] {
        struct stat status {};
        return lstat(path_.c_str(), &status) == 0 && (status.st_mode & 07777) == 0600
                   ? std::optional(status.st_uid)
                   : std::nullopt;
    };
    const auto given = [&] { return ListenSocket::open({Kind::unix_socket, path_, 0}, other); };
    {
        auto socket = given();
        ASSERT_TRUE(socket) << socket.error().message();
        EXPECT_EQ(owner(), other);
        const ListenSocket moved = std::move(*socket);
        EXPECT_EQ(owner(), other);
    }
    EXPECT_EQ(owner(), std::nullopt);
    {
        // Removed with the rights of who called sudo, to whom it belongs again for that, also in a
        // folder of everybody's.
        ASSERT_EQ(chmod(folder_.path("").c_str(), 01777), 0);
        const test::AsCalledBySudo nobody("nobody");
        auto socket = given();
        ASSERT_TRUE(socket) << socket.error().message();
        EXPECT_EQ(owner(), other);
    }
    EXPECT_EQ(owner(), std::nullopt);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const UniqueFd old(socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(old.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(chown(path_.c_str(), other, gid_t(-1)), 0);
    EXPECT_THAT(message(path_), HasSubstr("belongs to another user"));
    EXPECT_TRUE(given());
}

TEST(LoopbackPorts, AreChosenAndTakenOnce) {
    for (const Kind kind : {Kind::ipv4_loopback, Kind::ipv6_loopback}) {
        auto first = ListenSocket::open({kind, "", 0});
        if (!first && kind == Kind::ipv6_loopback)
            continue; // a machine without IPv6
        ASSERT_TRUE(first) << first.error().message();
        auto address = parse_listen_address(first->text());
        ASSERT_TRUE(address) << first->text();
        EXPECT_EQ(address->kind, kind);
        EXPECT_NE(address->port, 0);
        auto second = ListenSocket::open(*address);
        ASSERT_FALSE(second);
        EXPECT_THAT(second.error().message(), HasSubstr("Address already in use (choose"));
    }
}

} // namespace
} // namespace auger
