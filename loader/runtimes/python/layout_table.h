// SPDX-License-Identifier: GPL-3.0-or-later
// PythonLayoutTable: layouts by number, as walks find them. Files claim what they like, and there
// is room for so many: users' files may not take it from others'.
#pragma once

#include "loader/process/file_owner.h"
#include "loader/runtimes/python/layout.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace auger {

class PythonLayoutTable {
  public:
    // New layouts that the files of one owner may bring, and those of all that are not trusted.
    static constexpr size_t of_owner = 8;
    static constexpr size_t of_others = WIRE_PYTHON_LAYOUTS * 3 / 4;

    // The number of a layout that a file of this owner has; nothing: there is no room for it.
    std::optional<uint32_t> number(const PythonLayout& layout, const FileOwner& owner);
    const std::shared_ptr<const PythonLayout>& operator[](uint32_t number) const {
        return layouts_[number];
    }
    size_t size() const { return layouts_.size(); }

  private:
    std::vector<std::shared_ptr<const PythonLayout>> layouts_; // by number
    std::map<FileOwner, size_t> brought_;                      // by owners that are not trusted
    size_t by_others_ = 0;
};

} // namespace auger
