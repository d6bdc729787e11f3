// SPDX-License-Identifier: GPL-3.0-or-later
// Sections in every form that the standards allow and some that they do not.
#include "tests/unit/loader_unwind_section_bytes.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

using test::SectionBytes;

constexpr uint64_t section_address = 0x800;
constexpr PointerBases bases{section_address, 0x900, 0xa00};

ElfSegment code_segment(uint64_t address, uint64_t size) {
    return {address, address, size, size, true};
}

UnwindTables compile(const SectionBytes& section,
                     std::vector<ElfSegment> segments = {code_segment(0x1000, 0x10000)},
                     FrameSectionKind kind = FrameSectionKind::eh_frame) {
    const FrameSection sections[] = {{section, kind, bases}};
    UnwindTables tables = compile_unwind_tables(segments, sections);
    for (const UnwindTable& table : tables.tables)
        EXPECT_TRUE(table.valid());
    return tables;
}

uint64_t skipped(const UnwindTables& tables, FrameSkip cause) {
    return tables.statistics.skipped[static_cast<size_t>(cause)];
}

// The offset of CFA = rsp + offset; -1 where nothing is covered, -2 for another rule.
int offset_at(const UnwindTables& tables, uint64_t address) {
    const wire_unwind_rule* rule = tables.find(address);
    if (!rule)
        return -1;
    return rule->cfa == WIRE_CFA_REGISTER && rule->cfa_register == 7 ? rule->offset : -2;
}

SectionBytes& leb(SectionBytes& bytes, uint64_t value) {
    for (int i = 0; i < 9; ++i, value >>= 7)
        bytes.byte((value & 0x7f) | 0x80);
    return bytes.byte(value & 0x7f);
}

TEST(UnwindSections, EveryPointerEncoding) {
    for (const unsigned base : {0x00, 0x10, 0x20, 0x30, 0x50})
        for (const unsigned format : {0x00, 0x01, 0x02, 0x03, 0x04, 0x08, 0x09, 0x0a, 0x0b, 0x0c}) {
            SectionBytes bytes;
            bytes.common(static_cast<uint8_t>(base | format));
            bytes.begin_entry(bytes.back_to_common());
            uint64_t from = 0;
            if (base == 0x10)
                from = section_address + bytes.size();
            else if (base == 0x20)
                from = bases.text;
            else if (base == 0x30)
                from = bases.data;
            while (base == 0x50 && (section_address + bytes.size()) % 8 != 0)
                bytes.byte(0xee);
            for (const uint64_t value : {0x1234 - from, uint64_t{0x20}}) {
                switch (format) {
                case 0x02:
                case 0x0a:
                    bytes.number(static_cast<uint16_t>(value));
                    break;
                case 0x03:
                case 0x0b:
                    bytes.number(static_cast<uint32_t>(value));
                    break;
                case 0x01:
                case 0x09:
                    leb(bytes, value);
                    break;
                default:
                    bytes.number(value);
                }
            }
            bytes.byte(0).end_entry();
            const UnwindTables tables = compile(bytes);
            EXPECT_EQ(offset_at(tables, 0x1233), -1) << std::hex << (base | format);
            EXPECT_EQ(offset_at(tables, 0x1234), 8) << std::hex << (base | format);
            EXPECT_EQ(offset_at(tables, 0x1253), 8) << std::hex << (base | format);
            EXPECT_EQ(offset_at(tables, 0x1254), -1) << std::hex << (base | format);
        }
}

TEST(UnwindSections, AddressesThatCannotBeFollowed) {
    for (const unsigned encoding : {0x80, 0x9b, 0x40, 0x60, 0x0f, 0x07, 0xff}) {
        SectionBytes bytes;
        bytes.common(static_cast<uint8_t>(encoding)).function(0x1234, 0x20);
        bytes.common(0).function(0x2000, 0x10);
        const UnwindTables tables = compile(bytes);
        EXPECT_EQ(skipped(tables, FrameSkip::address) + skipped(tables, FrameSkip::truncated), 1u)
            << std::hex << encoding;
        EXPECT_EQ(offset_at(tables, 0x1234), -1);
        EXPECT_EQ(offset_at(tables, 0x2000), 8);
    }
}

