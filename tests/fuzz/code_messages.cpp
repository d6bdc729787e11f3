// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/probes/code_messages.h"

#include <cstdlib>

namespace auger::test {

namespace {

// What was understood can be said, and is understood to mean the same.
template <typename Said, typename Understand, typename Say>
void check(const Said& said, const Understand& understand, const Say& say) {
    if (!said)
        return;
    const std::string bytes = say(*said);
    const auto again = understand(bytes);
    if (!again || say(*again) != bytes)
        std::abort();
}

} // namespace

void fuzz_code_messages(const uint8_t* data, size_t size) {
    using namespace code_messages;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check(
        request(bytes), [](std::string_view text) { return request(text); },
        [](const Request& value) { return request(value); });
    check(
        alternative(bytes), [](std::string_view text) { return alternative(text); },
        [](const Alternative& value) { return alternative(value); });
    check(
        facts(bytes), [](std::string_view text) { return facts(text); },
        [](const UnwindFacts& value) { return facts(value); });
    check(
        switches(bytes), [](std::string_view text) { return switches(text); },
        [](const Switches& value) { return switches(value); });
    check(
        go(bytes), [](std::string_view text) { return go(text); },
        [](const GoPlaces& value) { return go(value); });
    check(
        block(bytes), [](std::string_view text) { return block(text); },
        [](const ThreadLocalBlock& value) { return block(value); });
    check(
        variable(bytes), [](std::string_view text) { return variable(text); },
        [](const Variable& value) { return variable(value); });
    for (const size_t modules : {1, 3}) {
        const auto found = places(bytes, modules);
        check(
            found, [&](std::string_view text) { return places(text, modules); },
            [](const Places& value) { return places(value); });
        if (!found || !found->matches)
            continue;
        for (const PlaceMatch& place : found->matches->places)
            if (place.module >= modules ||
                (place.site && place.site->callee && place.site->callee->module >= modules))
                std::abort();
    }
    const auto compiled = program(bytes);
    check(
        compiled, [](std::string_view text) { return program(text); },
        [](const Program& value) { return program(value); });
    // Values that come back are found by these.
    if (compiled && *compiled && **compiled)
        for (const ShownValue& shown : (**compiled)->shown)
            if (shown.value >= (**compiled)->formats.size())
                std::abort();
}

} // namespace auger::test
