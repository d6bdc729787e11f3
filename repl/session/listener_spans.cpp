// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/listener_spans.h"

#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace auger {

namespace {

// Letters, digits, - and _, as names of spans are.
std::string name_part(const Listener& listener) {
    if (listener.port)
        return std::to_string(listener.port);
    const size_t slash = listener.unix_path.rfind('/');
    std::string name = listener.unix_path.substr(slash == listener.unix_path.npos ? 0 : slash + 1);
    std::ranges::replace_if(
        name,
        [](char c) {
            return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_');
        },
        '-');
    return name.substr(0, 32);
}

} // namespace

std::string spell_listener(const Listener& listener) {
    return listener.port ? fmt::format("port {}", listener.port)
                         : "unix " + spell_word(listener.unix_path);
}

std::vector<ListenerSpan> listener_spans(const Listeners& listeners) {
    std::vector<ListenerSpan> spans;
    std::set<std::string> names;
    for (const Listener& listener : listeners.places) {
        std::string name = "requests";
        if (listeners.places.size() > 1)
            name += "-" + name_part(listener);
        for (int again = 2; !names.insert(name).second; again++)
            name = fmt::format("requests-{}-{}", name_part(listener), again);
        spans.push_back({std::move(name), "exchanges " + spell_listener(listener)});
    }
    return spans;
}

std::string listener_advice(const Listeners& listeners) {
    constexpr size_t most = 4;
    std::vector<std::string> places;
    for (const Listener& listener : listeners.places)
        places.push_back(escape_untrusted(spell_listener(listener)));
    if (places.empty())
        return {};
    if (places.size() > most) {
        std::string rest = fmt::format("{} more", places.size() - most);
        places.resize(most);
        places.push_back(std::move(rest));
    }
    return fmt::format("\"span auto\" times what is asked and answered at {}",
                       fmt::join(places, ", "));
}

} // namespace auger
