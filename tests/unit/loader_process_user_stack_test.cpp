// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks read from memory: our own, and what a hostile process might show.
#include "loader/process/user_stack.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <random>

namespace auger {
namespace {

UserRegisters here() {
    ucontext_t context;
    getcontext(&context);
    const auto* registers = context.uc_mcontext.gregs;
    return {static_cast<uint64_t>(registers[REG_RIP]), static_cast<uint64_t>(registers[REG_RSP]),
            static_cast<uint64_t>(registers[REG_RBP])};
}

struct Child {
    explicit Child(auto work) : pid(fork()) {
        if (pid == 0) {
            work();
            _exit(0);
        }
    }
    ~Child() {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
    pid_t pid;
};

// The frames of a stopped child, as it was when it noted its registers: its own code's return
// addresses are known from the inside.
struct Noted {
    UserRegisters registers;
    uint64_t into_inner, into_outer; // return addresses
};

[[gnu::noinline]] void inner(Noted& noted, int pipe) {
    noted.registers = here();
    noted.into_inner = reinterpret_cast<uint64_t>(__builtin_return_address(0));
    (void)!write(pipe, &noted, sizeof(noted));
    pause();
}
[[gnu::noinline]] void outer(Noted& noted, int pipe) {
    noted.into_outer = reinterpret_cast<uint64_t>(__builtin_return_address(0));
    inner(noted, pipe);
    asm volatile(""); // no tail call
}

class UserStack : public testing::Test {
  protected:
    UserStack()
        : made_(pipe(pipe_)), child_([this] {
              Noted noted{};
              outer(noted, pipe_[1]);
          }) {
        (void)made_;
        // `here` has returned since, so its frame is not the leaf's; inner's is still in place.
        EXPECT_EQ(read(pipe_[0], &noted_, sizeof(noted_)), static_cast<ssize_t>(sizeof(noted_)));
    }
    ~UserStack() override {
        close(pipe_[0]);
        close(pipe_[1]);
    }
    bool contains(const std::vector<uint64_t>& stack, uint64_t address) {
        return std::find(stack.begin(), stack.end(), address) != stack.end();
    }
    int pipe_[2] = {-1, -1};
    int made_;
    Noted noted_{};
    Child child_;
};

TEST_F(UserStack, GoesUpByCallFrameInformation) {
    // The call frame of `inner` itself: it waits in pause(), called a little further on.
    UserStacks stacks(child_.pid);
    const auto stack = stacks.read(noted_.registers, {}, 127);
    ASSERT_GE(stack.size(), 3u);
    EXPECT_EQ(stack[0], noted_.registers.ip);
    EXPECT_TRUE(contains(stack, noted_.into_outer));
    EXPECT_EQ(stacks.read(noted_.registers, {}, 2).size(), 2u);
    EXPECT_TRUE(stacks.read(noted_.registers, {}, 0).empty());
}

TEST_F(UserStack, TakesReplacedReturnAddresses) {
    UserStacks stacks(child_.pid);
    const auto stack = stacks.read(noted_.registers, {}, 127);
    // Pretends that a return probe has moved outer's return address: found in memory, and given.
    ReturnAddresses replaced;
    for (uint64_t slot = noted_.registers.sp; slot < noted_.registers.sp + 4096; slot += 8)
        replaced[slot] = noted_.registers.ip;
    const auto other = stacks.read(noted_.registers, replaced, 4);
    EXPECT_NE(other, std::vector<uint64_t>(stack.begin(), stack.begin() + 4));
    EXPECT_EQ(other[1], noted_.registers.ip);
}

TEST_F(UserStack, SurvivesWhateverRegistersSay) {
    UserStacks stacks(child_.pid);
    std::mt19937_64 random(1);
    for (int i = 0; i < 500; i++) {
        UserRegisters registers = noted_.registers;
        (i % 3 == 0   ? registers.ip
         : i % 3 == 1 ? registers.sp
                      : registers.bp) = i % 2 ? random() : noted_.registers.sp + random() % 512;
        EXPECT_LE(stacks.read(registers, {}, 127).size(), 127u);
    }
    EXPECT_LE(stacks.read({}, {}, 127).size(), 127u);
}

TEST(UserStacks, OfAProcessThatIsGoneHasOnlyTheInstruction) {
    UserStacks stacks(0x7ffffff0);
    EXPECT_EQ(stacks.read({0x1234, 0x5678, 0}, {}, 127), (std::vector<uint64_t>{0x1234}));
}

} // namespace
} // namespace auger
