// SPDX-License-Identifier: GPL-3.0-or-later
// doctor: what this kernel and these privileges allow.
#include "repl/commands/commands.h"
#include "repl/session/session.h"
#include "views/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

std::string state_name(Capability::State state) {
    switch (state) {
    case Capability::State::available:
        return "yes";
    case Capability::State::degraded:
        return "partly";
    case Capability::State::missing:
        break;
    }
    return "no";
}

std::string capability_lines(const std::vector<Capability>& capabilities) {
    size_t width = 0;
    for (const Capability& capability : capabilities)
        width = std::max(width, capability.name.size());
    std::string out;
    for (const Capability& capability : capabilities) {
        out += fmt::format("{:<7}{:<{}}  {}\n", state_name(capability.state),
                           escape_untrusted(capability.name), width,
                           escape_untrusted(capability.detail));
        if (!capability.remedy.empty())
            out += fmt::format("{:7}{:<{}}  to do: {}\n", "", "", width,
                               escape_untrusted(capability.remedy));
    }
    return out;
}

JsonObject json_capabilities(const std::vector<Capability>& capabilities) {
    JsonObject list = JsonObject::array();
    for (const Capability& capability : capabilities)
        list.push_back({{"name", escape_untrusted(capability.name)},
                        {"state", state_name(capability.state)},
                        {"detail", escape_untrusted(capability.detail)},
                        {"remedy", escape_untrusted(capability.remedy)}});
    return list;
}

struct Doctor final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        const auto capabilities = session.backend().capabilities();
        JsonObject object = json_reply(place.name);
        object["capabilities"] = json_capabilities(capabilities);
        return Reply(capability_lines(capabilities), json_line(object));
    }
};

Parsed<CommandPtr> parse_doctor(Arguments&) {
    return as_command(std::make_unique<Doctor>());
}

} // namespace

CommandRow doctor_command() {
    return {
        .name = "doctor",
        .group = "Session",
        .usage = "doctor",
        .summary = "what this kernel and these privileges allow",
        .arguments = {{}},
        .parse = parse_doctor,
    };
}

} // namespace auger
