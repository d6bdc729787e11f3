// SPDX-License-Identifier: GPL-3.0-or-later
// Where the sampling endpoint listens: a socket in the file system that only one user may connect
// to (and root), or a port of the loopback interface. Nothing else: what is observed is nobody
// else's business.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct ListenAddress {
    enum class Kind { unix_socket, ipv4_loopback, ipv6_loopback };
    Kind kind = Kind::unix_socket;
    std::string path;  // of a unix socket
    uint16_t port = 0; // else; 0: one that is free
    friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

// "unix:PATH" (or "unix://PATH"), "127.0.0.1:PORT", "localhost:PORT", "[::1]:PORT". Fails with
// kind `usage`, and `at` in the text.
Result<ListenAddress> parse_listen_address(std::string_view text);

class ListenSocket {
  public:
    // A unix socket is made with the invoking user's rights, has mode 0600 and belongs to that user
    // from the moment it is there; then it is given to `owner`. One that nobody listens on any more
    // is replaced if it is ours or that user's; nothing else that stands there is.
    static Result<ListenSocket> open(const ListenAddress&, std::optional<uid_t> owner = {});
    ListenSocket(ListenSocket&& other) noexcept;
    ListenSocket& operator=(ListenSocket&&) = delete;
    ~ListenSocket(); // removes the socket from the file system, if it is still this one

    int fd() const { return fd_.get(); }
    // As parse_listen_address() reads it, with the port that it has.
    const std::string& text() const { return text_; }

  private:
    ListenSocket() = default;
    Result<void> bind_unix(const std::string& path, std::optional<uid_t> owner);
    Result<void> give_to(uid_t owner);
    Result<void> bind_loopback(const ListenAddress&);

    UniqueFd fd_;
    std::string text_;
    std::string path_; // empty: there is nothing to remove
    dev_t device_ = 0; // of the socket's file
    ino_t inode_ = 0;
    UniqueFd file_;                 // likewise; of one that was given away
    std::optional<uid_t> former_{}; // whose it was, and has to be for that user to remove it
};

// Who made a unix socket's connection, as the kernel tells: its user, and the process, which has
// handed it on to others, perhaps, and ended. Nothing: a port's, or a process that our pid
// namespace does not have.
std::optional<uid_t> peer_user(int connection);
std::optional<pid_t> peer_process(int connection);

} // namespace auger
