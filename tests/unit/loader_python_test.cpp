// SPDX-License-Identifier: GPL-3.0-or-later
// CPython's layouts, functions and lines as hostile files and processes claim them.
#include "loader/reader/runtimes/read_python.h"
#include "loader/runtimes/layout_table.h"
#include "loader/runtimes/python/code_reader.h"
#include "loader/runtimes/python/layout.h"
#include "loader/runtimes/python/line_table.h"
#include "loader/runtimes/python/python_file.h"

#include "loader/process/safe_open.h"
#include "tests/unit/fake_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace auger {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
    std::vector<std::byte> bytes;
    for (const unsigned value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

// As 3.14's: what it says is looked up by position, so all the words are told apart.
class Offsets {
  public:
    explicit Offsets(uint32_t version) : words_(128) {
        std::memcpy(words_.data(), "xdebugpy", 8);
        words_[1] = version;
        const std::map<size_t, uint64_t> of_314 = {
            {5, 808},  {8, 7272}, {9, 7344}, {24, 8},   {26, 72},  {27, 152}, {32, 8},
            {33, 0},   {34, 56},  {36, 74},  {40, 112}, {42, 128}, {43, 136}, {44, 68},
            {48, 208}, {75, 16},  {76, 32},  {77, 64},  {78, 32},  {79, 16},  {80, 40}};
        const std::map<size_t, uint64_t> of_315 = {
            {5, 808},  {8, 7272}, {9, 7344}, {24, 8},   {26, 72},  {30, 152}, {40, 8},
            {41, 0},   {42, 56},  {44, 74},  {48, 112}, {50, 128}, {51, 136}, {52, 68},
            {56, 208}, {87, 16},  {88, 32},  {89, 64},  {90, 32},  {91, 16},  {92, 40}};
        for (const auto& [index, value] : version >> 16 == 0x030f ? of_315 : of_314)
            words_[index] = value;
    }
    uint64_t& operator[](size_t index) { return words_[index]; }
    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

  private:
    std::vector<uint64_t> words_;
};

TEST(PythonLayout, IsToldByTablesAndFrom313OnByTheFile) {
    const auto old = python_layout(0x030b02f0, {});
    ASSERT_TRUE(old.ok());
    EXPECT_EQ(old->frames.boundary, WIRE_PYTHON_CFRAME);
    EXPECT_EQ(old->frames.version, 0x030bu);
    EXPECT_EQ(old->frames.frame_owner, 68u); // whether it ends a loop
    EXPECT_EQ(old->frames.frame_kind, 69u);
    EXPECT_EQ(old->frames.generator_frame, 80u);
    const auto next = python_layout(0x030c01f0, {});
    ASSERT_TRUE(next.ok());
    EXPECT_EQ(next->frames.code_instructions, 192u);
    Offsets offsets(0x030e06f0);
    const auto told = python_layout(0x030e06f0, offsets.bytes());
    ASSERT_TRUE(told.ok()) << told.error().message();
    EXPECT_EQ(told->frames.interpreter_next, 7272u);
    EXPECT_EQ(told->frames.frame_owner, 74u);
    EXPECT_EQ(told->frames.frame_kind, 74u);
    EXPECT_EQ(told->frames.generator_frame, 72u);
    EXPECT_EQ(told->frames.code_flags, 48u);
    EXPECT_EQ(told->frames.code_instructions, 208u);
    EXPECT_EQ(told->objects.text_wide, 56u);
}

TEST(PythonLayout, Until310IsOfFramesThatAreObjects) {
    for (const uint32_t version : {0x030802f0u, 0x030902f0u}) {
        const auto layout = python_layout(version, {});
        ASSERT_TRUE(layout.ok());
        EXPECT_EQ(layout->frames.boundary, WIRE_PYTHON_EACH);
        EXPECT_EQ(layout->frames.frame_instruction, 104u);
        EXPECT_EQ(layout->frames.instruction_unit, 1u);
        EXPECT_EQ(layout->frames.frame_generator, 96u);
        EXPECT_EQ(layout->frames.version, version >> 16);
        EXPECT_EQ(layout->objects.lines, python_lines_steps);
        EXPECT_EQ(layout->awaits.known, 0u);
    }
    PythonFile file;
    file.hex_version = 0x030a0cf0;
    file.runtime = 0x93a3c0;
    const auto message = [&] {
        const auto layout = python_layout(file);
        return layout.ok() ? "known" : layout.error().message();
    };
    EXPECT_NE(message().find("of CPython 3.10.12: where its loop begins and ends"),
              std::string::npos);
    file.loop = {0x511a90, 35540, 0x427000, 900};
    EXPECT_EQ(message(), "known");
    const PythonLayout layout = *python_layout(file);
    EXPECT_EQ(layout.frames.frame_instruction, 96u);
    EXPECT_EQ(layout.frames.instruction_unit, 2u);
    EXPECT_EQ(layout.frames.frame_generator, 88u);
    EXPECT_EQ(layout.objects.lines, python_lines_ranges);
    EXPECT_EQ(loop_at(layout.frames.loop, 0x7f000093a3c0), file.loop.moved(0x7f0000000000));
    for (const uint64_t size : {uint64_t{(16 << 20) + 1}, UINT64_MAX}) {
        file.loop.cold_size = size;
        EXPECT_NE(message().find("(_PyEval_EvalFrameDefault) is not known"), std::string::npos);
    }
}

TEST(PythonVersion, StandsAmongConstants) {
    const auto in = [](std::string_view text) {
        return python_version_in(std::string("other\0", 6) + std::string(text));
    };
    using namespace std::string_view_literals;
    EXPECT_EQ(in("3.9.2\0"sv), 0x030902f0u);
    EXPECT_EQ(in("3.10.12\0"sv), 0x030a0cf0u);
    EXPECT_EQ(in("3.8.20+\0%s"sv), 0x030814f0u);
    EXPECT_EQ(in("3.9.2\0a\0003.9.2\0"sv), 0x030902f0u);
    // What other libraries say of themselves.
    EXPECT_EQ(in("3.40.1\0001.2.11\0003.9.2\0003.2.0\0"sv), 0x030902f0u);
    EXPECT_EQ(in("3.8.7\0003.9.2\0"sv), 0u);
    for (const std::string_view none :
         {"3.9.2"sv, "3.9.2rc1\0"sv, "3.9\0"sv, "3.9.\0"sv, "3.11.2\0"sv, "3.999.2\0"sv,
          "3.9.2.1\0"sv, "x3.9.2\0"sv, "3.-9.2\0"sv, "3."sv, ""sv})
        EXPECT_EQ(in(none), 0u) << none;
}

// What coroutines that wait are followed by. Where that cannot be, frames have names all the same.
TEST(PythonLayout, KnowsWhatIsAwaited) {
    for (const uint32_t version : {0x030b02f0u, 0x030c01f0u}) {
        const auto layout = python_layout(version, {});
        ASSERT_TRUE(layout.ok());
        EXPECT_EQ(layout->awaits.known, 1u);
        EXPECT_TRUE(layout->awaits.has_asyncio());
        EXPECT_EQ(layout->awaits.states, python_states_suspended);
    }
    struct Version {
        uint32_t number;
        std::map<size_t, uint64_t> words;
        uint32_t states;
    };
    const Version versions[] = {
        {0x030e06f0, {{12, 7688}, {35, 80}, {37, 64}, {57, 32}, {86, 67}}, python_states_signed},
        {0x030f02f0,
         {{12, 7688}, {43, 80}, {45, 64}, {69, 32}, {102, 67}, {67, 888}},
         python_states_counted},
    };
    for (const Version& version : versions) {
        SCOPED_TRACE(version.number);
        Offsets offsets(version.number);
        for (const auto& [index, value] : version.words)
            offsets[index] = value;
        const auto told = python_layout(version.number, offsets.bytes());
        ASSERT_TRUE(told.ok());
        EXPECT_EQ(told->awaits.known, 1u);
        EXPECT_EQ(told->awaits.interpreter_modules, 7688u);
        EXPECT_EQ(told->awaits.frame_locals, 80u);
        EXPECT_EQ(told->awaits.frame_stack, 64u);
        EXPECT_EQ(told->awaits.stack_is_address, 1u);
        EXPECT_EQ(told->awaits.tuple_items, 32u);
        EXPECT_EQ(told->awaits.generator_state, 67u);
        EXPECT_EQ(told->awaits.type_keys, version.words.contains(67) ? 888u : 880u);
        EXPECT_EQ(told->awaits.states, version.states);
        EXPECT_FALSE(told->awaits.has_asyncio()); // the file of _asyncio says it
        const uint32_t next = told->frames.interpreter_next;
        for (const auto& [index, value] : version.words) {
            offsets[index] = UINT64_MAX;
            const auto other = python_layout(version.number, offsets.bytes());
            ASSERT_TRUE(other.ok()) << index;
            EXPECT_EQ(other->awaits.known, 0u) << index;
            EXPECT_EQ(other->frames.interpreter_next, next);
            offsets[index] = value;
        }
    }
}

TEST(PythonLayout, SaysWhatItDoesNotKnow) {
    const auto message = [](uint32_t version, std::span<const std::byte> bytes) {
        const auto layout = python_layout(version, bytes);
        return layout.ok() ? "known" : layout.error().message();
    };
    EXPECT_EQ(message(0x030705f0, {}),
              "show Python's functions of CPython 3.7.5: auger knows the frames of 3.8 to 3.15 "
              "(the interpreter's own functions are shown instead)");
    EXPECT_NE(message(0, {}).find("does not say its version"), std::string::npos);
    EXPECT_NE(message(0x031000f0, {}).find("3.16.0:"), std::string::npos);
    EXPECT_NE(message(0x020700f0, {}).find("2.7.0:"), std::string::npos);
    EXPECT_NE(message(0x030f00b2, {}).find("3.15.0b2: its frames may not"), std::string::npos);
    EXPECT_NE(message(0x030e06f0, {}).find("does not say"), std::string::npos);
    Offsets offsets(0x030e05f0);
    EXPECT_NE(message(0x030e06f0, offsets.bytes()).find("another version"), std::string::npos);
    offsets[1] = 0x030e06f0;
    EXPECT_EQ(message(0x030e06f0, offsets.bytes()), "known");
    EXPECT_NE(message(0x030e06f0, offsets.bytes().first(80 * 8)).find("cannot be"),
              std::string::npos);
    offsets[2] = 1;
    EXPECT_NE(message(0x030e06f0, offsets.bytes()).find("free-threaded"), std::string::npos);
}

TEST(PythonLayout, IsBounded) {
    // The greatest of each that may be.
    const std::map<size_t, uint64_t> greatest = {{5, (16 << 20) - 8},
                                                 {8, (16 << 20) - 8},
                                                 {9, (16 << 20) - 8},
                                                 {24, 248},
                                                 {26, 248},
                                                 {27, 248},
                                                 {32, 72},
                                                 {33, 72},
                                                 {34, 72},
                                                 {36, 79},
                                                 {40, 152},
                                                 {42, 152},
                                                 {43, 152},
                                                 {44, 156},
                                                 {48, 4096},
                                                 {75, 248},
                                                 {76, 256},
                                                 {77, 256},
                                                 {78, 36},
                                                 {79, 32}};
    for (const auto& [index, value] : greatest) {
        Offsets offsets(0x030e06f0);
        offsets[index] = value;
        EXPECT_TRUE(python_layout(0x030e06f0, offsets.bytes()).ok()) << index;
        for (const uint64_t more : {value + 1, value + (uint64_t{1} << 32), UINT64_MAX}) {
            offsets[index] = more;
            EXPECT_FALSE(python_layout(0x030e06f0, offsets.bytes()).ok()) << index;
        }
    }
    for (const auto& [index, value] : {std::pair{77, 7}, std::pair{80, 35}, std::pair{80, 257}}) {
        Offsets offsets(0x030e06f0);
        offsets[static_cast<size_t>(index)] = static_cast<uint64_t>(value);
        EXPECT_FALSE(python_layout(0x030e06f0, offsets.bytes()).ok()) << index << ' ' << value;
    }
}

TEST(PythonLines, AllKindsOfEntries) {
    // Two units on the line before; one on the next; five lines up; none; 40 lines down.
    const auto table =
        bytes_of({0x81, 0x00, 0xd8, 0, 0, 0xe8, 0x0b, 0xf8, 0xf0, 0x50, 0x01, 0, 0, 0});
    const uint32_t lines[] = {10, 10, 11, 6, 0, 46, 0};
    for (uint32_t unit = 0; unit < std::size(lines); unit++) {
        EXPECT_EQ(python_line(python_lines_locations, table, 10, unit * 2), lines[unit]) << unit;
        EXPECT_EQ(python_line(python_lines_locations, table, 10, unit * 2 + 1), lines[unit])
            << unit;
    }
    EXPECT_EQ(python_line(python_lines_locations, table, 10, static_cast<uint32_t>(-2)), 10u);
    EXPECT_EQ(python_line(python_lines_locations, {}, 10, 0), 0u);
}

// What Python 3.9 and 3.10 made of one function (its co_lnotab, its co_linetable), and the lines
// that their dis has of its instructions.
TEST(PythonLines, UpTo39AreSteps) {
    // Two steps of one instruction; 255 bytes and more; 130 lines up, and further down than that.
    const auto table = bytes_of({0, 1, 4, 1, 6, 0xfe, 255, 0, 3, 0x80, 0, 0xfe, 2, 127, 0, 127});
    const std::map<uint32_t, uint32_t> lines = {{0, 201},   {3, 201},   {4, 202},  {9, 202},
                                                {10, 200},  {267, 200}, {268, 70}, {269, 70},
                                                {270, 324}, {9999, 324}};
    for (const auto& [offset, line] : lines)
        EXPECT_EQ(python_line(python_lines_steps, table, 200, offset), line) << offset;
    EXPECT_EQ(python_line(python_lines_steps, {}, 10, 4), 10u);
    EXPECT_EQ(python_line(python_lines_steps, table, 10, UINT32_MAX), 10u);
    // A byte that is left over, and lines that cannot be.
    EXPECT_EQ(python_line(python_lines_steps, bytes_of({0, 1, 2}), 10, 4), 11u);
    EXPECT_EQ(python_line(python_lines_steps, bytes_of({0, 0x80}), 10, 4), 0u);
    EXPECT_EQ(python_line(python_lines_steps, bytes_of({0, 127}), INT32_MAX, 4), 0u);
}

TEST(PythonLines, Of310AreRanges) {
    // 4 bytes one line down; 6 without a line; 254 and 2 on the next one; 130 lines up.
    const auto table = bytes_of({4, 1, 6, 0x80, 254, 1, 2, 0, 0, 0x81, 2, 0xfd});
    const std::map<uint32_t, uint32_t> lines = {{0, 201},  {3, 201},   {4, 0},     {9, 0},
                                                {10, 202}, {263, 202}, {264, 202}, {265, 202},
                                                {266, 72}, {267, 72},  {268, 0},   {9999, 0}};
    for (const auto& [offset, line] : lines)
        EXPECT_EQ(python_line(python_lines_ranges, table, 200, offset), line) << offset;
    EXPECT_EQ(python_line(python_lines_ranges, {}, 10, 4), 0u);
    EXPECT_EQ(python_line(python_lines_ranges, table, 10, UINT32_MAX), 10u);
    EXPECT_EQ(python_line(python_lines_ranges, bytes_of({8, 1, 2}), 10, 4), 11u);
    EXPECT_EQ(python_line(python_lines_ranges, bytes_of({8, 0x82}), 10, 4), 0u);
}

TEST(PythonLines, HostileTables) {
    // Numbers that have no end, are too large, or lead out of all lines.
    std::vector<std::byte> endless(1000, std::byte{0x7f});
    endless[0] = std::byte{0xe8};
    EXPECT_EQ(python_line(python_lines_locations, endless, 10, 0), 0u);
    EXPECT_EQ(python_line(python_lines_locations, bytes_of({0xe8}), 10, 0), 10u);
    EXPECT_EQ(python_line(python_lines_locations, bytes_of({0xe8, 0x3f}), 10, 0),
              0u); // 31 lines up
    EXPECT_EQ(python_line(python_lines_locations, bytes_of({0xe8, 0x02}), INT32_MAX, 0), 0u);
    EXPECT_EQ(python_line(python_lines_locations, bytes_of({0x00, 0x00}), 10, 0), 10u);
}

class PythonCodeOf : public testing::Test {
  protected:
    static constexpr uint64_t code = 0x10000, name = 0x20000, file = 0x30000, lines = 0x40000;
    static constexpr uint32_t code_version = 0x1234567;
    const PythonLayout layout = *python_layout(0x030c01f0, {});
    FakeMemory memory;

    PythonCodeOf() {
        memory.put(code, WIRE_PYTHON_CODE_BYTES - 8, uint64_t{0});
        memory.put(code, layout.frames.code_line, uint32_t{7});
        memory.put(code, layout.frames.code_name, name);
        memory.put(code, layout.frames.code_file, file);
        memory.put(code, layout.frames.code_lines, lines);
        memory.put(code, layout.frames.code_version, code_version);
        text<char>(name, "C.f", 1, true);
        text<char>(file, "/a.py", 1, true);
        memory.put(lines, layout.objects.bytes_length, uint64_t{2});
        memory.put(lines, layout.objects.bytes_data, uint16_t{0x0081});
    }
    template <typename Character>
    void text(uint64_t at, std::basic_string_view<Character> characters, unsigned kind,
              bool ascii) {
        memory.pieces.erase(at);
        memory.put(at, layout.objects.text_wide - 1, uint8_t{0});
        memory.put(at, layout.objects.text_length, uint64_t{characters.size()});
        memory.put(at, layout.objects.text_state,
                   uint32_t{kind << 2 | 1u << 5 | unsigned{ascii} << 6});
        size_t where = ascii ? layout.objects.text_ascii : layout.objects.text_wide;
        for (const Character character : characters) {
            memory.put(at, where, character);
            where += sizeof character;
        }
    }
    template <typename Character>
    void text(uint64_t at, const Character* characters, unsigned kind, bool ascii) {
        text(at, std::basic_string_view<Character>(characters), kind, ascii);
    }
    std::variant<PythonCode, PythonCodeProblem> read() {
        return read_python_code([this](uint64_t address, void* bytes,
                                       size_t size) { return memory.read(address, bytes, size); },
                                layout, code,
                                wire_python_cookie(7, file, name, lines, code_version));
    }
    std::string function() {
        const auto answer = read();
        const auto* const whole = std::get_if<PythonCode>(&answer);
        return whole ? whole->function : "(none)";
    }
    PythonCodeProblem problem() { return std::get<PythonCodeProblem>(read()); }
};

// Compiled anew from another text of the same names, where the one before it lay.
TEST_F(PythonCodeOf, AnotherCompilationIsAnother) {
    ASSERT_EQ(function(), "C.f");
    memory.put(code, layout.frames.code_version, code_version + 1);
    EXPECT_EQ(problem(), PythonCodeProblem::gone);
    memory.put(code, layout.frames.code_version, code_version);
    memory.put(code, layout.frames.code_lines, lines + 64);
    EXPECT_EQ(problem(), PythonCodeProblem::gone);
}

// The walk could not read it, and left that to who may wait.
TEST_F(PythonCodeOf, IsKnownByWhatItIsNow) {
    const ReadMemory read = [this](uint64_t address, void* bytes, size_t size) {
        return memory.read(address, bytes, size);
    };
    EXPECT_EQ(python_code_cookie(read, layout, code),
              wire_python_cookie(7, file, name, lines, code_version));
    EXPECT_EQ(python_code_cookie(read, layout, code + (1 << 20)), std::nullopt);
    const auto unread = read_python_code(read, layout, code, WIRE_PYTHON_UNREAD);
    ASSERT_TRUE(std::holds_alternative<PythonCodeProblem>(unread));
    EXPECT_EQ(std::get<PythonCodeProblem>(unread), PythonCodeProblem::unreadable);
}

TEST_F(PythonCodeOf, ItsTextsAndLines) {
    const PythonCode answer = std::get<PythonCode>(read());
    EXPECT_EQ(answer.function, "C.f");
    EXPECT_EQ(answer.file, "/a.py");
    EXPECT_EQ(answer.first_line, 7u);
    EXPECT_EQ(answer.lines, bytes_of({0x81, 0x00}));
}

TEST_F(PythonCodeOf, TextsOfAllKinds) {
    text<char>(name, "\xe9\x7f", 1, false);
    EXPECT_EQ(function(), "é\x7f");
    text<char16_t>(name, u"λ\xdc80é-", 2, false);
    EXPECT_EQ(function(), "λ\ufffdé-");
    const char32_t wide[] = {0x10330, 0x110000, 0xffffffff, 'x', 0};
    text<char32_t>(name, wide, 4, false);
    EXPECT_EQ(function(), "\U00010330\ufffd\ufffdx");
    text<char>(name, "", 1, true);
    EXPECT_EQ(function(), "");
    for (const unsigned kind : {0u, 3u, 5u, 7u}) {
        text<char>(name, "abcdefgh", kind, false);
        EXPECT_EQ(problem(), PythonCodeProblem::unreadable);
    }
    memory.put(name, layout.objects.text_state, uint32_t{1 << 2}); // its characters are elsewhere
    EXPECT_EQ(problem(), PythonCodeProblem::unreadable);
}

TEST_F(PythonCodeOf, LengthsAreBounded) {
    const std::string longest(1024, 'a');
    text<char>(name, longest.c_str(), 1, true);
    EXPECT_EQ(function(), longest);
    memory.put(name, layout.objects.text_length, uint64_t{1025});
    EXPECT_EQ(function(), longest + "...");
    memory.put(name, layout.objects.text_length, UINT64_MAX);
    EXPECT_EQ(function(), longest + "...");
    memory.put(lines, layout.objects.bytes_length, uint64_t{(1 << 20) + 1});
    EXPECT_TRUE(std::get<PythonCode>(read()).lines.empty());
    memory.put(lines, layout.objects.bytes_length, uint64_t{1 << 20});
    EXPECT_EQ(problem(), PythonCodeProblem::unreadable);
    memory.put(lines, layout.objects.bytes_data + (1 << 20) - 1, uint8_t{1});
    EXPECT_EQ(std::get<PythonCode>(read()).lines.size(), size_t{1} << 20);
}

TEST_F(PythonCodeOf, WhatDiesWhileItIsReadIsGone) {
    // At whichever read another code object takes its place.
    (void)read();
    const size_t reads = memory.reads;
    ASSERT_GT(reads, 6u);
    for (size_t at = 0; at < reads; at++) {
        memory.put(code, layout.frames.code_line, uint32_t{7});
        memory.reads = 0;
        memory.before = [&](size_t now) {
            if (now == at)
                memory.put(code, layout.frames.code_line, uint32_t{8});
        };
        EXPECT_EQ(problem(), PythonCodeProblem::gone) << at;
    }
}

TEST_F(PythonCodeOf, WhatCannotBeReadSaysWhy) {
    for (const uint64_t piece : {code, name, file, lines}) {
        const auto content = memory.pieces[piece];
        memory.pieces.erase(piece);
        memory.answer = MemoryRead::unreadable;
        EXPECT_EQ(problem(), PythonCodeProblem::unreadable);
        memory.answer = MemoryRead::late;
        memory.reads = 0;
        EXPECT_EQ(problem(), PythonCodeProblem::late);
        EXPECT_LE(memory.reads, 7u);
        memory.pieces[piece] = content;
    }
}

TEST(PythonFiles, AreSentWhole) {
    const PythonFile file = {0xa5b740, 0x030e06f0, bytes_of({1, 2, 3}), {}};
    const std::string bytes = encode_python_file(file);
    EXPECT_EQ(decode_python_file(bytes), file);
    EXPECT_EQ(decode_python_file(bytes + '\0'), std::nullopt);
    for (size_t size = 0; size < bytes.size(); size++)
        EXPECT_EQ(decode_python_file(bytes.substr(0, size)), std::nullopt) << size;
}

TEST(PythonFiles, OthersAreNone) {
    const std::string path = "/proc/self/exe";
    const auto file = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(read_python(**file), std::nullopt);
}

using PythonLayoutTable = LayoutTable<PythonLayout, WIRE_PYTHON_LAYOUTS>;

// As the files of so many users claim it, each another.
PythonLayout claimed(uint32_t number) {
    PythonLayout layout{};
    layout.frames.interpreter_threads = number;
    return layout;
}

TEST(PythonLayouts, OfOneUserLeaveRoomForOthers) {
    PythonLayoutTable table;
    const auto user = [](uid_t uid) { return FileOwner{FileOwner::Kind::user, {uid, 0, 0}}; };
    for (uint32_t i = 0; i < 100; i++)
        EXPECT_EQ(table.number(claimed(i), user(1000)).has_value(),
                  i < PythonLayoutTable::of_owner);
    EXPECT_TRUE(table.number(claimed(1000), user(1001)));
    // What is there takes no room.
    EXPECT_EQ(table.number(claimed(3), user(1000)), 3u);
    EXPECT_EQ(table.number(claimed(3), user(1001)), 3u);
}

TEST(PythonLayouts, OfAllUsersLeaveRoomForTrustedOnes) {
    PythonLayoutTable table;
    const FileOwner trusted{FileOwner::Kind::trusted, {}};
    uint32_t next = 0;
    for (uid_t uid = 1; uid < 100; uid++)
        table.number(claimed(next++), {FileOwner::Kind::user, {uid, 0, 0}});
    EXPECT_EQ(table.size(), PythonLayoutTable::of_others);
    for (uint32_t number = PythonLayoutTable::of_others; number < WIRE_PYTHON_LAYOUTS; number++)
        EXPECT_EQ(table.number(claimed(next++), trusted), number);
    EXPECT_FALSE(table.number(claimed(next), trusted));
}

} // namespace
} // namespace auger
