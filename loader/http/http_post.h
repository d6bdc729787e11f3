// SPDX-License-Identifier: GPL-3.0-or-later
// One request to a server that is not trusted, and what came of it.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace auger {

struct HttpPost {
    // In which nothing is sent or answered: then it is given up.
    static constexpr uint32_t idle_seconds = 60;
    // What a link must carry for a body to have time enough.
    static constexpr uint64_t least_bytes_per_second = 16 << 10;
    static uint32_t seconds_for(uint64_t body_bytes) {
        return idle_seconds + static_cast<uint32_t>(std::min<uint64_t>(
                                  body_bytes / least_bytes_per_second, UINT32_MAX / 2));
    }

    std::string url;
    std::vector<std::string> headers{}; // "Name: value"; some are secret
    bool otlp = false;                  // the answer is a message of OTLP's
    uint32_t seconds = idle_seconds;    // for all of it
    friend bool operator==(const HttpPost&, const HttpPost&) = default;
};

struct HttpOutcome {
    uint32_t status = 0;        // of HTTP; 0: there was no answer
    uint64_t retry_after_s = 0; // 0: nothing is said of it
    uint64_t rejected = 0;      // of a partial success of OTLP's
    std::string text{};         // what the server says, or why there was no answer; as it came
    friend bool operator==(const HttpOutcome&, const HttpOutcome&) = default;
};

// Who sends them, one after the other, while others go on.
class HttpPoster {
  public:
    virtual ~HttpPoster() = default;
    // Begins to send `body`, a file, from its beginning to its end.
    virtual Result<void> start(const HttpPost& post, UniqueFd body) = 0;
    // What came of it; nothing: that is not known yet.
    virtual std::optional<HttpOutcome> take() = 0;
    // Readable when there is something to take; -1: nothing was started.
    virtual int wake_fd() const = 0;
};

} // namespace auger
