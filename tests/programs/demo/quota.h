// SPDX-License-Identifier: GPL-3.0-or-later
//
// The quota server, and the question that workers put to it. For most metered accounts it answers
// at once; for remote ones the amount comes 10-30 ms late.
#pragma once

#include "demo/call_log.h"
#include "demo/protocol.h"

#include <thread>
#include <vector>

// Threads named `quota`, one for each connection, so that a late answer delays nobody else.
class QuotaServer {
  public:
    // Expects `connections` connections in all.
    explicit QuotaServer(unsigned connections);
    // Waits for all connections to be closed by their other side.
    ~QuotaServer();
    uint16_t port() const { return listener_.port(); }

  private:
    void serve();

    Socket listener_;
    std::vector<std::jthread> threads_;
};

struct Quota {
    uint32_t remaining = 0;
    bool late = false;
};

// What was received for it is noted in `call`.
Quota fetch_quota(const Socket& server, uint32_t account, Call& call);
