// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/uprobe_trial.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/process/proc_maps.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <thread>
#include <utility>
#include <vector>

extern "C" {
void auger_trial_caller();
extern const char auger_trial_return[], auger_trial_function[], auger_trial_place[];
}

namespace auger {

namespace {

uint64_t address_of(const char* label) {
    return reinterpret_cast<uintptr_t>(label);
}

Result<uint64_t> file_offset_of(const char* label) {
    auto maps = read_maps(getpid());
    if (!maps)
        return maps.error();
    for (const Mapping& mapping : *maps) {
        if (address_of(label) >= mapping.start && address_of(label) < mapping.end)
            return address_of(label) - mapping.start + mapping.offset;
    }
    return Error{"try probes", own_program, "its code is not mapped from a file", ""};
}

Result<UniqueFd> load_program(std::span<const bpf_insn> instructions, AttachWay way) {
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    if (way == AttachWay::multi)
        options.expected_attach_type = static_cast<bpf_attach_type>(bpf_trace_uprobe_multi);
    int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "auger_try", "GPL", instructions.data(),
                           instructions.size(), &options);
    if (fd < 0)
        return system_error("load tracing program", "", "", -fd);
    return UniqueFd(fd);
}

Result<UniqueFd> attach(AttachWay way, const UniqueFd& program, const char* label, bool returns) {
    auto offset = file_offset_of(label);
    if (!offset)
        return offset.error();
    if (way == AttachWay::perf)
        return create_perf_uprobe(program.get(), own_program, *offset, 0, getpid(), returns);
    const std::array<uint64_t, 1> offsets = {*offset}, cookies = {0};
    return create_uprobe_multi_link(program.get(), bpf_trace_uprobe_multi, own_program, offsets,
                                    cookies, getpid(), returns);
}

} // namespace

Result<UprobeFindings> try_uprobes(AttachWay way, LinkProcesses* processes) {
    using Stack = std::array<uint64_t, 8>;
    int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "auger_try", sizeof(uint32_t), sizeof(Stack), 1,
                            nullptr);
    if (fd < 0)
        return system_error("make BPF map", "", "", -fd);
    UniqueFd map(fd);
    // bpf_get_stack(ctx, the map's value, its size, BPF_F_USER_STACK); return 0
    const bpf_insn instructions[] = {
        {BPF_LD | BPF_DW | BPF_IMM, 2, BPF_PSEUDO_MAP_VALUE, 0, map.get()},
        {},
        {BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, sizeof(Stack)},
        {BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, BPF_F_USER_STACK},
        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_stack},
        {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    };
    auto take_stack = load_program(instructions, way);
    auto nothing = load_program(std::span(instructions).last(2), way);
    if (!take_stack || !nothing)
        return take_stack ? nothing.error() : take_stack.error();
    auto at_return = attach(way, *nothing, auger_trial_function, true);
    if (!at_return)
        return at_return.error();
    auto inside = attach(way, *take_stack, auger_trial_place, false);
    if (!inside)
        return inside.error();

    // In another thread than the one that attached them.
    std::thread(auger_trial_caller).join();
    // Detaching takes up to 0.1 s, for which nobody should wait.
    if (processes) {
        std::vector<UniqueFd> links;
        links.push_back(std::move(*at_return));
        links.push_back(std::move(*inside));
        processes->close_later(std::move(links));
    } else {
        std::thread([one = std::move(*at_return), other = std::move(*inside)] {}).detach();
    }

    Stack stack = {};
    uint32_t key = 0;
    if (int error = bpf_map_lookup_elem(map.get(), &key, stack.data()))
        return system_error("read map", "", "", -error);
    auto shows = [&](const char* label) {
        return std::find(stack.begin(), stack.end(), address_of(label)) != stack.end();
    };
    return UprobeFindings{shows(auger_trial_place), shows(auger_trial_return)};
}

} // namespace auger
