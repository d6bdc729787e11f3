// SPDX-License-Identifier: GPL-3.0-or-later
// MappedArray: the values of a BPF array that was made with BPF_F_MMAPABLE, in our address space.
#pragma once

#include "loader/base/result.h"

#include <sys/mman.h>

#include <cstddef>
#include <string>
#include <utility>

namespace auger {

template <typename Value>
class MappedArray {
  public:
    MappedArray() = default;
    MappedArray(MappedArray&& other) noexcept
        : values_(std::exchange(other.values_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    MappedArray& operator=(MappedArray&& other) noexcept {
        std::swap(values_, other.values_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~MappedArray() {
        if (values_)
            munmap(values_, count_ * sizeof(Value));
    }

    // `name` is for the error message.
    static Result<MappedArray> make(int map_fd, size_t count, const std::string& name) {
        static_assert(sizeof(Value) % 8 == 0, "the kernel rounds values up to 8 bytes");
        void* memory =
            mmap(nullptr, count * sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
        if (memory == MAP_FAILED)
            return system_error("map", name);
        MappedArray array;
        array.values_ = static_cast<Value*>(memory);
        array.count_ = count;
        return array;
    }

    explicit operator bool() const { return values_ != nullptr; }
    Value* at(size_t index) const { return values_ + index; }

  private:
    Value* values_ = nullptr;
    size_t count_ = 0;
};

} // namespace auger
