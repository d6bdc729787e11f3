// SPDX-License-Identifier: GPL-3.0-or-later
// Where labels of goroutines are, by a program's code and what it says of its compiler; and the
// words of stacks that tell of one.
#include "bpf/unwind_table.h"
#include "loader/process/safe_open.h"
#include "loader/reader/runtimes/read_go.h"
#include "loader/reader/tables/go_runtime.h"
#include "loader/runtimes/go/label_words.h"
#include "loader/unwind/table_messages.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace auger {
namespace {

using testing::Optional;

std::vector<std::byte> code(std::initializer_list<int> bytes) {
    std::vector<std::byte> code;
    for (const int byte : bytes)
        code.push_back(static_cast<std::byte>(byte));
    return code;
}

// As compilers have made runtime/pprof.runtime_setProfLabel: Go 1.19, 1.21 and 1.26.
const auto go19 = code(
    {0x49, 0x3b, 0x66, 0x10, 0x76, 0x36, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24, 0x48, 0x8d,
     0x2c, 0x24, 0x83, 0x3d, 0x97, 0x6f, 0x16, 0x00, 0x00, 0x75, 0x09, 0x49, 0x89, 0x86, 0x68, 0x01,
     0x00, 0x00, 0xeb, 0x0f, 0x4c, 0x89, 0xf7, 0x48, 0x81, 0xc7, 0x68, 0x01, 0x00, 0x00, 0xe8, 0xad,
     0x3d, 0x00, 0x00, 0x48, 0x8b, 0x2c, 0x24, 0x48, 0x83, 0xc4, 0x08, 0xc3, 0x48, 0x89, 0x44, 0x24,
     0x08, 0xe8, 0xda, 0x1d, 0x00, 0x00, 0x48, 0x8b, 0x44, 0x24, 0x08, 0xeb, 0xb3});
const auto go21 =
    code({0x49, 0x3b, 0x66, 0x10, 0x76, 0x3e, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x08, 0x4c,
          0x89, 0x34, 0x24, 0x83, 0x3d, 0xf7, 0x3f, 0x16, 0x00, 0x00, 0x74, 0x18, 0x0f, 0x1f, 0x44,
          0x00, 0x00, 0xe8, 0xfb, 0x3c, 0x00, 0x00, 0x49, 0x89, 0x03, 0x49, 0x8b, 0x8e, 0x58, 0x01,
          0x00, 0x00, 0x49, 0x89, 0x4b, 0x08, 0x48, 0x8b, 0x0c, 0x24, 0x48, 0x89, 0x81, 0x58, 0x01,
          0x00, 0x00, 0x48, 0x83, 0xc4, 0x08, 0x5d, 0xc3, 0x48, 0x89, 0x44, 0x24, 0x08, 0xe8, 0x72,
          0x1f, 0x00, 0x00, 0x48, 0x8b, 0x44, 0x24, 0x08, 0xeb, 0xab});
const auto go26 =
    code({0x49, 0x3b, 0x66, 0x10, 0x76, 0x39, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x08,
          0x4c, 0x89, 0x34, 0x24, 0x83, 0x3d, 0x47, 0x9f, 0x1b, 0x00, 0x00, 0x74, 0x13, 0x49,
          0x8b, 0x8e, 0x60, 0x01, 0x00, 0x00, 0xe8, 0xd9, 0x5d, 0x00, 0x00, 0x49, 0x89, 0x03,
          0x49, 0x89, 0x4b, 0x08, 0x48, 0x8b, 0x0c, 0x24, 0x48, 0x89, 0x81, 0x60, 0x01, 0x00,
          0x00, 0x48, 0x83, 0xc4, 0x08, 0x5d, 0xc3, 0x48, 0x89, 0x44, 0x24, 0x08, 0xe8, 0x37,
          0x44, 0x00, 0x00, 0x48, 0x8b, 0x44, 0x24, 0x08, 0xeb, 0xb0});

TEST(GoLabelsOffset, IsWhereTheSetterStores) {
    EXPECT_THAT(go_labels_offset(go19), Optional(0x168));
    EXPECT_THAT(go_labels_offset(go21), Optional(0x158));
    EXPECT_THAT(go_labels_offset(go26), Optional(0x160));
    // Cut off before the end of the store it is not known.
    EXPECT_EQ(go_labels_offset(std::span(go19).first(33)), std::nullopt);
    EXPECT_THAT(go_labels_offset(std::span(go19).first(34)), Optional(0x168));
}

TEST(GoLabelsOffset, OfOtherCodeIsNotKnown) {
    // Go 1.16: the g comes from the thread's memory, the argument from the stack.
    EXPECT_EQ(
        go_labels_offset(code({0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x8b,
                               0x4c, 0x24, 0x10, 0x48, 0x89, 0x88, 0x58, 0x01, 0x00, 0x00, 0xc3})),
        std::nullopt);
    EXPECT_EQ(go_labels_offset({}), std::nullopt);
    // Two places, one that is not the g's, one that is no word's, before the g, too far, cut off.
    EXPECT_EQ(go_labels_offset(
                  code({0x49, 0x89, 0x86, 0x68, 1, 0, 0, 0x49, 0x89, 0x86, 0x60, 1, 0, 0, 0xc3})),
              std::nullopt);
    EXPECT_EQ(go_labels_offset(code({0x48, 0x89, 0x81, 0x68, 1, 0, 0, 0xc3})), std::nullopt);
    EXPECT_EQ(go_labels_offset(code({0x49, 0x89, 0x86, 0x69, 1, 0, 0, 0xc3})), std::nullopt);
    EXPECT_EQ(go_labels_offset(code({0x49, 0x89, 0x86, 0xf8, 0xff, 0xff, 0xff, 0xc3})),
              std::nullopt);
    EXPECT_EQ(go_labels_offset(code({0x49, 0x89, 0x86, 0x68, 1, 1, 0, 0xc3})), std::nullopt);
    EXPECT_EQ(go_labels_offset(code({0x49, 0x89, 0x86, 0x68, 1, 0})), std::nullopt);
}

// As compilers have made the middle of runtime.casgstatus: Go 1.19 and 1.27.
TEST(GoIdOffset, IsBehindTheStatus) {
    EXPECT_THAT(go_id_offset(code({0x48, 0x89, 0xc7, 0x89, 0xd8, 0xf0, 0x0f, 0xb1, 0x8f, 0x90, 0, 0,
                                   0, 0x41, 0x0f, 0x94, 0xc0})),
                Optional(0x98));
    EXPECT_THAT(go_id_offset(code({0xf0, 0x44, 0x0f, 0xb1, 0x87, 0x98, 0, 0, 0})), Optional(0xa0));
    EXPECT_THAT(go_id_offset(code({0xf0, 0x0f, 0xb1, 0x4f, 0x78})), Optional(0x80));
}

TEST(GoIdOffset, OfOtherCodeIsNotKnown) {
    EXPECT_EQ(go_id_offset({}), std::nullopt);
    // Two places, 64 bits, no place in a g, no word's, with an index, before the g, cut off.
    EXPECT_EQ(go_id_offset(code(
                  {0xf0, 0x0f, 0xb1, 0x8f, 0x90, 0, 0, 0, 0xf0, 0x0f, 0xb1, 0x8f, 0x98, 0, 0, 0})),
              std::nullopt);
    EXPECT_EQ(go_id_offset(code({0xf0, 0x48, 0x0f, 0xb1, 0x8f, 0x90, 0, 0, 0})), std::nullopt);
    EXPECT_EQ(go_id_offset(code({0xf0, 0x0f, 0xb1, 0x0f, 0x90, 0, 0, 0})), std::nullopt);
    EXPECT_EQ(go_id_offset(code({0xf0, 0x0f, 0xb1, 0x8f, 0x92, 0, 0, 0})), std::nullopt);
    EXPECT_EQ(go_id_offset(code({0xf0, 0x0f, 0xb1, 0x8c, 0x90, 0, 0, 0, 0})), std::nullopt);
    EXPECT_EQ(go_id_offset(code({0xf0, 0x0f, 0xb1, 0x8f, 0x90, 0xff, 0xff, 0xff})), std::nullopt);
    EXPECT_EQ(go_id_offset(code({0xf0, 0x0f, 0xb1, 0x8f, 0x90, 0})), std::nullopt);
}

std::string information(const std::string& version, char flags = 2) {
    std::string bytes = "\xff Go buildinf:";
    bytes += '\x08';
    bytes += flags;
    bytes.append(16, '\0');
    bytes += static_cast<char>(version.size());
    return bytes + version + "\x05other";
}

std::optional<std::string> version_of(const std::string& bytes) {
    return go_version(std::as_bytes(std::span(bytes)));
}

TEST(GoVersion, IsWhatTheFileSays) {
    EXPECT_THAT(version_of(information("go1.24.4")), Optional(std::string("go1.24.4")));
    EXPECT_THAT(version_of(information("go1.16", 0)), Optional(std::string()));
    const std::string whole = information("go1.24.4").substr(0, 41);
    EXPECT_THAT(version_of(whole), Optional(std::string("go1.24.4")));
    for (size_t size = 0; size < whole.size(); size++)
        EXPECT_EQ(version_of(whole.substr(0, size)), std::nullopt) << size;
    EXPECT_EQ(version_of(information("")), std::nullopt);
    EXPECT_EQ(version_of(information(std::string(200, 'x'))), std::nullopt);
    EXPECT_EQ(version_of("\xff go buildinf:" + whole.substr(14)), std::nullopt);
}

TEST(GoVersion, SaysHowLabelsLie) {
    for (const char* const version : {"", "go1.17", "go1.18.10", "go1.19.8", "go1.23.5",
                                      "devel go1.22-0123abcd Mon Jan 1", "go1.23rc1"})
        EXPECT_EQ(go_labels_form(version), WIRE_GO_LABELS_MAP) << version;
    for (const char* const version : {"go1.24", "go1.24.4", "go1.26.10 X:nocoverageredesign",
                                      "go1.27rc1", "devel go1.25-0123abcd Mon Jan 1"})
        EXPECT_EQ(go_labels_form(version), WIRE_GO_LABELS_LIST) << version;
    for (const char* const version :
         {"go1.28", "go1.99.1", "go2.1", "go1.", "go1.x", "unknown", "go1.99999999999", "gccgo 12"})
        EXPECT_EQ(go_labels_form(version), WIRE_GO_LABELS_NONE) << version;
}

TEST(GoFile, GoesThroughMessages) {
    GoFile file;
    file.labels = {-8, 48, 192, 360, WIRE_GO_LABELS_LIST, 152, 0};
    file.sets_labels = true;
    file.version = "go1.24.4";
    table_messages::Tables tables;
    tables.go = file;
    const auto read = table_messages::tables(table_messages::tables(tables));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->go, file);
    EXPECT_EQ(table_messages::tables(table_messages::tables(table_messages::Tables()))->go,
              std::nullopt);

