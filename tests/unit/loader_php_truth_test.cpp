// SPDX-License-Identifier: GPL-3.0-or-later
// A real PHP's frames and functions, read from outside, and what it says of them itself. Debian's
// is asked; another one: AUGER_PHP=/path/to/php8.4 unit_loader --gtest_filter='PhpTruth.*', which
// may be a script that starts it.
#include "loader/process/proc_maps.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/runtimes/read_php.h"
#include "loader/runtimes/php/function_reader.h"
#include "loader/runtimes/php/layout.h"
#include "tests/unit/asked_program.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace auger {
namespace {

struct PhpFrame {
    std::string name, file;
    uint32_t line = 0;
    friend bool operator==(const PhpFrame&, const PhpFrame&) = default;
};
void PrintTo(const PhpFrame& frame, std::ostream* to) {
    *to << frame.name << ' ' << frame.file << ':' << frame.line;
}

class PhpTruth : public testing::Test {
  protected:
    void SetUp() override {
        const char* const other = std::getenv("AUGER_PHP");
        const char* const php = other ? other : "/usr/bin/php8.2";
        if (access(php, X_OK) != 0)
            GTEST_SKIP() << php << " is not installed";
        ASSERT_TRUE(
            program_.start({php, "-n", AUGER_SOURCE_DIR "/tests/unit/fixtures/php_truth.php"},
                           [&](const std::string& line) { understand(line); }));
        find_globals();
    }

    void understand(const std::string& line) {
        std::istringstream words(line);
        std::string kind, name, file;
        uint32_t at = 0;
        words >> kind >> name >> file >> at;
        if (kind == "frame")
            frames_.push_back({text_of_hex(name), text_of_hex(file), at});
    }

    void find_globals() {
        const auto maps = read_maps(program_.pid());
        ASSERT_TRUE(maps.ok());
        for (const Mapping& mapping : *maps) {
            if (mapping.inode == 0 || !mapping.executable || globals_)
                continue;
            auto fd = open_mapped_file(program_.pid(), mapping);
            if (!fd.ok())
                continue;
            const auto file = ElfFile::open(std::move(*fd), mapping.path);
            const auto php = file.ok() ? read_php(**file) : std::nullopt;
            if (!php)
                continue;
            const auto linked = (*file)->address_of_offset(mapping.offset);
            ASSERT_TRUE(linked);
            globals_ = php->globals + mapping.start - *linked;
            const auto layout = php_layout(*php);
            ASSERT_TRUE(layout.ok()) << layout.error().message();
            layout_ = *layout;
            file_ = *php;
            size_t named = 0; // as symbols tell of the loop
            for (const ElfFunction& function : (*file)->functions())
                if (function.name == "execute_ex") {
                    EXPECT_EQ(function.address, php->loop.body);
                    EXPECT_EQ(function.size, php->loop.body_size);
                    named++;
                }
            EXPECT_EQ(named, 1u);
        }
        ASSERT_TRUE(globals_);
    }

    template <typename Number>
    Number number(uint64_t address) const {
        return program_.number<Number>(address);
    }
    uint64_t word(uint64_t address) const { return program_.word(address); }

