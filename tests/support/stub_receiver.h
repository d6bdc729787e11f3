// SPDX-License-Identifier: GPL-3.0-or-later
// An engine that takes profiles, or one that is broken or hostile, on the loopback: it keeps what
// it was sent, and answers as the test says.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

struct MHD_Connection;
struct MHD_Daemon;

namespace auger::test {

class StubReceiver {
  public:
    struct Request {
        std::string method, path;                        // without parameters
        std::map<std::string, std::string> parameters{}; // decoded
        std::map<std::string, std::string> headers{};    // names in lower case
        std::string body{};
    };
    struct Answer {
        enum class Kind { answer, endless, hang, close }; // endless: its body
        unsigned status = 200;
        std::string body{};
        std::map<std::string, std::string> headers{};
        Kind kind = Kind::answer;
    };
    // `number` of the request, from 0. In a thread of the server's.
    using Reply = std::function<Answer(const Request&, size_t number)>;

    enum class Transport { plain, tls }; // with test_certificate
    explicit StubReceiver(Reply reply = {}, Transport transport = Transport::plain,
                          uint16_t port = 0);
    ~StubReceiver();
    StubReceiver(const StubReceiver&) = delete;
    StubReceiver& operator=(const StubReceiver&) = delete;

    const std::string& url() const { return url_; }
    uint16_t port() const { return port_; }
    std::vector<Request> requests() const;
    bool wait_for(size_t requests) const; // a minute at most

  private:
    struct Callbacks; // as the library calls them
    Answer take(Request request);

    Reply reply_;
    mutable std::mutex mutex_; // of what follows
    mutable std::condition_variable changed_;
    std::vector<Request> requests_;
    bool ending_ = false;

    MHD_Daemon* daemon_ = nullptr;
    uint16_t port_ = 0;
    std::string url_;
};

} // namespace auger::test
