// SPDX-License-Identifier: GPL-3.0-or-later
// HotSpot's tables of its own types as a process has them, and as hostile ones claim them; and the
// file that says where they are.
#include "loader/reader/runtimes/read_hotspot.h"
#include "loader/runtimes/hotspot/hotspot_file.h"
#include "loader/runtimes/hotspot/layout.h"
#include "tests/unit/hotspot_image.h"

#include "loader/process/safe_open.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace auger {
namespace {

using test::HotspotImage;

// The first that have other fields than those before.
constexpr std::array versions = {17, 21, 23, 25, 26};

// Where it is, and of how many bits.
std::pair<int, int> number_of(const wire_hotspot_number& number) {
    return {number.at, number.bits};
}

TEST(HotspotTables, SayWhereThingsAre) {
    HotspotImage image;
    const auto layout = image.layout();
    ASSERT_TRUE(layout.ok()) << layout.error().message();
    const wire_hotspot& walk = layout->walk;
    EXPECT_EQ(walk.heaps[0].low, HotspotImage::code_low);
    EXPECT_EQ(walk.heaps[0].size, HotspotImage::code_high - HotspotImage::code_low);
    EXPECT_EQ(walk.heaps[0].segments, HotspotImage::segments);
    EXPECT_EQ(walk.heaps[0].segment_bits, 7u);
    EXPECT_EQ(walk.heaps[1].size, 0u);
    EXPECT_EQ(walk.interpreter, HotspotImage::interpreter);
    EXPECT_EQ(walk.interpreter_size, HotspotImage::interpreter_size);
    EXPECT_EQ(walk.block_blob, 16u);
    EXPECT_EQ(walk.block_used, 9u);
    EXPECT_EQ(walk.block_name, 16u + 80);
    EXPECT_EQ(walk.block_method, 16u + 104);
    EXPECT_EQ(number_of(walk.block_header_size), (std::pair{16 + 12, 32}));
    EXPECT_EQ(number_of(walk.block_frame_complete), (std::pair{16 + 16, 32}));
    EXPECT_EQ(number_of(walk.block_code), (std::pair{16 + 24, 64}));
    EXPECT_EQ(number_of(walk.block_deopt_handler), (std::pair{16 + 120, 64}));
    EXPECT_EQ(number_of(walk.block_deopt_mh_handler), (std::pair{16 + 128, 64}));
    EXPECT_EQ(walk.block_compile_id, 16u + 300);
    EXPECT_EQ(walk.block_original_pc, 16u + 296);
    EXPECT_EQ(walk.block_pcs, 16u + 268);
    EXPECT_EQ(walk.block_pcs_end, 16u + 272);
    EXPECT_EQ(walk.nmethod_header_size, 352u);
    EXPECT_EQ(walk.method_const, 16u);
    EXPECT_EQ(walk.const_bytecode, 48u);
    EXPECT_EQ(layout->values[HotspotField::major_version], HotspotImage::version_at);
    EXPECT_EQ(layout->values.version, 17);
    EXPECT_EQ(layout->values[HotspotField::symbol_body], 6u);
}

TEST(HotspotTables, OfLaterVersionsHaveSmallerNumbers) {
    for (const int32_t version : {23, 24, 25, 26, 27}) {
        HotspotImage image(version);
        const auto layout = image.layout();
        ASSERT_TRUE(layout.ok()) << version << ": " << layout.error().message();
        const wire_hotspot& walk = layout->walk;
        EXPECT_EQ(layout->values.version, version);
        EXPECT_EQ(number_of(walk.block_header_size), (std::pair{16 + 14, 16}));
        EXPECT_EQ(number_of(walk.block_frame_complete), (std::pair{16 + 18, 16}));
        EXPECT_EQ(number_of(walk.block_code), (std::pair{16 + 24, 32}));
        EXPECT_EQ(number_of(walk.block_deopt_handler), (std::pair{16 + 120, 32}));
        // Where there is one address for all callees, it is that.
        EXPECT_EQ(number_of(walk.block_deopt_mh_handler),
                  (std::pair{16 + (version <= 25 ? 124 : 120), 32}));
        EXPECT_EQ(walk.block_method, 16u + 104);
        EXPECT_EQ(walk.block_pcs, 16u + 268);
        EXPECT_EQ(walk.block_pcs_end, 16u + 272);
        EXPECT_EQ(layout->thread_owner, version < 25 ? 0 : HotspotImage::thread_owner);
        EXPECT_EQ(layout->thread_continuation, version < 25 ? 0u : 1024u);
    }
}

std::string problem_of(HotspotImage& image) {
    const auto layout = image.layout();
    if (layout.ok())
        return "known";
    return layout.error().kind == Error::Kind::unsupported ? layout.error().message()
                                                           : "not yet: " + layout.error().cause;
}

// While the dynamic linker is at work on them that is no news.
std::string not_those_of(int32_t version) {
    return fmt::format("not yet: its structures are not those of {}", version);
}
const std::string no_version = "not yet: it does not say its version";

void expect_all_are_needed(int32_t version) {
    const size_t fields = HotspotImage(version).fields.size() - 1;
    const size_t sizes = HotspotImage(version).sizes.size() - 1;
    EXPECT_EQ(sizes, static_cast<size_t>(HotspotType::count_));
    for (size_t i = 0; i < fields; i++) {
        HotspotImage image(version);
        const HotspotImage::Field field = image.fields[i];
        const std::string unknown =
            field.name == "_vm_major_version" ? no_version : not_those_of(version);
        const std::string which = fmt::format("{} of {}", field.name, version);
        image.fields[i].name += 'x';
        image.put_tables();
        EXPECT_EQ(problem_of(image), unknown) << which;
        image.fields[i] = field;
        image.fields[i].of += '*';
        image.put_tables();
        EXPECT_EQ(problem_of(image), unknown) << which;
        image.fields[i] = field;
        image.fields[i].is_static = !field.is_static;
        image.put_tables();
        EXPECT_EQ(problem_of(image), unknown) << which;
        image.fields[i] = field;
        image.put_tables();
        EXPECT_EQ(problem_of(image), "known") << which;
    }
    for (size_t i = 0; i < sizes; i++) {
        HotspotImage image(version);
        image.sizes[i].name += 'x';
        image.put_tables();
        EXPECT_EQ(problem_of(image), not_those_of(version)) << i;
    }
}

TEST(HotspotTables, WithoutOneOfThemAreNoneThatAreKnown) {
    for (const int32_t version : versions)
        expect_all_are_needed(version);
}

// What a version is said to be has to have its fields, not another one's.
TEST(HotspotTables, OfOneVersionAreNotAnothers) {
    for (const auto& [real, said] : {std::pair{17, 23},
                                     {20, 21},
                                     {22, 23},
                                     {23, 22},
                                     {24, 25},
                                     {25, 24},
                                     {25, 26},
                                     {26, 25},
                                     {27, 17}}) {
        HotspotImage image(real);
        image.put(HotspotImage::version_at, int32_t{said});
        EXPECT_EQ(problem_of(image), not_those_of(said)) << real;
    }
}

TEST(HotspotTables, OfOtherVersionsAreSaid) {
    for (const int32_t version : {16, 28, 1 << 30}) {
        HotspotImage image;
        image.put(HotspotImage::version_at, version);
        EXPECT_EQ(problem_of(image),
                  fmt::format("show Java's methods of HotSpot {}: auger knows the structures of 17 "
                              "to 27 (generated code is shown by its addresses instead)",
                              version));
    }
}

// It is said when nothing else is where it was, too.
TEST(HotspotTables, OfOtherVersionsHaveOtherFields) {
    HotspotImage image;
    image.fields.resize(1);
    image.put_tables();
    EXPECT_EQ(problem_of(image), not_those_of(17));
    for (const int32_t not_said : {0, -1}) {
        image.put(HotspotImage::version_at, not_said);
        EXPECT_EQ(problem_of(image), no_version) << not_said;
    }
    image.put(HotspotImage::version_at, int32_t{28});
    EXPECT_NE(problem_of(image).find("of HotSpot 28"), std::string::npos);
    // It is nowhere.
    image.fields[0].value = 0x666000;
    image.put_tables();
    EXPECT_EQ(problem_of(image), no_version);
}

TEST(HotspotTables, AreWaitedForWhileItStarts) {
    const std::string tables = "not yet: they are not there yet";
    HotspotImage image;
    for (const uint64_t variable : {HotspotImage::structs, HotspotImage::types, HotspotImage::heaps,
                                    HotspotImage::queue_at}) {
        const HotspotImage whole = image;
        image.put(variable, uint64_t{0});
        EXPECT_EQ(problem_of(image), tables);
        image.pages = whole.pages;
    }
    const HotspotImage whole = image;
    image.put(HotspotImage::heap + 24, uint64_t{0});
    EXPECT_EQ(problem_of(image), tables);
    image.pages = whole.pages;
    // The interpreter has not been made, or not all of it; or what it has left is not given back.
    const auto room = static_cast<int32_t>(HotspotImage::interpreter_room);
    for (const int32_t end : {0, room - 4096, room + 1}) {
        image.put(HotspotImage::queue + 28, end);
        EXPECT_EQ(problem_of(image), tables) << end;
    }
    for (const int32_t end : {room - 4095, room}) {
        image.put(HotspotImage::queue + 28, end);
        EXPECT_EQ(problem_of(image), "known") << end;
    }
}

TEST(HotspotTables, ThatDoNotEndAreLeft) {
    HotspotImage image;
    // Each entry is like the last one, on and on.
    const uint64_t type = HotspotImage::texts;
    for (uint64_t at = HotspotImage::struct_table; at < HotspotImage::struct_table + (1 << 20);
         at += 8)
        image.put(at, type);
    EXPECT_EQ(problem_of(image).substr(0, 7), "not yet");
    EXPECT_LE(image.reads, 1100u);
    // Nor does what they say.
    image.put(HotspotImage::structs, uint64_t{UINT64_MAX - 20});
    EXPECT_EQ(problem_of(image).substr(0, 7), "not yet");
}

TEST(HotspotTables, AreBounded) {
    const std::string cannot =
        "show Java's methods of a HotSpot: where it says that its structures "
        "are, they cannot be";
    for (const int32_t version : versions)
        for (size_t i = 0; i + 1 < HotspotImage(version).fields.size(); i++) {
            HotspotImage image(version);
            if (image.fields[i].is_static)
                continue;
            for (const uint64_t value : {uint64_t{4097}, uint64_t{1} << 20}) {
                image.fields[i].value = value;
                image.put_tables();
                EXPECT_EQ(problem_of(image).substr(0, cannot.size()), cannot)
                    << image.fields[i].name;
            }
            image.fields[i].value = (1 << 20) + 1;
            image.put_tables();
            EXPECT_NE(problem_of(image), "known") << image.fields[i].name;
        }
    // What a walk reads at once, and none of it across two words.
    for (const uint64_t value : {uint64_t{WIRE_HOTSPOT_BLOCK_BYTES - 16 - 3}, uint64_t{302}}) {
        HotspotImage image;
        image.fields[24].value = value;
        ASSERT_EQ(image.fields[24].name, "_compile_id");
        image.put_tables();
        EXPECT_EQ(problem_of(image).substr(0, cannot.size()), cannot) << value;
    }
    for (const int32_t length : {0, -1, WIRE_HOTSPOT_HEAPS + 1}) {
        HotspotImage image;
        image.put(HotspotImage::array + 4, length);
        EXPECT_EQ(problem_of(image).substr(0, 7), "not yet") << length;
    }
    for (const int32_t bits : {-1, WIRE_HOTSPOT_SEGMENT_BITS + 1}) {
        HotspotImage image;
        image.put(HotspotImage::heap + 200, bits);
        EXPECT_EQ(problem_of(image).substr(0, 7), "not yet") << bits;
    }
    // Two heaps in one place.
    {
        HotspotImage image;
        image.put(HotspotImage::array + 4, int32_t{2});
        image.put(HotspotImage::elements + 8, HotspotImage::heap);
        EXPECT_EQ(problem_of(image).substr(0, 7), "not yet");
    }
    for (const uint64_t high : {uint64_t{0}, HotspotImage::code_low, UINT64_MAX}) {
        HotspotImage image;
        image.put(HotspotImage::heap + 32, high);
        EXPECT_EQ(problem_of(image).substr(0, 7), "not yet") << high;
    }
}

TEST(HotspotFiles, AreSentWhole) {
    const ThreadVariable thread{
        0x20, 0x38, ThreadVariable::Slot{ThreadVariable::Slot::Kind::module, 0x180fcb0, 0}};
    for (const HotspotFile& file :
         {HotspotFile{0x12f89f8, 0x12f89f0}, HotspotFile{0x12f89f8, 0x12f89f0, thread}}) {
        const std::string bytes = encode_hotspot_file(file);
        EXPECT_EQ(decode_hotspot_file(bytes), file);
        EXPECT_EQ(decode_hotspot_file(bytes + '\0'), std::nullopt);
        for (size_t size = 0; size < bytes.size(); size++)
            EXPECT_EQ(decode_hotspot_file(bytes.substr(0, size)), std::nullopt) << size;
    }
}

TEST(HotspotFiles, OthersAreNone) {
    const std::string path = "/proc/self/exe";
    const auto file = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(read_hotspot(**file), std::nullopt);
}

} // namespace
} // namespace auger
