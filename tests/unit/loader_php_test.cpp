// SPDX-License-Identifier: GPL-3.0-or-later
// PHP's layouts and functions as hostile files and processes claim them.
#include "loader/reader/runtimes/read_php.h"
#include "loader/runtimes/php/function_reader.h"
#include "loader/runtimes/php/layout.h"
#include "loader/runtimes/php/php_file.h"

#include "loader/process/safe_open.h"
#include "tests/unit/fake_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace auger {
namespace {

PhpFile file_of(uint32_t version) {
    PhpFile file;
    file.version = version;
    file.globals = 0x58ae60;
    file.loop = {0x36cbe0, 37662, 0x11ec6a, 2200};
    return file;
}

TEST(PhpLayouts, AreToldByVersion) {
    const auto old = php_layout(file_of(0x070421));
    ASSERT_TRUE(old.ok());
    EXPECT_EQ(old->function_file, 136u);
    EXPECT_EQ(old->generator_frame, 64u);
    const auto debian = php_layout(file_of(0x080224));
    ASSERT_TRUE(debian.ok());
    EXPECT_EQ(debian->globals_frame, 488u);
    EXPECT_EQ(debian->function_instructions, 88u);
    EXPECT_EQ(debian->function_count, 80u);
    EXPECT_EQ(debian->function_file, 152u);
    EXPECT_EQ(debian->function_line, 160u);
    EXPECT_EQ(debian->generator_frame, 56u);
    EXPECT_EQ(debian->version, 0x0802u);
    // The code may lie before the globals, as it does in a position-independent executable.
    EXPECT_EQ(0x58ae60 + debian->loop.body, 0x36cbe0u);
    EXPECT_EQ(debian->loop.body_size, 37662u);
    EXPECT_EQ(0x58ae60 + debian->loop.cold, 0x11ec6au);
    EXPECT_EQ(debian->loop.cold_size, 2200u);
    for (const uint32_t version : {0x080000u, 0x080103u, 0x080306u, 0x08041bu}) {
        const auto layout = php_layout(file_of(version));
        ASSERT_TRUE(layout.ok()) << std::hex << version;
        // All of it is read at once.
        EXPECT_LE(layout->function_line + 4, WIRE_PHP_FUNCTION_BYTES);
        EXPECT_LT(layout->function_instructions, layout->function_file);
    }
    EXPECT_EQ(php_layout(file_of(0x080406))->function_file, 168u);
}

TEST(PhpLayouts, SayWhatTheyDoNotKnow) {
    const auto message = [](const PhpFile& file) {
        const auto layout = php_layout(file);
        return layout.ok() ? "known" : layout.error().message();
    };
    EXPECT_EQ(message(file_of(0x07031c)),
              "show PHP's functions of PHP 7.3.28: auger knows the frames of 7.4 to 8.4 (the "
              "interpreter's own functions are shown instead)");
    EXPECT_NE(message(file_of(0x080500)).find("of PHP 8.5.0: auger knows"), std::string::npos);
    EXPECT_NE(message(file_of(0)).find("does not say its version"), std::string::npos);
    PhpFile threads = file_of(0x080224);
    threads.thread_safe = true;
    EXPECT_NE(message(threads).find("of PHP 8.2.36: it is a thread-safe build (ZTS)"),
              std::string::npos);
    for (const uint64_t size : {uint64_t{0}, uint64_t{(16 << 20) + 1}, UINT64_MAX}) {
        PhpFile endless = file_of(0x080224);
        endless.loop.body_size = size;
        EXPECT_NE(message(endless).find("(execute_ex) is not known"), std::string::npos) << size;
    }
    PhpFile large = file_of(0x080224);
    large.loop.body_size = 16 << 20;
    EXPECT_EQ(message(large), "known");
    large.loop.cold_size = (16 << 20) + 1;
    EXPECT_NE(message(large), "known");
}

TEST(PhpFiles, AreSentWhole) {
    for (const bool thread_safe : {false, true}) {
        PhpFile file = file_of(0x080224);
        file.thread_safe = thread_safe;
        const std::string bytes = encode_php_file(file);
        EXPECT_EQ(decode_php_file(bytes), file);
        EXPECT_EQ(decode_php_file(bytes + '\0'), std::nullopt);
        for (size_t size = 0; size < bytes.size(); size++)
            EXPECT_EQ(decode_php_file(bytes.substr(0, size)), std::nullopt) << size;
    }
}

TEST(PhpFiles, OthersAreNone) {
    const std::string path = "/proc/self/exe";
    const auto file = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(read_php(**file), std::nullopt);
}

// The word of eight characters; shorter texts have something before them.
uint64_t characters(std::string_view text) {
    uint64_t word;
    EXPECT_EQ(text.size(), sizeof word);
    std::memcpy(&word, text.data(), sizeof word);
    return word;
}

TEST(PhpMarks, AreOfTheTextAlone) {
    // By its hash, when it has one.
    EXPECT_EQ(wire_php_mark(7, 3, 1, 2), wire_php_mark(7, 4, 5, 6));
    // What stands before a short text does not count, and all of it does.
    const uint64_t one = characters("12345678"), other = characters("abcdefgh");
    EXPECT_EQ(wire_php_mark(0, 0, one, one), wire_php_mark(0, 0, other, other));
    std::set<uint64_t> marks;
    for (uint64_t length = 1; length <= 16; length++) {
        const uint64_t kept_last = length < 8 ? 8 - length : 0;
        const uint64_t kept_before = length < 8 ? 8 : length < 16 ? 16 - length : 0;
        std::string last = "12345678", before = "ABCDEFGH";
        const auto mark = [&] {
            return wire_php_mark(0, length, characters(before), characters(last));
        };
        const uint64_t known = mark();
        EXPECT_TRUE(marks.insert(known).second) << length;
        for (uint64_t i = 0; i < 8; i++) {
            last[i]++;
            EXPECT_EQ(mark() == known, i < kept_last) << length << ' ' << i;
            last[i]--;
            before[i]++;
            EXPECT_EQ(mark() == known, i < kept_before) << length << ' ' << i;
            before[i]--;
        }
    }
    EXPECT_NE(wire_php_mark(0, 17, one, other), wire_php_mark(0, 18, one, other));
}

class PhpFunctionOf : public testing::Test {
  protected:
    static constexpr uint64_t function = 0x10000, name = 0x20000, file = 0x30000, scope = 0x40000,
                              class_name = 0x50000;
    const PhpLayout layout = *php_layout(file_of(0x080224));
    FakeMemory memory;

