// SPDX-License-Identifier: GPL-3.0-or-later
// Which statement of a Perl program an op is part of, as a hostile process claims it.
#include "tests/unit/perl_frame_of.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace auger {
namespace {

TEST(PerlWays, LeadToOpsThatAreNotTooFar) {
    constexpr uint64_t cop = 0x7f0000001000, most = (uint64_t{1} << 26) * 8;
    for (const bool is_next : {false, true})
        for (const uint64_t op : {cop + 8, cop - 8, cop + most - 8, cop - most}) {
            const uint32_t way = wire_perl_way(cop, op, is_next);
            EXPECT_EQ(wire_perl_op(cop, way), op) << std::hex << op;
            EXPECT_EQ((way & WIRE_PERL_WAY_NEXT) != 0, is_next);
            EXPECT_LE(way, WIRE_PERL_MOST_LINE);
        }
    for (const uint64_t op : {uint64_t{0}, cop, cop + 4, cop + most, cop - most - 8, ~uint64_t{7}})
        EXPECT_EQ(wire_perl_op(cop, wire_perl_way(cop, op, true)), 0u) << std::hex << op;
}

// A statement at line 42, and the tree of its ops.
class PerlStatementOf : public PerlFrameOf {
  protected:
    static constexpr uint64_t cop = 0x40000;
    static constexpr uint16_t null = 0, statement = 195, scope = 200, other = 7;

    // Ops by number; 0 is the statement.
    static uint64_t at(int op) { return op < 0 ? 0 : cop + 64 * static_cast<uint64_t>(op); }
    struct Op {
        uint16_t type = other;
        int next = -1, sibling = -1, first = -1;
        uint32_t line = 0; // of a statement that is executed no more
    };
    void put_op(int number, const Op& op) {
        const size_t from = at(number) - cop;
        memory.put(cop, from, at(op.next));
        memory.put(cop, from + 8, at(op.sibling));
        memory.put(cop, from + 24, uint64_t{op.line ? statement : 0u});
        memory.put(cop, from + 32, uint16_t(op.type | (op.sibling >= 0 ? 0x4000 : 0x0a00)));
        memory.put(cop, from + 34, uint8_t(op.first >= 0 ? 0xff : 0xfb));
        memory.put(cop, from + WIRE_PERL_COP_LINE, op.line);
        memory.put(cop, from + 40, at(op.first));
    }
    PerlStatementOf() {
        put_page(cop);
        // ops 2 and 4 are the first statements of two blocks, of which the second is in 5
        put_op(0, {statement, 1, 1, -1, 42});
        memory.put(cop, WIRE_PERL_COP_FILE, file);
        put_op(1, {other, 9, 8, 2, 0});
        put_op(2, {null, 3, 3, -1, 50});
        put_op(3, {other, 4, 5, -1, 0});
        put_op(4, {null, 6, 6, -1, 60});
        put_op(5, {scope, 7, -1, 4, 0});
        put_op(6, {other, 7, -1, -1, 0});
        put_op(8, {null, -1, 9, -1, 70}); // beside the tree
        put_op(9, {other, 10, -1, -1, 0});
        words.place = WIRE_FRAME_PERL_COP | cop;
    }
    std::string line_of(int op, bool is_next = false) {
        know();
        words.place_second =
            (words.place_second & UINT32_MAX) | uint64_t{wire_perl_way(cop, at(op), is_next)} << 32;
        const std::string text = text_of(read());
        return text.starts_with("Orders::total orders.pl:") ? text.substr(24) : text;
    }
};

TEST_F(PerlStatementOf, AnOp) {
    EXPECT_EQ(line_of(-1), "42");
    EXPECT_EQ(line_of(1), "42");
    EXPECT_EQ(line_of(2), "50");
    EXPECT_EQ(line_of(3), "50");
    EXPECT_EQ(line_of(5), "50");
    EXPECT_EQ(line_of(6), "60");
    EXPECT_EQ(line_of(9), "42"); // of another statement
    EXPECT_EQ(line_of(10), "42");
}

TEST_F(PerlStatementOf, TheOpBefore) {
    EXPECT_EQ(line_of(9, true), "42");
    EXPECT_EQ(line_of(3, true), "50");
    EXPECT_EQ(line_of(4, true), "50");
    // The end of a block is no op that calls.
    EXPECT_EQ(line_of(7, true), "60");
    EXPECT_EQ(line_of(10, true), "42");
    put_op(5, {other, 7, -1, 4, 0});
    EXPECT_EQ(line_of(7, true), "50");
}

TEST_F(PerlStatementOf, TreesAreBounded) {
    put_op(3, {other, 4, 3, -1, 0}); // beside itself
    EXPECT_EQ(line_of(6), "42");
    EXPECT_EQ(line_of(3), "50");
    put_op(3, {other, 4, 5, 2, 0}); // above itself, and so on, further than anybody looks
    EXPECT_EQ(line_of(6), "42");
    put_op(3, {other, 4, 5, -1, 0});
    EXPECT_EQ(line_of(6), "60");
    // The statement says where it is all the same.
    memory.put(cop, 3 * 64 + 8, uint64_t{0x990000});
    EXPECT_EQ(line_of(6), "42");
    EXPECT_EQ(line_of(3), "50");
    memory.answer = MemoryRead::late;
    EXPECT_EQ(line_of(6), "late");
    EXPECT_LE(memory.reads, 8u);
}

TEST_F(PerlStatementOf, IsKnownByItsLineAndFile) {
    EXPECT_EQ(line_of(6), "60");
    put_op(0, {statement, 1, 1, -1, 43});
    memory.put(cop, WIRE_PERL_COP_FILE, file);
    EXPECT_EQ(line_of(6), "gone");
    put_op(0, {statement, 1, 1, -1, 42});
    memory.put(cop, WIRE_PERL_COP_FILE, package);
    EXPECT_EQ(line_of(6), "gone");
    memory.put(cop, WIRE_PERL_COP_FILE, file);
    memory.pieces.erase(file);
    EXPECT_EQ(line_of(6), "unreadable");
    put_file("orders.pl");
    EXPECT_EQ(line_of(6), "60");
    // While it is read.
    const size_t reads = memory.reads;
    for (size_t now = 0; now < reads; now++) {
        memory.put(cop, 4 * 64 + WIRE_PERL_COP_LINE, uint32_t{60});
        memory.before = [&, at = now](size_t read) {
            if (read == at)
                memory.put(cop, 4 * 64 + WIRE_PERL_COP_LINE, uint32_t{61});
        };
        // Before it is read the first time it may be any.
        EXPECT_EQ(line_of(6), now < reads / 2 ? "61" : "gone") << now;
    }
}

} // namespace
} // namespace auger
