// SPDX-License-Identifier: GPL-3.0-or-later
//
// See quota.h.
#include "demo/quota.h"

#include "common/truth.h"

#include <sys/socket.h>

namespace {

// 10 to 30 ms, the same for the same question.
uint32_t delay_us(uint32_t account, uint32_t question) {
    return 10'000 + (account * 2654435761u + question * 40503u) % 20'000;
}

} // namespace

QuotaServer::QuotaServer(unsigned connections) : listener_(Socket::listening()) {
    for (unsigned i = 0; i < connections; ++i)
        threads_.emplace_back([this] { serve(); });
}

QuotaServer::~QuotaServer() {
    threads_.clear();
}

void QuotaServer::serve() {
    truth_name_thread("quota");
    const Socket client = listener_.accept();
    QuotaQuestion question{};
    for (uint32_t asked = 0;
         recv(client.fd(), &question, sizeof question, MSG_WAITALL) == sizeof question; ++asked) {
        const QuotaFound found{question.account};
        client.send_all(&found, sizeof found);

        QuotaAmount amount{question.account % 97, 0};
        if (is_quota_remote(question.account)) {
            amount.waited_us = delay_us(question.account, asked);
            truth_sleep_us(amount.waited_us);
        }
        client.send_all(&amount, sizeof amount);
    }
}

TIMED Quota fetch_quota(const Socket& server, uint32_t account, Call& call) {
    const QuotaQuestion question{account};
    server.send_all(&question, sizeof question);

    QuotaFound found{};
    Received::Start start;
    ssize_t size = recv(server.fd(), &found, sizeof found, MSG_WAITALL); // RECV found
    call.found.add(start, sizeof found, size);
    if (size != sizeof found)
        return {};
    truth_expect(found.account == account, "the quota server answered another question");

    QuotaAmount amount{};
    start = {};
    size = recv(server.fd(), &amount, sizeof amount, MSG_WAITALL); // RECV amount
    call.amount.add(start, sizeof amount, size);
    if (size != sizeof amount)
        return {};
    return {amount.remaining, amount.waited_us > 0};
}
