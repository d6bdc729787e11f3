// SPDX-License-Identifier: GPL-3.0-or-later
// FunctionValues: the parameters and the result of one function, and errno: where they are and of
// what type. By DWARF where there is some, else by what is known of the C library's functions, else
// only by the calling convention.
#pragma once

#include "loader/base/result.h"
#include "loader/values/call_program.h"
#include "loader/values/place.h"

#include <string>
#include <string_view>
#include <vector>

namespace auger {

struct FunctionValue {
    std::string name;
    Place place;
    // Beyond what the type says: of a well-known function's parameter or result.
    std::optional<ValueFormat::Kind> meaning{};
};

// Errors have a cause and a hint; who knows the text adds where.
class FunctionValues {
  public:
    explicit FunctionValues(const ValueScope& scope) : scope_(scope) {}

    Result<FunctionValue> position(unsigned number);
    Result<FunctionValue> named(const std::string& name);
    Result<FunctionValue> result();
    Result<FunctionValue> error_number();

  private:
    const ValueScope& scope_;
};

} // namespace auger
