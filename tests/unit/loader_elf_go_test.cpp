// SPDX-License-Identifier: GPL-3.0-or-later
// Go's own table of functions: names and stacks of programs that have nothing else, tables of every
// version, and broken ones.
#include "loader/process/safe_open.h"
#include "loader/reader/elf/function_index.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "tests/unit/loader_unwind_section_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <span>

namespace auger {
namespace {

using test::SectionBytes;

class GoProgram : public testing::TestWithParam<const char*> {};

TEST_P(GoProgram, HasNamesAndFramesThoughItIsStripped) {
    const std::string path = std::string(AUGER_GO_PROGRAM) + GetParam();
    const auto opened = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(opened.ok());
    const ElfFile& file = **opened;
    ASSERT_FALSE(file.has_symbols());
    const FunctionIndex index(*opened);
    const auto begin_of = [&](std::string_view name) {
        const auto found = index.named(name);
        return found.size() == 1 ? found[0]->address : 0;
    };
    const uint64_t work = begin_of("main.work"), exit = begin_of("runtime.goexit");
    ASSERT_GT(exit, 0x1000u - 1);
    ASSERT_EQ(work, exit + 16);
    EXPECT_EQ(index.best_name(*index.containing(work + 20)), "main.work");

    const auto tables = compile_unwind_tables(file);
    ASSERT_TRUE(tables.ok());
    EXPECT_EQ(tables->statistics.go_functions, 4u);
    EXPECT_EQ(tables->find(exit)->cfa, WIRE_CFA_END);
    EXPECT_EQ(tables->find(work)->cfa, WIRE_CFA_REGISTER);
    EXPECT_EQ(tables->find(work)->offset, 8);
    EXPECT_EQ(tables->find(work + 4)->offset, 32);
    EXPECT_EQ(tables->find(work + 20)->rbp_saved, WIRE_SAVED_AT_RBP);
    // Before it changes stacks, and when it has.
    const uint64_t systemstack = begin_of("runtime.systemstack");
    EXPECT_EQ(tables->find(systemstack)->cfa_register, 7);
    const wire_unwind_rule& rule = *tables->find(systemstack + 0x32);
    EXPECT_EQ(rule.cfa, WIRE_CFA_GOROUTINE);
    EXPECT_EQ(rule.offset, -8);
    EXPECT_EQ(rule.rbx_offset, 0x30);
    EXPECT_EQ(rule.rbp_offset, 0xc0);
    EXPECT_EQ(rule.addend, 0x38);
    EXPECT_EQ(rule.return_kind, WIRE_RETURN_AT_CFA);
    // Back on its goroutine's stack it forgets where that was: movq $0, 0x38(%rax); ret
    constexpr std::array<unsigned char, 9> back = {0x48, 0xc7, 0x40, 0x38, 0, 0, 0, 0, 0xc3};
    const auto code = file.read_code(systemstack, 256);
    const auto found = std::ranges::search(code, std::as_bytes(std::span(back)));
    ASSERT_FALSE(found.empty());
    const uint64_t forgets = systemstack + static_cast<uint64_t>(found.begin() - code.begin());
    for (const uint64_t address : {forgets, forgets + back.size() - 1}) {
        EXPECT_EQ(tables->find(address)->cfa, WIRE_CFA_REGISTER);
        EXPECT_EQ(tables->find(address)->cfa_register, 7);
        EXPECT_EQ(tables->find(address)->offset, 8);
    }
    EXPECT_EQ(tables->find(forgets - 1)->cfa, WIRE_CFA_GOROUTINE);
    EXPECT_EQ(tables->find(systemstack)->offset, 8);
}

INSTANTIATE_TEST_SUITE_P(Linked, GoProgram, testing::Values("", "_pie"), [](const auto& info) {
    return std::string(info.param[0] ? "PositionIndependent" : "Plain");
});

// The runtime's call of C, by who is on the system's stack already: behind its second `call *%rax`
// the caller's stack pointer lies in the frame, until it is the stack pointer again. The code is
// looked for as Go 1.19 has it.
TEST(GoRuntime, FindsTheCallerOfCOnTheSystemsStack) {
    const std::string path = AUGER_PROGRAMS_DIR "/golabels_stripped";
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << "go is not installed (package golang-go)";
    const auto opened = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(opened.ok());
    const FunctionIndex index(*opened);
    uint64_t address = 0;
    std::vector<std::byte> code;
    const auto find = [&](std::initializer_list<uint8_t> bytes, size_t from) {
        const auto rest = std::span(code).subspan(from);
        return from + static_cast<size_t>(
                          std::ranges::search(rest, std::as_bytes(std::span(bytes))).begin() -
                          rest.begin());
    };
    // Go's own functions call it by another one of that name, for the way they pass arguments.
    for (const auto* function : index.named("runtime.asmcgocall")) {
        address = function->address;
        code = (*opened)->read_code(address, 256);
        if (find({0xff, 0xd0}, 0) < code.size())
            break;
    }
    const size_t first = find({0xff, 0xd0}, 0);
    ASSERT_LT(first, code.size());
    const size_t second = find({0xff, 0xd0}, first + 2);
    const size_t stored = find({0x48, 0x89, 0x54, 0x24, 0x28}, first); // mov %rdx, 40(%rsp)
    const size_t restored = find({0x48, 0x89, 0xf4}, second);          // mov %rsi, %rsp
    ASSERT_LT(first, stored);
    ASSERT_LT(stored, second);
    ASSERT_LT(second, restored);
    ASSERT_LT(restored, code.size());

    const auto tables = compile_unwind_tables(**opened);
    ASSERT_TRUE(tables.ok());
    const auto rule_at = [&](size_t offset) { return *tables->find(address + offset); };
    EXPECT_EQ(rule_at(first + 2).cfa, WIRE_CFA_GOROUTINE);
    EXPECT_NE(rule_at(stored).cfa, WIRE_CFA_MEMORY);
    for (const size_t at : {stored + 5, second, second + 2, restored}) {
        EXPECT_EQ(rule_at(at).cfa, WIRE_CFA_MEMORY) << at;
        EXPECT_EQ(rule_at(at).cfa_register, 7) << at;
        EXPECT_EQ(rule_at(at).offset, 40) << at;
        EXPECT_EQ(rule_at(at).addend, 8) << at;
    }
    EXPECT_EQ(rule_at(restored + 3).cfa, WIRE_CFA_REGISTER);
    EXPECT_EQ(rule_at(restored + 3).offset, 8);
}

// One function, `main.f`, of 32 bytes, that takes 40 bytes of stack from its fourth byte on, and
// that nothing calls.
struct Version {
    const char* name;
    uint32_t magic;
    bool wide;    // addresses in the list
    bool offsets; // to the parts, in the header
    bool text;    // addresses count from there
    size_t flags; // in the description
};

SectionBytes table_of(const Version& version, uint64_t begin) {
    constexpr uint64_t parts = 128, description = 64;
    SectionBytes table;
    const auto fill_to = [&](size_t size) {
        while (table.size() < size)
            table.byte(0);
    };
    table.number(version.magic).raw({0, 0, 1, 8}).number<uint64_t>(1);
    if (version.offsets) {
        table.number<uint64_t>(0);
        if (version.text)
            table.number(begin);
        // names, compilation units, files, programs, functions
        for (const uint64_t part : {parts, parts, parts, parts, parts})
            table.number(part);
        fill_to(parts);
    }
    const size_t base = version.offsets ? parts : 0;
    if (version.wide)
        table.number(begin).number(description).number(begin + 32);
    else
        table.number<uint32_t>(0).number(static_cast<uint32_t>(description)).number<uint32_t>(32);
    fill_to(base + description);
    if (version.wide)
        table.number(begin);
    else
        table.number<uint32_t>(0);
    // The name, arguments, where panics go on, and the program, which lie behind it.
    table.number<uint32_t>(description + 64).number<uint64_t>(0).number<uint32_t>(description + 80);
    if (version.flags) {
        fill_to(base + description + version.flags);
        table.byte(1);
    }
    fill_to(base + description + 64);
    table.text("main.f");
    fill_to(base + description + 80);
    return table.raw({2, 4, 80, 28, 0});
}

class GoTables : public testing::TestWithParam<Version> {};

TEST_P(GoTables, AreRead) {
    constexpr uint64_t begin = 0x401000;
    const SectionBytes bytes = table_of(GetParam(), begin);
    const auto table = GoTable::read(bytes, 0);
    ASSERT_TRUE(table);
    ASSERT_EQ(table->functions().size(), 1u);
    const GoFunction& function = table->functions()[0];
    EXPECT_EQ(function.begin, begin);
    EXPECT_EQ(function.end, begin + 32);
    EXPECT_EQ(function.name, "main.f");
    EXPECT_EQ(function.outermost, GetParam().flags != 0);
    EXPECT_FALSE(function.changes_sp);
    const auto rows = table->stack_rows(function);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].depth, 0);
    EXPECT_EQ(rows[1].address, begin + 4);
    EXPECT_EQ(rows[1].depth, 40);
}