    PhpFunctionOf() {
        memory.put(function, WIRE_PHP_FUNCTION_BYTES - 8, uint64_t{0});
        memory.put(function, WIRE_PHP_FUNCTION_TYPE, uint8_t{WIRE_PHP_USER});
        memory.put(function, WIRE_PHP_FUNCTION_NAME, name);
        memory.put(function, layout.function_file, file);
        memory.put(function, layout.function_line, uint32_t{7});
        memory.put(scope, WIRE_PHP_CLASS_NAME, class_name);
        text(name, "handle", 0x8000000000000001);
        text(file, "/srv/app.php", 0x8000000000000002);
        text(class_name, "App\\Shop", 0x8000000000000003);
    }
    void text(uint64_t at, std::string_view characters, uint64_t hash) {
        memory.pieces.erase(at);
        memory.put(at, 0, uint64_t{1}); // references
        memory.put(at, WIRE_PHP_TEXT_HASH, hash);
        memory.put(at, WIRE_PHP_TEXT_LENGTH, uint64_t{characters.size()});
        for (size_t i = 0; i < characters.size(); i++)
            memory.put(at, WIRE_PHP_TEXT_CHARACTERS + i, characters[i]);
    }
    void in_class() { memory.put(function, WIRE_PHP_FUNCTION_SCOPE, scope); }

