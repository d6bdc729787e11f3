// SPDX-License-Identifier: GPL-3.0-or-later
// What is told from code alone, against the call frame information that compilers wrote for it.
#include "loader/process/safe_open.h"
#include "loader/reader/tables/code_frames.h"
#include "loader/reader/tables/unwind_compiler.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

struct Agreement {
    size_t functions = 0, places = 0, unknown = 0, other_cfa = 0, other_registers = 0;
    std::string first; // difference
};

// The same when the register has been read back already, or will not be changed before the
// information says that it was saved: then both places have the caller's value.
bool agrees(uint8_t kind, int16_t offset, uint8_t true_kind, int16_t true_offset) {
    return (kind == true_kind && offset == true_offset) || kind == WIRE_SAVED_LOST ||
           (kind != true_kind && (kind == WIRE_SAVED_NOT || true_kind == WIRE_SAVED_NOT));
}

void compare(Agreement& agreement, const wire_unwind_rule& rule, const wire_unwind_rule& truth,
             const std::string& where) {
    ++agreement.places;
    if (rule.cfa == WIRE_CFA_NONE) {
        ++agreement.unknown;
    } else if (truth.cfa == WIRE_CFA_REGISTER &&
               (rule.cfa != truth.cfa || rule.cfa_register != truth.cfa_register ||
                rule.offset != truth.offset)) {
        ++agreement.other_cfa;
        if (agreement.first.empty())
            agreement.first = where;
    } else if (!agrees(rule.rbx_saved, rule.rbx_offset, truth.rbx_saved, truth.rbx_offset) ||
               !agrees(rule.rbp_saved, rule.rbp_offset, truth.rbp_saved, truth.rbp_offset)) {
        ++agreement.other_registers;
    }
}

Agreement agreement_of(const ElfFile& file) {
    Agreement agreement;
    const auto tables = compile_unwind_tables(file);
    uint64_t last = 0;
    for (const ElfFunction& function : file.functions()) {
        if (function.address < last || function.size == 0 || function.size > 100'000 ||
            function.name.find(".cold") != function.name.npos)
            continue;
        last = function.address + function.size;
        ++agreement.functions;
        const auto code = file.read_code(function.address, function.size);
        const CodeFrames frames = frames_of_code(code, function.address);
        for (size_t i = 0; i < frames.rows.size(); ++i) {
            const uint64_t end =
                i + 1 < frames.rows.size() ? frames.rows[i + 1].address : frames.end;
            for (const uint64_t address : {frames.rows[i].address, end - 1})
                if (const wire_unwind_rule* truth = tables->find(address))
                    compare(agreement, frames.rows[i].rule, *truth,
                            std::string(function.name) + " at " + std::to_string(address));
        }
    }
    return agreement;
}

class UnwindCode : public testing::TestWithParam<const char*> {};

TEST_P(UnwindCode, SaysWhatCompilersSay) {
    auto fd = open_regular(GetParam());
    if (!fd)
        GTEST_SKIP() << "not installed: " << GetParam();
    const auto file = ElfFile::open(std::move(*fd), GetParam());
    ASSERT_TRUE(file.ok());
    const Agreement agreement = agreement_of(**file);
    EXPECT_GT(agreement.functions, 1000u);
    // One in ten thousand: functions that change stacks.
    EXPECT_LE(agreement.other_cfa * 10'000, agreement.places) << agreement.first;
    EXPECT_LE(agreement.other_registers * 10'000, agreement.places);
    // Landing pads, to which only the unwinder of exceptions leads.
    EXPECT_LE(agreement.unknown * 10, agreement.places);
}

INSTANTIATE_TEST_SUITE_P(Debian, UnwindCode,
                         testing::Values("/lib/x86_64-linux-gnu/libc.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"));

// Its address is that of code, but no function begins there.
TEST(UnwindCodeForms, APlaceThatItsOwnFunctionTakesTheAddressOf) {
    const auto file = ElfFile::open(*open_regular(AUGER_UNCOVERED_LIBRARY), "uncovered.so");
    ASSERT_TRUE(file.ok());
    const auto tables = compile_unwind_tables(**file);
    ASSERT_TRUE(tables.ok());
    const ElfFunction& function = (*file)->functions().front();
    const wire_unwind_rule* rule = tables->find(function.address + function.size - 3);
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule->cfa_register, register_frame);
    EXPECT_EQ(rule->offset, 16);
}

wire_unwind_rule rule_at(std::initializer_list<uint8_t> code, uint64_t offset) {
    std::vector<std::byte> bytes;
    for (const uint8_t byte : code)
        bytes.push_back(std::byte{byte});
    const CodeFrames frames = frames_of_code(bytes, 0x1000);
    wire_unwind_rule rule = wire_rule(WIRE_CFA_NONE);
    for (const FrameRow& row : frames.rows)
        if (row.address <= 0x1000 + offset)
            rule = row.rule;
    return rule;
}

TEST(UnwindCodeForms, FramesWithoutCallers) {
    // xor %ebp, %ebp before anything was saved: the ABI's sign of the outermost frame.
    EXPECT_EQ(rule_at({0x31, 0xed, 0x90, 0xf4}, 2).cfa, WIRE_CFA_END);
    // ... and a number like any other when rbp was pushed.
    EXPECT_EQ(rule_at({0x55, 0x31, 0xed, 0x90, 0x5d, 0xc3}, 3).cfa, WIRE_CFA_REGISTER);
    // mov $15, %rax; syscall
    EXPECT_EQ(rule_at({0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, 0).cfa, WIRE_CFA_SIGNAL);
}

TEST(UnwindCodeForms, WhatCannotBeToldIsNotSaid) {
    // sub %rax, %rsp without a frame pointer
    EXPECT_EQ(rule_at({0x48, 0x29, 0xc4, 0x90, 0xc3}, 3).cfa, WIRE_CFA_NONE);
    // ... with one: push %rbp; mov %rsp, %rbp; sub %rax, %rsp; leave; ret
    const std::initializer_list<uint8_t> framed = {0x55, 0x48, 0x89, 0xe5, 0x48,
                                                   0x29, 0xc4, 0x90, 0xc9, 0xc3};
    EXPECT_EQ(rule_at(framed, 7).cfa_register, register_frame);
    EXPECT_EQ(rule_at(framed, 7).offset, 16);
    EXPECT_EQ(rule_at(framed, 9).cfa_register, register_stack); // behind leave
    EXPECT_EQ(rule_at(framed, 9).offset, 8);
    // pop %rax takes the return address away: jmp *%rax
    EXPECT_EQ(rule_at({0x58, 0x90, 0xff, 0xe0}, 1).cfa, WIRE_CFA_NONE);
    // A loop that pushes: 1: push %rax; dec %ecx; jne 1b; ret
    EXPECT_EQ(rule_at({0x50, 0xff, 0xc9, 0x75, 0xfb, 0xc3}, 1).cfa, WIRE_CFA_NONE);
}

} // namespace
} // namespace auger
