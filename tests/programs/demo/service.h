// SPDX-License-Identifier: GPL-3.0-or-later
//
// The service: workers that accept connections and answer requests for account statements.
#pragma once

#include "demo/accounts.h"
#include "demo/audit.h"
#include "demo/call_log.h"
#include "demo/protocol.h"

#include <thread>
#include <vector>

class Service {
  public:
    Service(unsigned workers, uint32_t index_entries, uint16_t quota_port, CallLog& log);
    // Lets every worker finish the connection that it serves, then ends.
    ~Service();
    uint16_t port() const { return listener_.port(); }

  private:
    void work(unsigned index, uint32_t index_entries, uint16_t quota_port);

    Socket listener_;
    CallLog& log_;
    AuditLog audit_;
    std::vector<std::jthread> workers_;
};