    // As a walk has it.
    uint64_t mark(uint64_t at) {
        std::array<uint64_t, 2> head{}, end{};
        memory.read(at + WIRE_PHP_TEXT_HASH, head.data(), sizeof head);
        if (!head[0])
            memory.read(at + WIRE_PHP_TEXT_CHARACTERS + head[1] - sizeof end, end.data(),
                        sizeof end);
        return wire_php_mark(head[0], head[1], end[0], end[1]);
    }
    uint32_t cookie(uint64_t of_scope = 0) {
        return wire_php_cookie(7, of_scope ? mark(class_name) : 0, mark(name), mark(file));
    }
    std::variant<PhpFunction, FunctionProblem> read(uint32_t known_by) {
        memory.reads = 0;
        return read_php_function([this](uint64_t address, void* bytes,
                                        size_t size) { return memory.read(address, bytes, size); },
                                 layout, function, known_by);
    }
    std::string name_of(const std::variant<PhpFunction, FunctionProblem>& answer) {
        const auto* const whole = std::get_if<PhpFunction>(&answer);
        return whole ? whole->name : "(none)";
    }
};

TEST_F(PhpFunctionOf, ItsNameFileAndLine) {
    const PhpFunction plain = std::get<PhpFunction>(read(cookie()));
    EXPECT_EQ(plain.name, "handle");
    EXPECT_EQ(plain.file, "/srv/app.php");
    EXPECT_EQ(plain.first_line, 7u);
    in_class();
    EXPECT_EQ(name_of(read(cookie(scope))), "App\\Shop::handle");
    text(name, "{closure}", 5);
    EXPECT_EQ(name_of(read(cookie(scope))), "App\\Shop::{closure}");
    text(name, "{closure:App\\Shop::handle():12}", 6); // since 8.4
    EXPECT_EQ(name_of(read(cookie(scope))), "{closure:App\\Shop::handle():12}");
    text(class_name, std::string_view("class@anonymous\0/srv/app.php:9$0", 32), 7);
    text(name, "handle", 1);
    EXPECT_EQ(name_of(read(cookie(scope))), "class@anonymous::handle");
}

TEST_F(PhpFunctionOf, TextsWithoutAHash) {
    text(name, "f", 0);
    text(file, "/a/file/with/a/long/path.php", 0);
    EXPECT_EQ(name_of(read(cookie())), "f");
    const uint32_t before = cookie();
    text(name, "g", 0);
    EXPECT_EQ(std::get<FunctionProblem>(read(before)), FunctionProblem::gone);
    text(name, "f", 0);
    text(file, "/a/file/with/a/long/path.phq", 0);
    EXPECT_EQ(std::get<FunctionProblem>(read(before)), FunctionProblem::gone);
}

// Where a walk could not read them.
TEST_F(PhpFunctionOf, TextsByTheirAddresses) {
    EXPECT_EQ(name_of(read(wire_php_cookie(7, 0, name, file))), "handle");
    in_class();
    EXPECT_EQ(name_of(read(wire_php_cookie(7, scope, name, file))), "App\\Shop::handle");
    EXPECT_EQ(name_of(read(wire_php_cookie(7, scope, mark(name), mark(file)))), "(none)");
    memory.put(function, WIRE_PHP_FUNCTION_SCOPE, uint64_t{0});
    for (const uint32_t other :
         {wire_php_cookie(7, 0, name + 8, file), wire_php_cookie(7, 0, name, file + 8),
          wire_php_cookie(7, 0, name, mark(file)), wire_php_cookie(8, 0, name, file)})
        EXPECT_EQ(std::get<FunctionProblem>(read(other)), FunctionProblem::gone);
}

TEST_F(PhpFunctionOf, TheCodeOfAFileHasNoName) {
    memory.put(function, WIRE_PHP_FUNCTION_NAME, uint64_t{0});
    const uint32_t known_by = wire_php_cookie(7, 0, 0, mark(file));
    EXPECT_EQ(name_of(read(known_by)), "");
    memory.put(function, WIRE_PHP_FUNCTION_TYPE, uint8_t{WIRE_PHP_EVAL});
    EXPECT_EQ(std::get<PhpFunction>(read(known_by)).file, "/srv/app.php");
}

// ... and neither file nor line, and is smaller.
TEST_F(PhpFunctionOf, PhpsOwn) {
    memory.put(function, WIRE_PHP_FUNCTION_TYPE, uint8_t{WIRE_PHP_INTERNAL});
    const uint32_t known_by = wire_php_cookie(0, 0, mark(name), 0);
    for (const size_t size : {size_t{WIRE_PHP_FUNCTION_BYTES}, size_t{WIRE_PHP_INTERNAL_BYTES}}) {
        memory.pieces[function].resize(size);
        const auto answer = read(known_by);
        const auto* const whole = std::get_if<PhpFunction>(&answer);
        ASSERT_TRUE(whole) << size;
        EXPECT_EQ(whole->name, "handle");
        EXPECT_EQ(whole->file, "");
        EXPECT_EQ(whole->first_line, 0u);
    }
    memory.pieces[function].resize(WIRE_PHP_INTERNAL_BYTES - 1);
    EXPECT_EQ(std::get<FunctionProblem>(read(known_by)), FunctionProblem::unreadable);
}

TEST_F(PhpFunctionOf, LengthsAreBounded) {
    const std::string longest(1024, 'a');
    text(name, longest, 1);
    EXPECT_EQ(name_of(read(cookie())), longest);
    for (const uint64_t length : {uint64_t{1025}, UINT64_MAX}) {
        memory.put(name, WIRE_PHP_TEXT_LENGTH, length);
        EXPECT_EQ(name_of(read(cookie())), longest + "...") << length;
    }
    text(name, "", 1);
    EXPECT_EQ(name_of(read(cookie())), "");
}

// Another one takes its place at whichever read.
TEST_F(PhpFunctionOf, WhatDiesWhileItIsReadIsGone) {
    in_class();
    const uint32_t known_by = cookie(scope);
    EXPECT_EQ(name_of(read(known_by)), "App\\Shop::handle");
    const size_t reads = memory.reads;
    ASSERT_GT(reads, 10u);
    const auto other_line = [&] { memory.put(function, layout.function_line, uint32_t{8}); };
    const auto other_name = [&] { memory.put(name, WIRE_PHP_TEXT_HASH, uint64_t{9}); };
    for (size_t at = 0; at < reads; at++)
        for (const bool by_line : {true, false}) {
            memory.put(function, layout.function_line, uint32_t{7});
            memory.put(name, WIRE_PHP_TEXT_HASH, uint64_t{0x8000000000000001});
            memory.before = [&](size_t now) {
                if (now == at && by_line)
                    other_line();
                else if (now == at)
                    other_name();
            };
            const auto answer = read(known_by);
            // Behind the last time that it is looked at, what was read is its.
            if (const auto* const whole = std::get_if<PhpFunction>(&answer))
                EXPECT_EQ(whole->name, "App\\Shop::handle") << at;
            else
                EXPECT_EQ(std::get<FunctionProblem>(answer), FunctionProblem::gone) << at;
        }
    memory.before = [](size_t) {};
    // The class at the same address is another one.
    memory.put(function, layout.function_line, uint32_t{7});
    memory.put(name, WIRE_PHP_TEXT_HASH, uint64_t{0x8000000000000001});
    text(class_name, "App\\Shop", 3);
    const uint32_t of_shop = cookie(scope);
    std::map<std::string, size_t> names;
    for (size_t at = 0; at < reads; at++) {
        text(class_name, "App\\Shop", 3);
        memory.before = [&](size_t now) {
            if (now == at)
                text(class_name, "App\\Else", 4);
        };
        names[name_of(read(of_shop))]++;
    }
    EXPECT_EQ(names["App\\Shop::handle"] + names["(none)"], reads);
    EXPECT_GT(names["(none)"], 6u);
    memory.before = [](size_t) {};
    EXPECT_EQ(name_of(read(of_shop)), "(none)");
}

TEST_F(PhpFunctionOf, WhatCannotBeReadSaysWhy) {
    in_class();
    const uint32_t known_by = cookie(scope);
    for (const uint64_t piece : {function, name, file, scope, class_name}) {
        const auto content = memory.pieces[piece];
        memory.pieces.erase(piece);
        memory.answer = MemoryRead::unreadable;
        EXPECT_EQ(std::get<FunctionProblem>(read(known_by)), FunctionProblem::unreadable) << piece;
        memory.answer = MemoryRead::late;
        EXPECT_EQ(std::get<FunctionProblem>(read(known_by)), FunctionProblem::late) << piece;
        EXPECT_LE(memory.reads, 8u) << piece; // nobody waits twice
        memory.pieces[piece] = content;
    }
}

} // namespace
} // namespace auger
