// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/address_name.h"

#include <fmt/format.h>

namespace auger {

std::string_view base_name(std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == path.npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::string offset_name(std::string_view module_path, uint64_t address) {
    return fmt::format("{}+{:#x}", base_name(module_path), address);
}

} // namespace auger