    const std::string bytes = encode_go_file(file);
    for (size_t size = 0; size < bytes.size(); size++)
        EXPECT_EQ(decode_go_file(bytes.substr(0, size)), std::nullopt) << size;
    EXPECT_EQ(decode_go_file(bytes + "x"), std::nullopt);
    file.labels.form = WIRE_GO_LABELS_FORMS;
    EXPECT_EQ(decode_go_file(encode_go_file(file)), std::nullopt);
}

// As the compiler that is installed makes them.
TEST(GoFile, OfRealPrograms) {
    if (!std::filesystem::exists(AUGER_PROGRAMS_DIR "/golabels"))
        GTEST_SKIP() << "go is not installed (package golang-go)";
    const auto read = [](const std::string& name) {
        const std::string path = AUGER_PROGRAMS_DIR "/" + name;
        return read_go(**ElfFile::open(std::move(*open_regular(path)), path));
    };
    for (const char* const name : {"golabels", "golabels_pie", "golabels_stripped"}) {
        const auto file = read(name);
        ASSERT_TRUE(file) << name;
        EXPECT_TRUE(file->sets_labels && file->has_known_labels())
            << name << ": " << file->problem();
        EXPECT_EQ(file->labels.form, go_labels_form(file->version)) << name;
        EXPECT_EQ(file->labels.g_m, 48) << name;
        // By runtime2.go: Go 1.17 to 1.22, and from 1.25 on; 1.23 and 1.24.
        EXPECT_THAT(file->labels.g_id, testing::AnyOf(152, 160)) << name;
    }
    // Nothing sets labels there, and goroutines are found all the same.
    const auto plain = read("goroutines");
    ASSERT_TRUE(plain);
    EXPECT_FALSE(plain->sets_labels || plain->has_known_labels());
    EXPECT_EQ(plain->labels.g_m, 48);
    EXPECT_GT(plain->labels.m_curg, 0);
    EXPECT_EQ(read("drilldown"), std::nullopt);
}