TEST(UnwindSections, DebugFrameOfBothWidths) {
    SectionBytes bytes;
    bytes.begin_entry(0xffffffff).byte(4).text("").raw({8, 0, 1, 0x78, 16});
    bytes.initial_instructions().end_entry();
    bytes.begin_entry(0).number<uint64_t>(0x1100).number<uint64_t>(0x10).end_entry();
    const uint64_t second = bytes.size();
    bytes.begin_wide_entry(~uint64_t{0}).byte(3).text("").raw({1, 0x78, 16});
    bytes.initial_instructions().end_entry();
    bytes.begin_wide_entry(second).number<uint64_t>(0x1200).number<uint64_t>(0x10).end_entry();
    const UnwindTables tables =
        compile(bytes, {code_segment(0x1000, 0x1000)}, FrameSectionKind::debug_frame);
    EXPECT_EQ(offset_at(tables, 0x1100), 8);
    EXPECT_EQ(offset_at(tables, 0x1200), 8);
    EXPECT_EQ(tables.statistics.functions, 2u);
}

TEST(UnwindSections, Augmentations) {
    SectionBytes bytes;
    const auto entry = [&](uint64_t address, bool with_data) {
        bytes.number(address).number<uint64_t>(0x10);
        if (with_data)
            bytes.byte(0);
        bytes.end_entry();
    };
    size_t common = bytes.size();
    const auto function = [&](uint64_t address, bool with_data) {
        bytes.begin_entry(static_cast<uint32_t>(bytes.size() + 4 - common));
        entry(address, with_data);
        common = bytes.size();
    };
    // None at all.
    bytes.begin_entry(0).byte(1).text("").raw({1, 0x78, 16}).initial_instructions().end_entry();
    function(0x1100, false);
    // GCC 2's, with a pointer of its own.
    bytes.begin_entry(0).byte(1).text("eh").number<uint64_t>(77).raw({1, 0x78, 16});
    bytes.initial_instructions().end_entry();
    function(0x1200, false);
    // Personality, language data, signal frame, pointer authentication.
    bytes.begin_entry(0).byte(1).text("zPLRSB").raw({1, 0x78, 16, 7, 0x03, 1, 2, 3, 4, 0x1b, 0});
    bytes.initial_instructions().end_entry();
    function(0x1300, true);
    // A letter of the future: its data are skipped.
    bytes.begin_entry(0).byte(1).text("zRx").raw({1, 0x78, 16, 3, 0, 0xee, 0xee});
    bytes.initial_instructions().end_entry();
    function(0x1400, true);
    // Letters without lengths: where the instructions begin cannot be told.
    bytes.begin_entry(0).byte(1).text("x").raw({1, 0x78, 16}).initial_instructions().end_entry();
    function(0x1500, false);
    const UnwindTables tables = compile(bytes);
    EXPECT_EQ(offset_at(tables, 0x1100), 8);
    EXPECT_EQ(offset_at(tables, 0x1200), 8);
    ASSERT_NE(tables.find(0x1300), nullptr);
    EXPECT_EQ(tables.find(0x1300)->cfa, WIRE_CFA_SIGNAL);
    EXPECT_EQ(offset_at(tables, 0x1400), 8);
    EXPECT_EQ(offset_at(tables, 0x1500), -1);
    EXPECT_EQ(skipped(tables, FrameSkip::common_entry), 1u);
}

TEST(UnwindSections, TerminatorsInTheMiddle) {
    SectionBytes bytes;
    bytes.common(0).function(0x1100, 0x10).number<uint32_t>(0).number<uint32_t>(0);
    bytes.common(0).function(0x1200, 0x10).number<uint32_t>(0);
    const UnwindTables tables = compile(bytes);
    EXPECT_EQ(offset_at(tables, 0x1100), 8);
    EXPECT_EQ(offset_at(tables, 0x1200), 8);
}

