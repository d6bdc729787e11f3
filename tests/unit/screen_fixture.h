// SPDX-License-Identifier: GPL-3.0-or-later
// A made-up service for tests of the live view: 2,000 requests, of which each twentieth scans and
// one in a hundred waits in recv; and the keys that people press.
#pragma once

#include "tests/unit/synthetic_stream.h"
#include "views/model/model.h"
#include "views/screen/screen.h"

#include <random>
#include <string>

namespace auger {

class ScreenFixture {
  public:
    static constexpr uint64_t us = 1'000, ms = 1'000'000;

    explicit ScreenFixture(bool unicode = true)
        : screen(model, {.unicode = unicode, .read_source = {}}) {
        state.target = "service";
        state.rate_hz = 999;
        state.overhead = 0.012;
    }

    void time_handle() { handle = stream.probe(1, "handle"); }
    void split_handle() { stream.split(1, stream.percentile(95)); }

    // The requests from `first` to `last`, one every 10 ms.
    void serve(uint64_t first, uint64_t last) {
        std::vector<std::string> base = {"_start", "std::thread::_M_run", "worker", "handle"};
        auto path = [&](std::vector<std::string> rest) {
            std::vector<std::string> all = base;
            all.insert(all.end(), rest.begin(), rest.end());
            return stream.stack(all);
        };
        const StackId parse = path({"parse"}),
                      reply = path({"respond", "send", "k:do_syscall_64", "k:tcp_sendmsg"});
        const StackId scan = path({"respond",
                                   "lookup(Request const&, std::basic_string_view<char, "
                                   "std::char_traits<char> >)",
                                   "full_scan\x1b[2J(std::vector<int>&)"});
        const StackId read = path({"recv", "k:do_syscall_64", "k:tcp_recvmsg", "k:schedule"});
        const StackId wide = path({"\xe6\xbc\xa2\xe5\xad\x97", "e\xcc\x81tude"});
        const StackId idle = stream.stack({"_start", "idle"});
        std::vector<uint64_t> durations;
        for (uint64_t i = first; i <= last; i++) {
            const uint64_t start = i * 10 * ms;
            const bool scans = i % 25 == 0, waits = i % 100 == 7;
            const uint64_t duration =
                800 * us + random() % (400 * us) + (scans ? 6 * ms : 0) + (waits ? 8 * ms : 0);
            const uint32_t tid = 101 + i % 3;
            std::vector<CallKey> calls;
            if (handle)
                calls.push_back(stream.call(*handle, start));
            bool sampled = false;
            for (uint64_t at = random() % ms; at < duration; at += ms, sampled = true) {
                const StackId stack = at < 300 * us   ? parse
                                      : at < 800 * us ? reply
                                      : scans         ? scan
                                      : waits         ? read
                                      : i % 50 == 1   ? wide
                                                      : reply;
                stream.sample(start + at, tid, stack, calls, 1'001'001,
                              waits && at >= 800 * us ? SampleKind::blocked : SampleKind::cpu);
            }
            if (sampled && handle)
                stream.end(tid, calls[0], duration);
            durations.push_back(duration);
            if (i % 7 == 0)
                stream.sample(start + 9 * ms, tid, idle, {}, 1'001'001);
            if (handle && i % 100 == 0) {
                stream.stats(start, *handle, durations);
                durations.clear();
            }
        }
        stream.ledger((last + 1) * 10 * ms, 120, 3);
        model.on_time((last + 1) * 10 * ms);
    }

    void refresh() {
        for (int i = 0; i < 10'000 && screen.refresh(state, TimeSlice::one_step()); i++) {
        }
    }
    std::string drawn(size_t width, size_t height) { return to_text(screen.draw(width, height)); }
    std::vector<Request> press(char c) {
        return screen.press({.code = Key::Code::character, .character = char32_t(c)});
    }
    std::vector<Request> press(Key::Code code) { return screen.press({.code = code}); }
    void type(std::string_view text) {
        for (char c : text)
            press(c);
    }
    // The only command that the key asks for.
    std::string command_of(char c) {
        const auto requests = press(c);
        if (requests.size() != 1 || requests[0].kind != Request::Kind::run)
            return "(no command)";
        return requests[0].line;
    }

    Model model{20'000};
    SyntheticStream stream{model};
    std::optional<SpecId> handle;
    std::mt19937 random{42};
    ScreenState state;
    Screen screen;
};

} // namespace auger
