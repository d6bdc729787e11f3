// SPDX-License-Identifier: GPL-3.0-or-later
// Handlers are functions that V8's builder has compiled: each has an entry, gets the offset in a
// register, and hands the next one on in it, to the next bytecode's handler.
#include "loader/reader/runtimes/v8_handlers.h"

#include "bpf/wire/v8.h"
#include "loader/arch/arch.h"
#include "loader/reader/code/kept_value.h"

#include ARCH(dwarf_register.h)

#include <bit>
#include <set>
#include <string_view>

namespace auger {
namespace {

using C = V8Constant;

constexpr std::string_view builtin = "Builtins_", handler = "Handler";
constexpr int32_t last_register = 15;
constexpr int64_t upper_half = 4;            // of the frame's word
constexpr uint64_t handler_limit = 16 << 10; // bytes of code; the largest has 6 kB
constexpr uint64_t handlers_limit = 2 << 20; // of all together: 0.4 MB

// What is called from anywhere, and puts back all registers that it uses.
bool keeps_registers(std::string_view name) {
    for (const std::string_view one : {"Builtins_RecordWrite", "Builtins_EphemeronKeyBarrier"})
        if (name.starts_with(one))
            return true;
    return name == "Builtins_DoubleToI";
}

// The first that has it: where the register does, that is the newest.
uint8_t place_of(const KeptValue& value, uint8_t number) {
    const auto in_register = [](uint8_t one) {
        return static_cast<uint8_t>(WIRE_V8_IN_REGISTER + dwarf_register(one));
    };
    if (value.places >> number & 1)
        return in_register(number);
    if (value.saved)
        return WIRE_V8_IN_FRAME;
    const auto words = static_cast<uint64_t>(value.places >> (first_frame_word + 1));
    if (words)
        return static_cast<uint8_t>(WIRE_V8_IN_WORD + std::countr_zero(words));
    const auto registers = static_cast<uint16_t>(value.places);
    return registers ? in_register(static_cast<uint8_t>(std::countr_zero(registers)))
                     : uint8_t{WIRE_V8_IN_FRAME};
}

} // namespace

std::vector<V8OffsetPlace> v8_offset_places(const ElfFile& file, const V8File& v8) {
    const auto number = v8[C::offset_register], slot = v8[C::frame_offset];
    std::vector<V8OffsetPlace> places;
    if (!number || *number < 0 || *number > last_register || !slot)
        return places;
    std::set<uint64_t> keeping;
    for (const ElfFunction& function : file.functions())
        if (keeps_registers(function.name))
            keeping.insert(function.address);
    const auto register_number = static_cast<uint8_t>(*number);
    uint64_t end = 0, bytes = 0;
    const auto add = [&](uint64_t address, uint8_t place) {
        if (places.empty() ? place != WIRE_V8_IN_FRAME : place != places.back().place)
            places.push_back({address, place});
    };
    for (const ElfFunction& function : file.functions()) {
        const auto& [address, size, name, ifunc, global] = function;
        if (!name.starts_with(builtin) || !name.ends_with(handler) || address < end ||
            size > handler_limit || (bytes += size) > handlers_limit)
            continue;
        const auto code = file.read_code(address, size);
        const auto values =
            kept_value({address, code}, register_number, int64_t{*slot} + upper_half,
                       [&](uint64_t called) { return keeping.contains(called); });
        if (!values || places.size() + values->size() >= V8File::offset_places_limit)
            continue;
        for (const KeptValue& value : *values)
            add(value.address, place_of(value, register_number));
        end = address + code.size();
        add(end, WIRE_V8_IN_FRAME);
    }
    return places;
}

} // namespace auger
