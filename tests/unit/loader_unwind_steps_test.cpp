// SPDX-License-Identifier: GPL-3.0-or-later
// The truth at run time: a program is stepped from its first instruction to its last. Every call is
// noted when it is made, with the stack pointer and the registers of its caller; at every
// instruction the tables must lead back to just these. Now and then the stack is copied and walked
// to its end.
#include "loader/process/proc_maps.h"
#include "loader/process/safe_open.h"
#include "loader/reader/code/decoder.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "loader/unwind/stack_walk.h"

#include <gtest/gtest.h>

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <array>
#include <csignal>

namespace auger {
namespace {

struct Call {
    uint64_t cfa, return_address, rbx, rbp; // of the caller
};

struct Steps {
    size_t known = 0, uncovered = 0, unsupported = 0, lost = 0;
    size_t late = 0; // see saved()
    size_t walks = 0, cut = 0;
    std::string wrong;
};

class Stepper {
  public:
    explicit Stepper(const std::string& path) : path_(path) {
        const auto file = ElfFile::open(std::move(*open_regular(path)), path);
        const auto tables = compile_unwind_tables(**file);
        file_ = *file;
        tables_ = *tables;
    }
    ~Stepper() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }

    Steps run() {
        pid_ = fork();
        if (pid_ == 0) {
            ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
            execl(path_.c_str(), path_.c_str(), nullptr);
            _exit(127);
        }
        int status = 0;
        waitpid(pid_, &status, 0);
        find_bias();
        while (WIFSTOPPED(status)) {
            ptrace(PTRACE_GETREGS, pid_, nullptr, &registers_);
            look();
            if (ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0)
                break;
            waitpid(pid_, &status, 0);
        }
        exited_ = WIFEXITED(status);
        pid_ = -1;
        return steps_;
    }
    bool exited() const { return exited_; }

