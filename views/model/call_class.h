// SPDX-License-Identifier: GPL-3.0-or-later
// The classes of a split, and sums kept by class.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

// By how long the enclosing call took. `open`: not known, because it runs still or because there is
// no threshold (yet).
enum class CallClass : uint8_t { slow = 0, fast = 1, open = 2, outside = 3 };
inline constexpr size_t call_classes = 4;
inline constexpr std::array<CallClass, call_classes> all_call_classes = {
    CallClass::slow, CallClass::fast, CallClass::open, CallClass::outside};

// "slow", "fast", "open", "outside".
std::string_view to_string(CallClass);

// Durations of calls: at least from_ns, and less than to_ns.
struct DurationRange {
    uint64_t from_ns = 0;
    uint64_t to_ns = UINT64_MAX; // this value: without end

    bool contains(uint64_t ns) const { return ns >= from_ns && (ns < to_ns || open_ended()); }
    bool open_ended() const { return to_ns == UINT64_MAX; }
    friend bool operator==(const DurationRange&, const DurationRange&) = default;
};
// "10ms..50ms", "10ms..", "..50ms".
std::string to_string(const DurationRange&);

// One of several machines, or all others.
struct HostChoice {
    std::string name; // raw
    bool others = false;
    friend bool operator==(const HostChoice&, const HostChoice&) = default;
};

// Stacks that hold a function (see NamedFunction), or all others.
struct StackChoice {
    std::string function; // raw
    bool others = false;
    friend bool operator==(const StackChoice&, const StackChoice&) = default;
};

// Which samples or calls a view shows: those for which every part that is given fits. The parts of
// calls are about the outermost enclosing call of the split's probe.
struct ClassFilter {
    std::optional<CallClass> duration;
    std::optional<DurationRange> range; // of its duration
    std::optional<bool> taken;          // of the split's branch
    std::optional<std::string> label;   // the value of the split's expression, raw or as shown
    std::optional<HostChoice> host;     // where it was
    std::optional<uint32_t> process;    // by its pid, which samples have and calls do not
    std::optional<StackChoice> in;      // what is on its stack; of samples, likewise

    ClassFilter() = default;
    ClassFilter(CallClass by_duration) : duration(by_duration) {}

    bool all() const { return !host && !process && !in && !of_calls(); }
    // Whether it asks for anything of calls.
    bool of_calls() const { return duration || range || taken || label; }
    // Whether no call can be of both.
    bool excludes(const ClassFilter& other) const;
    friend bool operator==(const ClassFilter&, const ClassFilter&) = default;
};

// "slow+10ms..50ms+not-taken+host=web1+in=parse+=3", as typed; "all". Names and labels are not
// escaped. A process, "pid=4711", is what clients of the endpoint ask for.
std::string to_string(const ClassFilter&);

// Samples and their weight, of which some was spent waiting (see SampleKind); the rest was spent
// running. Fractional only under an ewma window.
struct SampleSum {
    double samples = 0;
    double weight_ns = 0;
    double blocked_ns = 0;
    double runnable_ns = 0;

    SampleSum operator-() const { return {-samples, -weight_ns, -blocked_ns, -runnable_ns}; }
    double cpu_ns() const { return weight_ns - blocked_ns - runnable_ns; }

    SampleSum& operator+=(const SampleSum& other) {
        samples += other.samples;
        weight_ns += other.weight_ns;
        blocked_ns += other.blocked_ns;
        runnable_ns += other.runnable_ns;
        return *this;
    }
};

struct ClassSums {
    std::array<SampleSum, call_classes> by_class{};

    SampleSum& operator[](CallClass c) { return by_class[static_cast<size_t>(c)]; }
    const SampleSum& operator[](CallClass c) const { return by_class[static_cast<size_t>(c)]; }
    ClassSums& operator+=(const ClassSums& other) {
        for (size_t i = 0; i < call_classes; i++)
            by_class[i] += other.by_class[i];
        return *this;
    }
    SampleSum sum() const {
        SampleSum all;
        for (const SampleSum& s : by_class)
            all += s;
        return all;
    }
};

} // namespace auger
