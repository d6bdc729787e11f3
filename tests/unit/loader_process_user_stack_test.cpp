// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks read from memory: our own, and what a hostile process might show.
#include "loader/process/user_stack.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <random>

namespace auger {
namespace {

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

// What a child notes of itself before it waits: its registers, and its return addresses as the
// compiler knows them.
struct Noted {
    UserRegisters registers;
    uint64_t into_inner, into_outer; // return addresses
};

[[gnu::noinline]] void inner(Noted& noted, int pipe) {
    asm volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2"
                 : "=r"(noted.registers.ip), "=r"(noted.registers.sp), "=r"(noted.registers.bp));
    noted.into_inner = reinterpret_cast<uint64_t>(__builtin_return_address(0));
    (void)!write(pipe, &noted, sizeof(noted));
    pause();
    asm volatile(""); // no tail call, which would leave the frame
}
[[gnu::noinline]] void outer(Noted& noted, int pipe) {
    noted.into_outer = reinterpret_cast<uint64_t>(__builtin_return_address(0));
    inner(noted, pipe);
    asm volatile("");
}

class UserStack : public testing::Test {
  protected:
    UserStack()
        : made_(pipe(pipe_)), child_([this] {
              Noted noted{};
              outer(noted, pipe_[1]);
          }) {
        EXPECT_EQ(made_, 0);
        EXPECT_EQ(read(pipe_[0], &noted_, sizeof(noted_)), static_cast<ssize_t>(sizeof(noted_)));
    }
    ~UserStack() override {
        close(pipe_[0]);
        close(pipe_[1]);
    }
    int pipe_[2] = {-1, -1};
    int made_;
    Noted noted_{};
    Child child_;
};

TEST_F(UserStack, GoesUpByCallFrameInformation) {
    UserStacks stacks(child_.pid);
    const auto stack = stacks.read(noted_.registers, {}, 127);
    ASSERT_GE(stack.size(), 4u);
    EXPECT_EQ(stack[0], noted_.registers.ip);
    EXPECT_EQ(stack[1], noted_.into_inner);
    EXPECT_EQ(stack[2], noted_.into_outer);
    EXPECT_EQ(stacks.read(noted_.registers, {}, 2).size(), 2u);
    EXPECT_TRUE(stacks.read(noted_.registers, {}, 0).empty());
}

TEST_F(UserStack, TakesReplacedReturnAddresses) {
    UserStacks stacks(child_.pid);
    const auto stack = stacks.read(noted_.registers, {}, 127);
    ASSERT_GE(stack.size(), 3u);
    // Finds where inner's return address lies, and says that another one stood there.
    ReturnAddresses replaced;
    for (uint64_t slot = noted_.registers.sp; slot < noted_.registers.sp + 1024; slot += 8)
        replaced[slot] = noted_.into_outer;
    EXPECT_EQ(stacks.read(noted_.registers, replaced, 2),
              (std::vector{noted_.registers.ip, noted_.into_outer}));
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
