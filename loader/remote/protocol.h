// SPDX-License-Identifier: GPL-3.0-or-later
// What console and agent say to each other over a pair of pipes, and what each accepts of the
// other:
//
//   preamble  its bytes, once from each side, so that a shell's greeting is not taken for an agent
//   frame     size of the rest (fixed 32, little-endian), kind (varint), then what the kind holds
//
// Frames of an unknown kind are skipped, and what follows the known fields of a frame is ignored,
// so either side may be newer. Changes when something else is to be said; then a feature's name
// tells whether the other side understands it, or, when nothing of before holds, the version goes
// up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace auger::remote {

inline constexpr std::string_view preamble = "\x89"
                                             "auger agent\r\n";
// Of the protocol that are spoken: each side takes the highest that both have.
inline constexpr uint32_t oldest_version = 1, version = 1;

enum class FrameKind : uint8_t {
    hello = 1,   // both, first: versions, features, who it is
    open = 2,    // console: observe, with what does not change
    request = 3, // console: number, then what is asked (requests.h)
    answer = 4,  // agent: number, then what came of it
    state = 5,   // agent: what it says of itself unasked
    block = 6,   // agent: a piece of the event stream
    ping = 7,    // console: its clock
    pong = 8,    // agent: that, and its own clock
    working = 9, // agent: it is alive, and busy
    end = 10,    // agent: why it ends
    // Of a relay, an agent that is the console of others and has a console itself:
    relayed_block = 11, // of which of its hosts the block's things are, then the block
    hosts = 12,         // how its hosts are
};

// Names of what is not in every version: blocks that are compressed; of a console, that it takes a
// relay's hosts; of an agent, that it is a relay, and that it says before an edit whether it would
// refuse it. A relay is no console of that kind, so there is one between a console and a host, and
// no more.
inline constexpr std::string_view feature_zlib = "zlib", feature_hosts = "hosts",
                                  feature_relay = "relay", feature_checks = "checks";

inline constexpr size_t most_frame = 16 << 20;    // bytes, but for the size itself
inline constexpr size_t most_greeting = 64 << 10; // before the preamble: what a login shell says
inline constexpr size_t most_text = 64 << 10;     // of a name, a probe, an error
inline constexpr size_t most_elements = 1 << 18;  // of all lists of one frame
inline constexpr size_t most_features = 64;       // names of them
inline constexpr size_t most_block = 16 << 20;    // bytes of records, unpacked
inline constexpr size_t most_requests = 4096;     // without an answer
inline constexpr size_t block_to_compress = 512;  // smaller ones do not shrink

// Who says nothing for so long is not waited for; for longer, is given up. An agent that is busy
// says so in between.
inline constexpr std::chrono::milliseconds sign_of_life{500};
inline constexpr std::chrono::seconds silent_is_stale{2};
inline constexpr std::chrono::seconds silent_is_lost{10};

} // namespace auger::remote
