// SPDX-License-Identifier: GPL-3.0-or-later
// What an OTLP receiver answers (opentelemetry-proto, ExportProfilesServiceResponse and
// google.rpc.Status), as far as somebody needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct OtlpAnswer {
    uint64_t rejected = 0; // profiles, of a partial success
    std::string message{};
};

// Of an answer of success; nothing: it is no such message.
std::optional<OtlpAnswer> read_otlp_success(std::string_view bytes);
// Of one of failure, what it says; nothing: it is no such message.
std::optional<std::string> read_otlp_failure(std::string_view bytes);

} // namespace auger
