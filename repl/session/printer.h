// SPDX-License-Identifier: GPL-3.0-or-later
// Printer: replies, complaints and notices to the Output, as text or as JSON.
#pragma once

#include "repl/session/output.h"
#include "repl/session/reply.h"
#include "views/model/model.h"

#include <cstdint>
#include <string_view>

namespace auger {

class Printer {
  public:
    Printer(Output& output, bool json) : output_(output), json_(json) {}

    // False once nobody reads results any more.
    bool open() const { return output_.open(); }
    void print(const Reply& reply);
    // `command`: as in the table, or as typed; may be empty.
    void report(const Diagnostic& diagnostic, std::string_view command);
    void notice(uint64_t time_ns, std::string_view raw);
    // The model's that have come since the last call.
    void new_notices(const Model& model);

  private:
    Output& output_;
    bool json_;
    uint64_t notices_shown_ = 0;
};

} // namespace auger