  private:
    void find_bias() {
        const auto mappings = read_maps(pid_);
        for (const Mapping& mapping : *mappings)
            for (const ElfSegment& segment : file_->segments())
                if (mapping.executable && mapping.inode == file_->inode() && segment.executable)
                    bias_ = mapping.start - (segment.address - (segment.offset - mapping.offset));
    }
    uint64_t word(uint64_t address) const {
        return static_cast<uint64_t>(ptrace(PTRACE_PEEKDATA, pid_, address, nullptr));
    }
    // Before the instruction is executed.
    void look() {
        while (!calls_.empty() && calls_.back().cfa <= registers_.rsp)
            calls_.pop_back(); // returned, or jumped over
        std::array<std::byte, 16> code{};
        for (size_t i = 0; i < code.size(); i += 8) {
            const uint64_t part = word(registers_.rip + i);
            std::memcpy(&code[i], &part, 8);
        }
        const auto instruction = decode(code, registers_.rip);
        if (!calls_.empty())
            compare();
        if (instruction && instruction->flow == Instruction::Flow::call)
            calls_.push_back({registers_.rsp, registers_.rip + instruction->length, registers_.rbx,
                              registers_.rbp});
    }
    uint64_t register_value(uint8_t number) const {
        switch (number) {
        case 3:
            return registers_.rbx;
        case 5:
            return registers_.rdi;
        case 6:
            return registers_.rbp;
        case 7:
            return registers_.rsp;
        case 10:
            return registers_.r10;
        }
        return 0;
    }
    void compare() {
        const wire_unwind_rule* rule = tables_.find(registers_.rip - bias_);
        if (!rule) {
            ++steps_.uncovered;
            return;
        }
        uint64_t cfa =
            register_value(rule->cfa_register) + static_cast<uint64_t>(int64_t{rule->offset});
        if (rule->cfa == WIRE_CFA_MEMORY) {
            cfa = word(cfa) + static_cast<uint64_t>(int64_t{rule->addend});
        } else if (rule->cfa == WIRE_CFA_PLT) {
            cfa += (registers_.rip & 15) >= static_cast<uint64_t>(rule->addend) ? 8 : 0;
        } else if (rule->cfa != WIRE_CFA_REGISTER) {
            ++steps_.unsupported;
            return;
        }
        ++steps_.known;
        const Call& caller = calls_.back();
        expect(cfa == caller.cfa, "cfa");
        expect((rule->return_kind == WIRE_RETURN_REGISTER ? register_value(rule->return_register)
                                                          : word(cfa - 8)) == caller.return_address,
               "return address");
        saved(rule->rbx_saved, rule->rbx_offset, cfa, registers_.rbx, caller.rbx, "rbx");
        saved(rule->rbp_saved, rule->rbp_offset, cfa, registers_.rbp, caller.rbp, "rbp");
        if (steps_.known % 16 == 0)
            walk();
    }
    // The whole way up; what is right must not depend on how much of the stack there is.
    void walk() {
        const uint64_t from = registers_.rsp - 128;
        std::vector<std::byte> stack(calls_.front().cfa - from);
        const iovec here{stack.data(), stack.size()};
        const iovec there{reinterpret_cast<void*>(from), stack.size()};
        if (process_vm_readv(pid_, &here, 1, &there, 1, 0) != static_cast<ssize_t>(stack.size()))
            return;
        const auto find = [this](uint64_t code) -> RuleAnswer {
            const wire_unwind_rule* rule = tables_.find(code - bias_);
            return rule ? RuleAnswer{WIRE_STOPS, *rule} : RuleAnswer{WIRE_STOP_NO_TABLE, {}};
        };
        const StackFrame leaf{registers_.rip, registers_.rsp, registers_.rbp,
                              registers_.rbx, WIRE_RBX_VALUE, true};
        std::vector<uint64_t> truth;
        for (size_t i = calls_.size(); i-- > 0;)
            truth.push_back(calls_[i].return_address);
        for (const size_t size : {stack.size(), stack.size() / 2}) {
            std::vector<uint64_t> frames;
            const auto stop =
                walk_copied_stack(leaf, {from, std::span(stack).first(size)}, find, 100, frames);
            if (stop == WIRE_STOP_END)
                expect(frames == truth && size == stack.size(), "a walk to the end");
            else
                expect(frames.size() <= truth.size() &&
                           std::equal(frames.begin(), frames.end(), truth.begin()),
                       "a walk that was cut");
            steps_.cut += stop != WIRE_STOP_END && size == stack.size();
        }
        ++steps_.walks;
    }
    void saved(uint8_t kind, int16_t offset, uint64_t cfa, uint64_t now, uint64_t truth,
               const char* name) {
        const auto distance = static_cast<uint64_t>(8 * int64_t{offset});
        switch (kind) {
        case WIRE_SAVED_NOT:
            return expect(now == truth, name);
        case WIRE_SAVED_AT_CFA:
            return expect(word(cfa + distance) == truth, name);
        case WIRE_SAVED_AT_RBP:
            // At the end of a function that realigned the stack GCC says so for three instructions
            // more, when rbp is the caller's again.
            if (word(registers_.rbp + distance) != truth)
                ++steps_.late;
            return;
        }
        ++steps_.lost;
    }
    void expect(bool right, const char* what) {
        if (right || steps_.wrong.size() > 300)
            return;
        char text[64];
        std::snprintf(text, sizeof text, "%#llx: %s\n", registers_.rip - bias_, what);
        steps_.wrong += text;
    }

    std::string path_;
    std::shared_ptr<const ElfFile> file_;
    UnwindTables tables_;
    pid_t pid_ = -1;
    uint64_t bias_ = 0;
    user_regs_struct registers_{};
    std::vector<Call> calls_;
    Steps steps_;
    bool exited_ = false;
};

class UnwindSteps : public testing::TestWithParam<const char*> {};

TEST_P(UnwindSteps, LeadBackToEveryCaller) {
    const std::string path = std::string(AUGER_UNWIND_DIR) + "/" + GetParam();
    if (access(path.c_str(), X_OK) != 0)
        GTEST_SKIP() << "not built, since its tools are not installed: " << GetParam();
    Stepper stepper(path);
    const Steps steps = stepper.run();
    EXPECT_TRUE(stepper.exited());
    EXPECT_EQ(steps.wrong, "");
    EXPECT_GT(steps.known, 3000u);
    EXPECT_LE(steps.late, 6u);
    EXPECT_LE(steps.lost * 1000, steps.known);
    EXPECT_GT(steps.walks, 150u);
    EXPECT_LE(steps.cut * 50, steps.walks);
    // setjmp and longjmp; for lack of a table only in code that is given up by all.
    EXPECT_LE((steps.unsupported + steps.uncovered) * 100, steps.known);
}

// Static ones: all code is in the file, the C library's too.
INSTANTIATE_TEST_SUITE_P(Programs, UnwindSteps, testing::Values("static", "musl", "musl_stripped"));

} // namespace
} // namespace auger
