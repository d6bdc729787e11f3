// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/event_streams.h"

#include <microhttpd.h>

#include <algorithm>
#include <utility>

namespace auger {
namespace {

// Asked for at a time; longer events come in several.
constexpr size_t block_bytes = 4096;

// A comment, so that a client has the answer's head, and knows that it is heard.
const auto greeting = std::make_shared<const std::string>(":\n\n");

} // namespace

MHD_Response* EventStreams::open(MHD_Connection* connection) {
    const std::lock_guard lock(mutex_);
    if (ended_ || streams_.size() >= most_)
        return nullptr;
    auto stream = std::make_unique<Stream>(Stream{this, connection, greeting, 0, number_});
    streams_.insert(stream.get());
    MHD_Response* response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block_bytes, &read,
                                                               stream.get(), &close);
    if (response)
        (void)stream.release(); // to close()
    else
        streams_.erase(stream.get());
    return response;
}

void EventStreams::publish(std::string text) {
    auto latest = std::make_shared<const std::string>(std::move(text));
    const std::lock_guard lock(mutex_);
    latest_ = std::move(latest);
    number_++;
    wake_all();
}

void EventStreams::end(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    ended_ = true;
    wake_all();
    closed_.wait_for(lock, patience, [this] { return streams_.empty(); });
}

size_t EventStreams::count() const {
    const std::lock_guard lock(mutex_);
    return streams_.size();
}

void EventStreams::wake_all() {
    for (Stream* stream : streams_) {
        if (std::exchange(stream->suspended, false))
            MHD_resume_connection(stream->connection);
    }
}

ssize_t EventStreams::read(void* stream, uint64_t, char* to, size_t room) {
    auto& one = *static_cast<Stream*>(stream);
    return one.all->next(one, to, room);
}

// Its connection has ended, however it did.
void EventStreams::close(void* stream) {
    const std::unique_ptr<Stream> one(static_cast<Stream*>(stream));
    EventStreams& all = *one->all;
    const std::lock_guard lock(all.mutex_);
    all.streams_.erase(one.get());
    all.closed_.notify_all();
}

ssize_t EventStreams::next(Stream& stream, char* to, size_t room) {
    const std::lock_guard lock(mutex_);
    if (stream.sent == stream.text->size()) {
        if (ended_)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (stream.number == number_) {
            // Under the lock, so that no news is missed.
            stream.suspended = true;
            MHD_suspend_connection(stream.connection);
            return 0;
        }
        stream.text = latest_;
        stream.sent = 0;
        stream.number = number_;
    }
    const size_t size = std::min(room, stream.text->size() - stream.sent);
    stream.text->copy(to, size, stream.sent);
    stream.sent += size;
    return static_cast<ssize_t>(size);
}

} // namespace auger
