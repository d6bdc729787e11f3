// SPDX-License-Identifier: GPL-3.0-or-later
// Programs: loaded when they are asked for, once, with the maps that there are.
#include "loader/base/fd.h"
#include "loader/kernel/features.h"
#include "loader/kernel/kernel_access.h"
#include "loader/kernel/programs.h"
#include "tests/kernel/running_kernel.h"
#include "tests/kernel/session.h"
#include "tests/support/bpf_objects.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <linux/bpf.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "auger.skel.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace auger::test {
namespace {

size_t held() {
    return BpfObjects::held_by(getpid()).programs.size();
}

std::set<uint32_t> maps_of(int program) {
    std::vector<uint32_t> ids(128);
    bpf_prog_info info = {};
    info.nr_map_ids = static_cast<uint32_t>(ids.size());
    info.map_ids = reinterpret_cast<uint64_t>(ids.data());
    uint32_t size = sizeof info;
    EXPECT_EQ(bpf_obj_get_info_by_fd(program, &info, &size), 0);
    return {ids.begin(), ids.begin() + info.nr_map_ids};
}

uint32_t id_of_map(int map) {
    bpf_map_info info = {};
    uint32_t size = sizeof info;
    EXPECT_EQ(bpf_obj_get_info_by_fd(map, &info, &size), 0);
    return info.id;
}

TEST_F(KernelTest, ProgramsAreLoadedWhenTheyAreAskedFor) {
    const size_t before = held();
    const auto programs = must(Programs::load({.uprobe_session = false}));
    // Those that follow processes and threads.
    EXPECT_EQ(held(), before + 5);
    const int sampler = must(programs->program(ProgramKind::sampler));
    EXPECT_EQ(held(), before + 6);
    EXPECT_EQ(must(programs->program(ProgramKind::sampler)), sampler);
    EXPECT_EQ(held(), before + 6);
    EXPECT_NE(must(programs->tracepoint_program(0)), must(programs->tracepoint_program(1)));
    EXPECT_EQ(held(), before + 8);
    // What they write is what we read.
    for (const int program : {sampler, must(programs->tracepoint_program(1))})
        for (const MapKind map : {MapKind::events, MapKind::targets, MapKind::specs})
            EXPECT_TRUE(maps_of(program).contains(id_of_map(programs->map_fd(map))));
    // What the kernel lacks is not tried.
    EXPECT_FALSE(programs->can_load(ProgramKind::call_session));
    const auto refused = programs->program(ProgramKind::call_session);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Error::Kind::unsupported);
    EXPECT_EQ(held(), before + 8);
}

// How many there are in bpf/.
size_t all_programs() {
    auger_bpf* const skeleton = auger_bpf::open();
    EXPECT_NE(skeleton, nullptr);
    size_t count = 0;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj) count++;
    auger_bpf::destroy(skeleton);
    return count;
}

bool is_of_exchanges(ProgramKind kind) {
    return kind == ProgramKind::exchange_receive || kind == ProgramKind::exchange_send ||
           kind == ProgramKind::exchange_arrival || kind == ProgramKind::exchange_state ||
           kind == ProgramKind::exchange_wait;
}

// What one kernel's verifier takes, another's need not: so each program is loaded with each of the
// options that this kernel has, and without it, and none is left out but for what the kernel's
// release does not have.
TEST_F(KernelTest, EveryProgramIsTakenByTheKernel) {
    const Features features = Features::detect();
    const KernelRelease kernel = running_kernel();
    std::vector<ProgramsOptions> forms = {loadable_programs(features, AttachWay::perf)};
    if (kernel >= KernelRelease{6, 6}) {
        forms.push_back(loadable_programs(features, AttachWay::multi));
        // As on a kernel that preempts no program.
        forms.front().disables_preemption = false;
    }
    for (const ProgramsOptions& form : forms) {
        SCOPED_TRACE(fmt::format("uprobe_multi {}, disables_preemption {}", form.uprobe_multi,
                                 form.disables_preemption));
        // What was tried out before may still be on its way out.
        const auto before = BpfObjects::held_by(getpid()).programs;
        const auto programs = must(Programs::load(form));
        size_t left_out = 0;
        for (int i = 0; i <= static_cast<int>(ProgramKind::goroutine_call_list); i++) {
            const auto kind = static_cast<ProgramKind>(i);
            if (programs->can_load(kind)) {
                const auto loaded = programs->program(kind);
                EXPECT_TRUE(loaded) << loaded.error().message();
                continue;
            }
            left_out++;
            if (kind == ProgramKind::call_session)
                EXPECT_TRUE(!form.uprobe_multi || kernel < (KernelRelease{6, 13}));
            else if (is_of_exchanges(kind))
                EXPECT_LT(kernel, (KernelRelease{6, 3}));
            else if (kind == ProgramKind::goroutine_call_list)
                EXPECT_EQ(features.map_iterators_fault, strerror(EPERM)); // see features_test.cpp
            else
                ADD_FAILURE() << "program " << i << " is left out";
        }
        for (size_t i = 0; i < Programs::tracepoint_programs; i++) {
            const auto loaded = programs->tracepoint_program(i);
            EXPECT_TRUE(loaded) << loaded.error().message();
        }
        const auto after = BpfObjects::held_by(getpid()).programs;
        const auto loaded = std::ranges::count_if(
            after, [&](const auto& program) { return !before.contains(program); });
        EXPECT_EQ(static_cast<size_t>(loaded) + left_out, all_programs())
            << "a kind is not listed here";
    }
}

