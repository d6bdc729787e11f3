// SPDX-License-Identifier: GPL-3.0-or-later
// USDT probes: notes, where arguments lie, and from a pattern to the sites of a program that has
// such probes.
#include "loader/process/safe_open.h"
#include "loader/reader/elf/symbol_address.h"
#include "loader/reader/elf/usdt_notes.h"
#include "loader/reader/matching/probe_match.h"
#include "loader/reader/matching/usdt_match.h"
#include "loader/reader/values/compile_program.h"
#include "loader/reader/values/usdt_operand.h"
#include "loader/reader/values/usdt_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct WrittenNote {
    uint64_t site = 0x1000, base = 0, semaphore = 0;
    std::string texts = std::string("shop\0start\0008@%rdi\0", 19);
    std::string owner{"stapsdt", 8};
    uint32_t type = 3;

    std::vector<std::byte> bytes() const {
        std::string description;
        for (const uint64_t word : {site, base, semaphore})
            description.append(reinterpret_cast<const char*>(&word), sizeof word);
        description += texts;
        const uint32_t head[] = {static_cast<uint32_t>(owner.size()),
                                 static_cast<uint32_t>(description.size()), type};
        std::string all(reinterpret_cast<const char*>(head), sizeof head);
        for (const std::string& part : {owner, description}) {
            all += part;
            all.resize((all.size() + 3) & ~size_t{3});
        }
        const auto* first = reinterpret_cast<const std::byte*>(all.data());
        return {first, first + all.size()};
    }
};

std::vector<std::byte> joined(std::vector<WrittenNote> notes) {
    std::vector<std::byte> all;
    for (const WrittenNote& note : notes) {
        const auto bytes = note.bytes();
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
}

TEST(UsdtNotes, SayWhereASiteIs) {
    WrittenNote one, two;
    two.site = 0x2000;
    two.semaphore = 0x4002;
    two.texts = std::string("shop\0done\0\0", 11);
    const auto bytes = joined({one, two});
    const auto notes = parse_usdt_notes(bytes, std::nullopt);
    ASSERT_THAT(notes, SizeIs(2));
    EXPECT_EQ(notes[0].provider, "shop");
    EXPECT_EQ(notes[0].name, "start");
    EXPECT_EQ(notes[0].arguments, "8@%rdi");
    EXPECT_EQ(notes[0].address, 0x1000u);
    EXPECT_FALSE(notes[0].semaphore);
    EXPECT_EQ(notes[1].name, "done");
    EXPECT_EQ(notes[1].arguments, "");
    EXPECT_EQ(notes[1].semaphore, 0x4002u);
}

TEST(UsdtNotes, FollowAFileThatWasMoved) {
    WrittenNote note;
    note.base = 0x3000;
    note.semaphore = 0x4000;
    const auto bytes = note.bytes();
    EXPECT_EQ(parse_usdt_notes(bytes, 0x3000).at(0).address, 0x1000u);
    const UsdtNote moved = parse_usdt_notes(bytes, 0x703000).at(0);
    EXPECT_EQ(moved.address, 0x701000u);
    EXPECT_EQ(moved.semaphore, 0x704000u);
    // Where the section or the word is missing there is nothing to go by.
    EXPECT_EQ(parse_usdt_notes(bytes, std::nullopt).at(0).address, 0x1000u);
    note.base = 0;
    EXPECT_EQ(parse_usdt_notes(note.bytes(), 0x3000).at(0).address, 0x1000u);
}

TEST(UsdtNotes, OthersAndDamagedOnesAreLeftOut) {
    const auto count = [](const WrittenNote& note) {
        // What follows is read all the same.
        const auto bytes = joined({note, {}});
        return parse_usdt_notes(bytes, std::nullopt).size() - 1;
    };
    EXPECT_EQ(count({}), 1u);
    EXPECT_EQ(count({.type = 4}), 0u);
    EXPECT_EQ(count({.owner = std::string("GNU\0", 4)}), 0u);
    EXPECT_EQ(count({.site = 0}), 0u); // the linker has left the code out
    EXPECT_EQ(count({.texts = std::string("shop\0start\0", 11)}), 0u);
    EXPECT_EQ(count({.texts = "shop"}), 0u);
    EXPECT_EQ(count({.texts = std::string("\0start\0\0", 8)}), 0u);
    EXPECT_EQ(count({.texts = std::string("shop\0sta\nrt\0\0", 13)}), 0u);
    EXPECT_EQ(count({.texts = std::string(300, 'x') + std::string("\0start\0\0", 8)}), 0u);
    EXPECT_EQ(count({.texts = ""}), 0u);
}

TEST(UsdtNotes, EndWhereTheSectionDoes) {
    const auto whole = joined({{}, {}});
    for (size_t size = 0; size < whole.size(); size++) {
        // Of its own, so that a sanitizer sees what is read beyond.
        const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<long>(size));
        EXPECT_LE(parse_usdt_notes(part, std::nullopt).size(), 2u);
    }
    auto huge = WrittenNote{}.bytes();
    const uint32_t all = UINT32_MAX;
    for (const size_t at : {0, 4}) {
        auto damaged = huge;
        std::memcpy(&damaged[at], &all, sizeof all);
        EXPECT_THAT(parse_usdt_notes(damaged, std::nullopt), IsEmpty());
    }
}

