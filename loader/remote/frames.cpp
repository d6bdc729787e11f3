// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/frames.h"

#include "loader/base/bytes.h"

#include <algorithm>

namespace auger::remote {

namespace {

constexpr size_t size_bytes = 4;

Error broken_frame(std::string cause) {
    return {"read", "what the other side says", std::move(cause),
            "both sides have to be auger, and the pipe between them to leave bytes as they are"};
}

} // namespace

// What a login shell prints goes ahead of the agent's first bytes.
bool FrameReader::find_preamble() {
    const size_t found = bytes_.find(preamble);
    const size_t before = found != std::string::npos ? found
                          // Its beginning may be there already.
                          : bytes_.size() < preamble.size() ? 0
                                                            : bytes_.size() - preamble.size() + 1;
    greeting_.append(bytes_, 0, std::min(before, most_greeting + 1 - greeting_.size()));
    bytes_.erase(0, found != std::string::npos ? found + preamble.size() : before);
    if (greeting_.size() > most_greeting)
        error_ = broken_frame("it is no agent of auger");
    greeted_ = found != std::string::npos;
    return greeted_;
}

Result<std::optional<ReceivedFrame>> FrameReader::next() {
    if (!error_ && !greeted_ && !find_preamble() && !error_)
        return std::optional<ReceivedFrame>();
    if (error_)
        return *error_;
    const std::string_view left = std::string_view(bytes_).substr(at_);
    if (left.size() < size_bytes)
        return std::optional<ReceivedFrame>();
    const size_t size = ByteReader(left.substr(0, size_bytes)).fixed32();
    if (size == 0 || size > most_frame) {
        error_ = broken_frame("a frame is too large");
        return *error_;
    }
    if (left.size() - size_bytes < size)
        return std::optional<ReceivedFrame>();
    const std::string_view frame = left.substr(size_bytes, size);
    ByteReader in(frame);
    ReceivedFrame next{in.varint(), std::string()};
    if (in.failed()) {
        error_ = broken_frame("a frame has no kind");
        return *error_;
    }
    next.body = frame.substr(in.position());
    at_ += size_bytes + size;
    // Moved to the front now and then, not for each frame.
    if (at_ == bytes_.size() || at_ > (size_t{1} << 20)) {
        bytes_.erase(0, at_);
        at_ = 0;
    }
    return std::optional(std::move(next));
}

void put_frame(std::string& out, FrameKind kind, std::string_view body) {
    ByteWriter writer(out);
    writer.fixed32(static_cast<uint32_t>(body.size() + 1));
    writer.varint(static_cast<uint64_t>(kind));
    out.append(body);
}

} // namespace auger::remote
