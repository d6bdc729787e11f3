// SPDX-License-Identifier: GPL-3.0-or-later
// V8's files and layouts, as they are and as hostile ones claim them.
#include "loader/process/safe_open.h"
#include "loader/reader/runtimes/read_v8.h"
#include "loader/runtimes/v8/layout.h"
#include "loader/runtimes/v8/offset_words.h"
#include "loader/runtimes/v8/v8_file.h"
#include "tests/unit/v8_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace auger {
namespace {

using test::made_up_v8_file;
using test::V8Image;
using C = V8Constant;

TEST(V8Files, AreSentWhole) {
    V8File file = made_up_v8_file();
    file.constants[5].reset();
    file.offset_places = {{0x401000, 10}, {0x401003, 0}, {0x7f0000401003, 63}};
    const std::string bytes = encode_v8_file(file);
    EXPECT_EQ(decode_v8_file(bytes), file);
    EXPECT_EQ(decode_v8_file(bytes + '\0'), std::nullopt);
    for (size_t size = 0; size < bytes.size(); size++)
        EXPECT_EQ(decode_v8_file(bytes.substr(0, size)), std::nullopt) << size;
}

TEST(V8Files, HavePlacesThatAscendAndAreKnown) {
    const auto is_taken = [](std::vector<V8OffsetPlace> places) {
        V8File file = made_up_v8_file();
        file.offset_places = std::move(places);
        return decode_v8_file(encode_v8_file(file)) == file;
    };
    EXPECT_TRUE(is_taken({{0, 1}, {1, 0}}));
    EXPECT_TRUE(is_taken({{UINT64_MAX - 1, 1}, {UINT64_MAX, 0}}));
    EXPECT_FALSE(is_taken({{1, 1}, {1, 0}}));
    EXPECT_FALSE(is_taken({{2, 1}, {1, 0}}));
    EXPECT_FALSE(is_taken({{1, 64}}));
    EXPECT_TRUE(is_taken(std::vector<V8OffsetPlace>(1, {1, 63})));
    std::vector<V8OffsetPlace> most;
    for (size_t i = 0; i < V8File::offset_places_limit; i++)
        most.push_back({i, 1});
    EXPECT_TRUE(is_taken(most));
    most.push_back({most.size(), 1});
    EXPECT_FALSE(is_taken(most));
}

TEST(V8Files, SayToWalksWhereOffsetsAre) {
    V8File file = made_up_v8_file();
    EXPECT_TRUE(v8_offset_words(file, 0, UINT64_MAX).empty());
    file.offset_places = {{0x4fff, 5}, {0x5010, 10}, {0x5014, 0}, {0x5018, 63}, {0x6000, 10}};
    using testing::ElementsAre;
    EXPECT_THAT(v8_offset_words(file, 0x5000, 0x6000),
                ElementsAre(3u, 0x10u, 10u, 4u << 6, 8u << 6 | 63));
    EXPECT_TRUE(v8_offset_words(file, 0x7000, 0x8000).empty());
    // What is too far away ends what is said.
    file.offset_places = {{0x5000, 10}, {0x5000 + (1u << 26), 11}, {0x5001 + (1u << 26), 12}};
    EXPECT_THAT(v8_offset_words(file, 0x4000, UINT64_MAX),
                ElementsAre(2u, 0x1000u, 10u, ((1u << 26) - 1) << 6));
}

TEST(V8Files, VariablesAreConstantsWhateverTheirType) {
    EXPECT_EQ(v8_constant_named("v8dbg_class_Script__source__Object"), C::script_source);
    EXPECT_EQ(v8_constant_named("v8dbg_class_Script__source__Tagged_Object_"), C::script_source);
    EXPECT_EQ(v8_constant_named("v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject"),
              C::shared_script);
    EXPECT_EQ(v8_constant_named("v8dbg_class_SharedFunctionInfo__script__Tagged_HeapObject_"),
              C::shared_script);
    EXPECT_EQ(v8_constant_named("v8dbg_type_Code__CODE_TYPE"), C::code_type);
    EXPECT_EQ(v8_constant_named("v8dbg_off_fp_function"), C::frame_function);
    for (const char* const other :
         {"v8dbg_class_Script__source", "class_Script__source__Object", "v8dbg_", "v8dbg_type_Code",
          "v8dbg_type_CodeWrapper__CODE_WRAPPER_TYPE", "v8dbg_off_fp_function__int"})
        EXPECT_EQ(v8_constant_named(other), std::nullopt) << other;
    EXPECT_EQ(v8_version_part_named("_ZN2v88internal7Version5buildE"), std::nullopt);
    EXPECT_EQ(v8_version_part_named("_ZN2v88internal7Version6build_E"), 2u);
}

TEST(V8Files, OthersAreNone) {
    const std::string path = "/proc/self/exe";
    const auto file = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(read_v8(**file), std::nullopt);
}

TEST(V8Layouts, SayWhereThingsAre) {
    const auto layout = v8_layout(made_up_v8_file());
    ASSERT_TRUE(layout.ok()) << layout.error().message();
    const wire_v8& walk = layout->walk;
    EXPECT_EQ(walk.frame_context, 16u);
    EXPECT_EQ(walk.frame_function, 24u);
    EXPECT_EQ(walk.frame_bytecode, 40u);
    EXPECT_EQ(walk.frame_offset, 56u);
    EXPECT_EQ(walk.map_type, 18u);
    EXPECT_EQ(walk.function_shared, 40u);
    EXPECT_EQ(walk.shared_data, 8u);
    EXPECT_EQ(walk.shared_name, 24u);
    EXPECT_EQ(walk.shared_script, 40u);
    EXPECT_EQ(walk.shared_literal, 60u);
    EXPECT_EQ(walk.shared_unique, 64u);
    EXPECT_EQ(walk.shared_bytes, 68u);
    EXPECT_EQ(walk.shared_type, 301u);
    EXPECT_EQ(walk.bytecode_type, 302u);
    EXPECT_EQ(layout->objects.not_string_mask, 0xff00u);
    EXPECT_EQ(layout->objects.external_data, 48u);
    EXPECT_EQ(layout->objects.script_id, 72u);
}

std::string problem_of(const V8File& file) {
    const auto layout = v8_layout(file);
    return layout.ok() ? "known" : layout.error().message();
}

TEST(V8Layouts, OfVersionsThatAreKnown) {
    V8File file = made_up_v8_file();
    for (const auto& [major, minor] : {std::pair{10, 2}, {11, 3}, {12, 4}, {13, 6}}) {
        file.version = {major, minor, 1, 2};
        EXPECT_EQ(problem_of(file), "known") << major;
    }
    // Without a number of its own a function has that in its script.
    file.version = {11, 3, 244, 8};
    EXPECT_EQ(v8_layout(file)->walk.shared_unique, v8_layout(file)->walk.shared_literal);
    EXPECT_EQ(v8_layout(file)->walk.shared_bytes, 64u);
    const std::string hint = "generated code is shown by its addresses instead";
    for (const auto& version : {std::array{11, 4, 1, 2}, {9, 3, 0, 0}, {0, 0, 0, 0}}) {
        file.version = version;
        EXPECT_EQ(
            problem_of(file),
            fmt::format("show JavaScript functions of V8 {}: auger knows the objects of 10.2, "
                        "11.3, 12.4 and 13.6 (Node 18 to 24) ({})",
                        fmt::join(version, "."), hint));
    }
    file = made_up_v8_file();
    file.constants = {};
    EXPECT_EQ(problem_of(file),
              "show JavaScript functions of V8 12.4.254.21: its file does not say "
              "where its objects are (v8dbg_...) (" +
                  hint + ")");
    file = made_up_v8_file();
    file.constants[static_cast<size_t>(C::tagged_size)] = 4;
    EXPECT_EQ(problem_of(file), "show JavaScript functions of V8 12.4.254.21: its pointers are "
                                "compressed (" +
                                    hint + ")");
}

TEST(V8Layouts, AreBounded) {
    for (size_t i = 0; i < V8File::constants_count; i++) {
        V8File file = made_up_v8_file();
        const int32_t value = *file.constants[i];
        const bool is_register = i == static_cast<size_t>(C::offset_register);
        const auto is_known = [&](std::optional<int32_t> claimed) {
            file.constants[i] = claimed;
            return problem_of(file) == "known";
        };
        EXPECT_EQ(is_known(std::nullopt), is_register) << i;
        EXPECT_EQ(is_known(std::numeric_limits<int32_t>::max()), is_register) << i;
        EXPECT_EQ(is_known(std::numeric_limits<int32_t>::min()), is_register) << i;
        EXPECT_TRUE(is_known(value)) << i;
    }
    // Across words, and beyond what is read at once.
    const auto with = [](C constant, int32_t value) {
        V8File file = made_up_v8_file();
        file.constants[static_cast<size_t>(constant)] = value;
        return problem_of(file) == "known";
    };
    EXPECT_FALSE(with(C::shared_name, 28));
    EXPECT_FALSE(with(C::frame_function, -20));
    EXPECT_FALSE(with(C::frame_function, 24));
    EXPECT_FALSE(with(C::frame_function, -264));
    EXPECT_TRUE(with(C::shared_script, 72));
    EXPECT_FALSE(with(C::shared_script, 80));
    EXPECT_FALSE(with(C::shared_flags, 72));
}

} // namespace
} // namespace auger
