// SPDX-License-Identifier: GPL-3.0-or-later
// examples/ship_profiles, against a store that this test plays: every file once, in order, and
// again what the store has not taken.
#include "tests/support/run.h"
#include "tests/support/temporary_folder.h"

#include "loader/process/listen_socket.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Takes requests, and answers all of them alike.
class Store {
  public:
    explicit Store(std::string answer) : answer_(std::move(answer)) {
        thread_ = std::thread([this] { run(); });
    }
    ~Store() { stop(); }
    std::string url() const { return "http://" + socket_.value().text(); }
    // Ends it; what it was sent.
    const std::vector<std::string>& requests() {
        stop();
        return requests_;
    }

  private:
    void stop() {
        stop_ = true;
        if (thread_.joinable())
            thread_.join();
    }
    void run() {
        while (!stop_) {
            pollfd ready{socket_.value().fd(), POLLIN, 0};
            if (poll(&ready, 1, 20) <= 0)
                continue;
            const UniqueFd client(accept(ready.fd, nullptr, nullptr));
            std::string request;
            char bytes[4096];
            // As long as its header says; curl sends nothing behind it.
            while (request.size() < whole(request)) {
                const ssize_t got = recv(client.get(), bytes, sizeof(bytes), 0);
                if (got <= 0)
                    break;
                request.append(bytes, static_cast<size_t>(got));
            }
            requests_.push_back(std::move(request));
            (void)!send(client.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
        }
    }
    static size_t whole(const std::string& request) {
        const size_t end = request.find("\r\n\r\n"), length = request.find("Content-Length: ");
        if (end == std::string::npos || length > end)
            return SIZE_MAX;
        return end + 4 + std::stoul(request.substr(length + 16));
    }

    std::string answer_;
    Result<ListenSocket> socket_ = ListenSocket::open({ListenAddress::Kind::ipv4_loopback, "", 0});
    std::vector<std::string> requests_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

TEST(ShipProfiles, SendsEachFileOnceAndInOrder) {
    if (access("/usr/bin/curl", X_OK) != 0)
        GTEST_SKIP() << "curl is not installed (package curl)";
    const TemporaryFolder folder;
    folder.file("profile_20261121T232000.042Z.pb.gz", "\x1f\x8b first");
    folder.file("profile_20261121T232100.042Z.pb.gz", "\x1f\x8b second");
    folder.file("profile_20261121T232000.042Z.folded", "other");
    const auto ship = [&](const Store& store) {
        return run({"/bin/sh", std::string(AUGER_SOURCE_DIR) + "/examples/ship_profiles",
                    folder.path(""), store.url(), "nginx", "60"});
    };
    Store broken("HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    const Outcome failed = ship(broken);
    EXPECT_NE(failed.code, 0);
    EXPECT_THAT(failed.err, HasSubstr("500"));
    EXPECT_EQ(broken.requests().size(), 1u) << "went on after one that was not taken";

    Store store("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    const Outcome sent = ship(store);
    EXPECT_EQ(sent.code, 0) << sent.err;
    folder.file("profile_20261121T232200.042Z.pb.gz", "\x1f\x8b third");
    EXPECT_EQ(ship(store).code, 0);
    EXPECT_EQ(ship(store).code, 0);
    const auto& requests = store.requests();
    ASSERT_EQ(requests.size(), 3u);
    EXPECT_THAT(requests[0], StartsWith("POST /ingest?name=nginx&from=1795303200&until=1795303260"
                                        "&format=pprof&spyName=auger HTTP/1.1\r\n"));
    EXPECT_THAT(requests[0], HasSubstr("name=\"profile\"; filename=\"profile.pprof\""));
    EXPECT_THAT(requests[0], HasSubstr("\x1f\x8b first"));
    EXPECT_THAT(requests[1], HasSubstr("\x1f\x8b second"));
    EXPECT_THAT(requests[2], HasSubstr("\x1f\x8b third"));
}

} // namespace
} // namespace auger::test