// As it was verified.
std::vector<bpf_insn> instructions_of(int program) {
    bpf_prog_info info = {};
    uint32_t size = sizeof info;
    EXPECT_EQ(bpf_obj_get_info_by_fd(program, &info, &size), 0);
    std::vector<bpf_insn> instructions(info.xlated_prog_len / sizeof(bpf_insn));
    info = {};
    info.xlated_prog_len = static_cast<uint32_t>(instructions.size() * sizeof(bpf_insn));
    info.xlated_prog_insns = reinterpret_cast<uint64_t>(instructions.data());
    EXPECT_EQ(bpf_obj_get_info_by_fd(program, &info, &size), 0);
    return instructions;
}

// Whether it calls what the verifier knows by a number; `kind`: BPF_PSEUDO_KFUNC_CALL, or 0 for a
// helper.
bool is_call(const bpf_insn& one, unsigned kind) {
    return one.code == (BPF_JMP | BPF_CALL) && one.src_reg == kind;
}

// How many calls of kernel functions (kfuncs) there are in a program.
size_t kernel_function_calls(int program) {
    return static_cast<size_t>(
        std::ranges::count_if(instructions_of(program), [](const bpf_insn& one) {
            return is_call(one, BPF_PSEUDO_KFUNC_CALL);
        }));
}

// Where it can be, preemption is disabled during look-ups of task storage, and nowhere else is
// anything paid for it.
TEST_F(KernelTest, TaskStorageIsLookedUpWithoutPreemption) {
    utsname kernel{};
    ASSERT_EQ(uname(&kernel), 0);
    const bool can = std::strstr(kernel.version, "PREEMPT") != nullptr &&
                     running_kernel() >= KernelRelease{6, 10};
    EXPECT_EQ(Features::detect().disables_preemption, can) << kernel.release;

    const auto calls = [](bool disables_preemption) {
        const auto programs = must(
            Programs::load({.uprobe_session = false, .disables_preemption = disables_preemption}));
        return kernel_function_calls(must(programs->program(ProgramKind::call_entry)));
    };
    EXPECT_EQ(calls(false), 0u);
    if (can) {
        EXPECT_EQ(calls(true), 2u) << "disabled once, enabled once";
    }
}

// What stands for a helper in a program that was verified, found by a program that calls it; 0
// where the kernel hides addresses.
int32_t address_of_ringbuf_reserve(int ring) {
    const bpf_insn code[] = {
        {BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, ring},
        {0, 0, 0, 0, 0},
        {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 8},
        {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 0},
        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_reserve},
        {BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 3, 0},
        {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_0, 0, 0},
        {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 0},
        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_discard},
        {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    };
    const UniqueFd program(
        bpf_prog_load(BPF_PROG_TYPE_KPROBE, "reserves", "GPL", code, std::size(code), nullptr));
    EXPECT_TRUE(program);
    for (const bpf_insn& one : instructions_of(program.get()))
        if (is_call(one, 0))
            return one.imm;
    return 0;
}

// Nothing behind a record that is not complete can be read, so who may be preempted puts his
// together elsewhere, and it is in the ring at once: no program at a probe reserves room there. (To
// see the reader wait takes a kernel that preempts a program just while it walks a stack, and does
// not let it go on; most preempt none.)
TEST_F(KernelTest, ProgramsAtProbesLeaveNoUnfinishedRecords) {
    const Features features = Features::detect();
    const auto programs = must(Programs::load(
        {.uprobe_multi = features.uprobe_multi, .uprobe_session = features.uprobe_session}));
    const int32_t reserve = address_of_ringbuf_reserve(programs->map_fd(MapKind::events));
    ASSERT_NE(reserve, 0) << "kernel.kptr_restrict is 2";
    size_t looked_at = 0;
    for (const ProgramKind kind :
         {ProgramKind::call_entry, ProgramKind::call_exit, ProgramKind::call_return,
          ProgramKind::call_session, ProgramKind::go_call_entry, ProgramKind::go_call_exit,
          ProgramKind::goroutine_end, ProgramKind::goroutine_switch, ProgramKind::line_reached,
          ProgramKind::span_point}) {
        if (!programs->can_load(kind))
            continue;
        looked_at++;
        const auto instructions = instructions_of(must(programs->program(kind)));
        EXPECT_TRUE(std::ranges::none_of(instructions, [&](const bpf_insn& one) {
            return is_call(one, 0) && one.imm == reserve;
        })) << static_cast<int>(kind);
    }
    EXPECT_GE(looked_at, 9u);
}

} // namespace
} // namespace auger::test
