// SPDX-License-Identifier: GPL-3.0-or-later
// EventStreams: answers that do not end, by which clients are told what happens (server-sent
// events). Nothing is queued: a client that is slow finds the latest event when it has read the one
// before. Connections without news are suspended, so they cost libmicrohttpd's thread nothing; one
// that reads nothing at all is ended by its idle time, as any.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

struct MHD_Connection;
struct MHD_Response;

namespace auger {

class EventStreams {
  public:
    explicit EventStreams(size_t most) : most_(most) {}

    // The answer to one more client, in the server's thread; null: there are as many as may be.
    MHD_Response* open(MHD_Connection* connection);
    // The next event of all of them: whole, as it is sent.
    void publish(std::string text);
    // Ends them all, and opens no more; waits so long for those that are being read.
    void end(std::chrono::milliseconds patience);
    size_t count() const;

  private:
    struct Stream {
        EventStreams* all;
        MHD_Connection* connection;
        std::shared_ptr<const std::string> text; // being sent
        size_t sent;                             // of it
        uint64_t number;                         // of its event
        bool suspended = false;
    };

    // As libmicrohttpd calls them.
    static ssize_t read(void* stream, uint64_t, char* to, size_t room);
    static void close(void* stream);
    ssize_t next(Stream& stream, char* to, size_t room);
    void wake_all();

    const size_t most_;
    mutable std::mutex mutex_; // of what follows
    std::condition_variable closed_;
    std::unordered_set<Stream*> streams_;
    std::shared_ptr<const std::string> latest_;
    uint64_t number_ = 0; // of `latest_`
    bool ended_ = false;
};

} // namespace auger
