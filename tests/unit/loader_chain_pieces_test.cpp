// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/chain_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using Words = std::vector<uint64_t>;

// Code of the loop lies in [100, 200).
constexpr uint64_t loop = 150, other = 300, boundary = WIRE_FRAME_RUBY;

constexpr uint64_t frame(uint64_t number) {
    return WIRE_FRAME_RUBY_METHOD | number;
}

Words placed(const Words& natives, const Words& pieces, bool whole = true,
             bool leaf_is_next = true) {
    return place_pieces({natives, leaf_is_next, whole}, pieces,
                        [](uint64_t code) { return code >= 100 && code < 200; });
}

// Of two runs.
const Words pieces = {frame(1), 11, boundary, 0, frame(2), 12, frame(3), 13, boundary, 0};

TEST(ChainPieces, StandBehindTheirNativeFrames) {
    for (const bool whole : {true, false})
        EXPECT_THAT(
            placed({other, loop, other, loop, other}, pieces, whole),
            ElementsAre(other, loop, frame(1), 11, other, loop, frame(2), 12, frame(3), 13, other));
}

// A block was pushed, and its run has not begun.
TEST(ChainPieces, OneThatIsAboutToRunStandsAtTheLeaf) {
    EXPECT_THAT(placed({other, loop, other}, pieces),
                ElementsAre(frame(1), 11, other | WIRE_FRAME_EXACT, loop, frame(2), 12, frame(3),
                            13, other));
    // Its leaf is a return address, and stays one.
    EXPECT_THAT(placed({other, loop, other}, pieces, true, false),
                ElementsAre(frame(1), 11, other, loop, frame(2), 12, frame(3), 13, other));
    // Where the native stack is cut, nobody knows.
    EXPECT_THAT(placed({other, loop, other}, pieces, false),
                ElementsAre(other, loop, frame(1), 11, other, frame(2), 12, frame(3), 13));
}

// A block has returned, its native frame not yet.
TEST(ChainPieces, ARunThatHasEndedHasNone) {
    const Words natives = {other, loop, other, loop, other, loop, other};
    EXPECT_THAT(placed(natives, pieces), ElementsAre(other, loop, other, loop, frame(1), 11, other,
                                                     loop, frame(2), 12, frame(3), 13, other));
    EXPECT_THAT(placed(natives, {}), ElementsAreArray(natives));
    EXPECT_THAT(placed({}, pieces), ElementsAre(frame(1), 11, frame(2), 12, frame(3), 13));
}

TEST(ChainPieces, OfAReturnAddressTheCallCounts) {
    // 200 is behind the loop, its call within; 100 is its first byte, whose caller is before it.
    EXPECT_THAT(placed({other, 200}, {frame(1), 11, boundary, 0}),
                ElementsAre(other, 200, frame(1), 11));
    EXPECT_THAT(placed({other, 100}, {frame(1), 11, boundary, 0}),
                ElementsAre(frame(1), 11, other | WIRE_FRAME_EXACT, 100));
    EXPECT_THAT(placed({100}, {frame(1), 11, boundary, 0}), ElementsAre(100, frame(1), 11));
    EXPECT_THAT(placed({100}, {frame(1), 11, boundary, 0}, true, false),
                ElementsAre(frame(1), 11, 100));
    EXPECT_THAT(placed({other, 100 | WIRE_FRAME_EXACT}, {frame(1), 11, boundary, 0}),
                ElementsAre(other, 100 | WIRE_FRAME_EXACT, frame(1), 11));
}

// Frames of another runtime in the process have second words that may be anything.
TEST(ChainPieces, OfAnotherRuntimeAreNoNativeFrames) {
    EXPECT_THAT(placed({WIRE_FRAME_V8 | 7, loop, other, loop}, {frame(1), 11, boundary, 0}),
                ElementsAre(WIRE_FRAME_V8 | 7, loop, other, loop, frame(1), 11));
    // Nor is their first word an address of an instruction.
    EXPECT_THAT(placed({WIRE_FRAME_V8 | 7, other}, {frame(1), 11, boundary, 0}),
                ElementsAre(frame(1), 11, WIRE_FRAME_V8 | 7, other));
}

// A C function that a fiber begins with.
TEST(ChainPieces, WithoutABoundaryNoRunHasCalledTheLastOne) {
    const Words natives = {other, loop, other, loop, other};
    Words beginning = pieces;
    beginning.insert(beginning.end(), {frame(4), 14});
    EXPECT_THAT(placed(natives, beginning),
                ElementsAre(other, loop, frame(1), 11, other, loop, frame(2), 12, frame(3), 13,
                            other, frame(4), 14));
    // A block of it has returned, its native frame not yet.
    EXPECT_THAT(placed({other, loop, other}, {frame(4), 14}),
                ElementsAre(other, loop, other, frame(4), 14));
}

TEST(ChainPieces, WithoutItsBoundaryTheLastOneOfACutStackIsAPieceToo) {
    EXPECT_THAT(placed({loop, other}, {frame(1), 11}, false),
                ElementsAre(loop, frame(1), 11, other));
    EXPECT_THAT(placed({loop, other}, {frame(1), 11, frame(2)}, false),
                ElementsAre(loop, frame(1), 11, other));
    EXPECT_THAT(placed({loop, other}, {boundary, 0, frame(1), 11, boundary, 0}),
                ElementsAre(loop, frame(1), 11, other));
    EXPECT_THAT(placed({loop, other}, {boundary}), ElementsAre(loop, other));
}

} // namespace
} // namespace auger
