// SPDX-License-Identifier: GPL-3.0-or-later
// Writes what is written to it as base64 (RFC 4648), without line breaks.
#pragma once

#include "views/exports/byte_sink.h"

#include <string>

namespace auger {

class Base64Sink final : public ByteSink {
  public:
    explicit Base64Sink(ByteSink& out) : out_(out) {}

    void write(std::string_view bytes) override;
    void finish(); // nothing may be written behind it

  private:
    ByteSink& out_;
    std::string rest_; // less than three bytes
};

} // namespace auger
