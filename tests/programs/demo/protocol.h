// SPDX-License-Identifier: GPL-3.0-or-later
//
// What clients, workers and the quota server say to each other: fixed-width heads, so that each
// recv knows how much it wants, and sockets on the loopback interface.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

constexpr uint32_t account_count = 10'000;

// Every 10th account is metered: its requests ask the quota server. Every 100th account's quota
// is kept elsewhere, and the server has to wait for it.
constexpr bool is_metered(uint32_t account) {
    return account % 10 == 0;
}
constexpr bool is_quota_remote(uint32_t account) {
    return account % 100 == 0;
}
// What is done for every fourth account is noted in the audit log.
constexpr bool is_audited(uint32_t account) {
    return account % 4 == 1;
}

// A request: a head padded with spaces, then a body of `body_size` bytes.
//     GET /account/1234/statement rows=170 version=3
constexpr size_t head_size = 64;
constexpr size_t body_size = 128;
using Head = std::array<char, head_size>;
using Body = std::array<char, body_size>;

// The quota server's answer comes in two parts: that it knows the account, then what is left.
struct QuotaQuestion {
    uint32_t account;
};
struct QuotaFound {
    uint32_t account;
};
struct QuotaAmount {
    uint32_t remaining;
    uint32_t waited_us;
};

// A response: its length, its checksum, then the text.
struct ResponseHead {
    uint32_t length;
    uint32_t checksum;
};

// An open socket, closed by its destructor. Failures end the program: it is a demonstration.
class Socket {
  public:
    explicit Socket(int fd) : fd_(fd) {}
    Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    Socket& operator=(Socket&&) = delete;
    ~Socket();

    int fd() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

    // A listening socket on 127.0.0.1 with a port that the kernel chose.
    static Socket listening();
    static Socket connected(uint16_t port);
    // Invalid once the listening socket was shut down.
    Socket accept() const;
    uint16_t port() const;
    // Wakes whoever waits in accept or recv.
    void shut_down() const;

    // False when the other side is gone.
    bool send_all(const void* data, size_t size) const;

  private:
    int fd_;
};
