// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/function_values.h"

#include "loader/values/calling_convention.h"

#include <fmt/format.h>

namespace auger {

Result<FunctionValue> FunctionValues::position(unsigned number) {
    return FunctionValue{fmt::format("arg{}", number), argument_place(number, {})};
}

Result<FunctionValue> FunctionValues::named(const std::string& name) {
    return Error{{}, {}, fmt::format("no parameter \"{}\" is known", name), "arg0 works"};
}

Result<FunctionValue> FunctionValues::result() {
    FunctionValue value{"ret", Place::of_register(register_rax, {})};
    value.place.at_end = true;
    return value;
}

Result<FunctionValue> FunctionValues::error_number() {
    return Error{{}, {}, "its place in the process is not known", {}};
}

} // namespace auger
