// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of threads that wait, read from their process's memory: our own, and what a hostile
// process might show.
#include "loader/process/paged_memory.h"
#include "loader/process/proc_maps.h"
#include "loader/process/safe_open.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "tests/unit/walked_process.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <map>
#include <random>

namespace auger {
namespace {

// What a child notes of itself before it waits: its registers, and return addresses as the compiler
// knows them.
struct Noted {
    uint64_t ip, sp, bp, bx;
    uint64_t into_inner, into_outer;
};
using Leaf = void(Noted* noted, uint64_t pipe, uint64_t size);
using Caller = void(Noted* noted, uint64_t pipe, uint64_t size, Leaf* leaf);

// Leaves: they note registers as they are when the thread waits. Also for memory that has no rules,
// with and without a frame. What lies at the stack pointer of the latter is the address of data.
extern "C" Leaf wait_without_frame, wait_with_frame;
extern "C" const char wait_without_frame_end, wait_with_frame_end;
// Finds its frame by rbx, as functions do that align their stack beside a frame pointer.
extern "C" Caller call_by_rbx;
asm(R"(
    .text
    .macro note_and_wait
    lea 1f(%rip), %rax
    mov %rax, (%rdi)
    mov %rsp, 8(%rdi)
    mov %rbp, 16(%rdi)
    mov %rbx, 24(%rdi)
    xchg %rdi, %rsi
    mov $1, %eax            # write
    syscall
    mov $34, %eax           # pause
    syscall
1:  nop
    .endm

    .type wait_without_frame, @function
wait_without_frame:
    .cfi_startproc
    note_and_wait
    ret
    .cfi_endproc
wait_without_frame_end:
    .size wait_without_frame, . - wait_without_frame

    .type wait_with_frame, @function
wait_with_frame:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    push %rdi
    note_and_wait
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
wait_with_frame_end:
    .size wait_with_frame, . - wait_with_frame

    .type call_by_rbx, @function
call_by_rbx:
    .cfi_startproc
    push %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    mov %rsp, %rbx
    .cfi_def_cfa_register %rbx
    sub $200, %rsp
    and $-128, %rsp
    call *%rcx
    mov %rbx, %rsp
    .cfi_def_cfa_register %rsp
    pop %rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size call_by_rbx, . - call_by_rbx
)");

// push %rbp; mov %rsp,%rbp; call *%rcx; pop %rbp; ret
constexpr uint8_t generated_caller[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3};

// Memory for code that no table knows.
class GeneratedCode {
  public:
    GeneratedCode()
        : start_(static_cast<char*>(
              mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
    template <typename Function>
    Function* add(const void* code, size_t size) {
        char* at = start_ + used_;
        std::memcpy(at, code, size);
        used_ += 256;
        return reinterpret_cast<Function*>(at);
    }
    void finish() { mprotect(start_, 4096, PROT_READ | PROT_EXEC); }

  private:
    char* start_;
    size_t used_ = 256; // the eight bytes before a return address are looked at
};

Leaf* leaf_of_inner = wait_without_frame;
[[gnu::noinline]] void inner(Noted* noted, uint64_t pipe, uint64_t size) {
    noted->into_inner = reinterpret_cast<uint64_t>(__builtin_return_address(0));
    leaf_of_inner(noted, pipe, size);
    asm volatile(""); // no tail call, which would leave the frame
}
// Calls `leaf`: by `caller`, if there is one.
[[gnu::noinline]] void outer(Noted* noted, uint64_t pipe, Caller* caller, Leaf* leaf) {
    noted->into_outer = reinterpret_cast<uint64_t>(__builtin_return_address(0));
    if (caller)
        caller(noted, pipe, sizeof(*noted), leaf);
    else
        leaf(noted, pipe, sizeof(*noted));
    asm volatile("");
}

// A copy of this process that waits in such a call.
class WaitingChild {
  public:
    WaitingChild(Caller* caller, Leaf* leaf) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            Noted noted{};
            outer(&noted, static_cast<uint64_t>(ends[1]), caller, leaf);
            _exit(0);
        }
        EXPECT_EQ(read(ends[0], &noted_, sizeof(noted_)), static_cast<ssize_t>(sizeof(noted_)));
        close(ends[0]);
        close(ends[1]);
    }
    ~WaitingChild() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }
    const Noted& noted() const { return noted_; }

