// SPDX-License-Identifier: GPL-3.0-or-later
// The table is found by what it begins with in all versions: the names "", "GC assist marking" and
// "IO wait", each as an address and a length.
#include "loader/reader/tables/go_reasons.h"

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace auger {
namespace {

constexpr size_t data_limit = 64 << 20; // of .data: more is not looked into
constexpr size_t longest_name = 48;
constexpr std::string_view second = "GC assist marking", third = "IO wait";

// How names begin.
constexpr std::array<std::pair<std::string_view, wire_go_reason>, 19> known = {{
    {"IO wait", WIRE_GO_IO_WAIT},
    {"chan receive", WIRE_GO_CHAN_RECEIVE},
    {"chan send", WIRE_GO_CHAN_SEND},
    {"select", WIRE_GO_SELECT},
    {"semacquire", WIRE_GO_SEMACQUIRE},
    {"sync.Mutex.Lock", WIRE_GO_MUTEX},
    {"sync.RWMutex.RLock", WIRE_GO_RWMUTEX_READ},
    {"sync.RWMutex.Lock", WIRE_GO_RWMUTEX_WRITE},
    {"sync.Cond.Wait", WIRE_GO_COND},
    {"sync.WaitGroup.Wait", WIRE_GO_WAIT_GROUP},
    {"sleep", WIRE_GO_SLEEP},
    {"GC assist", WIRE_GO_GC_ASSIST},
    {"garbage collection", WIRE_GO_GC},
    {"GC ", WIRE_GO_GC},
    {"wait for GC", WIRE_GO_GC},
    {"flushing proc caches", WIRE_GO_GC},
    {"stopping the world", WIRE_GO_GC},
    {"force gc", WIRE_GO_GC},
    {"coroutine", WIRE_GO_COROUTINE},
}};

struct GoString {
    uint64_t address;
    uint64_t length;
};

GoString string_at(std::span<const std::byte> data, size_t at) {
    GoString string;
    std::memcpy(&string, data.data() + at, sizeof string);
    return string;
}

// Empty: it is no name of a reason.
std::string name_of(const ElfFile& file, const GoString& string) {
    if (string.length == 0 || string.length > longest_name)
        return {};
    const std::vector<std::byte> bytes = file.read_code(string.address, string.length);
    std::string name(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const char c : name)
        if (c < ' ' || c > '~')
            return {};
    return name.size() == string.length ? name : std::string();
}

wire_go_reason reason_named(std::string_view name) {
    for (const auto& [beginning, reason] : known)
        if (name.starts_with(beginning))
            return reason;
    return WIRE_GO_OTHER;
}

bool begins_at(const ElfFile& file, std::span<const std::byte> data, size_t at) {
    constexpr size_t step = sizeof(GoString);
    const GoString two = string_at(data, at + step), three = string_at(data, at + 2 * step);
    return string_at(data, at).length == 0 && two.length == second.size() &&
           three.length == third.size() && name_of(file, two) == second &&
           name_of(file, three) == third;
}

} // namespace

std::optional<GoReasons> read_go_reasons(const ElfFile& file) {
    constexpr size_t step = sizeof(GoString);
    const std::vector<std::byte> data = file.read_section(".data", data_limit);
    for (size_t at = 0; at + 3 * step <= data.size(); at += sizeof(uint64_t)) {
        if (!begins_at(file, data, at))
            continue;
        GoReasons reasons = {}; // WIRE_GO_OTHER
        for (size_t i = 1; i < reasons.size() && at + (i + 1) * step <= data.size(); i++) {
            const std::string name = name_of(file, string_at(data, at + i * step));
            if (name.empty())
                break; // behind the table
            reasons[i] = static_cast<uint8_t>(reason_named(name));
        }
        return reasons;
    }
    return std::nullopt;
}

} // namespace auger
