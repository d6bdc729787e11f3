// SPDX-License-Identifier: GPL-3.0-or-later
// HttpServer: requests in, answers out; what they mean is another's business. Connections are
// served by a thread of libmicrohttpd's, so that no client, however slow, malformed or many, holds
// up the console: that one takes requests that are whole, when it has time, and answers them.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace auger {

struct HttpRequest {
    uint64_t id = 0;
    std::string method, path; // "GET", "/sample", without the query
    std::vector<std::pair<std::string, std::string>> query;
    std::string host, origin; // headers; empty: not there
    std::string body;
    std::string authorization{}, accept{}; // headers likewise
    std::optional<pid_t> process{};        // that made the connection, where the kernel tells it
    std::optional<uid_t> user{};           // likewise: whose it was
};

struct HttpAnswer {
    unsigned status = 200;
    std::string text{};
    UniqueFd file{};     // instead of text
    bool events = false; // instead of text: what publish() is given from now on
    std::string type = "text/plain; charset=utf-8";
    std::vector<std::pair<std::string, std::string>> headers{}; // further ones
};

struct HttpLimits {
    unsigned connections = 128; // then a new one takes the place of who asks most slowly
    size_t memory = 32 << 10;   // of a connection, for its headers
    size_t body = 4 << 10;
    size_t waiting = 64;           // requests, of all connections, that are not answered yet
    size_t streams = 16;           // answers that are events
    unsigned idle_seconds = 10;    // of a connection that says nothing
    unsigned request_seconds = 20; // until a request is whole
    unsigned answer_seconds = 120; // until an answer has been read
};

// What a server has done.
struct HttpCounts {
    std::map<unsigned, uint64_t> answers; // by status
    uint64_t not_admitted = 0;            // connections that were closed at once
};

class HttpServer {
  public:
    // Called in the server's thread for every new connection, by its descriptor: whether it
    // is admitted; else it is closed, and nothing is read from it.
    using Admit = std::function<bool(int connection)>;
    // Called in the server's thread for every whole request: an answer, or nothing when it is to
    // wait for answer(). Must be pure.
    using Check = std::function<std::optional<HttpAnswer>(const HttpRequest&)>;

    // Takes connections of a socket that listens, and must be there as long as this.
    static Result<std::unique_ptr<HttpServer>>
    start(int listening, Check check, const HttpLimits& limits = {}, Admit admit = {});
    ~HttpServer(); // requests that wait are told that the server ends, and streams end
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    // Readable while take() has something.
    int wake_fd() const;
    std::vector<HttpRequest> take();
    // Once for each request that was taken. Its client may be gone.
    void answer(uint64_t id, HttpAnswer answer);
    // The next event of all answers that are events; nobody is waited for.
    void publish(std::string text);
    size_t streams() const;
    // Ends connections that have had their time. To be called every second or so.
    void expire(std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());
    HttpCounts counts() const;

  private:
    struct State;
    explicit HttpServer(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

} // namespace auger
