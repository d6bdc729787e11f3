// SPDX-License-Identifier: GPL-3.0-or-later
// Ids are types: a StackId cannot be passed where a LocationId is meant. An id is an index into the
// table of its kind, dense from 0.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace auger {

template <typename Tag, typename Value = uint32_t>
struct Id {
    Value value = 0;
    friend auto operator<=>(const Id&, const Id&) = default;
    size_t index() const { return static_cast<size_t>(value); }
};

using MachineId = Id<struct MachineTag>;   // an observed machine; 0 where there is only one
using ModuleId = Id<struct ModuleTag>;     // a mapped file, the kernel, a JIT's code ...
using LocationId = Id<struct LocationTag>; // an address in a module
using StackId = Id<struct StackTag>;       // a sequence of locations, leaf first
using ThreadId = Id<struct ThreadTag>;     // a thread's (pid, tid, comm)
using SpecId = Id<struct SpecTag>;         // one timed function (wire_spec's index)
using LabelId = Id<struct LabelTag>;       // a value that calls are split by, as text
using ProbeId = Id<struct ProbeTag>;       // one `time` or `slow` command; has one spec a function

} // namespace auger

template <typename Tag, typename Value>
struct std::hash<auger::Id<Tag, Value>> {
    size_t operator()(const auger::Id<Tag, Value>& id) const noexcept {
        return std::hash<Value>()(id.value);
    }
};
