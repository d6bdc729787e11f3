// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/status_line.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/short_name.h"
#include "views/tail.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

struct Item {
    std::string text;
    Style style = Style::plain;
    int rank = 0; // what goes first when there is no room: the highest
};

uint64_t lost_events(const LedgerEvent& ledger, std::string& cause) {
    uint64_t all = 0, most = 0;
    for (const auto& [name, count] : ledger.lost) {
        all += count;
        if (count > most) {
            most = count;
            cause = name;
        }
    }
    return all;
}

// How many there are; of those that are not live, who they are.
Item hosts_item(const std::vector<HostReport>& hosts) {
    constexpr size_t most_named = 2;
    const auto live = [](const HostReport& host) { return host.state == HostReport::State::live; };
    const auto well = static_cast<size_t>(std::ranges::count_if(hosts, live));
    if (well == hosts.size())
        return {fmt::format("{} host{}", well, well == 1 ? "" : "s"), Style::plain, 5};
    std::string text = fmt::format("{} of {} hosts", well, hosts.size());
    size_t named = 0;
    for (const HostReport& host : hosts)
        if (!live(host) && named++ < most_named)
            text +=
                fmt::format("{} {} {}", named == 1 ? ":" : ",", host.name, state_text(host.state));
    if (named > most_named)
        text += fmt::format(", {} more", named - most_named);
    return {text, Style::warning, 1};
}

std::vector<Item> items_of(const Model& model, const ScreenState& state, const ClassSums& sums,
                           bool frozen, bool unicode, bool wide) {
    std::vector<Item> items;
    items.push_back({state.target.empty() ? "no target" : state.target, Style::title, 0});
    if (!state.hosts.empty())
        items.push_back(hosts_item(state.hosts));
    if (frozen)
        items.push_back({"FROZEN", Style::warning, 0});
    if (state.replaying)
        items.push_back({state.ended ? "replayed" : "replaying", Style::dim, 6});
    else if (state.ended)
        items.push_back({"ended", Style::warning, 1});
    else
        items.push_back(
            {state.rate_hz > 0 ? format_rate(state.rate_hz) : "not sampling", Style::plain, 3});
    items.push_back({format_window(state.window, model.first_ns()), Style::plain, 4});
    const SampleSum whole = sums.sum();
    items.push_back({fmt::format("{} samples", format_count(whole.samples)), Style::plain, 5});
    if (model.split().active) {
        const ProbeInfo* probe = model.find_probe(model.split().probe);
        const std::string name = probe ? display_name(probe->text) : "?";
        if (model.split().threshold.kind != Threshold::Kind::none)
            items.push_back(
                {fmt::format("{} > {}", elide_middle(name, 24, ellipsis(unicode)),
                             threshold_text(model.split().threshold, model.split_state())),
                 Style::number, 1});
        if (const std::string tail = probe ? tail_text(tail_of(model, *probe)) : ""; !tail.empty())
            items.push_back({tail, Style::warning, 1});
        if (model.split_near_sample_gap())
            items.push_back({"threshold too short for samples", Style::warning, 1});
        for (CallClass c : all_call_classes) {
            if (sums[c].weight_ns > 0)
                items.push_back({fmt::format("{} {}{}", to_string(c),
                                             format_percent(sums[c].weight_ns / whole.weight_ns),
                                             c == CallClass::slow && wide ? " of time" : ""),
                                 style_of(c), c == CallClass::slow ? 2 : 7});
        }
    }
    if (!model.only().text.empty())
        items.push_back({"only " + model.only().text, Style::number, 2});
    if (!state.filter.empty())
        items.push_back({"filter " + state.filter, Style::number, 2});
    if (!state.replaying && state.overhead > 0)
        items.push_back(
            {fmt::format("overhead {}", format_percent(state.overhead)), Style::dim, 6});
    std::string cause;
    if (const uint64_t lost = lost_events(model.ledger(), cause))
        items.push_back(
            {fmt::format("lost {} ({})", format_count(static_cast<double>(lost)), cause),
             Style::warning, 1});
    if (state.symbols.pending > 0)
        items.push_back({fmt::format("{} names to come",
                                     format_count(static_cast<double>(state.symbols.pending))),
                         Style::dim, 8});
    return items;
}

} // namespace

void draw_status_line(Canvas& canvas, size_t y, const Model& model, const ScreenState& state,
                      const ClassSums& sums, bool frozen, bool unicode) {
    std::vector<Item> items = items_of(model, state, sums, frozen, unicode, canvas.width() >= 110);
    const auto width = [&] {
        size_t columns = 0;
        for (const Item& item : items)
            columns += text_width(escape_untrusted(item.text)) + 2;
        return columns;
    };
    while (items.size() > 1 && width() > canvas.width() + 1) {
        // The last of the least needed.
        auto least = items.begin();
        for (auto it = items.begin(); it != items.end(); ++it) {
            if (it->rank >= least->rank)
                least = it;
        }
        items.erase(least);
    }
    size_t x = 1;
    for (const Item& item : items)
        x = canvas.put(x, y, elide_middle(escape_untrusted(item.text), canvas.width()),
                       item.style) +
            2;
    canvas.fill(0, y, canvas.width(), Fill::bar);
}

} // namespace auger