    // As a walk does it.
    uint64_t mark(uint64_t text) const {
        if (!text)
            return 0;
        const uint64_t hash = word(text + WIRE_PHP_TEXT_HASH),
                       length = word(text + WIRE_PHP_TEXT_LENGTH),
                       end = text + WIRE_PHP_TEXT_CHARACTERS + length;
        return wire_php_mark(hash, length, word(end - 16), word(end - 8));
    }
    PhpFrame frame_at(uint64_t frame, uint64_t function, uint64_t previous) const {
        const bool is_user = wire_php_is_user(number<uint8_t>(function)) != 0;
        const uint64_t scope = word(function + WIRE_PHP_FUNCTION_SCOPE);
        const uint32_t cookie =
            wire_php_cookie(is_user ? number<uint32_t>(function + layout_.function_line) : 0,
                            scope ? mark(word(scope + WIRE_PHP_CLASS_NAME)) : 0,
                            mark(word(function + WIRE_PHP_FUNCTION_NAME)),
                            is_user ? mark(word(function + layout_.function_file)) : 0);
        const auto answer =
            read_php_function([this](uint64_t from, void* bytes,
                                     size_t size) { return program_.read(from, bytes, size); },
                              layout_, function, cookie);
        const auto* const whole = std::get_if<PhpFunction>(&answer);
        if (!whole)
            return {"(not read)", {}, 0};
        PhpFrame seen{whole->name, whole->file, 0};
        if (seen.name.empty())
            seen.name = seen.file.ends_with("eval()'d code") ? "eval"
                        : previous                           ? "include"
                                                             : "{main}";
        if (!is_user)
            return seen;
        const uint64_t instruction = word(frame + WIRE_PHP_FRAME_INSTRUCTION),
                       first = word(function + layout_.function_instructions);
        const auto count = number<uint32_t>(function + layout_.function_count);
        EXPECT_LT(instruction - first, uint64_t{count} * WIRE_PHP_INSTRUCTION_BYTES) << seen.name;
        EXPECT_EQ((instruction - first) % WIRE_PHP_INSTRUCTION_BYTES, 0u) << seen.name;
        seen.line = number<uint32_t>(instruction + WIRE_PHP_INSTRUCTION_LINE);
        return seen;
    }

    AskedProgram program_;
    std::vector<PhpFrame> frames_; // innermost first: of wait(), and on
    uint64_t globals_ = 0;         // in the process
    PhpLayout layout_{};
    PhpFile file_;
};

TEST_F(PhpTruth, FramesInTheirOrder) {
    std::vector<PhpFrame> seen;
    size_t pieces = 0;
    for (uint64_t frame = word(globals_ + layout_.globals_frame), previous; frame;
         frame = previous) {
        ASSERT_LT(seen.size(), 100u);
        previous = word(frame + WIRE_PHP_FRAME_PREVIOUS);
        uint64_t of_function = frame, function = word(frame + WIRE_PHP_FRAME_FUNCTION);
        bool is_entered = number<uint32_t>(frame + WIRE_PHP_FRAME_FLAGS) & WIRE_PHP_TOP;
        if (!function) {
            const uint64_t generator = word(frame + WIRE_PHP_FRAME_OBJECT);
            if (frame - generator >= WIRE_PHP_GENERATOR_BYTES)
                continue;
            of_function = word(generator + layout_.generator_frame);
            function = word(of_function + WIRE_PHP_FRAME_FUNCTION);
            is_entered = false;
        }
        seen.push_back(frame_at(of_function, function, previous));
        pieces += is_entered && wire_php_is_user(number<uint8_t>(function));
    }
    // It has gone on to fgets(), in say().
    ASSERT_EQ(seen.size(), frames_.size() + 2);
    EXPECT_EQ(seen[0], (PhpFrame{"fgets", "", 0}));
    EXPECT_EQ(seen[1].name, "Truth\\say");
    // Where wait() calls, debug_backtrace() or say(), differs in the line only.
    EXPECT_EQ(seen[2].name, frames_[0].name);
    EXPECT_EQ(seen[2].file, frames_[0].file);
    for (size_t i = 1; i < frames_.size(); i++)
        EXPECT_EQ(seen[i + 2], frames_[i]) << i;
    // The program; __get(), what call_user_func() calls, the closure, the generator.
    EXPECT_EQ(pieces, 5u);
}

// GCC puts elsewhere what is rarely executed. It is far smaller, and no other function.
TEST_F(PhpTruth, TheLoopsOtherPart) {
    const LoopCode& loop = file_.loop;
    EXPECT_GT(loop.cold_size, 0u);
    EXPECT_LT(loop.cold_size, loop.body_size / 2);
    EXPECT_TRUE(loop.cold + loop.cold_size <= loop.body || loop.cold >= loop.body + loop.body_size);
    // Where executor_globals leads to the stack of the thread that runs PHP.
    const uint64_t bailout = word(globals_ + WIRE_PHP_GLOBALS_BAILOUT);
    const auto maps = read_maps(program_.pid());
    ASSERT_TRUE(maps.ok());
    EXPECT_TRUE(std::ranges::any_of(*maps, [&](const Mapping& mapping) {
        return mapping.path == "[stack]" && mapping.start <= bailout && bailout < mapping.end;
    }));
}

} // namespace
} // namespace auger