// As bpf/go_labels.bpf.c makes them.
void add(GoLabelWords& words, const std::string& text, uint64_t number) {
    for (size_t at = 0; at < text.size(); at += WIRE_GO_LABEL_BYTES, number++) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < WIRE_GO_LABEL_BYTES && at + i < text.size(); i++)
            bytes |= static_cast<uint64_t>(static_cast<uint8_t>(text[at + i])) << 8 * i;
        if (bytes)
            words.add(WIRE_FRAME_GO_LABEL | number, bytes);
    }
}

TEST(GoLabelWords, AreTextAgain) {
    GoLabelWords words;
    EXPECT_EQ(words.take(), "");
    for (const size_t key : {1, 6, 7, 8, 14, 24})
        for (const size_t value : {1, 7, 8, 14, 56, 57, 63}) {
            const std::string name(key, 'k'), text = "\xff" + std::string(value - 1, '/');
            add(words, name, 1);
            add(words, text, WIRE_GO_LABEL_VALUE + 1);
            EXPECT_EQ(words.take(), name + "=" + text);
        }
    EXPECT_EQ(words.take(), "");
    add(words, "route", 1);
    words.add(WIRE_FRAME_GO_LABEL | WIRE_GO_LABEL_UNREADABLE, 0);
    EXPECT_EQ(words.take(), "route unreadable");
    add(words, "route", 1);
    EXPECT_EQ(words.take(), ""); // it is empty
}

