// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/edit_everywhere.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace auger::remote {

namespace {

// For the question before an edit, and for the edit.
Hosts::Patience half(const Hosts::Patience& patience) {
    return {patience.longest / 2, patience.behind_first / 2};
}

} // namespace

Result<void> check_everywhere(Hosts& hosts, const Request& check, Hosts::Patience patience) {
    std::vector<Host*> asked = hosts.live();
    std::erase_if(asked, [](const Host* host) { return !host->link().checks(); });
    const Hosts::Answers answers =
        hosts.ask(asked, check, half(patience), Hosts::Unanswered::forgotten);
    OfHosts<Error> refused;
    for (const auto& [host, answer] : answers)
        if (!answer)
            refused.emplace_back(host->name(), answer.error());
    if (refused.empty())
        return {};
    return joined(refused, answers.size());
}

Result<Hosts::Answers> edit_everywhere(Hosts& hosts, const EditRequests& edit,
                                       Hosts::Patience patience) {
    const auto none_is_there = [] {
        return Error{"ask", "the hosts", "none of them is there",
                     "`status` says why; they are tried again and again"};
    };
    if (edit.check) {
        if (auto checked = check_everywhere(hosts, *edit.check, patience); !checked)
            return checked.error();
        patience = half(patience);
    }
    const Request &forward = edit.forward, &backward = edit.backward;
    // Who is silent would do it when nobody expects it any more.
    for (const auto& host : hosts.all())
        if (host->state() == Host::State::stale)
            host->lose("it was silent while something was changed", hosts.now_ns());
    const std::vector<Host*> live = hosts.live();
    if (live.empty())
        return none_is_there();
    // They are given it behind the settings in force.
    std::vector<std::pair<Host*, size_t>> following; // each with its n-th agent
    for (const auto& host : hosts.all())
        if (host->state() == Host::State::joining) {
            host->give(forward);
            following.emplace_back(host.get(), host->agents());
        }
    Hosts::Answers answers = hosts.ask(live, forward, patience, Hosts::Unanswered::follow);
    OfHosts<Error> refused;
    std::vector<Host*> made;
    for (Host* host : live) {
        const auto answer = answers.find(host);
        if (answer == answers.end()) {
            if (host->state() == Host::State::joining)
                following.emplace_back(host, host->agents());
            continue; // else it is lost
        }
        if (answer->second)
            made.push_back(host);
        else
            refused.emplace_back(host->name(), answer->second.error());
    }
    if (refused.empty() && !answers.empty())
        return answers;
    for (const auto& [host, agent] : following) {
        if (host->agents() != agent)
            continue; // it is lost, or was, and has not joined anew
        if (host->state() == Host::State::joining)
            host->take_back(backward);
        else if (host->state() == Host::State::stale)
            host->lose("it was silent while something was changed", hosts.now_ns());
        else if (host->live())
            made.push_back(host);
    }
    for (const auto& [host, answer] :
         hosts.ask(made, backward, patience, Hosts::Unanswered::follow))
        if (!answer)
            host->lose("what was changed cannot be taken back: " + answer.error().message(),
                       hosts.now_ns());
    return refused.empty() ? none_is_there() : joined(refused, answers.size());
}

} // namespace auger::remote
