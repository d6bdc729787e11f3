// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/go/label_words.h"

#include "bpf/unwind_table.h"

#include <utility>

namespace auger {
namespace {

constexpr uint64_t no_number = UINT64_MAX - 1; // comes before none that there is

// Up to the first NUL. False: there was one, and the text ends there.
bool append_bytes(std::string& text, uint64_t bytes) {
    for (int i = 0; i < WIRE_GO_LABEL_BYTES; i++, bytes >>= 8) {
        if (!(bytes & 0xff))
            return false;
        text.push_back(static_cast<char>(bytes));
    }
    return true;
}

} // namespace

bool GoLabelWords::is_one(uint64_t first) {
    return (first & WIRE_FRAME_KIND) == WIRE_FRAME_GO_LABEL;
}

void GoLabelWords::add(uint64_t first, uint64_t second) {
    const uint64_t number = first & ~uint64_t{WIRE_FRAME_KIND};
    if (number == WIRE_GO_LABEL_UNREADABLE) {
        unreadable_ = true;
        return;
    }
    // Behind a pair that is not there the text has ended: with a NUL.
    const bool is_first_of_value = number == WIRE_GO_LABEL_VALUE + 1;
    if (number == last_ + 1 || is_first_of_value) {
        const bool goes_on = append_bytes(number <= WIRE_GO_LABEL_VALUE ? key_ : value_, second);
        last_ = goes_on ? number : no_number;
    }
}

std::string GoLabelWords::take() {
    const GoLabelWords all = std::exchange(*this, {});
    if (all.unreadable_)
        return all.key_ + " unreadable";
    return all.key_.empty() || all.value_.empty() ? "" : all.key_ + "=" + all.value_;
}

} // namespace auger
