// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/base/fd.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace auger::test {

// While it lives, whoever watches a tracepoint from then on hears of it late, when a thread of the
// named program runs it: as on a virtual machine whose host takes that CPU just then. So what comes
// on a socket is received before sk_data_ready says it, or what was received is followed by more
// before sock_recv_length does.
class LateTracepoint {
  public:
    // A clock read is some 25 ns; in all they are to be fewer than 250,000 (the verifier follows
    // them). Of the program's name, the first eight characters count, and there have to be so many.
    LateTracepoint(const char* tracepoint, const std::string& program, int32_t clock_reads) {
        int32_t name[2];
        std::memcpy(name, program.data(), sizeof name);
        const std::array code = {
            // Its name to the stack, and the first half of that to r1.
            instruction(BPF_ALU64 | BPF_MOV | BPF_X, 1, 10, 0, 0),
            instruction(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -16),
            instruction(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 16),
            instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_comm),
            instruction(BPF_LDX | BPF_MEM | BPF_W, 1, 10, -16, 0),
            instruction(BPF_JMP32 | BPF_JNE | BPF_K, 1, 0, 6, name[0]),
            instruction(BPF_LDX | BPF_MEM | BPF_W, 1, 10, -12, 0),
            instruction(BPF_JMP32 | BPF_JNE | BPF_K, 1, 0, 4, name[1]),
            instruction(BPF_ALU64 | BPF_MOV | BPF_K, 6, 0, 0, clock_reads),
            instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns),
            instruction(BPF_ALU64 | BPF_SUB | BPF_K, 6, 0, 0, 1),
            instruction(BPF_JMP | BPF_JNE | BPF_K, 6, 0, -3, 0),
            instruction(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
            instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
        };
        program_ = UniqueFd(bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "late_tracepoint", "GPL",
                                          code.data(), code.size(), nullptr));
        if (!program_)
            throw std::system_error(errno, std::generic_category(), "loading late_tracepoint");
        link_ = UniqueFd(bpf_raw_tracepoint_open(tracepoint, program_.get()));
        if (!link_)
            throw std::system_error(errno, std::generic_category(), "attaching late_tracepoint");
    }

  private:
    static bpf_insn instruction(int code, uint8_t to, uint8_t from, int16_t offset, int32_t value) {
        bpf_insn made = {};
        made.code = static_cast<uint8_t>(code);
        made.dst_reg = to & 15;
        made.src_reg = from & 15;
        made.off = offset;
        made.imm = value;
        return made;
    }

    UniqueFd program_, link_;
};

} // namespace auger::test