// Before Go 1.17 by its name alone.
TEST_P(GoTables, SayWhatGoroutinesBeginWith) {
    Version version = GetParam();
    version.flags = 0;
    SectionBytes bytes = table_of(version, 0x401000);
    const std::string_view before = "main.f", name = "runtime.goexit";
    const auto at = std::ranges::search(bytes.bytes(), std::as_bytes(std::span(before)));
    ASSERT_FALSE(at.empty());
    std::ranges::copy(std::as_bytes(std::span(name)), at.begin());
    const auto table = GoTable::read(bytes, 0);
    ASSERT_TRUE(table);
    ASSERT_EQ(table->functions().size(), 1u);
    EXPECT_EQ(table->functions()[0].name, name);
    EXPECT_TRUE(table->functions()[0].outermost);
}

TEST_P(GoTables, ThatAreBrokenSayLess) {
    const SectionBytes whole = table_of(GetParam(), 0x401000);
    const Bytes bytes = whole;
    for (size_t size = 0; size < bytes.size(); size++) {
        // A copy, so that a sanitizer sees what is read behind it.
        const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<long>(size));
        if (const auto table = GoTable::read(part, 0)) {
            for (const GoFunction& function : table->functions())
                EXPECT_LE(table->stack_rows(function).size(), 2u);
        }
    }
    for (size_t at = 8; at + 8 <= bytes.size(); at += 4) {
        std::vector<std::byte> other(bytes.begin(), bytes.end());
        std::fill_n(other.begin() + static_cast<long>(at), 8, std::byte{0xff});
        if (const auto table = GoTable::read(other, 0)) {
            for (const GoFunction& function : table->functions()) {
                EXPECT_LT(function.begin, function.end);
                (void)table->stack_rows(function);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Versions, GoTables,
                         testing::Values(Version{"Go1_2", 0xfffffffb, true, false, false, 0},
                                         Version{"Go1_17", 0xfffffffa, true, true, false, 41},
                                         Version{"Go1_18", 0xfffffff0, false, true, true, 37},
                                         Version{"Go1_20", 0xfffffff1, false, true, true, 41}),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace auger
