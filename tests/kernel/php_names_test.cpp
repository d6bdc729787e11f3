// SPDX-License-Identifier: GPL-3.0-or-later
// Names of PHP's functions in our own memory.
#include "bpf/unwind_table.h"
#include "loader/kernel/php_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>

namespace auger::test {
namespace {

class PhpNamesTest : public testing::Test {
  protected:
    struct alignas(16) Object {
        char bytes[256] = {};
        void put(uint32_t offset, uint64_t word) {
            std::memcpy(bytes + offset, &word, sizeof word);
        }
        void text(const std::string& characters) {
            put(WIRE_PHP_TEXT_HASH, std::hash<std::string>{}(characters) | 1);
            put(WIRE_PHP_TEXT_LENGTH, characters.size());
            std::memcpy(bytes + WIRE_PHP_TEXT_CHARACTERS, characters.data(), characters.size());
        }
        uint64_t word(uint32_t offset) const {
            uint64_t word;
            std::memcpy(&word, bytes + offset, sizeof word);
            return word;
        }
        uint64_t address() const { return reinterpret_cast<uint64_t>(bytes); }
    };

    void SetUp() override {
        PhpFile file;
        file.version = 0x080224;
        file.loop.body_size = 1;
        const auto layout = php_layout(file);
        ASSERT_TRUE(layout.ok());
        layout_ = std::make_shared<const PhpLayout>(*layout);
        name_.text("handle");
        file_.text("/srv/app.php");
        function_.put(WIRE_PHP_FUNCTION_TYPE, WIRE_PHP_USER);
        function_.put(layout_->function_file, file_.address());
        function_.put(layout_->function_line, 7);
        names_.set_layout(getpid(), 0, layout_);
    }
    uint32_t cookie() const {
        const bool is_user = function_.bytes[0] == WIRE_PHP_USER;
        return wire_php_cookie(
            is_user ? 7 : 0, 0,
            function_.word(WIRE_PHP_FUNCTION_NAME) ? name_.word(WIRE_PHP_TEXT_HASH) : 0,
            is_user ? file_.word(WIRE_PHP_TEXT_HASH) : 0);
    }
    const FunctionName& name(uint64_t above = 0) {
        return names_.name(getpid(), {WIRE_FRAME_PHP | function_.address(), above | cookie()});
    }

    std::shared_ptr<const PhpLayout> layout_;
    Object name_, file_, function_;
    PhpNames names_;
};

TEST_F(PhpNamesTest, OfFunctionsAndOfTheCodeOfFiles) {
    function_.put(WIRE_PHP_FUNCTION_NAME, name_.address());
    EXPECT_EQ(name(uint64_t{42} << 32).frame.function, "handle");
    EXPECT_EQ(name(uint64_t{42} << 32).frame.line, 42u);
    EXPECT_EQ(name(uint64_t{42} << 32).file, "/srv/app.php");
    EXPECT_NE(name(uint64_t{42} << 32).address, name(uint64_t{43} << 32).address);
    function_.put(WIRE_PHP_FUNCTION_NAME, 0);
    EXPECT_EQ(name(uint64_t{9} << 32).frame.function, "{main}");
    EXPECT_EQ(name(WIRE_PHP_INCLUDED | uint64_t{9} << 32).frame.function, "include");
    EXPECT_EQ(name(WIRE_PHP_INCLUDED | uint64_t{9} << 32).frame.line, 9u);
    file_.text("/srv/app.php(9) : eval()'d code");
    EXPECT_EQ(name(WIRE_PHP_INCLUDED).frame.function, "eval");
    function_.put(WIRE_PHP_FUNCTION_NAME, name_.address());
    function_.bytes[0] = WIRE_PHP_INTERNAL;
    EXPECT_EQ(name().frame.function, "handle");
    EXPECT_EQ(name().file, "[php]");
    EXPECT_EQ(name().frame.file, "");
    EXPECT_THAT(names_.missing(), testing::Each(0u));
}

TEST_F(PhpNamesTest, FramesWithoutNamesAreCountedByCause) {
    function_.put(WIRE_PHP_FUNCTION_NAME, name_.address());
    const auto text = [&](uint64_t first, uint64_t second) {
        return names_.name(getpid(), {first, second}).frame.function;
    };
    EXPECT_EQ(text(WIRE_FRAME_PHP | WIRE_PHP_NO_FUNCTION, 0), "[php: unreadable]");
    EXPECT_EQ(text(WIRE_FRAME_PHP | function_.address(), cookie() ^ 1),
              "[php: gone before its name was read]");
    EXPECT_THAT(names_.missing(), testing::ElementsAre(1u, 1u, 0u));
    EXPECT_EQ(names_.memory_bytes(), 0u);
}

} // namespace
} // namespace auger::test
