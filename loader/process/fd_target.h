// SPDX-License-Identifier: GPL-3.0-or-later
// What a process's file descriptor leads to, for people: a file's path, or a socket's two ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

namespace auger {

class FdTargets {
  public:
    // At most this often: tables of a busy machine are long.
    static constexpr uint64_t refresh_interval_ns = 200'000'000;

    // "tcp 127.0.0.1:80 -> 10.0.0.7:4711", "unix /run/db.sock", "pipe:[4711]", "/var/log/x"; raw.
    // Empty when it cannot be told (any more). It is asked after the fact: a descriptor that was
    // closed and used again since leads elsewhere.
    std::string find(pid_t pid, uint64_t fd, uint64_t now_ns);

  private:
    void read_tables(pid_t pid);

    std::map<uint64_t, std::string> sockets_; // by inode, which is the same in all namespaces
    uint64_t next_refresh_ns_ = 0;
};

// The same for one line of /proc/net/tcp or tcp6 (no header): the inode and both ends. False for a
// line that is none.
bool parse_inet_socket(const std::string& line, const std::string& protocol, uint64_t& inode,
                       std::string& text);

} // namespace auger
