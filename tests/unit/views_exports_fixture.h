// SPDX-License-Identifier: GPL-3.0-or-later
// Exports: a model with calls, classes and names of every kind, and how it looks in a format.
#pragma once

#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/exports/export.h"
#include "views/model/account.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace auger {

inline const std::string long_name = "std::map<" + std::string(10'000, 'T') + ">::find(int)";

class Exports : public testing::Test {
  protected:
    // Calls of handle, slow beyond 5 ms, with samples of 1 ms; and some outside.
    Exports() {
        const SpecId handle = stream.probe(1, "handle");
        stream.split(1, stream.fixed(5 * ms));
        const std::vector<std::string> names = {"(anonymous namespace)::f(int)",
                                                "a;b c",
                                                "x",
                                                long_name,
                                                "bad\xff\xfe",
                                                "esc\x1b[2J\nnext",
                                                "service+0x1f0e0",
                                                "k:do_syscall_64"};
        uint64_t now = 10 * ms;
        for (size_t i = 0; i < names.size(); i++) {
            const uint64_t duration = i % 2 ? 9 * ms : 2 * ms;
            const CallKey call = stream.call(handle, now);
            for (uint64_t at = 0; at < duration; at += ms)
                stream.sample(now + at, 101, stream.stack({"_start", "handle", names[i]}), {call},
                              ms);
            stream.end(101, call, duration);
            now += 20 * ms;
        }
        SlowCallEvent slow;
        slow.end.call = stream.call(handle, now);
        slow.end.thread = stream.thread(101);
        slow.end.time_ns = now + 8 * ms;
        slow.end.duration_ns = 8 * ms;
        slow.end.waits = {3 * ms, ms};
        slow.threshold_ns = 5 * ms;
        slow.stack = stream.stack({"_start", "handle"});
        slow.longest_wait = {3 * ms, "recvfrom(9) \"a,b\""};
        slow.values = {{"path", "=cmd()|</script>", true}, {"len", "not mapped", false}};
        const CallKey around = stream.call(handle, now - ms);
        slow.enclosing = {&around, 1};
        model.on_slow_call(slow);
        stream.end(101, around, 10 * ms);
        stream.stats(now + 9 * ms, handle, {2 * ms, 8 * ms, 9 * ms});
        for (int i = 0; i < 5; i++)
            stream.sample(now + i, 102, stream.stack({"_start", "idle"}), {}, ms);
        stream.ledger(now + ms, 0, 3);
    }
    std::string write(std::string_view format, const ExportQuery& query = {}) {
        StringSink sink;
        const ExportFormat* found = find_export_format(format);
        EXPECT_NE(found, nullptr) << format;
        const auto count = found->write(model, query, sink);
        EXPECT_TRUE(count);
        written = count ? *count : 0;
        return sink.text;
    }
    double expected_ns(CallClass one) const { return make_account(model).classes[one].weight_ns; }

    Model model;
    SyntheticStream stream{model};
    uint64_t written = 0;
};

} // namespace auger
