// SPDX-License-Identifier: GPL-3.0-or-later
// A span as the user asks for it: from one probe to another, known by a key. Changes when a span
// can be made of something else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// Where something happens to a span.
struct SpanPoint {
    enum class Role : uint8_t {
        from,   // it begins
        to,     // it ends
        park,   // the thread ceases to work for it ...
        resume, // ... and this one begins to
    };
    Role role = Role::from;
    std::string probe{};    // as a probe's text
    bool at_return = false; // where its calls return, else where they begin
    std::string only_if{};  // predicate: other calls are no points; empty: all are
    // Expression of a number. Empty: of `from` the thread, else the span that the thread works for.
    std::string key{};
    bool queued = false; // of `from`: no thread works for it until it is resumed
    bool keep = false;   // of `from`: a span that is open with this key goes on, else it is unended
    friend bool operator==(const SpanPoint&, const SpanPoint&) = default;
};

// What is asked and answered on accepted connections.
struct ExchangeDefinition {
    static constexpr uint64_t default_quiet_ns = 500'000'000;

    uint16_t port = 0; // of this side, of TCP; 0: any
    // Not TCP, but unix sockets that were accepted at this path, as the server names it when it
    // begins to listen; `@NAME`: a name that is no file's.
    std::string unix_path{};
    // After a send, when nobody works for it: the send was the last one.
    uint64_t quiet_ns = default_quiet_ns;
    friend bool operator==(const ExchangeDefinition&, const ExchangeDefinition&) = default;
};

struct SpanDefinition {
    static constexpr uint64_t default_limit_ns = 600'000'000'000;

    std::vector<SpanPoint> points{};               // a `from` and a `to` at least, or ...
    std::optional<ExchangeDefinition> exchanges{}; // ... this; else it is no span
    uint64_t limit_ns = default_limit_ns; // it is given up as `expired` when it is open for longer
    std::string text{};                   // "from f key arg0 to g key arg0"

    bool empty() const { return points.empty() && !exchanges; }
    friend bool operator==(const SpanDefinition&, const SpanDefinition&) = default;
};

inline std::string_view role_text(SpanPoint::Role role) {
    constexpr std::array<std::string_view, 4> texts{"from", "to", "park", "resume"};
    return texts[static_cast<size_t>(role)];
}

} // namespace auger
