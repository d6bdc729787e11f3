// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/loader_values_tracer.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <map>

namespace auger::test {
namespace {

std::array<uint64_t, 17> dwarf_order(const user_regs_struct& r) {
    return {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
            r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
}

class Tracer {
  public:
    Tracer(pid_t pid, const std::vector<uint64_t>& functions,
           const std::function<void(const Stop&)>& visit)
        : pid_(pid), visit_(visit) {
        for (uint64_t function : functions) {
            set(function);
            calls_[function] = 0;
        }
    }

    bool run() {
        for (;;) {
            ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
            int status;
            if (waitpid(pid_, &status, 0) != pid_)
                return false;
            if (WIFEXITED(status))
                return WEXITSTATUS(status) == 0;
            if (WIFSIGNALED(status) || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
                return false;
            user_regs_struct registers;
            ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
            const uint64_t address = --registers.rip;
            ptrace(PTRACE_SETREGS, pid_, nullptr, &registers);
            if (calls_.contains(address))
                entered(address, registers);
            else if (inside_ && address == return_address_)
                returned(registers);
            else
                return false;
        }
    }

  private:
    void set(uint64_t address) {
        const long word = ptrace(PTRACE_PEEKTEXT, pid_, address, nullptr);
        original_[address] = word;
        ptrace(PTRACE_POKETEXT, pid_, address, (word & ~0xffL) | 0xcc);
    }
    void clear(uint64_t address) { ptrace(PTRACE_POKETEXT, pid_, address, original_[address]); }

    void entered(uint64_t address, const user_regs_struct& registers) {
        machine_.at_entry = dwarf_order(registers);
        machine_.frame_address = registers.rsp + 8;
        machine_.thread = registers.fs_base;
        machine_.read = [pid = pid_](uint64_t at, void* to, size_t size) {
            iovec local{to, size}, remote{reinterpret_cast<void*>(at), size};
            return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
        };
        inside_ = address;
        visit_({pid_, address, calls_[address]++, false, machine_});
        return_address_ =
            static_cast<uint64_t>(ptrace(PTRACE_PEEKTEXT, pid_, registers.rsp, nullptr));
        clear(address);
        ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr);
        int status;
        waitpid(pid_, &status, 0);
        set(address);
        set(return_address_);
    }

    void returned(const user_regs_struct& registers) {
        clear(return_address_);
        machine_.at_end = dwarf_order(registers);
        visit_({pid_, inside_, calls_[inside_] - 1, true, machine_});
        inside_ = 0;
    }

    pid_t pid_;
    const std::function<void(const Stop&)>& visit_;
    std::map<uint64_t, long> original_;
    std::map<uint64_t, unsigned> calls_;
    uint64_t inside_ = 0, return_address_ = 0;
    Machine machine_;
};

} // namespace

bool trace(const std::string& program, const std::vector<uint64_t>& functions,
           const std::function<void(const Stop&)>& visit) {
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        execl(program.c_str(), program.c_str(), nullptr);
        _exit(127);
    }
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        return false;
    ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL);
    const bool done = Tracer(pid, functions, visit).run();
    if (!done) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    return done;
}

std::string output_of(const std::string& program) {
    std::string text;
    FILE* pipe = popen(program.c_str(), "r");
    if (!pipe)
        return text;
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;)
        text.append(part, n);
    pclose(pipe);
    return text;
}

} // namespace auger::test