TEST(UsdtPattern, ProviderNameAndLibrary) {
    const auto parsed = [](std::string_view text) {
        ParsedProbe probe = parse_probe(text);
        EXPECT_TRUE(probe.pattern) << text;
        return probe.pattern.value_or(ProbePattern{});
    };
    ProbePattern pattern = parsed(" usdt:postgresql:query__start ");
    EXPECT_TRUE(pattern.usdt());
    EXPECT_TRUE(is_place(pattern));
    EXPECT_EQ(pattern.text, "usdt:postgresql:query__start");
    EXPECT_EQ(pattern.provider, "postgresql");
    EXPECT_EQ(pattern.function, "query__start");
    EXPECT_EQ(pattern.library, "");
    EXPECT_FALSE(pattern.function_is_glob);
    EXPECT_TRUE(parsed("usdt:postgresql:query*").function_is_glob);
    pattern = parsed("usdt:libc:libc:setjmp");
    EXPECT_EQ(pattern.library, "libc");
    EXPECT_EQ(pattern.provider, "libc");
    EXPECT_FALSE(pattern.library_is_path);
    pattern = parsed("usdt:/opt/a:b/x:shop:start");
    EXPECT_EQ(pattern.library, "/opt/a:b/x");
    EXPECT_TRUE(pattern.library_is_path);
    // Not a line of a file called so.
    EXPECT_EQ(parsed("usdt:shop:12").function, "12");
    EXPECT_FALSE(parsed("usdt").usdt());
    EXPECT_FALSE(is_place(parsed("recv")));
    EXPECT_FALSE(is_place(parsed("recv@main.cc:12")));
    EXPECT_TRUE(is_place(parsed("main.cc:12")));
    EXPECT_TRUE(is_place(parsed("f+0x10")));
}

TEST(UsdtPattern, ErrorsSayWhere) {
    const auto error = [](std::string_view text) {
        ParsedProbe probe = parse_probe(text);
        return probe.error ? static_cast<int>(probe.error->position) : -1;
    };
    EXPECT_EQ(error("usdt:shop"), 9);
    EXPECT_EQ(error("usdt:"), 5);
    EXPECT_EQ(error("usdt::start"), 5);
    EXPECT_EQ(error("usdt:shop:"), 10);
    EXPECT_EQ(error("usdt::shop:start"), 5);
    EXPECT_EQ(error("usdt:libc::start"), 10);
    EXPECT_EQ(error("usdt:shop:st\tart"), 12);
}

std::string shown(std::string_view text) {
    auto operand = parse_usdt_operand(text);
    if (!operand)
        return "error: " + operand.error().cause;
    using Kind = UsdtOperand::Kind;
    switch (operand->kind) {
    case Kind::constant:
        return std::to_string(operand->number);
    case Kind::in_register:
        return "r" + std::to_string(operand->dwarf_register) + " bytes " +
               std::to_string(operand->size) + " from bit " + std::to_string(operand->shift);
    case Kind::in_memory:
        return "*(r" + std::to_string(operand->dwarf_register) + " + " +
               std::to_string(operand->number) + ")";
    case Kind::at_symbol:
        return "*" + std::string(operand->symbol) + " + " + std::to_string(operand->number);
    }
    return {};
}

