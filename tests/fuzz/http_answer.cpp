// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/http/http_messages.h"
#include "loader/reader/http/otlp_answer.h"

#include <cstdlib>

namespace auger::test {

void fuzz_http_answer(const uint8_t* data, size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (const auto answer = read_otlp_success(bytes); answer && answer->message.size() > size)
        std::abort();
    (void)read_otlp_failure(bytes);
    // What was understood can be said.
    if (const auto begin = http_messages::begin(bytes))
        if (http_messages::begin(http_messages::begin(*begin)) != begin)
            std::abort();
    if (const auto post = http_messages::post(bytes))
        if (http_messages::post(http_messages::post(*post)) != post)
            std::abort();
    if (const auto outcome = http_messages::outcome(bytes))
        if (http_messages::outcome(http_messages::outcome(*outcome)) != outcome)
            std::abort();
}

} // namespace auger::test
