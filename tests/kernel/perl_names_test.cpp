// SPDX-License-Identifier: GPL-3.0-or-later
// Names of Perl's subs in our own memory, and their places in stacks.
#include "bpf/unwind_table.h"
#include "loader/kernel/perl_names.h"
#include "tests/unit/perl_marks.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

namespace auger::test {
namespace {

class PerlNamesTest : public testing::Test {
  protected:
    // Pages of its own: whole ones are read.
    struct alignas(4096) Object {
        char bytes[4096] = {};
        template <typename Number>
        void put(uint32_t offset, Number number) {
            std::memcpy(bytes + offset, &number, sizeof number);
        }
        void name(const std::string& text, uint32_t hash) {
            put(WIRE_PERL_NAME_HASH, hash);
            put(WIRE_PERL_NAME_LENGTH, static_cast<uint32_t>(text.size()));
            std::memcpy(bytes + WIRE_PERL_NAME_CHARACTERS, text.c_str(), text.size() + 1);
        }
        // Of a name.
        uint64_t mark() const {
            uint64_t word;
            std::memcpy(&word, bytes, sizeof word);
            return perl_name_mark(word, bytes + WIRE_PERL_NAME_CHARACTERS);
        }
        uint64_t address() const { return reinterpret_cast<uint64_t>(bytes); }
    };

    static constexpr PerlProcess process = {{{0x1000, 0x100, 0, 0}, {0x2000, 0x100, 0, 0}, {}},
                                            {195, 200}};

    PerlNamesTest() {
        sub_.name("total", 5);
        package_.name("Orders", 6);
        file_.put(0, 'o');
        names_.set_layout(getpid(), 7, process);
    }
    PerlFrameWords words(uint32_t line) const {
        const uint32_t cookie =
            wire_perl_cookie(sub_.mark(), package_.mark(), perl_file_mark("o"), line);
        return {WIRE_FRAME_PERL | sub_.address(), package_.address(),
                WIRE_FRAME_PERL_PLACE | file_.address(), uint64_t{line} << 32 | cookie};
    }

    Object sub_, package_, file_;
    PerlNames names_;
};

TEST_F(PerlNamesTest, OfSubsByFileAndLine) {
    const FunctionName first = names_.name(getpid(), words(42));
    EXPECT_EQ(first.frame.function, "Orders::total");
    EXPECT_EQ(first.frame.file, "o");
    EXPECT_EQ(first.frame.line, 42u);
    EXPECT_EQ(first.file, "o");
    EXPECT_NE(first.address, names_.name(getpid(), words(43)).address);
    file_.put(0, '\0');
    PerlFrameWords nowhere = words(0);
    nowhere.place = WIRE_FRAME_PERL_PLACE | WIRE_PERL_NONE;
    nowhere.place_second = wire_perl_cookie(sub_.mark(), package_.mark(), 0, 0);
    EXPECT_EQ(names_.name(getpid(), nowhere).file, "[perl]");
    EXPECT_EQ(names_.name(getpid(), nowhere).frame.function, "Orders::total");
    EXPECT_THAT(names_.missing(), testing::Each(0u));
}

TEST_F(PerlNamesTest, StayKnownWhileTheProcessIsTheSame) {
    names_.name(getpid(), words(42));
    const size_t bytes = names_.memory_bytes();
    EXPECT_GT(bytes, 0u);
    const PerlFrameWords before = words(42);
    sub_.name("other", 9);
    names_.set_layout(getpid(), 7, process);
    EXPECT_EQ(names_.memory_bytes(), bytes);
    EXPECT_EQ(names_.name(getpid(), before).frame.function, "Orders::total");
    // Another program's are not.
    names_.set_layout(getpid(), 8, process);
    EXPECT_EQ(names_.memory_bytes(), 0u);
    EXPECT_EQ(names_.name(getpid(), before).frame.function,
              "[perl: gone before its name was read]");
    names_.end(getpid());
    ASSERT_TRUE(names_.layout(getpid()));
    EXPECT_EQ(*names_.layout(getpid()), process);
    EXPECT_EQ(names_.layout(1), nullptr);
}

// A child may be gone, or execute another program, before its frames are looked at.
TEST_F(PerlNamesTest, OfAForkedChildAreTheProcessesThatItWasForkedFrom) {
    constexpr pid_t nobody = 0x7ffffff0;
    const std::array<pid_t, 3> child = {nobody, getpid(), 1};
    EXPECT_EQ(names_.name(child, words(42)).frame.function, "Orders::total");
    EXPECT_EQ(*names_.layout(child), process);
    // Known by now, whatever else is where they were.
    const PerlFrameWords before = words(42);
    sub_.name("other", 9);
    EXPECT_EQ(names_.name(child, before).frame.function, "Orders::total");
    EXPECT_THAT(names_.missing(), testing::Each(0u));
    // The cause is the child's own.
    PerlFrameWords gone = words(43);
    gone.place_second ^= 1;
    EXPECT_EQ(names_.name(child, gone).frame.function, "[perl: unreadable]");
}

// What is no sub has a name in any case, but its place is where the memory is.
TEST_F(PerlNamesTest, OfAForkedChildThatIsNoSubHaveTheirPlacesFromThere) {
    constexpr pid_t nobody = 0x7ffffff0;
    names_.set_layout(nobody, 8, process);
    const std::array<pid_t, 2> child = {nobody, getpid()};
    PerlFrameWords main = words(42);
    main.first = WIRE_FRAME_PERL | WIRE_PERL_NONE;
    main.second = uint64_t{WIRE_PERL_FRAME_MAIN} << WIRE_PERL_FRAME_SHIFT;
    main.place_second = uint64_t{42} << 32 | wire_perl_cookie(0, 0, perl_file_mark("o"), 42);
    EXPECT_EQ(names_.name(child, main).frame.function, "(main)");
    EXPECT_EQ(names_.name(child, main).frame.file, "o");
    EXPECT_EQ(names_.name(child, main).frame.line, 42u);
    main.place_second ^= 1; // it is freed
    EXPECT_EQ(names_.name(child, main).frame.function, "(main)");
    EXPECT_EQ(names_.name(child, main).frame.file, "");
    EXPECT_THAT(names_.missing(), testing::Each(0u));
}

TEST_F(PerlNamesTest, FramesWithoutNamesAreCountedByCause) {
    PerlFrameWords unread = words(1), gone = words(1);
    unread.second = uint64_t{WIRE_PERL_FRAME_UNREAD} << WIRE_PERL_FRAME_SHIFT;
    gone.place_second ^= 1;
    EXPECT_EQ(names_.name(getpid(), unread).frame.function, "[perl: unreadable]");
    EXPECT_EQ(names_.name(getpid(), unread).file, "[perl]");
    EXPECT_EQ(names_.name(getpid(), gone).frame.function, "[perl: gone before its name was read]");
    EXPECT_EQ(names_.name(1, words(1)).frame.function, "[perl: unreadable]");
    EXPECT_THAT(names_.missing(), testing::ElementsAre(3u, 1u, 0u));
    EXPECT_EQ(names_.memory_bytes(), 0u);
}

} // namespace
} // namespace auger::test
