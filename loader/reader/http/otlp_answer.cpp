// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/http/otlp_answer.h"

#include "loader/base/bytes.h"

namespace auger {
namespace {

// A field of a protobuf message: a number, or bytes.
struct Field {
    uint64_t tag; // its number and how it is written, as on the wire
    uint64_t number = 0;
    std::string_view bytes{};
};

constexpr uint64_t tag_of_number(uint64_t field) {
    return field << 3;
}
constexpr uint64_t tag_of_bytes(uint64_t field) {
    return field << 3 | 2;
}

// Calls visit(Field) for each; false: these are no fields.
template <typename Visit>
bool for_each_field(std::string_view bytes, Visit visit) {
    ByteReader in(bytes);
    while (!in.failed() && !in.at_end()) {
        Field field{in.varint()};
        switch (field.tag & 7) {
        case 0:
            field.number = in.varint();
            break;
        case 1:
            field.number = in.fixed64();
            break;
        case 2:
            field.bytes = in.string(bytes.size());
            break;
        case 5:
            field.number = in.fixed32();
            break;
        default:
            in.fail();
        }
        if (!in.failed())
            visit(field);
    }
    return !in.failed();
}

} // namespace

std::optional<OtlpAnswer> read_otlp_success(std::string_view bytes) {
    OtlpAnswer answer;
    bool whole = true;
    const auto partial_success = [&](const Field& field) {
        if (field.tag == tag_of_number(1))
            answer.rejected = field.number > INT64_MAX ? 0 : field.number;
        else if (field.tag == tag_of_bytes(2))
            answer.message = field.bytes;
    };
    const bool read = for_each_field(bytes, [&](const Field& field) {
        if (field.tag == tag_of_bytes(1))
            whole = for_each_field(field.bytes, partial_success) && whole;
    });
    return read && whole ? std::optional(std::move(answer)) : std::nullopt;
}

std::optional<std::string> read_otlp_failure(std::string_view bytes) {
    std::optional<std::string> message;
    const bool read = for_each_field(bytes, [&](const Field& field) {
        if (field.tag == tag_of_bytes(2))
            message = field.bytes;
    });
    return read ? message : std::nullopt;
}

} // namespace auger
