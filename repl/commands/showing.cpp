// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/showing.h"

#include "repl/session/evaluate.h"

namespace auger {

std::optional<Complaint> not_ready(Session& session, const CommandPlace& place,
                                   const ClassFilter& filter) {
    if (auto ready = session.prepare_view(); !ready)
        return complaint_of(ready.error(), place.at);
    if (auto lacking = lacking_part(session.model(), filter))
        return complaint_of(*lacking, place.at);
    return std::nullopt;
}

Parsed<ProbeId> shown_probe(const Session& session, const ProbeRef& ref) {
    auto probe = find_probe(session.settings(), ref);
    if (probe)
        return probe->id;
    const auto& known = session.model().probes();
    for (auto each = known.rbegin(); each != known.rend(); ++each) {
        if (ref.number ? each->first.value == *ref.number : each->second.text == ref.text)
            return each->first;
    }
    return probe.complaint();
}

Parsed<std::optional<ProbeId>> shown_probe(const Session& session,
                                           const std::optional<ProbeRef>& ref) {
    if (!ref)
        return std::optional<ProbeId>();
    const auto probe = shown_probe(session, *ref);
    if (!probe)
        return probe.complaint();
    return std::optional(*probe);
}

Parsed<double> value_of(const Session& session, const Quantity& quantity, Span at) {
    EvaluateContext context{session.model(), session.settings().window, std::nullopt,
                            session.target_ended()};
    if (quantity.of_probe()) {
        auto probe = shown_probe(session, *quantity.probe);
        if (!probe)
            return probe.complaint();
        context.probe = *probe;
    }
    auto value = evaluate(quantity, context);
    if (!value)
        return complaint_of(value.error(), quantity.text.empty() ? at : quantity.at);
    return *value;
}

Result<Lines> one(Result<std::string> json) {
    if (!json)
        return json.error();
    return Lines{std::move(*json)};
}

Reply reply_lines(std::string_view command, const std::vector<std::string>& lines) {
    JsonObject object = json_reply(command);
    object["lines"] = lines;
    std::string text;
    for (const std::string& line : lines)
        text += line + "\n";
    return Reply(std::move(text), json_line(object));
}

} // namespace auger
