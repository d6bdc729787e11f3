// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/edit_everywhere.h"

namespace auger::remote {

Result<Hosts::Answers> edit_everywhere(Hosts& hosts, const Request& forward,
                                       const Request& backward, std::chrono::nanoseconds longest) {
    const auto none_is_there = [] {
        return Error{"ask", "the hosts", "none of them is there",
                     "`status` says why; they are tried again and again"};
    };
    // Who is silent would do it when nobody expects it any more.
    for (const auto& host : hosts.all())
        if (host->state() == Host::State::stale)
            host->lose("it was silent while something was changed", hosts.now_ns());
    const auto give_to_joining = [&](const Request& request) {
        for (const auto& host : hosts.all())
            if (host->state() == Host::State::joining)
                host->give(request);
    };
    const std::vector<Host*> live = hosts.live();
    if (live.empty())
        return none_is_there();
    give_to_joining(forward);
    Hosts::Answers answers = hosts.ask(live, forward, longest, true);
    if (answers.empty())
        return none_is_there();
    OfHosts<Error> refused;
    std::vector<Host*> made;
    for (Host* host : live) {
        const auto answer = answers.find(host);
        if (answer == answers.end())
            continue; // it is lost
        if (answer->second)
            made.push_back(host);
        else
            refused.emplace_back(host->name(), answer->second.error());
    }
    if (refused.empty())
        return answers;
    give_to_joining(backward);
    for (const auto& [host, answer] : hosts.ask(made, backward, longest, true))
        if (!answer)
            host->lose("what was changed cannot be taken back: " + answer.error().message(),
                       hosts.now_ns());
    return joined(refused, answers.size());
}

} // namespace auger::remote
