// SPDX-License-Identifier: GPL-3.0-or-later
// Plan: the operations that lead from one Settings to another, in an order in which each is valid.
// Every operation knows what was there before, so it can be reversed. Pure.
#pragma once

#include "repl/session/setting.h"

#include <memory>
#include <variant>
#include <vector>

namespace auger {

struct SetSetting {
    const SettingRow* row;
    std::shared_ptr<const Settings> before, after;
};
struct AddProbe {
    ProbeSetting probe;
};
struct RemoveProbe {
    ProbeSetting probe;
};
// Its threshold of slow calls, and what is asked of its calls.
struct SetSlow {
    ProbeSetting before;
    ProbeSetting after; // with the same id
};
// Whether something is attached for it.
struct SetAttached {
    ProbeSetting before;
    ProbeSetting after; // with the same id
};

using Operation = std::variant<SetSetting, AddProbe, SetSlow, SetAttached, RemoveProbe>;

std::vector<Operation> plan(const Settings& from, const Settings& to, SettingTable table);
Operation reversed(const Operation& operation);

} // namespace auger
