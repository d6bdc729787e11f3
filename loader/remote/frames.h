// SPDX-License-Identifier: GPL-3.0-or-later
// FrameReader: bytes as they come, cut into frames; FrameWriter's other side. What came of one end
// is hostile to the other: nothing is kept beyond the limits of protocol.h. Changes when frames are
// to be told apart in another way.
#pragma once

#include "loader/base/result.h"
#include "loader/remote/protocol.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger::remote {

struct ReceivedFrame {
    uint64_t kind = 0; // a FrameKind, or one that is not known here
    std::string body;
};

class FrameReader {
  public:
    void add(std::string_view bytes) { bytes_.append(bytes); }
    // The next one; nothing when it is not whole yet. Fails for good when what comes is not from an
    // auger, or a frame is too large.
    Result<std::optional<ReceivedFrame>> next();
    // Held back.
    size_t bytes() const { return bytes_.size() - at_; }
    // What came before the preamble: a shell's greeting, or an error in place of an agent.
    std::string greeting() const { return greeted_ ? greeting_ : greeting_ + bytes_; }
    bool greeted() const { return greeted_; }

  private:
    bool find_preamble();

    std::string bytes_;
    size_t at_ = 0;
    std::string greeting_;
    bool greeted_ = false;
    std::optional<Error> error_;
};

void put_frame(std::string& out, FrameKind kind, std::string_view body);

} // namespace auger::remote