TEST(UsdtOperand, AsAssemblersWriteThem) {
    EXPECT_EQ(shown("%rdi"), "r5 bytes 8 from bit 0");
    EXPECT_EQ(shown("%edi"), "r5 bytes 4 from bit 0");
    EXPECT_EQ(shown("%bx"), "r3 bytes 2 from bit 0");
    EXPECT_EQ(shown("%sil"), "r4 bytes 1 from bit 0");
    EXPECT_EQ(shown("%ch"), "r2 bytes 1 from bit 8");
    EXPECT_EQ(shown("%r14d"), "r14 bytes 4 from bit 0");
    EXPECT_EQ(shown("$17"), "17");
    EXPECT_EQ(shown("$-1"), "-1");
    EXPECT_EQ(shown("$0xff"), "255");
    EXPECT_EQ(shown("$-9223372036854775808"), "-9223372036854775808");
    EXPECT_EQ(shown("-24(%rbp)"), "*(r6 + -24)");
    EXPECT_EQ(shown("(%rax)"), "*(r0 + 0)");
    EXPECT_EQ(shown("0x10(%rsp)"), "*(r7 + 16)");
    EXPECT_EQ(shown("level(%rip)"), "*level + 0");
    EXPECT_EQ(shown("level+8(%rip)"), "*level + 8");
    EXPECT_EQ(shown("-4+level(%rip)"), "*level + -4");
    EXPECT_EQ(shown("level.0-8(%rip)"), "*level.0 + -8");
}

TEST(UsdtOperand, WhatCannotBeReadSaysSo) {
    EXPECT_THAT(shown("(%rax,%rdx,8)"), HasSubstr("sum of registers"));
    EXPECT_THAT(shown("%xmm0"), HasSubstr("vector register"));
    EXPECT_THAT(shown("$level"), HasSubstr("address"));
    for (const char* text : {"", "%", "$", "$1x", "%fs:16", "%fs:16(%rax)", "level", "(%eax)", "()",
                             "12x(%rax)", "level@GOTPCREL(%rip)", "8(%rip)", "(%rip)", "l+x(%rip)",
                             "%rzz", "99999999999999999999(%rax)"})
        EXPECT_THAT(shown(text), HasSubstr("error: ")) << text;
}

std::shared_ptr<const ElfFile> open_program(const std::string& name) {
    const std::string path = std::string(AUGER_PROGRAMS_DIR) + "/" + name;
    return *ElfFile::open(std::move(*open_regular(path)), path);
}

class UsdtMatch : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"usdt", "libusdt_library.so"}) {
            auto file = open_program(name);
            modules_.push_back(
                {std::make_shared<FunctionIndex>(file), file->name(), modules_.empty()});
        }
    }
    Result<ProbeMatches> match(std::string_view text) {
        bool absent = false;
        auto found = find_places(*parse_probe(text).pattern, modules_, {}, absent);
        EXPECT_EQ(absent, !found.ok()) << text;
        return found;
    }
    std::string failure(std::string_view text) {
        auto found = match(text);
        return found ? "matched" : found.error().message();
    }

    std::vector<ProbeModule> modules_;
};

TEST_F(UsdtMatch, SitesOfAName) {
    auto found = match("usdt:shop:tick");
    ASSERT_TRUE(found);
    ASSERT_THAT(found->places, SizeIs(2)); // it is inlined twice
    for (const PlaceMatch& place : found->places) {
        EXPECT_EQ(place.kind, PlaceKind::usdt);
        EXPECT_EQ(place.name, "usdt:shop:tick in take_order");
        EXPECT_EQ(place.usdt->semaphore, 0u);
        EXPECT_EQ(place.address, place.entry.address);
        EXPECT_EQ(modules_[0].index->file().read_code(place.address, 1).at(0), std::byte{0x90});
        EXPECT_EQ(place.entry.cost, ProbeCost::emulated);
        EXPECT_THAT(place.exits, IsEmpty());
    }
    found = match("usdt:shop:order__start");
    ASSERT_TRUE(found);
    const ElfFile& file = modules_[0].index->file();
    EXPECT_EQ(found->places.at(0).usdt->semaphore,
              file.offset_of_address(*symbol_address(file, "order_start_semaphore")));
    EXPECT_THAT(split_usdt_arguments(found->places.at(0).usdt->arguments), SizeIs(3));
}

// The main program's do not hide others', unlike functions.
TEST_F(UsdtMatch, OfAllFilesOrOfOne) {
    auto all = match("usdt:shop:*");
    ASSERT_TRUE(all);
    ASSERT_THAT(all->places, SizeIs(6));
    EXPECT_EQ(all->places.back().module, 1u);
    ASSERT_THAT(all->skipped, SizeIs(2));
    EXPECT_EQ(match("usdt:libusdt_library:shop:*")->places.size(), 1u);
    EXPECT_EQ(match("usdt:libusdt*:s*:shipped")->places.size(), 1u);
    modules_[0].searched = false;
    EXPECT_EQ(match("usdt:shop:*")->places.size(), 1u);
}

