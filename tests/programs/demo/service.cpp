// SPDX-License-Identifier: GPL-3.0-or-later
//
// See service.h. A worker serves one connection at a time and waits for requests outside of
// handle_request, so that a call of it is work on one request and nothing else.
#include "demo/service.h"

#include "demo/quota.h"
#include "demo/statement.h"

#include <charconv>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

// What a worker owns, and what it shares with the others.
struct Worker {
    Accounts accounts;
    Socket quota; // to the quota server
    AuditLog& audit;
};

// What a request asks for; with `newer`, in a version that the worker may not have yet.
enum class RequestKind : uint8_t { plain, newer, metered };

struct Request {
    uint32_t account = 0;
    uint32_t rows = 0;
    uint32_t version = 0;
    RequestKind kind = RequestKind::plain;
};

static const char* kind_name(RequestKind kind) {
    switch (kind) {
    case RequestKind::plain:
        return "plain";
    case RequestKind::newer:
        return "newer";
    case RequestKind::metered:
        return "metered";
    }
    return "unknown";
}

struct Outcome {
    bool open = false; // the connection may bring another request
    Kind kind = Kind::fast;
};

static uint32_t number_after(std::string_view text, std::string_view key) {
    const size_t at = text.find(key);
    uint32_t value = 0;
    if (at != text.npos)
        std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value);
    return value;
}

static RequestKind kind_of(uint32_t account, uint32_t version) {
    if (is_metered(account))
        return RequestKind::metered;
    return version > 0 ? RequestKind::newer : RequestKind::plain;
}

TIMED static std::optional<Request> parse_request(const Socket& client) {
    Head head;
    if (recv(client.fd(), head.data(), head.size(), MSG_WAITALL) != head_size)
        return std::nullopt;
    const std::string_view line(head.data(), head.size());

    Body body;
    if (recv(client.fd(), body.data(), body.size(), MSG_WAITALL) != body_size)
        return std::nullopt;
    truth_expect(line.starts_with("GET /account/") && body.back() == '.', "a damaged request");

    const uint32_t account = number_after(line, "/account/");
    const uint32_t version = number_after(line, " version=");
    return Request{account, number_after(line, " rows="), version, kind_of(account, version)};
}

TIMED static Kind route(Worker& worker, const Request& request, Call& call, std::string& out) {
    Kind kind = Kind::fast;
    bool rebuilt = false;
    const Account account =
        lookup_account(worker.accounts, request.account, request.version, rebuilt);
    truth_expect(account.id == request.account, "an account was not found");
    if (rebuilt)
        kind = Kind::cpu;

    if (request.kind == RequestKind::metered) {
        const Quota quota = fetch_quota(worker.quota, request.account, call); // BRANCH metered
        call.metered = true;
        call.amount_late = quota.late;
        if (quota.late)
            kind = Kind::wait;
    }
    render_response(account, request.rows, out);
    return kind;
}

TIMED static void send_response(const Socket& client, const std::string& text) {
    const ResponseHead head{static_cast<uint32_t>(text.size()), checksum(text)};
    client.send_all(&head, sizeof head);
    client.send_all(text.data(), text.size());
}

TIMED static Outcome handle_request(Worker& worker, const Socket& client, Call& call) {
    const Stopwatch stopwatch(call.inside);
    const std::optional<Request> request = parse_request(client);
    if (!request)
        return {};
    std::string text;
    const Kind kind = route(worker, *request, call, text);
    send_response(client, text);
    call.account = request->account;
    call.rows = request->rows;
    call.asked = kind_name(request->kind);
    call.audited = is_audited(request->account);
    if (call.audited)
        call.lock_wait_ns = worker.audit.note(request->account, request->rows);
    return {.open = true, .kind = kind};
}

// False when the client has closed the connection.
static bool wait_for_request(const Socket& client) {
    pollfd event{client.fd(), POLLIN, 0};
    if (poll(&event, 1, -1) != 1)
        return false;
    char first;
    return recv(client.fd(), &first, 1, MSG_PEEK) == 1;
}

static void serve_connection(Worker& worker, const Socket& client, CallLog& log) {
    while (wait_for_request(client)) {
        Call call;
        call.tid = gettid();
        call.outside.start = truth_now();
        const Outcome outcome = handle_request(worker, client, call);
        call.outside.end = truth_now();

        call.kind = outcome.kind;
        log.add(call);
        if (!outcome.open)
            return;
    }
}

Service::Service(unsigned workers, uint32_t index_entries, uint16_t quota_port, CallLog& log)
    : listener_(Socket::listening()), log_(log) {
    for (unsigned index = 0; index < workers; ++index)
        workers_.emplace_back([=, this] { work(index, index_entries, quota_port); });
}

Service::~Service() {
    listener_.shut_down();
    workers_.clear();
}

void Service::work(unsigned index, uint32_t index_entries, uint16_t quota_port) {
    truth_name_thread(("worker-" + std::to_string(index)).c_str());
    Worker worker{Accounts(index_entries), Socket::connected(quota_port), audit_};
    while (const Socket client = listener_.accept())
        serve_connection(worker, client, log_);
}
