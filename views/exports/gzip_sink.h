// SPDX-License-Identifier: GPL-3.0-or-later
// Compresses what is written to it (RFC 1952).
#pragma once

#include "views/exports/byte_sink.h"

#include <memory>

namespace auger {

class GzipSink : public ByteSink {
  public:
    explicit GzipSink(ByteSink& out);
    ~GzipSink() override;

    void write(std::string_view bytes) override;
    void finish(); // nothing may be written behind it

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace auger
