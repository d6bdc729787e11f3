// SPDX-License-Identifier: GPL-3.0-or-later
// Perl's layouts and frames as hostile files and processes claim them.
#include "loader/reader/runtimes/read_perl.h"
#include "loader/runtimes/perl/frame_reader.h"
#include "loader/runtimes/perl/layout.h"
#include "loader/runtimes/perl/perl_file.h"

#include "bpf/unwind_table.h"
#include "loader/process/safe_open.h"
#include "tests/unit/perl_frame_of.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace auger {
namespace {

PerlFile perl_file_of(uint32_t minor, uint32_t patch = 0) {
    PerlFile file;
    file.version = 5 << 16 | minor << 8 | patch;
    file.has_threads = true;
    file.key = 0x3a86f4;
    file.loop = {0x11a0d0, 76, 0, 0};
    file.run = {0x783d0, 1171, 0, 0};
    return file;
}

TEST(PerlLayouts, AreToldByVersion) {
    const auto debian = perl_layout(perl_file_of(36));
    ASSERT_TRUE(debian.ok());
    EXPECT_EQ(debian->walk.interpreter_cop, 0xd0u);
    EXPECT_EQ(debian->walk.interpreter_stack, 0xe0u);
    EXPECT_EQ(debian->walk.context_bytes, 0x68u);
    EXPECT_EQ(debian->walk.context_sub, 72u);
    EXPECT_EQ(debian->walk.stack_sub, 40u);
    EXPECT_EQ(debian->walk.aux_in_body, 1u);
    EXPECT_EQ(debian->walk.version, 0x0524u);
    EXPECT_EQ(debian->ops.statement, 195u);
    const auto old = perl_layout(perl_file_of(30, 3));
    ASSERT_TRUE(old.ok());
    EXPECT_EQ(old->walk.interpreter_cop, 224u);
    EXPECT_EQ(old->walk.context_bytes, 96u);
    EXPECT_EQ(old->walk.stack_sub, 0u);
    EXPECT_EQ(old->walk.aux_in_body, 0u);
    for (uint32_t minor = 28; minor <= 42; minor += 2) {
        const auto known = perl_layout(perl_file_of(minor));
        ASSERT_TRUE(known.ok()) << minor;
        const wire_perl_layout* const layout = &known->walk;
        EXPECT_EQ(known->ops.scope, known->ops.statement + 5);
        // What is read at once holds all of it, and a context is no smaller.
        EXPECT_LE(layout->context_sub + sizeof(uint64_t), WIRE_PERL_CONTEXT_BYTES);
        EXPECT_LE(WIRE_PERL_CONTEXT_BYTES, layout->context_bytes);
        EXPECT_LE(layout->stack_type + sizeof(uint32_t), WIRE_PERL_STACK_BYTES);
        EXPECT_LE(layout->stack_sub + sizeof(uint32_t), WIRE_PERL_STACK_BYTES);
        EXPECT_EQ(layout->interpreter_stack, layout->interpreter_cop + 16);
    }
}

TEST(PerlLayouts, SayWhatTheyDoNotKnow) {
    const auto message = [](const PerlFile& file) {
        const auto layout = perl_layout(file);
        return layout.ok() ? "known" : layout.error().message();
    };
    EXPECT_EQ(message(perl_file_of(26, 3)),
              "show Perl's subs of Perl 5.26.3: auger knows the frames of 5.28 to 5.42, of stable "
              "releases (the interpreter's own functions are shown instead)");
    EXPECT_NE(message(perl_file_of(41, 5)).find("of Perl 5.41.5: auger knows"), std::string::npos);
    EXPECT_NE(message(perl_file_of(44)).find("of Perl 5.44.0: auger knows"), std::string::npos);
    PerlFile seven = perl_file_of(36);
    seven.version = 7 << 16 | 36 << 8;
    EXPECT_NE(message(seven).find("of Perl 7.36.0: auger knows"), std::string::npos);
    PerlFile silent = perl_file_of(36);
    silent.version = 0;
    EXPECT_NE(message(silent).find("does not say its version"), std::string::npos);
    PerlFile single = perl_file_of(36, 1);
    single.has_threads = false;
    EXPECT_NE(message(single).find("of Perl 5.36.1: it is built without ithreads"),
              std::string::npos);
    for (const uint64_t size : {uint64_t{0}, uint64_t{(1 << 20) + 1}, UINT64_MAX}) {
        PerlFile endless = perl_file_of(36);
        endless.loop.body_size = size;
        EXPECT_NE(message(endless).find("(Perl_runops_standard) is not known"), std::string::npos)
            << size;
    }
    PerlFile large = perl_file_of(36);
    large.loop.body_size = 1 << 20;
    EXPECT_EQ(message(large), "known");
}

TEST(PerlFiles, AreSentWhole) {
    for (const bool has_threads : {false, true}) {
        PerlFile file = perl_file_of(36);
        file.has_threads = has_threads;
        file.run.cold = 0x4a000;
        file.run.cold_size = 12;
        file.calls[1] = {0x6fdb0, 1809, 0x49001, 5};
        file.calls[2].body = 0x84cd0;
        const std::string bytes = encode_perl_file(file);
        EXPECT_EQ(decode_perl_file(bytes), file);
        EXPECT_EQ(decode_perl_file(bytes + '\0'), std::nullopt);
        for (size_t size = 0; size < bytes.size(); size++)
            EXPECT_EQ(decode_perl_file(bytes.substr(0, size)), std::nullopt) << size;
    }
}

TEST(PerlFiles, OthersAreNone) {
    const std::string path = "/proc/self/exe";
    const auto file = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(read_perl(**file), std::nullopt);
}

TEST_F(PerlFrameOf, ASub) {
    EXPECT_EQ(known(), "Orders::total orders.pl:42");
    EXPECT_EQ(known(0), "Orders::total orders.pl:0");
    EXPECT_EQ(known(WIRE_PERL_MOST_LINE), "Orders::total orders.pl:268435455");
    put_name(name, "__ANON__", 3);
    EXPECT_EQ(known(), "Orders::__ANON__ orders.pl:42");
    words.second = 0; // my sub
    EXPECT_EQ(known(), "__ANON__ orders.pl:42");
    words.first = WIRE_FRAME_PERL | WIRE_PERL_NONE;
    EXPECT_EQ(known(), "(unknown) orders.pl:42");
    words.place = WIRE_FRAME_PERL_PLACE | WIRE_PERL_NONE;
    EXPECT_EQ(known(0), "(unknown) :0");
}

TEST_F(PerlFrameOf, WhatIsNoSub) {
    for (const auto& [frame, text] : {std::pair{WIRE_PERL_FRAME_EVAL, "(eval) orders.pl:42"},
                                      std::pair{WIRE_PERL_FRAME_REQUIRE, "(require) orders.pl:42"},
                                      std::pair{WIRE_PERL_FRAME_MAIN, "(main) orders.pl:42"},
                                      std::pair{WIRE_PERL_FRAME_UNREAD, "unreadable"}}) {
        words.first = WIRE_FRAME_PERL | WIRE_PERL_NONE;
        words.second = kind(frame);
        EXPECT_EQ(known(), text);
    }
    words.second = uint64_t{0xff} << WIRE_PERL_FRAME_SHIFT;
    EXPECT_EQ(known(), "unreadable");
    // A text that has been executed is freed.
    words.second = kind(WIRE_PERL_FRAME_EVAL);
    know();
    put_file("others.pl");
    EXPECT_EQ(text_of(read()), "gone");
    memory.pieces.erase(file);
    EXPECT_EQ(text_of(read()), "unreadable");
    memory.answer = MemoryRead::late;
    EXPECT_EQ(text_of(read()), "late");
}

TEST_F(PerlFrameOf, WhatIsNoSubHasANameOfItsOwn) {
    const auto named = [&](wire_perl_frame frame) {
        words.second = kind(frame);
        const auto whole = perl_frame_without_place(words);
        return whole ? text_of(*whole) : "none";
    };
    EXPECT_EQ(named(WIRE_PERL_FRAME_MAIN), "(main) :0");
    EXPECT_EQ(named(WIRE_PERL_FRAME_EVAL), "(eval) :0");
    EXPECT_EQ(named(WIRE_PERL_FRAME_REQUIRE), "(require) :0");
    EXPECT_EQ(named(WIRE_PERL_FRAME_SUB), "none");
    EXPECT_EQ(named(WIRE_PERL_FRAME_UNREAD), "none");
}

TEST_F(PerlFrameOf, NamesAreLatin1OrUtf8) {
    put_name(name, "gr\xf6\xdf\x65", 4);
    EXPECT_EQ(known(), "Orders::größe orders.pl:42");
    put_name(name, "größe", 5, WIRE_PERL_UTF8);
    EXPECT_EQ(known(), "Orders::größe orders.pl:42");
    put_name(name, "größe", 5, 0xfe); // other flags
    EXPECT_EQ(known(), "Orders::grÃ¶Ã\u009fe orders.pl:42");
}

TEST_F(PerlFrameOf, TextsThatAreCompiledLoseTheirNumber) {
    for (const auto& [told, shown] :
         std::map<std::string, std::string>{{"(eval 12)", "(eval)"},
                                            {"(eval 123456)", "(eval)"},
                                            {"(re_eval 3)", "(re_eval)"},
                                            {"(eval 12", "(eval 12"},
                                            {"eval 12)", "eval 12)"},
                                            {"(eval 1x)", "(eval 1x)"},
                                            {"(eval )", "(eval )"},
                                            {"(eval)", "(eval)"},
                                            {"( 12)", "( 12)"},
                                            {"()", "()"},
                                            {"(eval 1)(eval 2)", "(eval 1)(eval 2)"},
                                            {"-e", "-e"},
                                            {"", ""}}) {
        put_file(told);
        EXPECT_EQ(known(), "Orders::total " + shown + ":42") << told;
    }
}

// Eight bytes at a time, and what is behind the zero does not count.
TEST_F(PerlFrameOf, FilesAreKnownByAllOfTheirName) {
    for (size_t size = 0; size <= 40; size++) {
        std::string text(size, 'a');
        EXPECT_EQ(perl_file_mark(text, 'x'), perl_file_mark(text, 'y')) << size;
        put_file(text);
        EXPECT_EQ(known(), "Orders::total " + text + ":42") << size;
        for (size_t i = 0; i < size; i++) {
            text[i] = 'b';
            put_file(text);
            EXPECT_EQ(text_of(read()), "gone") << size << ' ' << i;
            text[i] = 'a';
        }
        put_file(text + 'a');
        EXPECT_EQ(text_of(read()), "gone") << size;
    }
}

// Of memory that was freed the beginning of a name is there for long, and its characters are not.
TEST_F(PerlFrameOf, NamesAreKnownByAllOfTheirCharacters) {
    for (const size_t size : {1, 7, 8, 9, 40, 254}) {
        std::string text(size, 'a');
        put_name(name, text, 5);
        EXPECT_EQ(known(), "Orders::" + text + " orders.pl:42") << size;
        for (size_t i = 0; i < size; i++) {
            for (const char other : {'b', '\0'}) {
                text[i] = other;
                put_name(name, text, 5);
                EXPECT_EQ(text_of(read()), "gone") << size << ' ' << i;
            }
            text[i] = 'a';
        }
    }
    put_name(name, "total", 5);
    know();
    put_name(package, "Ordera", 0x2222);
    EXPECT_EQ(text_of(read()), "gone");
}

TEST_F(PerlFrameOf, LengthsAreBounded) {
    const std::string longest(1024, 'n'), path(WIRE_PERL_FILE - 1, 'p');
    put_name(name, longest, 6);
    EXPECT_EQ(known(), "Orders::" + longest + " orders.pl:42");
    put_name(name, longest + "n", 6);
    EXPECT_EQ(known(), "Orders::" + longest + "... orders.pl:42");
    put_name(name, "total", 7);
    for (const std::string more : {"", "p", "pp"}) {
        put_file(path + more);
        EXPECT_EQ(known(), "Orders::total " + path + "...:42");
    }
    put_file(path.substr(1));
    EXPECT_EQ(known(), "Orders::total " + path.substr(1) + ":42");
    put_file("orders.pl");
    for (const uint32_t length : {uint32_t{4096}, UINT32_MAX}) {
        memory.put(name, WIRE_PERL_NAME_LENGTH, length);
        EXPECT_EQ(known(), "unreadable") << length;
        EXPECT_LE(memory.reads, 3u);
    }
}

TEST_F(PerlFrameOf, OthersInItsPlaceAreGone) {
    know();
    words.place_second ^= 1;
    EXPECT_EQ(text_of(read()), "gone");
    know();
    put_name(name, "total", 0x1112);
    EXPECT_EQ(text_of(read()), "gone");
    know();
    put_name(name, "tot", 0x1112);
    EXPECT_EQ(text_of(read()), "gone");
    know();
    put_name(package, "Order", 0x2223);
    EXPECT_EQ(text_of(read()), "gone");
}

// Another one takes its place at whichever read.
TEST_F(PerlFrameOf, WhatDiesWhileItIsReadIsGone) {
    EXPECT_EQ(known(), "Orders::total orders.pl:42");
    const size_t reads = memory.reads;
    ASSERT_GE(reads, 6u);
    size_t gone = 0;
    for (size_t at = 0; at < reads; at++)
        for (const uint64_t place : {name, package, file}) {
            memory.before = [](size_t) {};
            put_name(name, "total", 0x1111);
            put_name(package, "Orders", 0x2222);
            put_file("orders.pl");
            know();
            memory.before = [&](size_t now) {
                if (now == at && place == file)
                    put_file("others.pl");
                else if (now == at)
                    put_name(place, "other", 9);
            };
            const std::string text = text_of(read());
            gone += text == "gone";
            // Behind the last time that it is looked at, what was read is its.
            EXPECT_TRUE(text == "gone" || text == "Orders::total orders.pl:42") << at << text;
        }
    EXPECT_GE(gone, 12u);
}

TEST_F(PerlFrameOf, WhatCannotBeReadSaysWhy) {
    know();
    for (const uint64_t piece : {name, package, file}) {
        const auto content = memory.pieces[piece];
        memory.pieces.erase(piece);
        memory.answer = MemoryRead::unreadable;
        EXPECT_EQ(text_of(read()), "unreadable") << piece;
        memory.answer = MemoryRead::late;
        EXPECT_EQ(text_of(read()), "late") << piece;
        EXPECT_LE(memory.reads, 3u) << piece; // nobody waits twice
        memory.pieces[piece] = content;
    }
}

} // namespace
} // namespace auger
