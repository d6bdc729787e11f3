// SPDX-License-Identifier: GPL-3.0-or-later
// A session on a fake backend that serves at a port, and is asked through real connections.
#pragma once

#include "tests/support/http_client.h"
#include "tests/unit/repl_fake_backend.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace auger {

inline constexpr const char* one_second = R"({"numberOfSamples":100,"timeInterval":"10 ms"})";

class EndpointTest : public testing::Test {
  protected:
    EndpointTest() {
        test_.run("target 4711; time handle");
        address_ = serve("127.0.0.1:0");
        test_.backend.log.clear();
    }
    // Where it then says that it serves.
    std::string serve(const std::string& arguments) {
        std::string said = test_.run("serve " + arguments);
        said.erase(said.find_last_not_of('\n') + 1);
        return said.substr(said.rfind(' ') + 1);
    }
    // Lets the session work until `done`, for a minute at most of this machine's time. A step is
    // 20 ms of the session's.
    template <typename Done>
    bool work_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (!done()) {
            if (std::chrono::steady_clock::now() > limit)
                return false;
            (void)test_.session.pump(std::chrono::milliseconds(20), -1);
        }
        return true;
    }
    bool answered(HttpClient& client) {
        return work_until([&] { return client.closed(); });
    }

    TestSession test_;
    std::string address_; // the URL that was said
};

} // namespace auger
