// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/values/error_name.h"

#include <cstring>

namespace auger {

std::string error_name(int64_t number) {
    const char* name = number > 0 && number <= last_error_number
                           ? strerrorname_np(static_cast<int>(number))
                           : nullptr;
    return name ? name : "";
}

} // namespace auger
