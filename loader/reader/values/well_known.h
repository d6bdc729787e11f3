// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the C library's functions without debug information.
#pragma once

#include "loader/reader/values/value_type.h"
#include "loader/values/call_program.h"

#include <span>
#include <string_view>

namespace auger {

struct KnownParameter {
    std::string_view name; // empty: no more parameters
    ValueFormat::Kind kind;
    uint8_t size; // bytes
};

struct KnownFunction {
    std::string_view name;
    KnownParameter parameters[6];
    KnownParameter result; // without a name: there is none
    bool sets_errno;       // when it fails: the result is -1, or null of a pointer
};

// Null when it is not one of them.
const KnownFunction* known_function(std::string_view name);

ValueType type_of(const KnownParameter& parameter);

} // namespace auger
