// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/find_go_places.h"

#include "loader/reader/code/function_code.h"
#include "loader/reader/elf/go_table.h"
#include "loader/reader/tables/go_reasons.h"
#include "loader/reader/tables/go_runtime.h"

#include <algorithm>
#include <array>
#include <utility>

namespace auger {
namespace {

// Where a function's probe can see its arguments, as an offset in the file.
std::optional<uint64_t> argument_place(const ElfFile& file, const GoFunction& function) {
    const std::vector<std::byte> code =
        file.read_code(function.begin, function.end - function.begin);
    const auto analysed =
        analyse_function({function.begin, code}, {}, [&](uint64_t address, size_t size) {
            return file.read_code(address, size);
        });
    if (!analysed || !analysed->argument_entry)
        return std::nullopt;
    return file.offset_of_address(analysed->argument_entry->address);
}

std::optional<uint64_t> goroutine_end(const ElfFile& file) {
    const GoTable* table = file.go_table();
    const GoFunction* end = table ? table->named("runtime.goexit0") : nullptr;
    return end ? argument_place(file, *end) : std::nullopt;
}

struct SwitchFunction {
    const char* name;
    wire_go_switch what;
    bool needed;
};
constexpr std::array switch_functions = {
    SwitchFunction{"runtime.gopark", WIRE_GO_PARK, true},
    SwitchFunction{"runtime.ready", WIRE_GO_READY, true},
    SwitchFunction{"runtime.execute", WIRE_GO_EXECUTE, true},
    SwitchFunction{"runtime.goschedImpl", WIRE_GO_YIELD, true},
    SwitchFunction{"runtime.goyield_m", WIRE_GO_YIELD, false},    // may be left out by the linker
    SwitchFunction{"runtime.exitsyscall0", WIRE_GO_YIELD, false}, // not in all versions
};
// Where these are not understood, switches are all the same.
constexpr std::array life_functions = {
    SwitchFunction{"runtime.gostartcallfn", WIRE_GO_START, false},
    SwitchFunction{"runtime.goexit0", WIRE_GO_END, false},
};

// Nothing: the function is not there, or not understood.
std::optional<GoSwitchPlace> find_go_switch(const ElfFile& file, const SwitchFunction& searched) {
    const GoTable* table = file.go_table();
    const GoFunction* function = table ? table->named(searched.name) : nullptr;
    const auto offset = function && has_register_arguments(file, *function)
                            ? argument_place(file, *function)
                            : std::nullopt;
    return offset ? std::optional(GoSwitchPlace{searched.what, *offset}) : std::nullopt;
}

// All of the switches or none: with one missing the others would tell a half.
std::vector<GoSwitchPlace> find_go_switches(const ElfFile& file) {
    std::vector<GoSwitchPlace> places;
    const GoTable* table = file.go_table();
    for (const SwitchFunction& searched : switch_functions) {
        if (const auto place = find_go_switch(file, searched))
            places.push_back(*place);
        else if (searched.needed || (table && table->named(searched.name)))
            return {};
    }
    for (const SwitchFunction& searched : life_functions)
        if (const auto place = find_go_switch(file, searched))
            places.push_back(*place);
    return places;
}

} // namespace

GoPlaces find_go_places(const ElfFile& file) {
    GoPlaces places{read_go_runtime(file), goroutine_end(file), {}};
    if (!places.runtime)
        return places;
    places.switches = find_go_switches(file);
    places.runtime->has_switches = !places.switches.empty();
    if (const auto reasons = read_go_reasons(file)) // else all are WIRE_GO_OTHER
        std::ranges::copy(*reasons, places.runtime->reason);
    return places;
}

} // namespace auger
