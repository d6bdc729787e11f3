// SPDX-License-Identifier: GPL-3.0-or-later
// Programs: loaded when they are asked for, once, with the maps that there are.
#include "loader/kernel/features.h"
#include "loader/kernel/programs.h"
#include "tests/kernel/session.h"
#include "tests/support/bpf_objects.h"

#include <bpf/bpf.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <set>
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

} // namespace
} // namespace auger::test