TEST(UnwindSections, OverlapsAreResolved) {
    SectionBytes bytes;
    bytes.common(0);
    bytes.function(0x1100, 0x100, {0x0e, 16}); // the outer one,
    bytes.function(0x1140, 0x20, {0x0e, 24});  // one within it
    bytes.function(0x1300, 0x40, {0x0e, 32});
    bytes.function(0x1320, 0x40, {0x0e, 40}); // beyond its end
    bytes.function(0x1400, 0x10, {0x0e, 48});
    bytes.function(0x1400, 0x10, {0x0e, 48}); // the same again
    const UnwindTables tables = compile(bytes);
    EXPECT_EQ(offset_at(tables, 0x113f), 16);
    EXPECT_EQ(offset_at(tables, 0x1140), 24);
    EXPECT_EQ(offset_at(tables, 0x115f), 24);
    EXPECT_EQ(offset_at(tables, 0x1160), -1);
    EXPECT_EQ(offset_at(tables, 0x131f), 32);
    EXPECT_EQ(offset_at(tables, 0x1320), 40);
    EXPECT_EQ(offset_at(tables, 0x135f), 40);
    EXPECT_EQ(offset_at(tables, 0x1400), 48);
    EXPECT_EQ(skipped(tables, FrameSkip::overlap), 3u);
}

TEST(UnwindSections, DebugFrameFillsGapsOnly) {
    SectionBytes first, second;
    first.common(0).function(0x1100, 0x20, {0x0e, 16}).function(0x1200, 0x20, {0x0e, 16});
    second.begin_entry(0xffffffff).byte(1).text("").raw({1, 0x78, 16});
    second.initial_instructions().end_entry();
    for (const uint64_t begin : {0x1000, 0x10f0, 0x1108, 0x1120, 0x1210, 0x1300})
        second.begin_entry(0).number(begin).number<uint64_t>(0x18).raw({0x0e, 64}).end_entry();
    const FrameSection sections[] = {{first, FrameSectionKind::eh_frame, bases},
                                     {second, FrameSectionKind::debug_frame, bases}};
    const ElfSegment segment = code_segment(0x1000, 0x1000);
    const UnwindTables tables = compile_unwind_tables({&segment, 1}, sections);
    EXPECT_EQ(offset_at(tables, 0x1000), 64);
    EXPECT_EQ(offset_at(tables, 0x10f0), -1); // it reaches into a function of the other
    EXPECT_EQ(offset_at(tables, 0x1108), 16);
    EXPECT_EQ(offset_at(tables, 0x1120), 64);
    EXPECT_EQ(offset_at(tables, 0x1210), 16);
    EXPECT_EQ(offset_at(tables, 0x1300), 64);
}

TEST(UnwindSections, PaddingBelongsToTheFunctionBefore) {
    SectionBytes bytes;
    bytes.common(0);
    bytes.function(0x1100, 0x11, {0x0e, 16}); // 15 bytes to the next multiple of 16
    bytes.function(0x1120, 0x10, {0x0e, 24}); // 16 bytes
    bytes.function(0x1140, 0x10, {0x0e, 32}); // 8 bytes, but not to a multiple of 16
    bytes.function(0x1158, 0x08, {0x0e, 32});
    const UnwindTables tables = compile(bytes);
    EXPECT_EQ(offset_at(tables, 0x111f), 16);
    EXPECT_EQ(offset_at(tables, 0x1130), -1);
    EXPECT_EQ(offset_at(tables, 0x113f), -1);
    EXPECT_EQ(offset_at(tables, 0x114f), 32);
    EXPECT_EQ(offset_at(tables, 0x1150), -1);
    EXPECT_EQ(offset_at(tables, 0x1157), -1);
    EXPECT_EQ(offset_at(tables, 0x115f), 32);
    EXPECT_EQ(offset_at(tables, 0x1160), -1);
}

