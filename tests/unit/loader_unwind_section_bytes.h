// SPDX-License-Identifier: GPL-3.0-or-later
// Writes sections of call frame information byte by byte, right or wrong.
#pragma once

#include "loader/reader/tables/unwind_compiler.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace auger::test {

class SectionBytes {
  public:
    template <typename Number>
    SectionBytes& number(Number value) {
        const auto* raw = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), raw, raw + sizeof value);
        return *this;
    }
    SectionBytes& byte(unsigned value) { return number(static_cast<uint8_t>(value)); }
    SectionBytes& raw(std::initializer_list<unsigned> values) {
        for (const unsigned value : values)
            byte(value);
        return *this;
    }
    SectionBytes& text(std::string_view text) {
        for (const char c : text)
            byte(static_cast<uint8_t>(c));
        return byte(0);
    }
    // From here to end_entry(); the length is filled in there. `id`: 0 for a common entry of
    // .eh_frame.
    SectionBytes& begin_entry(uint32_t id) {
        begin_ = bytes_.size();
        return number<uint32_t>(0).number(id);
    }
    SectionBytes& begin_wide_entry(uint64_t id) {
        begin_ = bytes_.size();
        return number<uint32_t>(0xffffffff).number<uint64_t>(0).number(id);
    }
    SectionBytes& end_entry() {
        while (bytes_.size() % 4 != 0)
            byte(0); // DW_CFA_nop
        uint32_t first = 0;
        std::memcpy(&first, &bytes_[begin_], 4);
        if (first == 0xffffffff) {
            const uint64_t length = bytes_.size() - begin_ - 12;
            std::memcpy(&bytes_[begin_ + 4], &length, 8);
        } else {
            const auto length = static_cast<uint32_t>(bytes_.size() - begin_ - 4);
            std::memcpy(&bytes_[begin_], &length, 4);
        }
        return *this;
    }
    // CFA = rsp + 8, the return address at CFA - 8, as at every function's begin.
    SectionBytes& initial_instructions() { return raw({0x0c, 7, 8, 0x90, 1}); }
    // Version, augmentation, alignments, return address column, augmentation data.
    SectionBytes& common(uint8_t pointer_encoding) {
        common_ = bytes_.size();
        return begin_entry(0)
            .byte(1)
            .text("zR")
            .raw({1, 0x78, 16, 1, pointer_encoding})
            .initial_instructions()
            .end_entry();
    }
    // An entry's id that leads to the common entry that was written last.
    uint32_t back_to_common() const { return static_cast<uint32_t>(bytes_.size() + 4 - common_); }
    // With absolute addresses (common(0)).
    SectionBytes& function(uint64_t begin, uint64_t size,
                           std::initializer_list<unsigned> instructions = {}) {
        return begin_entry(back_to_common())
            .number(begin)
            .number(size)
            .byte(0)
            .raw(instructions)
            .end_entry();
    }

    size_t size() const { return bytes_.size(); }
    std::vector<std::byte>& bytes() { return bytes_; }
    operator Bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
    size_t begin_ = 0, common_ = 0;
};

} // namespace auger::test
