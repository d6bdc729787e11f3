// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/layout_table.h"

#include <cstring>

namespace auger {

std::optional<uint32_t> PythonLayoutTable::number(const PythonLayout& layout,
                                                  const FileOwner& owner) {
    for (uint32_t i = 0; i < layouts_.size(); i++)
        if (std::memcmp(layouts_[i].get(), &layout, sizeof layout) == 0)
            return i;
    if (layouts_.size() >= WIRE_PYTHON_LAYOUTS)
        return std::nullopt;
    if (owner.kind != FileOwner::Kind::trusted) {
        size_t& brought = brought_[owner];
        if (brought >= of_owner || by_others_ >= of_others)
            return std::nullopt;
        brought++;
        by_others_++;
    }
    layouts_.push_back(std::make_shared<const PythonLayout>(layout));
    return static_cast<uint32_t>(layouts_.size() - 1);
}

} // namespace auger