TEST(UnwindSections, EqualNeighboursAreOneRow) {
    SectionBytes bytes;
    bytes.common(0);
    for (uint64_t i = 0; i < 64; ++i)
        bytes.function(0x1000 + i * 0x10, 0x10, {0x44, 0x44}); // moves, and nothing changes
    const UnwindTables tables = compile(bytes);
    ASSERT_EQ(tables.tables.size(), 1u);
    EXPECT_EQ(tables.tables[0].rows.size(), 1u);
    EXPECT_EQ(tables.tables[0].pages, (std::vector<uint32_t>{0, 1, 1, 1, 1}));
    EXPECT_EQ(tables.tables[0].size, 0x400u);
}

TEST(UnwindSections, OneTableASegment) {
    SectionBytes bytes;
    bytes.common(0).function(0x1234, 0x10).function(0x401080, 0x10).function(0x300000, 0x10);
    ElfSegment data = code_segment(0x300000, 0x1000);
    data.executable = false;
    const UnwindTables tables =
        compile(bytes, {code_segment(0x1230, 0x100), data, code_segment(0x401000, 0x1000)});
    ASSERT_EQ(tables.tables.size(), 2u);
    EXPECT_EQ(tables.tables[0].base, 0x1200u);
    EXPECT_EQ(tables.tables[0].size, 0x44u);
    EXPECT_EQ(tables.tables[1].base, 0x401000u);
    EXPECT_EQ(offset_at(tables, 0x1234), 8);
    EXPECT_EQ(offset_at(tables, 0x401080), 8);
    EXPECT_EQ(skipped(tables, FrameSkip::outside), 1u);
    // Mapped at 0x7f0000001000 from the page that the segment begins in.
    const uint64_t bias = tables.tables[0].bias(0x7f0000001000, 0x1000);
    EXPECT_EQ(0x7f0000001234 - bias, 0x1234 - tables.tables[0].base);
}

TEST(UnwindSections, BrokenInstructionsEndWhatIsKnown) {
    SectionBytes bytes;
    bytes.common(0);
    bytes.function(0x1100, 0x10, {0x44, 0x0e, 16, 0x44, 0x3f}); // unknown instruction
    bytes.function(0x1200, 0x10, {0x44, 0x0b});                 // nothing was remembered
    bytes.function(0x1300, 0x10, {0x44, 0x0f, 0x7f});           // an expression beyond the end
    bytes.function(0x1400, 0x10, {0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16}); // back to address 0
    bytes.function(0x1500, 0x10, {0x0f, 2, 0x77, 8, 0x0e, 16});
    const UnwindTables tables = compile(bytes);
    EXPECT_EQ(offset_at(tables, 0x1103), 8);
    EXPECT_EQ(offset_at(tables, 0x1107), 16);
    EXPECT_EQ(offset_at(tables, 0x1108), -2);
    EXPECT_EQ(offset_at(tables, 0x1203), 8);
    EXPECT_EQ(offset_at(tables, 0x1204), -2);
    EXPECT_EQ(offset_at(tables, 0x1303), 8);
    EXPECT_EQ(offset_at(tables, 0x1304), -2);
    EXPECT_EQ(offset_at(tables, 0x1400), -2);
    EXPECT_EQ(offset_at(tables, 0x1500), 16); // the expression was rsp + 8, after all
    for (const uint64_t address : {0x1108, 0x1204, 0x1304, 0x1400})
        EXPECT_EQ(tables.find(address)->cfa, WIRE_CFA_UNSUPPORTED);
    EXPECT_EQ(tables.statistics.unsupported_rows, 4u);
}

TEST(UnwindSections, TheStackOfStatesIsBounded) {
    SectionBytes bytes;
    bytes.common(0);
    bytes.begin_entry(bytes.back_to_common()).number<uint64_t>(0x1100).number<uint64_t>(0x100);
    bytes.byte(0);
    for (int i = 0; i < 100; ++i)
        bytes.byte(0x0a);
    bytes.end_entry();
    const UnwindTables tables = compile(bytes);
    ASSERT_NE(tables.find(0x1100), nullptr);
    EXPECT_EQ(tables.find(0x1100)->cfa, WIRE_CFA_UNSUPPORTED);
}

