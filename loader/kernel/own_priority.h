// SPDX-License-Identifier: GPL-3.0-or-later
// OwnPriority: where a machine has more to do than it can, the thread that takes events in gets a
// share of a CPU like each of a thousand others, and the event ring runs full. Who asks why that
// machine is slow needs those events. So when they are lost and the thread waited for a CPU most of
// the time, its priority is raised for a while. Where nothing is lost nobody is put behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace auger {

class OwnPriority {
  public:
    static constexpr int raised_nice =
        -15; // nice value: some thirty times the share of others beside it
    static constexpr uint64_t span_ns = 200'000'000; // what is judged, at least
    static constexpr uint64_t calm_ns = 60'000'000'000;

    enum class Change : uint8_t { none, raise, lower };
    // `waited_ns`: how long the thread has waited for a CPU, since it began. `lost`: events, since
    // the session began. Pure.
    Change judge(uint64_t now_ns, uint64_t waited_ns, uint64_t lost);

    // Of the calling thread, and of nothing that it starts. False when the kernel refuses.
    bool raise();
    void lower();

    // By the calling thread, now and then: judges and does it. What the user has to know.
    std::optional<std::string> update(uint64_t now_ns, uint64_t lost);

  private:
    uint64_t begin_ns_ = 0; // of the span; 0: none has begun
    uint64_t waited_before_ns_ = 0;
    uint64_t lost_before_ = 0;
    double share_waited_ = 0; // of the span that led to it
    uint64_t lost_ = 0;       // in that
    bool raised_ = false;
    bool refused_ = false; // by the kernel; it is not tried again
    uint64_t last_loss_ns_ = 0;
    int usual_nice_ = 0;
};

} // namespace auger
