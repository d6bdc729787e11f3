// SPDX-License-Identifier: GPL-3.0-or-later
// The formats are those of proc(5) and of the kernel's net/ipv4/tcp_ipv4.c and net/unix/af_unix.c.
#include "loader/process/listeners.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace auger {
namespace {

// A machine may have any number; those of a server are few.
constexpr size_t most_lines = 100'000, most_looked_at = 100'000, most_places = 64;

constexpr std::string_view tcp_listen = "0A";     // TCP_LISTEN
constexpr unsigned accepts_connections = 1 << 16; // __SO_ACCEPTCON
constexpr std::string_view stream = "0001";       // SOCK_STREAM

template <typename T>
bool read_number(std::string_view text, T& number, int base) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Of the process's own network.
ListenersByInode listeners_of_network(pid_t pid) {
    ListenersByInode found;
    const std::string folder = "/proc/" + std::to_string(pid) + "/net/";
    for (const char* name : {"tcp", "tcp6"})
        if (std::ifstream file(folder + name); file)
            read_tcp_listeners(file, found);
    if (std::ifstream file(folder + "unix"); file)
        read_unix_listeners(file, found);
    return found;
}

// "socket:[12345]"
uint64_t socket_inode(const std::filesystem::path& descriptor) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(descriptor, error);
    uint64_t inode = 0;
    if (!error && target.starts_with("socket:[") && target.ends_with(']'))
        read_number(std::string_view(target).substr(8, target.size() - 9), inode, 10);
    return inode;
}

} // namespace

void read_tcp_listeners(std::istream& text, ListenersByInode& found) {
    std::string line;
    std::getline(text, line); // names of the columns
    for (size_t lines = 0; lines < most_lines && std::getline(text, line); lines++) {
        // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ...
        std::istringstream fields(line);
        std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
        fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
            timeout >> inode;
        if (state != tcp_listen)
            return;
        Listener listener;
        uint64_t of = 0;
        const size_t colon = local.rfind(':');
        if (colon != local.npos && read_number(local.substr(colon + 1), listener.port, 16) &&
            read_number(inode, of, 10) && listener.port && of)
            found.emplace(of, listener);
    }
}

void read_unix_listeners(std::istream& text, ListenersByInode& found) {
    std::string line;
    std::getline(text, line);
    for (size_t lines = 0; lines < most_lines && std::getline(text, line); lines++) {
        // Num RefCount Protocol Flags Type St Inode Path
        std::istringstream fields(line);
        std::string address, references, protocol, flags, type, state, inode;
        fields >> address >> references >> protocol >> flags >> type >> state >> inode;
        unsigned bits = 0;
        uint64_t of = 0;
        if (type != stream || !read_number(flags, bits, 16) || !(bits & accepts_connections) ||
            !read_number(inode, of, 10) || !of)
            continue;
        Listener listener;
        std::getline(fields >> std::ws, listener.unix_path);
        if (!listener.unix_path.empty())
            found.emplace(of, std::move(listener));
    }
}

Listeners listeners_of(std::span<const pid_t> pids) {
    std::map<std::string, ListenersByInode> networks; // by namespace
    std::set<Listener> places;
    size_t descriptors = 0;
    for (const pid_t pid : pids) {
        const std::string folder = "/proc/" + std::to_string(pid);
        std::error_code error;
        const std::string name = std::filesystem::read_symlink(folder + "/ns/net", error);
        if (error)
            continue;
        const auto [network, is_new] = networks.try_emplace(name);
        if (is_new)
            network->second = listeners_of_network(pid);
        if (network->second.empty())
            continue;
        for (std::filesystem::directory_iterator one(folder + "/fd", error), end;
             !error && one != end && descriptors < most_looked_at; one.increment(error)) {
            descriptors++;
            if (const auto listener = network->second.find(socket_inode(one->path()));
                listener != network->second.end())
                places.insert(listener->second);
        }
        if (places.size() >= most_places)
            break;
    }
    Listeners listeners;
    listeners.places.assign(places.begin(), places.end());
    listeners.places.resize(std::min(listeners.places.size(), most_places));
    return listeners;
}

} // namespace auger