TEST(UnwindSections, WhatIsBrokenIsSkippedAndCounted) {
    SectionBytes bytes;
    bytes.common(0).function(0x1100, 0x10);
    bytes.begin_entry(4).number<uint64_t>(0).end_entry();          // its common entry is itself
    bytes.begin_entry(0xfffffff0).number<uint64_t>(0).end_entry(); // ... beyond the section
    bytes.begin_entry(bytes.back_to_common()).number<uint32_t>(0).end_entry(); // too short
    bytes.function(~uint64_t{0} - 4, 0x10);
    bytes.function(0x1200, 0x10);
    bytes.number<uint32_t>(1).byte(0); // no room for an id
    bytes.number<uint32_t>(0x7fffffff);
    bytes.function(0x1300, 0x10); // behind a length that leads nowhere
    const UnwindTables tables = compile(bytes);
    EXPECT_EQ(offset_at(tables, 0x1100), 8);
    EXPECT_EQ(offset_at(tables, 0x1200), 8);
    EXPECT_EQ(offset_at(tables, 0x1300), -1);
    EXPECT_EQ(skipped(tables, FrameSkip::common_entry), 2u);
    EXPECT_EQ(skipped(tables, FrameSkip::truncated), 3u);
    EXPECT_EQ(skipped(tables, FrameSkip::outside), 1u);
}

TEST(UnwindSections, RulesThatTablesCannotSay) {
    SectionBytes bytes;
    bytes.common(0);
    bytes.function(0x1100, 0x10, {0x05, 6, 0x80, 0x80, 0x04});          // rbp 512 KB below: too far
    bytes.function(0x1200, 0x10, {0x0c, 17, 8});                        // CFA by an xmm register
    bytes.function(0x1300, 0x10, {0x0e, 0x80, 0x80, 0x80, 0x80, 0x10}); // rsp + 4 GB
    bytes.function(0x1400, 0x10, {0x90, 2});  // the return address at CFA - 16
    bytes.function(0x1500, 0x10, {0x08, 16}); // ... in its own register
    const UnwindTables tables = compile(bytes);
    ASSERT_NE(tables.find(0x1100), nullptr);
    EXPECT_EQ(tables.find(0x1100)->cfa, WIRE_CFA_REGISTER);
    EXPECT_EQ(tables.find(0x1100)->rbp_saved, WIRE_SAVED_LOST);
    for (const uint64_t address : {0x1200, 0x1300, 0x1400, 0x1500}) {
        ASSERT_NE(tables.find(address), nullptr);
        EXPECT_EQ(tables.find(address)->cfa, WIRE_CFA_UNSUPPORTED) << std::hex << address;
    }
}

TEST(UnwindSections, MoreRulesThanATableHolds) {
    SectionBytes bytes;
    bytes.common(0);
    for (unsigned i = 0; i < WIRE_UNWIND_MAX_RULES + 100; ++i)
        bytes.function(0x1000 + i * 16, 16,
                       {0x0e, (i & 0x7f) | 0x80, (i >> 7 & 0x7f) | 0x80, i >> 14 | 0x40});
    const UnwindTables tables = compile(bytes, {code_segment(0x1000, 0x1000000)});
    ASSERT_EQ(tables.tables.size(), 1u);
    EXPECT_EQ(tables.tables[0].rules.size(), size_t{WIRE_UNWIND_MAX_RULES});
    EXPECT_EQ(offset_at(tables, 0x1000 + 1000 * 16), 1000 | 0x40 << 14);
    EXPECT_EQ(tables.find(0x1000 + (WIRE_UNWIND_MAX_RULES + 50) * 16)->cfa, WIRE_CFA_UNSUPPORTED);
}

} // namespace
} // namespace auger
