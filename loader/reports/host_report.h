// SPDX-License-Identifier: GPL-3.0-or-later
// How an observed host is. Changes when more is told of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct HostReport {
    enum class State : uint8_t {
        starting, // its agent has not answered yet
        joining,  // it is given the settings in force, or is at work on an edit that others have
                  // made
        live,
        stale, // it has said nothing for a while, and is not waited for
        lost,  // there is no agent; it will be started again
    };
    std::string name; // as the user has it
    State state = State::starting;
    std::string cause;             // why it is lost; raw
    std::string program;           // of the agent: "auger 1.2.3"; raw
    std::string machine;           // what the machine calls itself; raw
    uint64_t silent_ns = 0;        // since it said something
    uint64_t clock_error_ns = 0;   // by how much its times may be wrong here
    uint64_t round_trip_ns = 0;    // the shortest of late
    uint64_t received_bytes = 0;   // from all of its agents
    uint64_t bytes_per_second = 0; // of late
    uint64_t lost_samples = 0;     // that its agent dropped, since we read too slowly
    uint64_t times_lost = 0;
    size_t processes = 0;             // of the target, that run
    std::vector<std::string> lacks{}; // probes that it goes without; raw
};

// What a file that is of one of several hosts has in its name, "x-web1.auger", and what its folder
// is called: another one for each host, with what no name may have as URLs have it (RFC 3986,
// section 2.1), "ns%2Fpod".
inline std::string host_file_name(std::string_view host) {
    std::string name;
    for (const char c : host) {
        if (c == '/' || c == '%' || (c == '.' && name.empty()))
            name += c == '/' ? "%2F" : c == '%' ? "%25" : "%2E";
        else
            name += c;
    }
    return name;
}

// Before a file's extension: "dir/x-1.auger" of "dir/x.auger".
inline std::string with_suffix(const std::string& path, const std::string& suffix) {
    const size_t name = path.rfind('/') + 1; // 0 when there is none
    size_t dot = path.rfind('.');
    if (dot == std::string::npos || dot <= name)
        dot = path.size();
    return path.substr(0, dot) + suffix + path.substr(dot);
}
// The file of one of several hosts: "dir/x-web1.auger" of "dir/x.auger".
inline std::string path_of_host(const std::string& path, const std::string& host) {
    return with_suffix(path, "-" + host_file_name(host));
}

inline const char* state_text(HostReport::State state) {
    switch (state) {
    case HostReport::State::starting:
        return "starting";
    case HostReport::State::joining:
        return "joining";
    case HostReport::State::live:
        return "live";
    case HostReport::State::stale:
        return "stale";
    case HostReport::State::lost:
        return "lost";
    }
    return "";
}

} // namespace auger
