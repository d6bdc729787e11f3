// SPDX-License-Identifier: GPL-3.0-or-later
// edit_everywhere: one edit on all hosts, or on none. Each agent's backend makes an edit as a whole
// or not at all. Where others would lose by an edit that is made and taken back, all are asked
// first whether they would refuse it, and it is made when none does; what can still fail then (the
// kernel refuses a link) is taken back by those that have made it. What comes of an edit is not
// looked at before it is decided. Hosts that are lost meanwhile do not count: whoever comes
// back is given what is in force by then (Hosts::Edit). Who is long at work on it is not waited
// for: it follows. Changes when edits are to be agreed on in another way.
#pragma once

#include "loader/remote/hosts.h"
#include "loader/remote/joined_reports.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace auger::remote {

// Asks whether an edit would be refused (CheckTarget, CheckProbe): fails when one host would. Who
// does not say so in half of the time that there is for the edit, or is too old to, does not count.
Result<void> check_everywhere(Hosts& hosts, const Request& check, Hosts::Patience patience);

struct EditRequests {
    Request forward, backward;
    std::optional<Request> check{}; // asked first; nothing: taken back, it leaves no trace
};

// The answers of those that have made it; fails when one refused, or none is there.
Result<Hosts::Answers> edit_everywhere(Hosts& hosts, const EditRequests& edit,
                                       Hosts::Patience patience);

// What was answered, by host, in the order of their names; refusals are left out.
template <typename Answer>
Result<OfHosts<Answer>> understood(const Hosts::Answers& answers) {
    OfHosts<Answer> understood;
    for (const auto& [host, answer] : answers) {
        if (!answer)
            continue;
        auto one = decoded<Answer>(*answer);
        if (!one)
            return Error{"read", "what " + host->name() + " answers", "it cannot be understood",
                         "install the same version on both machines"};
        understood.emplace_back(host->name(), std::move(*one));
    }
    std::ranges::sort(understood, {}, &std::pair<std::string, Answer>::first);
    return understood;
}

} // namespace auger::remote