TEST_F(UsdtMatch, WhatWouldDoHarmIsLeftOut) {
    auto rest = match("usdt:shop:rest");
    ASSERT_TRUE(rest);
    EXPECT_THAT(rest->places, IsEmpty());
    EXPECT_THAT(rest->skipped.at(0).reason, HasSubstr("5-byte nop"));
    EXPECT_THAT(match("usdt:shop:odd")->skipped.at(0).reason, HasSubstr("no nop"));
}

TEST_F(UsdtMatch, ErrorsTellWhatThereIs) {
    EXPECT_THAT(failure("usdt:shop:order_start"), HasSubstr("did you mean shop:order__start"));
    EXPECT_THAT(failure("usdt:libnone:shop:tick"), HasSubstr("no mapped file is named libnone"));
    modules_.erase(modules_.begin());
    EXPECT_THAT(failure("usdt:usdt_library:shop:tick"), HasSubstr("no mapped file"));
    modules_.clear();
    EXPECT_THAT(failure("usdt:shop:tick"), HasSubstr("no USDT probes"));
}

TEST_F(UsdtMatch, Completion) {
    EXPECT_THAT(complete_function("usdt:shop:order", modules_, 10),
                ElementsAre("usdt:shop:order__done", "usdt:shop:order__start"));
    EXPECT_THAT(complete_function("usdt:libusdt_library:", modules_, 10),
                ElementsAre("usdt:libusdt_library:shop:shipped"));
    EXPECT_THAT(complete_function("usdt:", modules_, 3), SizeIs(3));
}

class UsdtValues : public UsdtMatch {
  protected:
    // What the kernel is to fetch; or the error.
    Result<wire_fetch> fetch(const std::string& probe, const std::string& expression) {
        const PlaceMatch place = match(probe)->places.at(0);
        ValueScope scope{"usdt:shop:" + place.usdt->name};
        scope.file = open_program("usdt");
        scope.address = place.address;
        scope.usdt_arguments = place.usdt->arguments;
        ProgramRequest request;
        request.split_by = expression;
        auto program = compile_program(request, scope);
        if (!program)
            return program.error();
        return (*program)->wire.fetch[(*program)->wire.label];
    }
    std::string failure_of(const std::string& expression) {
        auto fetched = fetch("usdt:shop:measure", expression);
        return fetched ? "compiled" : fetched.error().message();
    }
};

TEST_F(UsdtValues, LieWhereTheNoteSays) {
    const auto measure = [&](const char* text) { return *fetch("usdt:shop:measure", text); };
    EXPECT_EQ(measure("arg0").size, 8);
    EXPECT_EQ(measure("arg0").flags, 0);
    EXPECT_EQ(measure("arg1").size, 4);
    EXPECT_EQ(measure("arg1").flags, WIRE_FETCH_SIGNED);
    EXPECT_EQ(measure("arg2").size, 1);
    EXPECT_EQ(measure("arg2").flags, 0);
    EXPECT_EQ(measure("arg3").size, 2);
    EXPECT_EQ(measure("arg3").flags, WIRE_FETCH_IN_MEMORY);
    // As far behind the site as the linker has put it.
    const wire_fetch level = measure("arg4");
    EXPECT_EQ(level.number, register_code);
    EXPECT_EQ(level.flags, WIRE_FETCH_IN_MEMORY | WIRE_FETCH_SIGNED);
    EXPECT_EQ(match("usdt:shop:measure")->places.at(0).address +
                  static_cast<uint64_t>(static_cast<int64_t>(level.offset[0])),
              symbol_address(modules_[0].index->file(), "shop_level"));
    EXPECT_EQ(measure("arg5").base, WIRE_BASE_CONSTANT);
    EXPECT_EQ(static_cast<int64_t>(measure("arg5").constant), -17);
    EXPECT_TRUE(measure("str(arg6)").flags & WIRE_FETCH_STRING);
}

TEST_F(UsdtValues, ErrorsSayWhatCannotBeRead) {
    EXPECT_THAT(failure_of("arg7"), HasSubstr("sum of registers"));
    EXPECT_THAT(failure_of("arg8"), HasSubstr("floating-point"));
    EXPECT_THAT(failure_of("arg9"), HasSubstr("has 9 arguments"));
    EXPECT_THAT(failure_of("ret"), HasSubstr("returns nothing"));
    EXPECT_THAT(failure_of("errno"), HasSubstr("is a place"));
    EXPECT_THAT(failure_of("amount"), HasSubstr("have no names"));
    EXPECT_THAT(fetch("usdt:shop:tick", "arg0").error().message(), HasSubstr("has no arguments"));
}

} // namespace
} // namespace auger
