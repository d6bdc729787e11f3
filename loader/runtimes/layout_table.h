// SPDX-License-Identifier: GPL-3.0-or-later
// LayoutTable: layouts of a runtime by number, as walks find them. Files claim what they like, and
// there is room for so many: users' files may not take it from others'.
#pragma once

#include "loader/process/file_owner.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace auger {

// `Layout` has no padding.
template <typename Layout, size_t room>
class LayoutTable {
  public:
    // New layouts that the files of one owner may bring, and those of all that are not trusted.
    static constexpr size_t of_owner = 8;
    static constexpr size_t of_others = room * 3 / 4;

    // The number of a layout that a file of this owner has; nothing: there is no room for it.
    std::optional<uint32_t> number(const Layout& layout, const FileOwner& owner) {
        for (uint32_t i = 0; i < layouts_.size(); i++)
            if (std::memcmp(layouts_[i].get(), &layout, sizeof layout) == 0)
                return i;
        if (layouts_.size() >= room)
            return std::nullopt;
        if (owner.kind != FileOwner::Kind::trusted) {
            size_t& brought = brought_[owner];
            if (brought >= of_owner || by_others_ >= of_others)
                return std::nullopt;
            brought++;
            by_others_++;
        }
        layouts_.push_back(std::make_shared<const Layout>(layout));
        return static_cast<uint32_t>(layouts_.size() - 1);
    }
    const std::shared_ptr<const Layout>& operator[](uint32_t number) const {
        return layouts_[number];
    }
    size_t size() const { return layouts_.size(); }

  private:
    std::vector<std::shared_ptr<const Layout>> layouts_; // by number
    std::map<FileOwner, size_t> brought_;                // by owners that are not trusted
    size_t by_others_ = 0;
};

} // namespace auger
