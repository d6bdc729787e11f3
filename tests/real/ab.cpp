// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/ab.h"

#include "tests/support/run.h"

#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace auger::test {

void request_by_ab(int port, const std::string& file, int requests, int clients) {
    const Outcome outcome =
        run({ab_program, "-q", "-n", std::to_string(requests), "-c", std::to_string(clients), "-H",
             "Accept-Encoding: gzip", "http://127.0.0.1:" + std::to_string(port) + "/" + file});
    std::istringstream lines(outcome.out);
    int complete = 0, failed = 0, refused = 0; // the last is not always there
    for (std::string line; std::getline(lines, line);) {
        std::sscanf(line.c_str(), "Complete requests: %d", &complete);
        std::sscanf(line.c_str(), "Failed requests: %d", &failed);
        std::sscanf(line.c_str(), "Non-2xx responses: %d", &refused);
    }
    if (complete != requests || failed + refused != 0)
        throw std::runtime_error("the server did not answer every request: " + outcome.out +
                                 outcome.err);
}

} // namespace auger::test
