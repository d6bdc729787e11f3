// SPDX-License-Identifier: GPL-3.0-or-later
// Where exports go: a file, a string, a connection. Exports may be larger than memory, so they are
// written piece by piece.
#pragma once

#include <string>
#include <string_view>

namespace auger {

class ByteSink {
  public:
    virtual ~ByteSink() = default;
    virtual void write(std::string_view bytes) = 0;
};

class StringSink : public ByteSink {
  public:
    void write(std::string_view bytes) override { text.append(bytes); }

    std::string text;
};

} // namespace auger
