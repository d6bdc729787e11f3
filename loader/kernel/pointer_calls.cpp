// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/pointer_calls.h"

#include "loader/kernel/bpf_calls.h"

#include <bpf/bpf.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace auger {

namespace {

bool same(const wire_call_target& a, const wire_call_target& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

} // namespace

wire_call_operand wire_operand(const PlaceMatch& site) {
    const CallSite::Pointer& pointer = *site.site->pointer;
    wire_call_operand operand = {};
    operand.in_memory = pointer.operand.memory;
    operand.base = pointer.operand.base;
    operand.index = pointer.operand.index;
    operand.scale = pointer.operand.scale;
    operand.displacement = pointer.operand.displacement;
    // An address as linked, which the call instruction's own tells where it is mapped.
    if (operand.in_memory && operand.base == no_register) {
        operand.base = WIRE_OPERAND_CALL;
        operand.displacement -= site.address;
    }
    operand.other_files = std::ranges::any_of(pointer.callees, [&](const CallSite::Callee& callee) {
        return callee.module != site.module;
    });
    return operand;
}

std::vector<wire_call_target> wire_targets(const PlaceMatch& site, const TargetView& view) {
    std::vector<wire_call_target> targets;
    for (const CallSite::Callee& callee : site.site->pointer->callees) {
        wire_call_target target = {};
        if (callee.module == site.module) {
            target.offset = callee.address - site.address;
        } else {
            const TargetModule& holder = view.modules[callee.module];
            const auto offset = holder.file->offset_of_address(callee.address);
            if (!offset)
                continue;
            target.inode = holder.mapped.second;
            target.file_size = holder.file->size();
            target.offset = *offset;
        }
        targets.push_back(target);
    }
    return targets;
}

Result<void> PointerCalls::enter(uint64_t cookie, wire_call_target target,
                                 const std::string& name) {
    auto& known = entered_[cookie];
    target.spec = cookie & WIRE_COOKIE_SPEC_MASK;
    target.generation = static_cast<uint32_t>(cookie >> WIRE_COOKIE_GENERATION_SHIFT);
    if (std::ranges::any_of(known, [&](const auto& one) { return same(one, target); }))
        return {};
    const uint32_t value = 1;
    if (update_element(programs_.map_fd(MapKind::call_targets), &target, &value) < 0) {
        if (errno == E2BIG)
            return Error{"tell calls apart", name,
                         fmt::format("more than {} places to compare with",
                                     static_cast<int>(WIRE_MAX_CALLEES)),
                         "write a narrower pattern"};
        return system_error("tell calls apart", name);
    }
    known.push_back(target);
    return {};
}

Result<void> PointerCalls::enter(uint64_t cookie, const PlaceMatch& site, const TargetView& view) {
    const uint32_t spec = cookie & WIRE_COOKIE_SPEC_MASK;
    for (const wire_call_target& target : wire_targets(site, view))
        if (auto entered = enter(cookie, target, site.name); !entered)
            return entered;
    const wire_call_operand operand = wire_operand(site);
    if (update_element(programs_.map_fd(MapKind::call_operands), &spec, &operand) < 0)
        return system_error("time calls through a pointer", site.name);
    return {};
}

Result<void> PointerCalls::enter_return(uint64_t cookie, const PlaceMatch& site,
                                        const PlaceMatch& function, uint64_t entry,
                                        const TargetView& view) {
    const uint64_t address = site.address + site.site->length;
    wire_call_target target = {};
    if (site.module == function.module) {
        target.offset = address - entry;
    } else {
        const TargetModule& holder = view.modules[site.module];
        const auto offset = holder.file->offset_of_address(address);
        if (!offset)
            return {};
        target.inode = holder.mapped.second;
        target.file_size = holder.file->size();
        target.offset = *offset;
    }
    return enter(cookie, target, function.name);
}

void PointerCalls::remove(uint64_t cookie) {
    const auto found = entered_.find(cookie);
    if (found == entered_.end())
        return;
    for (const wire_call_target& target : found->second)
        bpf_map_delete_elem(programs_.map_fd(MapKind::call_targets), &target);
    entered_.erase(found);
}

} // namespace auger
