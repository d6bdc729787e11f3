// SPDX-License-Identifier: GPL-3.0-or-later
// ConfinedPoster: requests through a process of its own, which holds libcurl, has the network, and
// has neither capabilities nor files. Whatever a server answers, it is that process which reads it.
#pragma once

#include "loader/http/http_post.h"
#include "loader/process/confined_process.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace auger {

// What such a process does, and its name.
inline constexpr const char* http_service = "http";

class ConfinedPoster final : public HttpPoster {
  public:
    // `certificates`: of who may sign the server's, as PEM; empty: those that this machine trusts.
    // Fails when libcurl is missing.
    static Result<std::unique_ptr<HttpPoster>> open(std::string certificates);

    Result<void> start(const HttpPost& post, UniqueFd body) override;
    std::optional<HttpOutcome> take() override;
    int wake_fd() const override { return process_ && busy_ ? process_->socket() : -1; }

  private:
    using Clock = std::chrono::steady_clock;

    ConfinedPoster(std::unique_ptr<ConfinedProcesses> processes, std::string certificates)
        : processes_(std::move(processes)), certificates_(std::move(certificates)) {}

    // A new process, which has been told what it needs, and has not said yet whether that will do.
    Result<void> begin();
    // Why it will not, or nothing; once it has said so, within a time.
    std::optional<std::string> begun(std::chrono::milliseconds patience);
    HttpOutcome fail(std::string why);

    std::unique_ptr<ConfinedProcesses> processes_;
    const std::string certificates_;
    std::optional<ConfinedProcess> process_;
    bool begun_ = false, busy_ = false;
    Clock::time_point until_; // an answer is waited for
};

} // namespace auger
