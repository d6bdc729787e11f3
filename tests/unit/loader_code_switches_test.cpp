// SPDX-License-Identifier: GPL-3.0-or-later
// What leaves a stack and what only moves on it: encodings one by one, functions as compilers and
// people write them, and whole files.
#include "loader/probes/switch_cache.h"
#include "loader/process/safe_open.h"
#include "loader/reader/code/register_writes.h"
#include "loader/reader/code/stack_switch.h"
#include "loader/reader/matching/switch_record.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <random>
#include <sys/stat.h>

namespace auger {
namespace {

using Code = std::vector<std::byte>;
using Kind = CodeToRead::Kind;
using Stack = RegisterWrites::Stack;
using Verdict = ModuleSwitches::Verdict;

constexpr uint64_t base = 0x1000;

Code bytes(std::initializer_list<int> values) {
    Code out;
    for (int value : values)
        out.push_back(static_cast<std::byte>(value));
    return out;
}

Stack stack_of(std::initializer_list<int> values) {
    const Code code = bytes(values);
    const auto writes = register_writes(code, base);
    EXPECT_TRUE(writes);
    EXPECT_EQ(writes ? writes->length : 0, code.size());
    // A glance must not overlook what a look would see.
    const auto glance = glance_at(code, base);
    EXPECT_TRUE(glance);
    if (writes && glance && (writes->stack == Stack::copied || writes->stack == Stack::other)) {
        EXPECT_TRUE(glance->suspicious);
    }
    return writes ? writes->stack : Stack::untouched;
}

TEST(RegisterWrites, LoadsOfTheStackPointer) {
    EXPECT_EQ(stack_of({0x48, 0x89, 0xf4}), Stack::copied);      // mov %rsi,%rsp
    EXPECT_EQ(stack_of({0x48, 0x8b, 0xe6}), Stack::copied);      // the other encoding
    EXPECT_EQ(stack_of({0x4c, 0x89, 0xe4}), Stack::copied);      // mov %r12,%rsp
    EXPECT_EQ(stack_of({0x49, 0x8b, 0xe4}), Stack::copied);      // the other encoding
    EXPECT_EQ(stack_of({0x48, 0x8b, 0x26}), Stack::other);       // mov (%rsi),%rsp
    EXPECT_EQ(stack_of({0x49, 0x8b, 0x24, 0x24}), Stack::other); // mov (%r12),%rsp
    EXPECT_EQ(stack_of({0x48, 0x8b, 0x65, 0xf8}), Stack::other); // mov -8(%rbp),%rsp
    EXPECT_EQ(stack_of({0x64, 0x48, 0x8b, 0x24, 0x25, 0, 0, 0, 0}), Stack::other); // %fs:0
    EXPECT_EQ(stack_of({0x48, 0x94}), Stack::other);                               // xchg %rax,%rsp
    EXPECT_EQ(stack_of({0x48, 0x87, 0xe6}), Stack::other);                         // xchg %rsp,%rsi
    EXPECT_EQ(stack_of({0x48, 0x87, 0xf4}), Stack::other);                         // xchg %rsi,%rsp
    EXPECT_EQ(stack_of({0x48, 0x87, 0x26}), Stack::other);                   // xchg %rsp,(%rsi)
    EXPECT_EQ(stack_of({0x5c}), Stack::other);                               // pop %rsp
    EXPECT_EQ(stack_of({0x8f, 0xc4}), Stack::other);                         // its long form
    EXPECT_EQ(stack_of({0x48, 0x8d, 0x26}), Stack::copied);                  // lea (%rsi),%rsp
    EXPECT_EQ(stack_of({0x48, 0x8d, 0x24, 0x04}), Stack::other);             // lea (%rsp,%rax)
    EXPECT_EQ(stack_of({0x48, 0x8d, 0x25, 0, 0, 0, 0}), Stack::other);       // lea 0(%rip),%rsp
    EXPECT_EQ(stack_of({0x67, 0x48, 0x8d, 0x64, 0x24, 0x08}), Stack::other); // lea 8(%esp),%rsp
    EXPECT_EQ(stack_of({0x48, 0x0f, 0x44, 0xe6}), Stack::other);             // cmove %rsi,%rsp
    EXPECT_EQ(stack_of({0x48, 0x01, 0xc4}), Stack::other);                   // add %rax,%rsp
    EXPECT_EQ(stack_of({0x48, 0x29, 0xc4}), Stack::other);                   // sub %rax,%rsp
    EXPECT_EQ(stack_of({0x48, 0x03, 0x26}), Stack::other);                   // add (%rsi),%rsp
    EXPECT_EQ(stack_of({0x48, 0x31, 0xc4}), Stack::other);                   // xor %rax,%rsp
    EXPECT_EQ(stack_of({0x48, 0xbc, 1, 2, 3, 4, 5, 6, 7, 8}), Stack::other); // movabs $,%rsp
    EXPECT_EQ(stack_of({0x48, 0xc7, 0xc4, 0, 0, 0, 0}), Stack::other);       // mov $0,%rsp
    EXPECT_EQ(stack_of({0x48, 0x83, 0xe4, 0x70}), Stack::other); // and $0x70,%rsp: no alignment
    EXPECT_EQ(stack_of({0x48, 0x0f, 0xc1, 0xc4}), Stack::other); // xadd %rax,%rsp
    EXPECT_EQ(stack_of({0x48, 0x0f, 0xb1, 0xc4}), Stack::other); // cmpxchg %rax,%rsp
    EXPECT_EQ(stack_of({0x48, 0x0f, 0xcc}), Stack::other);       // bswap %rsp
    EXPECT_EQ(stack_of({0x66, 0x48, 0x0f, 0x7e, 0xc4}), Stack::other);       // movq %xmm0,%rsp
    EXPECT_EQ(stack_of({0xc4, 0xe1, 0xf9, 0x7e, 0xc4}), Stack::other);       // vmovq %xmm0,%rsp
    EXPECT_EQ(stack_of({0xc4, 0xe2, 0xd8, 0xf3, 0xc8}), Stack::other);       // blsr %rax,%rsp
    EXPECT_EQ(stack_of({0xc4, 0xe2, 0xf8, 0xf2, 0xe0}), Stack::other);       // andn %rax,%rax,%rsp
    EXPECT_EQ(stack_of({0xc4, 0xe3, 0xfb, 0xf0, 0xe6, 0x01}), Stack::other); // rorx $1,%rsi,%rsp
    EXPECT_EQ(stack_of({0x48, 0xcf}), Stack::other);                         // iretq
    EXPECT_EQ(stack_of({0xc8, 0x10, 0, 0}), Stack::other);                   // enter $16,$0
    EXPECT_EQ(stack_of({0xc9}), Stack::copied);                              // leave
    EXPECT_EQ(stack_of({0x48, 0x89, 0xec}), Stack::copied);                  // mov %rbp,%rsp
}

// Half of the register is the register: its upper half becomes zero.
TEST(RegisterWrites, PartsOfTheStackPointer) {
    EXPECT_EQ(stack_of({0x89, 0xf4}), Stack::other);             // mov %esi,%esp
    EXPECT_EQ(stack_of({0x8b, 0x26}), Stack::other);             // mov (%rsi),%esp
    EXPECT_EQ(stack_of({0xbc, 0, 0, 0, 0}), Stack::other);       // mov $0,%esp
    EXPECT_EQ(stack_of({0x94}), Stack::other);                   // xchg %eax,%esp
    EXPECT_EQ(stack_of({0x66, 0x89, 0xf4}), Stack::other);       // mov %si,%sp
    EXPECT_EQ(stack_of({0x40, 0x88, 0xf4}), Stack::other);       // mov %sil,%spl
    EXPECT_EQ(stack_of({0x83, 0xec, 0x08}), Stack::other);       // sub $8,%esp
    EXPECT_EQ(stack_of({0x66, 0x5c}), Stack::other);             // pop %sp
    EXPECT_EQ(stack_of({0x40, 0x0f, 0x94, 0xc4}), Stack::other); // sete %spl
}

TEST(RegisterWrites, WhatOnlyMovesTheStackPointer) {
    EXPECT_EQ(stack_of({0x55}), Stack::moved);                         // push %rbp
    EXPECT_EQ(stack_of({0x54}), Stack::moved);                         // push %rsp
    EXPECT_EQ(stack_of({0x5d}), Stack::moved);                         // pop %rbp
    EXPECT_EQ(stack_of({0x41, 0x5c}), Stack::moved);                   // pop %r12
    EXPECT_EQ(stack_of({0x48, 0x83, 0xec, 0x18}), Stack::moved);       // sub $24,%rsp
    EXPECT_EQ(stack_of({0x48, 0x81, 0xc4, 0, 1, 0, 0}), Stack::moved); // add $256,%rsp
    EXPECT_EQ(stack_of({0x48, 0x83, 0xe4, 0xf0}), Stack::moved);       // and $-16,%rsp
    EXPECT_EQ(stack_of({0x48, 0x8d, 0x64, 0x24, 0xf8}), Stack::moved); // lea -8(%rsp)
    EXPECT_EQ(stack_of({0xc3}), Stack::moved);                         // ret
    EXPECT_EQ(stack_of({0xc2, 8, 0}), Stack::moved);                   // ret $8
    EXPECT_EQ(stack_of({0xe8, 0, 0, 0, 0}), Stack::moved);             // call
    EXPECT_EQ(stack_of({0xff, 0xd0}), Stack::moved);                   // call *%rax
    EXPECT_EQ(stack_of({0x9c}), Stack::moved);                         // pushf
    EXPECT_EQ(stack_of({0x9d}), Stack::moved);                         // popf
}

TEST(RegisterWrites, WhatLeavesItAlone) {
    EXPECT_EQ(stack_of({0x4c, 0x8b, 0x26}), Stack::untouched);             // mov (%rsi),%r12
    EXPECT_EQ(stack_of({0x49, 0x89, 0xf4}), Stack::untouched);             // mov %rsi,%r12
    EXPECT_EQ(stack_of({0x41, 0x94}), Stack::untouched);                   // xchg %eax,%r12d
    EXPECT_EQ(stack_of({0x49, 0x94}), Stack::untouched);                   // xchg %rax,%r12
    EXPECT_EQ(stack_of({0x48, 0x89, 0xe6}), Stack::untouched);             // mov %rsp,%rsi
    EXPECT_EQ(stack_of({0x48, 0x89, 0x26}), Stack::untouched);             // mov %rsp,(%rsi)
    EXPECT_EQ(stack_of({0x48, 0x39, 0xf4}), Stack::untouched);             // cmp %rsi,%rsp
    EXPECT_EQ(stack_of({0x48, 0x85, 0xe4}), Stack::untouched);             // test %rsp,%rsp
    EXPECT_EQ(stack_of({0x88, 0xf4}), Stack::untouched);                   // mov %dh,%ah
    EXPECT_EQ(stack_of({0xb4, 0x01}), Stack::untouched);                   // mov $1,%ah
    EXPECT_EQ(stack_of({0x0f, 0x28, 0xe6}), Stack::untouched);             // movaps %xmm6,%xmm4
    EXPECT_EQ(stack_of({0xc5, 0xf8, 0x28, 0xe6}), Stack::untouched);       // vmovaps %xmm6,%xmm4
    EXPECT_EQ(stack_of({0x66, 0x0f, 0x7e, 0xe0}), Stack::untouched);       // movd %xmm4,%eax
    EXPECT_EQ(stack_of({0xc4, 0xe2, 0x58, 0xf2, 0xc1}), Stack::untouched); // andn %ecx,%esp,%eax
}

// Whatever instruction it is: what changes the stack pointer in another way than to move it must
// make the cheap look ask for the dear one.
TEST(RegisterWrites, NothingEscapesTheGlance) {
    std::mt19937 random(4711);
    size_t looked = 0, written = 0;
    for (int i = 0; i < 3'000'000; ++i) {
        std::array<std::byte, 15> code;
        for (std::byte& byte : code)
            byte = static_cast<std::byte>(random());
        // Prefixes and escapes more often than chance has them.
        constexpr uint8_t begins[] = {0x48, 0x40, 0x66, 0x0f, 0xc4, 0xc5, 0x62, 0xf2, 0xf3, 0x49};
        if (i % 2)
            code[0] = static_cast<std::byte>(begins[random() % std::size(begins)]);
        if (i % 4 == 3 && code[0] == std::byte{0x66})
            code[1] = std::byte{0x48};
        const auto writes = register_writes(code, base);
        const auto glance = glance_at(code, base);
        if (!writes)
            continue;
        ++looked;
        ASSERT_TRUE(glance);
        ASSERT_EQ(glance->length, writes->length);
        // Jumps have a VEX prefix on no processor but Knights Corner.
        const bool vex = code[0] == std::byte{0xc4} || code[0] == std::byte{0xc5};
        if (writes->flow != Instruction::Flow::call && !vex) {
            ASSERT_EQ(glance->target, writes->target)
                << testing::PrintToString(std::vector(code.begin(), code.begin() + writes->length));
        }
        if (writes->stack == Stack::copied || writes->stack == Stack::other ||
            writes->system_call || writes->other_gate) {
            ++written;
            ASSERT_TRUE(glance->suspicious)
                << testing::PrintToString(std::vector(code.begin(), code.begin() + writes->length));
        }
    }
    EXPECT_GT(looked, 1'000'000u);
    EXPECT_GT(written, 10'000u);
}

bool switches(std::initializer_list<int> values, Kind kind = Kind::function) {
    const Code code = bytes(values);
    return find_stack_switch({{base, code}, kind}).has_value();
}

TEST(StackSwitch, FramePointersOfTheFunction) {
    // push %rbp; mov %rsp,%rbp; sub $16,%rsp; leave; ret
    EXPECT_FALSE(switches({0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc9, 0xc3}));
    // The same, but with the frame pointer loaded from memory before it is used.
    EXPECT_TRUE(switches({0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x2e, 0xc9, 0xc3}));
    // mov %rsi,%rbp; mov %rbp,%rsp; ret
    EXPECT_TRUE(switches({0x48, 0x89, 0xf5, 0x48, 0x89, 0xec, 0xc3}));
    // leave; ret: whose frame pointer is it? Of a part of a function its own.
    EXPECT_TRUE(switches({0xc9, 0xc3}));
    EXPECT_FALSE(switches({0xc9, 0xc3}, Kind::part));
    // push %rbp; mov %rsp,%rbp; lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret
    EXPECT_FALSE(switches({0x55, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x65, 0xf8, 0x5b, 0x5d, 0xc3}));
    // push %rbp; mov %rsp,%rbp; pop %rbp; leave; ret: the caller's frame pointer by then.
    EXPECT_TRUE(switches({0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc9, 0xc3}));
}

// The end of an array of variable length.
TEST(StackSwitch, SavedStackPointers) {
    // push %rbx; mov %rsp,%rbx; sub $64,%rsp; call 0; mov %rbx,%rsp; pop %rbx; ret
    EXPECT_FALSE(switches({0x53, 0x48, 0x89, 0xe3, 0x48, 0x83, 0xec, 0x40, 0xe8, 0, 0, 0, 0, 0x48,
                           0x89, 0xdc, 0x5b, 0xc3}));
    // In rcx it does not outlive the call.
    EXPECT_TRUE(switches({0x48, 0x89, 0xe1, 0xe8, 0, 0, 0, 0, 0x48, 0x89, 0xcc, 0xc3}));
    EXPECT_FALSE(switches({0x48, 0x89, 0xe1, 0x48, 0x89, 0xcc, 0xc3}));
    // mov %rsp,%rbx; test %eax,%eax; je 1f; mov (%rdi),%rbx; 1: mov %rbx,%rsp; ret
    EXPECT_TRUE(switches(
        {0x48, 0x89, 0xe3, 0x85, 0xc0, 0x74, 0x03, 0x48, 0x8b, 0x1f, 0x48, 0x89, 0xdc, 0xc3}));
    // The same with mov %rbx,%rdi in the branch.
    EXPECT_FALSE(switches(
        {0x48, 0x89, 0xe3, 0x85, 0xc0, 0x74, 0x03, 0x48, 0x89, 0xdf, 0x48, 0x89, 0xdc, 0xc3}));
    // A loop brings another value to the place that comes first:
    // mov %rsp,%rbx; 1: mov %rbx,%rsp; mov (%rdi),%rbx; jmp 1b
    EXPECT_TRUE(switches({0x48, 0x89, 0xe3, 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x1f, 0xeb, 0xf8}));
}

TEST(StackSwitch, CasesOfASwitch) {
    // push %rbp; mov %rsp,%rbp; jmp *%rax; leave; ret
    EXPECT_FALSE(switches({0x55, 0x48, 0x89, 0xe5, 0xff, 0xe0, 0xc9, 0xc3}));
    // ... with the frame pointer lost before: mov (%rdi),%rbp
    EXPECT_TRUE(switches({0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x2f, 0xff, 0xe0, 0xc9, 0xc3}));
}

TEST(StackSwitch, SystemCalls) {
    // mov $39,%eax; syscall; ret (getpid)
    EXPECT_FALSE(switches({0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3}));
    // xor %eax,%eax; syscall (read)
    EXPECT_FALSE(switches({0x31, 0xc0, 0x0f, 0x05, 0xc3}));
    for (int number : {9, 10, 15, 131})
        EXPECT_TRUE(switches({0xb8, number, 0, 0, 0, 0x0f, 0x05, 0xc3})) << number;
    EXPECT_TRUE(switches({0xb8, 0x49, 1, 0, 0, 0x0f, 0x05, 0xc3})); // pkey_mprotect
    // mov %rdi,%rax; syscall: whatever the caller says
    EXPECT_TRUE(switches({0x48, 0x89, 0xf8, 0x0f, 0x05, 0xc3}));
    // je over the number
    EXPECT_TRUE(switches({0x74, 0x05, 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3}));
    EXPECT_TRUE(switches({0xb8, 39, 0, 0, 0, 0xcd, 0x80, 0xc3})); // int $0x80 counts otherwise
    EXPECT_TRUE(switches({0x0f, 0x34}));                          // sysenter
}

TEST(StackSwitch, WhatIsNoCode) {
    EXPECT_TRUE(switches({0x06}));                         // no instruction
    EXPECT_TRUE(switches({0x55, 0x5d, 0x0f}));             // half of one
    EXPECT_TRUE(switches({0xeb, 0x01, 0xb8, 0, 0, 0, 0})); // a jump into the middle of one
    EXPECT_FALSE(switches({0xc3, 0, 0, 0}));               // padding
    EXPECT_FALSE(switches({}));
}

// Data before code shifts what is decoded; the load is found all the same.
TEST(StackSwitch, CodeBehindData) {
    const std::initializer_list<int> hidden = {0xc3, 0xb8, 0x48, 0x89, 0xf4, 0xc3};
    EXPECT_FALSE(switches(hidden)); // a compiler says that it is one function: mov $imm,%eax
    EXPECT_TRUE(switches(hidden, Kind::unknown_code));
}

// Several functions in one range, with nothing to tell where they begin.
TEST(StackSwitch, UnknownCode) {
    // push %rbp; mov %rsp,%rbp; pop %rbp; ret; nop; push %rbp; mov %rsp,%rbp; leave; ret
    EXPECT_FALSE(
        switches({0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3, 0x90, 0x55, 0x48, 0x89, 0xe5, 0xc9, 0xc3},
                 Kind::unknown_code));
    // ret; pop %rsp; ret
    EXPECT_TRUE(switches({0xc3, 0x5c, 0xc3}, Kind::unknown_code));
    // ret; leave; ret
    EXPECT_TRUE(switches({0xc3, 0xc9, 0xc3}, Kind::unknown_code));
}

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    auto fd = open_regular(path);
    auto file = fd ? ElfFile::open(std::move(*fd), path) : fd.error();
    return file ? *file : nullptr;
}

TEST(ModuleSwitches, OfDebiansFiles) {
    for (const char* plain :
         {"/bin/cat", "/lib/x86_64-linux-gnu/libz.so.1", "/lib/x86_64-linux-gnu/libm.so.6"}) {
        const auto file = open_elf(plain);
        ASSERT_TRUE(file) << plain;
        const ModuleSwitches switches = find_switches(*file);
        EXPECT_EQ(switches.verdict, Verdict::none) << plain << " " << text_of(switches, *file);
    }
    // longjmp and swapcontext are in one, the switch to the signal's stack in the other.
    for (const char* loads :
         {"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libgcc_s.so.1"}) {
        const auto file = open_elf(loads);
        ASSERT_TRUE(file) << loads;
        EXPECT_EQ(find_switches(*file).verdict, Verdict::found) << loads;
    }
}

class SwitchCacheTest : public testing::Test {
  protected:
    // As a confined process reads it.
    std::string objection(const std::string& path = library) {
        const auto opened = CodeFile::open(std::move(*open_regular(path)), path, nullptr, nullptr);
        const auto elf = open_elf(path);
        const auto read = SwitchCache(folder.path(""))
                              .switches_in(opened, [&](std::span<const std::byte> record) {
                                  auto all = read_switches(*elf, record);
                                  return SwitchCache::Read{all.objection, all.record};
                              });
        return read ? *read : read.error().message();
    }

