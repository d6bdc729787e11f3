// SPDX-License-Identifier: GPL-3.0-or-later
//
// See load.h. What a request asks for decides how long it takes, so the share of slow ones does
// not depend on the machine: an account ending in 00 waits for its quota (1 %), and a request that
// wants a newer version than there is makes its worker rebuild the index (3 %).
#include "demo/load.h"

#include "common/truth.h"
#include "demo/accounts.h"
#include "demo/protocol.h"
#include "demo/statement.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <sys/socket.h>

namespace {

constexpr unsigned requests_per_connection = 50;
constexpr double rebuild_ns = 5e6;

template <typename Work>
double best_time_ns(unsigned trials, Work work) {
    uint64_t best = UINT64_MAX;
    for (unsigned trial = 0; trial < trials; ++trial) {
        const uint64_t start = truth_now();
        work();
        best = std::min(best, truth_now() - start);
    }
    return static_cast<double>(best);
}

// One exchange; false when the service is gone.
bool exchange(const Socket& service, std::string_view head, std::string& response) {
    std::string request(head);
    request.resize(head_size, ' ');
    request.resize(head_size + body_size, '.');
    if (!service.send_all(request.data(), request.size()))
        return false;
    ResponseHead answer{};
    if (recv(service.fd(), &answer, sizeof answer, MSG_WAITALL) != sizeof answer)
        return false;
    response.resize(answer.length);
    return recv(service.fd(), response.data(), response.size(), MSG_WAITALL) ==
           static_cast<ssize_t>(answer.length);
}

} // namespace

Calibration Calibration::measure() {
    Calibration result;
    constexpr uint32_t rows = 200, entries = 20'000;
    result.row_ns = best_time_ns(50,
                                 [] {
                                     std::string text;
                                     render_response({1, 1, 1}, rows, text);
                                     truth_expect(checksum(text) != 0, "a checksum of nothing");
                                 }) /
                    rows;
    Accounts accounts(entries);
    const double sort_ns = best_time_ns(5, [&] { rebuild_index(accounts, accounts.version + 1); });
    result.index_entries = static_cast<uint32_t>(entries * (rebuild_ns / sort_ns));
    return result;
}

Load::Load(const LoadOptions& options, const Calibration& calibration, uint16_t port)
    : options_(options), calibration_(calibration) {
    for (unsigned index = 0; index < options.clients; ++index)
        clients_.emplace_back([=, this] { run_client(index, port); });
}

void Load::wait() {
    clients_.clear();
}

void Load::run_client(unsigned index, uint16_t port) {
    truth_name_thread(("client-" + std::to_string(index)).c_str());
    std::mt19937_64 random(options_.seed * 1'000'003 + index);
    std::lognormal_distribution<double> work_us(std::log(180), 0.35);
    std::uniform_int_distribution<uint32_t> any_account(0, account_count - 1);
    std::bernoulli_distribution wants_newer(options_.cpu_share / 0.9); // of the nine in ten
    std::exponential_distribution<double> think_s(options_.rate / options_.clients);

    std::string response;
    while (truth_running()) {
        const Socket service = Socket::connected(port);
        for (unsigned sent = 0; sent < requests_per_connection && truth_running(); ++sent) {
            if (options_.requests && taken_++ >= options_.requests)
                return;
            const uint32_t account = any_account(random);
            const double us = std::clamp(work_us(random), 80.0, 400.0); // sockets add to it
            const uint32_t rows = static_cast<uint32_t>(us * 1000 / calibration_.row_ns);
            const bool newer = wants_newer(random) && !is_metered(account);
            const uint32_t version = newer ? ++version_ : 0;
            const std::string head = "GET /account/" + std::to_string(account) +
                                     "/statement rows=" + std::to_string(rows) +
                                     " version=" + std::to_string(version);
            truth_expect(exchange(service, head, response), "the service did not answer");
            truth_sleep_us(static_cast<uint64_t>(std::min(think_s(random), 1.0) * 1e6));
        }
    }
}