  private:
    pid_t pid_ = -1;
    Noted noted_{};
};

struct MappedTable {
    const UnwindTable* table = nullptr; // null: there is none
    uint64_t bias = 0;
};

// Compiled once, and kept from test to test.
MappedTable table_of(const Mapping& mapping) {
    struct File {
        std::shared_ptr<const ElfFile> elf;
        UnwindTables tables;
    };
    static std::map<std::string, File> files;
    auto [file, is_new] = files.try_emplace(mapping.path);
    if (is_new) {
        file->second.elf = *ElfFile::open(std::move(*open_regular(mapping.path)), mapping.path);
        file->second.tables = *compile_unwind_tables(*file->second.elf);
    }
    const auto linked = file->second.elf->address_of_offset(mapping.offset);
    for (const UnwindTable& table : file->second.tables.tables)
        if (linked && table.base - *linked < mapping.end - mapping.start)
            return {&table, table.bias(mapping.start, *linked)};
    return {};
}

// What is mapped here now, which is what our children map: of files with their tables, and else
// generated code.
test::WalkedProcess this_process() {
    test::WalkedProcess process;
    std::vector<wire_unwind_mapping> known;
    const auto mappings = read_maps(getpid());
    for (const Mapping& mapping : *mappings) {
        if (!mapping.executable)
            continue;
        wire_unwind_mapping one = {mapping.start, mapping.end, 0, 0, WIRE_MAPPING_JIT};
        if (mapping.inode) {
            const MappedTable of_file = table_of(mapping);
            one.kind = WIRE_MAPPING_FILE;
            one.table = of_file.table ? process.add(*of_file.table) : 0;
            one.bias = of_file.bias;
        }
        known.push_back(one);
    }
    process.map(known);
    return process;
}

using WalkLeaf = test::WalkedProcess::Leaf;

WalkLeaf leaf_of(const WaitingChild& child) {
    const Noted& noted = child.noted();
    return {noted.ip, noted.sp, noted.bp, noted.bx};
}

std::vector<uint64_t> stack_of(pid_t pid, const WalkLeaf& leaf,
                               const std::vector<walked_return>& replaced = {}) {
    PagedMemory memory(pid);
    return this_process().walk(
        leaf,
        [&](uint64_t address, void* bytes, size_t size) {
            return memory.read(address, bytes, size);
        },
        replaced);
}
std::vector<uint64_t> stack_of(const WaitingChild& child,
                               const std::vector<walked_return>& replaced = {}) {
    return stack_of(child.pid(), leaf_of(child), replaced);
}

// Up to where the process begins, which is far from here.
void expect_whole(const std::vector<uint64_t>& stack) {
    EXPECT_GT(stack.size(), 8u);
    EXPECT_FALSE(stack.back() & WIRE_STACK_CUT) << std::hex << stack.back();
}

TEST(StackOfAWait, GoesUpByCallFrameInformation) {
    for (Leaf* leaf : {wait_without_frame, wait_with_frame}) {
        leaf_of_inner = leaf;
        const WaitingChild child(nullptr, inner);
        const auto stack = stack_of(child);
        ASSERT_GE(stack.size(), 4u);
        EXPECT_EQ(stack[0], child.noted().ip);
        EXPECT_EQ(stack[2], child.noted().into_inner);
        EXPECT_EQ(stack[3], child.noted().into_outer);
        expect_whole(stack);
    }
    leaf_of_inner = wait_without_frame;
}

TEST(StackOfAWait, TakesReplacedReturnAddresses) {
    const WaitingChild child(nullptr, inner);
    const auto stack = stack_of(child);
    ASSERT_GE(stack.size(), 4u);
    // Another one stood where the leaf's lies.
    const auto other = stack_of(child, {{child.noted().sp, child.noted().into_outer}});
    ASSERT_GE(other.size(), 2u);
    EXPECT_EQ(other[0], stack[0]);
    EXPECT_EQ(other[1], child.noted().into_outer);
    // What is no return address's place is read as it is.
    EXPECT_EQ(stack_of(child, {{child.noted().sp - 8, 5}, {child.noted().sp + 4, 5}}), stack);
}

TEST(StackOfAWait, FindsFramesByRbx) {
    const WaitingChild direct(call_by_rbx, wait_without_frame);
    auto stack = stack_of(direct);
    ASSERT_GE(stack.size(), 4u);
    EXPECT_EQ(stack[3], direct.noted().into_outer);
    expect_whole(stack);
    // The same behind a function that may have saved it.
    const WaitingChild behind(call_by_rbx, inner);
    stack = stack_of(behind);
    ASSERT_GE(stack.size(), 5u);
    EXPECT_EQ(stack[2], behind.noted().into_inner);
    EXPECT_EQ(stack[4], behind.noted().into_outer);
    expect_whole(stack);
}

TEST(StackOfAWait, FollowsFramePointersInGeneratedCode) {
    GeneratedCode code;
    Caller* caller = code.add<Caller>(generated_caller, sizeof(generated_caller));
    Leaf* without_frame =
        code.add<Leaf>(reinterpret_cast<const void*>(wait_without_frame),
                       static_cast<size_t>(&wait_without_frame_end -
                                           reinterpret_cast<const char*>(wait_without_frame)));
    Leaf* with_frame = code.add<Leaf>(
        reinterpret_cast<const void*>(wait_with_frame),
        static_cast<size_t>(&wait_with_frame_end - reinterpret_cast<const char*>(wait_with_frame)));
    code.finish();
    const WaitingChild below(caller, inner);
    auto stack = stack_of(below);
    ASSERT_GE(stack.size(), 5u);
    EXPECT_EQ(stack[2], below.noted().into_inner); // in the generated code
    EXPECT_EQ(stack[4], below.noted().into_outer);
    expect_whole(stack);
    for (Leaf* leaf : {without_frame, with_frame}) {
        const WaitingChild within(caller, leaf);
        stack = stack_of(within);
        ASSERT_GE(stack.size(), 4u);
        EXPECT_EQ(stack[1], reinterpret_cast<uint64_t>(caller) + 6);
        EXPECT_EQ(stack[3], within.noted().into_outer);
        expect_whole(stack);
        // A return probe's own address has no call before it.
        const uint64_t slot = leaf == with_frame ? within.noted().bp + 8 : within.noted().sp;
        EXPECT_EQ(stack_of(within, {{slot, 0x1234}}),
                  (std::vector<uint64_t>{stack[0], 0x1234, WIRE_STACK_CUT | WIRE_STOP_NO_MAPPING}));
    }
}

TEST(StackOfAWait, SurvivesWhateverRegistersSay) {
    GeneratedCode code;
    Caller* caller = code.add<Caller>(generated_caller, sizeof(generated_caller));
    code.finish();
    const WaitingChild child(caller, inner);
    test::WalkedProcess process = this_process();
    PagedMemory memory(child.pid());
    std::mt19937_64 random(1);
    for (int i = 0; i < 500; i++) {
        WalkLeaf leaf = leaf_of(child);
        if (i % 8 == 7)
            leaf.ip = reinterpret_cast<uint64_t>(caller) + random() % 16;
        uint64_t* const registers[] = {&leaf.ip, &leaf.sp, &leaf.bp, &leaf.bx};
        *registers[i % 4] = i % 2 ? random() : child.noted().sp + random() % 512;
        const auto stack = process.walk(leaf, [&](uint64_t address, void* bytes, size_t size) {
            return memory.read(address, bytes, size);
        });
        EXPECT_GE(stack.size(), 1u);
        EXPECT_LE(stack.size(), size_t{WIRE_MAX_USER_FRAMES} + 1);
    }
}

TEST(StackOfAWait, OfAProcessThatIsGoneHasOnlyTheInstruction) {
    constexpr pid_t nobody = 0x7ffffff0;
    EXPECT_EQ(stack_of(nobody, {0x1234, 0x5678}),
              (std::vector<uint64_t>{0x1234, WIRE_STACK_CUT | WIRE_STOP_NO_MAPPING}));
    const auto here = reinterpret_cast<uint64_t>(wait_without_frame);
    EXPECT_EQ(stack_of(nobody, {here, 0x5678}),
              (std::vector<uint64_t>{here, WIRE_STACK_CUT | WIRE_STOP_UNREADABLE}));
}

} // namespace
} // namespace auger