    static constexpr const char* library = "/lib/x86_64-linux-gnu/libz.so.1";
    test::TemporaryFolder folder;
    std::shared_ptr<const ElfFile> file = open_elf(library);
    std::string cached() { return folder.path("auger/switches/" + file->build_id()); }
};

TEST_F(SwitchCacheTest, RemembersOnDisk) {
    ASSERT_TRUE(file);
    EXPECT_EQ(objection(), "");
    ASSERT_TRUE(std::filesystem::exists(cached()));
    // Another answer, which only the disk can give.
    const ModuleSwitches other{Verdict::found, {StackSwitch::Cause::system_call, 0x1234}};
    const auto bytes = encode_switches(other, *file);
    ASSERT_TRUE(decode_switches(bytes, *file) == other);
    CacheFolder(folder.path(""), "switches", 1 << 20).store(file->build_id(), bytes);
    EXPECT_EQ(objection(), text_of(other, *file));
}

// Whoever can write it may have made its reader say what is false, also of all that have its build
// id.
TEST_F(SwitchCacheTest, RemembersNothingOfFilesThatOthersCanWrite) {
    const std::string copy = folder.file("copy", *read_file(library));
    chmod(copy.c_str(), 0666);
    EXPECT_EQ(objection(copy), "");
    EXPECT_FALSE(std::filesystem::exists(cached()));
}

TEST_F(SwitchCacheTest, BuildIdsAndBrokenFilesAreNotBelieved) {
    ASSERT_TRUE(file);
    const ModuleSwitches none{Verdict::none};
    auto bytes = encode_switches(none, *file);
    for (size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] ^= std::byte{2}; // seeds are odd: their lowest bit says nothing
        EXPECT_FALSE(decode_switches(bytes, *file)) << "byte " << i;
        bytes[i] ^= std::byte{2};
    }
    EXPECT_FALSE(decode_switches(std::span(bytes).first(bytes.size() - 1), *file));
    // The same build id, but one other byte of code.
    std::string copy = *read_file(library);
    const auto text = file->section(".text");
    ASSERT_TRUE(text);
    copy[text->offset + text->size / 2] ^= 0x40;
    const auto forged = open_elf(folder.file("forged", copy));
    ASSERT_TRUE(forged);
    ASSERT_EQ(forged->build_id(), file->build_id());
    EXPECT_TRUE(decode_switches(bytes, *file));
    EXPECT_FALSE(decode_switches(bytes, *forged));
}

} // namespace
} // namespace auger