// Text ends at the first NUL, whatever the process has behind it; nobody else's words are joined.
TEST(GoLabelWords, OfAnythingAreSomeText) {
    GoLabelWords words;
    add(words, "route", 1);
    add(words, std::string("ab\0cdefghij", 11), WIRE_GO_LABEL_VALUE + 1);
    EXPECT_EQ(words.take(), "route=ab");
    add(words, "route", 1);
    add(words, "a" + std::string(13, '\0') + "b", WIRE_GO_LABEL_VALUE + 1);
    EXPECT_EQ(words.take(), "route=a");
    add(words, "value", WIRE_GO_LABEL_VALUE + 1);
    EXPECT_EQ(words.take(), "");
    for (const uint64_t number : {uint64_t{0}, uint64_t{200}, uint64_t{1} << 40})
        words.add(WIRE_FRAME_GO_LABEL | number, ~uint64_t{0});
    EXPECT_EQ(words.take(), "");
    EXPECT_TRUE(GoLabelWords::is_one(WIRE_FRAME_GO_LABEL | 1));
    EXPECT_FALSE(GoLabelWords::is_one(WIRE_FRAME_RUBY | 1));
    EXPECT_FALSE(GoLabelWords::is_one(WIRE_FRAME_RUNTIME | 1));
}

} // namespace
} // namespace auger
