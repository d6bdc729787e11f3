// SPDX-License-Identifier: GPL-3.0-or-later
// Where frames of Python up to 3.10 stand among native ones.
#include "loader/runtimes/python/frame_places.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace auger {
namespace {

constexpr LoopCode loop_code = {0x1000, 0x100, 0x9000, 0x10};

// Native frames are capitals: L of the loop, K of its cold part, others of others. Small letters
// are frames of Python's, of which t is what is told of the task; ! is why the walk ended.
std::vector<uint64_t> python_stack(std::string_view text) {
    std::vector<uint64_t> words;
    for (const char letter : text) {
        const auto number = static_cast<uint64_t>(letter);
        if (letter == '!')
            words.push_back(WIRE_STACK_CUT | WIRE_STOP_NO_TABLE);
        else if (letter == 't')
            words.insert(words.end(),
                         {WIRE_FRAME_PYTHON | 0x600000, uint64_t{WIRE_PYTHON_TASK_FUNCTION} << 32,
                          WIRE_FRAME_PYTHON | 0x610000, uint64_t{WIRE_PYTHON_TASK_ADDRESS} << 32});
        else if (letter >= 'a')
            words.insert(words.end(), {WIRE_FRAME_PYTHON | (0x700000 + number), number << 32 | 7});
        else
            words.push_back(letter == 'L' ? 0x1050 : letter == 'K' ? 0x9008 : 0x50000 + number);
    }
    return words;
}

std::string python_text_of(const std::vector<uint64_t>& words) {
    std::string text;
    for (size_t at = 0; at < words.size(); at++) {
        if (words[at] & WIRE_STACK_CUT) {
            text += '!';
        } else if (words[at] & WIRE_FRAME_RUNTIME) {
            const uint64_t offset = words[at + 1] >> 32;
            if (offset == WIRE_PYTHON_TASK_FUNCTION) {
                EXPECT_EQ(words[at + 3] >> 32, WIRE_PYTHON_TASK_ADDRESS);
                text += 't';
                at += 3;
            } else {
                text += static_cast<char>(offset);
                at++;
            }
        } else {
            const uint64_t address = words[at] & ~WIRE_FRAME_EXACT;
            text += address == 0x1050   ? 'L'
                    : address == 0x9008 ? 'K'
                                        : static_cast<char>(address - 0x50000);
        }
    }
    return text;
}

std::string python_placed(std::string_view text, bool leaf_is_return = false) {
    return python_text_of(place_python_frames(python_stack(text), loop_code, leaf_is_return));
}

TEST(PythonPlaces, AreOneBehindEachRunOfTheLoop) {
    for (const char* stack : {"LaVLbVKcM", "CLaVLbM", "LaVLbM!", "CKaM!"})
        EXPECT_EQ(python_placed(stack), stack);
}

// It has pushed no frame yet, or has popped it.
TEST(PythonPlaces, OfTheInnermostRunThereMayBeNone) {
    EXPECT_EQ(python_placed("LbVLcVLM"), "LVLbVLcM");
    // As what is left over stands behind a walk.
    EXPECT_EQ(python_placed("CLVLM"), "CLVLM");
    // Where the stack is cut nobody knows.
    EXPECT_EQ(python_placed("LbVLcVLM!"), "LbVLcVLM!");
}

TEST(PythonPlaces, OfAnotherInterpreterThereAreNone) {
    EXPECT_EQ(python_placed("LaVLbVLVLVLM"), "LaVLbVLVLVLM");
}

TEST(PythonPlaces, ThatLackARunAreThereAllTheSame) {
    EXPECT_EQ(python_placed("VLabcM"), "abVLcM");
    EXPECT_EQ(python_placed("Mab"), "abM");
}

TEST(PythonPlaces, HaveWhatIsToldOfTheirTask) {
    EXPECT_EQ(python_placed("LaVLbtVLcVLM"), "LVLaVLbtVLcM");
    EXPECT_EQ(python_placed("LatM"), "LatM");
}

TEST(PythonPlaces, OfAReturnAddressTheCallCounts) {
    // Behind the loop, and its first byte.
    auto words = python_stack("MaM");
    words[0] = 0x1100;
    EXPECT_EQ(place_python_frames(words, loop_code, true), words);
    words[0] = 0x1000;
    EXPECT_EQ(place_python_frames(words, loop_code, false), words);
    // Half a pair.
    words.push_back(WIRE_FRAME_PYTHON | 0x700000);
    EXPECT_EQ(place_python_frames(words, loop_code, false), words);
}

} // namespace
} // namespace auger
