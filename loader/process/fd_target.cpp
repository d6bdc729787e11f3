// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/fd_target.h"

#include "loader/process/proc_info.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace auger {

namespace {

constexpr size_t most_sockets = 100'000; // known at once; further ones stay numbers

std::string link_of(const std::string& path) {
    std::array<char, 4096> text;
    ssize_t size = readlink(path.c_str(), text.data(), text.size());
    return size > 0 ? std::string(text.data(), static_cast<size_t>(size)) : "";
}

// Addresses stand there as 32-bit words in the machine's byte order, in hexadecimal.
std::string end_of(const std::string& text) {
    size_t colon = text.find(':');
    if (colon != 8 && colon != 32)
        return "";
    std::array<uint32_t, 4> words = {};
    unsigned port = 0;
    for (size_t i = 0; i < colon / 8; i++) {
        if (std::sscanf(text.substr(8 * i, 8).c_str(), "%8x", &words[i]) != 1)
            return "";
    }
    if (std::sscanf(text.c_str() + colon + 1, "%4x", &port) != 1)
        return "";
    char address[INET6_ADDRSTRLEN] = "";
    bool six = colon == 32;
    inet_ntop(six ? AF_INET6 : AF_INET, words.data(), address, sizeof(address));
    return fmt::format("{}{}{}:{}", six ? "[" : "", address, six ? "]" : "", port);
}

// num refcount protocol flags type state inode path
bool parse_unix_socket(const std::string& line, uint64_t& inode, std::string& text) {
    std::istringstream in(line);
    std::string field, path;
    for (int i = 0; i < 6; i++)
        in >> field;
    if (!(in >> inode))
        return false;
    std::getline(in >> std::ws, path);
    text = path.empty() ? "unix" : "unix " + path;
    return true;
}

} // namespace

bool parse_inet_socket(const std::string& line, const std::string& protocol, uint64_t& inode,
                       std::string& text) {
    std::istringstream in(line);
    std::string slot, local, remote, skipped;
    if (!(in >> slot >> local >> remote) || slot.empty() || slot.back() != ':')
        return false;
    for (int i = 0; i < 6; i++)
        in >> skipped; // state, queues, timer, retransmits, uid, timeout
    if (!(in >> inode))
        return false;
    std::string from = end_of(local), to = end_of(remote);
    if (from.empty() || to.empty())
        return false;
    text = to.ends_with(":0") ? fmt::format("{} {}", protocol, from)
                              : fmt::format("{} {} -> {}", protocol, from, to);
    return true;
}

// Of the process's own network namespace.
void FdTargets::read_tables(pid_t pid) {
    if (sockets_.size() >= most_sockets)
        sockets_.clear();
    for (const char* table : {"tcp", "tcp6", "udp", "udp6", "unix"}) {
        std::ifstream lines(fmt::format("/proc/{}/net/{}", pid, table));
        std::string line, text;
        uint64_t inode = 0;
        while (sockets_.size() < most_sockets && std::getline(lines, line)) {
            bool parsed = std::strcmp(table, "unix") == 0
                              ? parse_unix_socket(line, inode, text)
                              : parse_inet_socket(line, std::string(table, 3), inode, text);
            if (parsed && inode)
                sockets_[inode] = text;
        }
    }
}

std::string FdTargets::find(pid_t pid, uint64_t fd, uint64_t now_ns) {
    std::string target = link_of(fmt::format("/proc/{}/fd/{}", pid, fd));
    if (target.empty()) {
        pid = living_thread(pid); // the first thread has no files when it has ended
        target = link_of(fmt::format("/proc/{}/fd/{}", pid, fd));
    }
    unsigned long long inode = 0;
    if (std::sscanf(target.c_str(), "socket:[%llu]", &inode) != 1)
        return target;
    if (!sockets_.contains(inode) && now_ns >= next_refresh_ns_) {
        next_refresh_ns_ = now_ns + refresh_interval_ns;
        read_tables(pid);
    }
    auto known = sockets_.find(inode);
    return known != sockets_.end() ? known->second : target;
}

} // namespace auger
