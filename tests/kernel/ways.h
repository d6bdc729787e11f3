// SPDX-License-Identifier: GPL-3.0-or-later
// WaysTest: a test for each way of attaching, which skips those that the running kernel lacks.
#pragma once

#include "loader/kernel/features.h"
#include "tests/kernel/session.h"

#include <concepts>
#include <string>
#include <tuple>

namespace auger::test {

inline std::string to_string(WayOut way) {
    switch (way) {
    case WayOut::automatic:
        return "auto";
    case WayOut::cheap:
        return "cheap";
    case WayOut::ret:
        return "ret";
    case WayOut::trampoline:
        break;
    }
    return "trampoline";
}

// Of a test's parameter.
inline std::string way_out_name(const testing::TestParamInfo<WayOut>& info) {
    return to_string(info.param);
}
inline std::string
ways_name(const testing::TestParamInfo<std::tuple<LiveOptions::Attach, WayOut>>& info) {
    const auto& [attach, way_out] = info.param;
    return (attach == LiveOptions::Attach::multi ? "multi_" : "perf_") + to_string(way_out);
}

// The parameter is the way of attaching, or a tuple that holds it.
template <typename Parameter>
class WaysTest : public KernelTest, public testing::WithParamInterface<Parameter> {
  protected:
    using Attach = LiveOptions::Attach;

    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped() || attach() != Attach::multi)
            return;
        Features features = Features::detect();
        if (!features.uprobe_multi)
            GTEST_SKIP() << "uprobe_multi links: " << features.uprobe_multi_fault;
    }

  private:
    Attach attach() const {
        if constexpr (std::same_as<Parameter, Attach>)
            return this->GetParam();
        else
            return std::get<Attach>(this->GetParam());
    }
};

} // namespace auger::test
