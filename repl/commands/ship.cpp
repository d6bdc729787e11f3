// SPDX-License-Identifier: GPL-3.0-or-later
// ship: each interval's samples go to an engine that stores profiles.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/file_arguments.h"
#include "repl/language/url_argument.h"
#include "repl/language/values.h"
#include "repl/session/edit_command.h"
#include "views/escape.h"
#include "views/format.h"
#include "views/shipping_text.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {
namespace {

constexpr uint64_t usual_interval_ns = 10 * second_ns;
constexpr uint64_t usual_keep_ns = 6 * 3'600 * second_ns, longest_keep_ns = 30 * day_ns;
constexpr uint64_t usual_spool_bytes = 256 << 20, least_spool_bytes = 1 << 20,
                   most_spool_bytes = uint64_t{1} << 40;

// Each takes a copy of the process for every interval.
constexpr size_t most_receivers = 8;

std::string describe(const Shipping& shipping, const std::string& folder) {
    return fmt::format(
        "shipping intervals of {} to {} {}; they wait in {} for {} at most, and in {}",
        spell_duration(shipping.every_ns), shipping.protocol->name, escape_untrusted(shipping.url),
        escape_untrusted(folder), format_duration(static_cast<double>(shipping.keep_ns)),
        spell_size(shipping.bytes));
}

std::string spell_one(const Shipping& shipping) {
    std::string line = fmt::format("ship {} {} every {}", shipping.protocol->name,
                                   spell_word(shipping.url), spell_duration(shipping.every_ns));
    const auto add = [&](std::string_view keyword, const std::string& word) {
        if (!word.empty())
            line += fmt::format(" {} {}", keyword, spell_word(word));
    };
    add("as", shipping.service);
    add("headers", shipping.header_file);
    add("ca", shipping.certificate_file);
    add("spool", shipping.spool);
    line += fmt::format(" keep {} size {}", spell_duration(shipping.keep_ns),
                        spell_size(shipping.bytes));
    if (shipping.threads)
        line += " threads";
    return line;
}

void spell_shipping(const Settings& settings, std::vector<std::string>& lines) {
    for (const Shipping& shipping : settings.shipping)
        lines.push_back(spell_one(shipping));
}

constexpr SettingRow shipping_setting{
    .same = same_members<&Settings::shipping>,
    .apply = [](const Settings& to, Backend&,
                Services& services) { return services.ship(to.shipping); },
    .spell = spell_shipping,
};

struct ShowShipping final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        using Count = ShippingStatus::Count;
        const Shippers& shippers = session.services().shippers();
        std::vector<std::string> lines;
        for (const Shipping& shipping : session.settings().shipping) {
            const ShippingStatus status = shippers.status(shipping);
            lines.push_back(describe(shipping, shippers.folder(shipping)));
            lines.push_back("intervals: " + shipping_sum(status, &Count::intervals));
            lines.push_back("samples: " + shipping_sum(status, &Count::samples));
            lines.push_back(format_bytes(static_cast<double>(status.bytes)) + " in the spool");
            for (const std::string& note : shipping_notes(status))
                lines.push_back(escape_untrusted(note));
        }
        if (lines.empty())
            return reply_lines(place.name, {"nothing is shipped"});
        return reply_lines(place.name, lines);
    }
};

// To one receiver or, without a URL, to all.
struct EndShipping final : EditCommand {
    std::string url;
    Span url_at;

    Parsed<void> edit(SettingsEdit& edit) const override {
        const auto is_meant = [this](const Shipping& one) { return url.empty() || one.url == url; };
        if (std::erase_if(edit.settings.shipping, is_meant) == 0 && !url.empty())
            return Complaint{url_at, "nothing is shipped there", "`ship` lists the receivers"};
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        std::vector<std::string> ended;
        for (const Shipping& before : outcome.before.shipping)
            if (std::ranges::none_of(outcome.now.shipping, [&](const Shipping& one) {
                    return one.is_to_the_same(before);
                }))
                ended.push_back(escape_untrusted(before.url));
        return ended.empty()
                   ? "nothing was shipped"
                   : fmt::format("no more intervals are shipped to {}", fmt::join(ended, ", "));
    }
};

struct Ship final : EditCommand {
    Shipping shipping;
    Span receiver_at; // where it is named

    Parsed<void> edit(SettingsEdit& edit) const override {
        std::vector<Shipping>& all = edit.settings.shipping;
        const auto known = std::ranges::find_if(
            all, [this](const Shipping& one) { return one.is_to_the_same(shipping); });
        if (known != all.end())
            *known = shipping;
        else if (all.size() == most_receivers)
            return Complaint{receiver_at, fmt::format("at most {} receivers", most_receivers),
                             "a collector can send on what it gets; `ship off URL` ends one"};
        else
            all.push_back(shipping);
        edit.sample_all_day();
        return {};
    }
    std::string told(const Session& session, const EditOutcome&) const override {
        return describe(shipping, session.services().shippers().folder(shipping));
    }
};

Parsed<const ReceiverProtocol*> parse_protocol(Arguments& arguments) {
    std::vector<std::string> names;
    for (const ReceiverProtocol& protocol : receiver_protocols())
        names.emplace_back(protocol.name);
    auto chosen = arguments.expect_choice("a protocol", names);
    if (!chosen)
        return chosen.complaint();
    return &receiver_protocols()[*chosen];
}

// Takes what the value of a keyword is.
template <typename Value>
Parsed<void> assign(Value& to, Parsed<Value> value) {
    if (!value)
        return value.complaint();
    to = std::move(*value);
    return {};
}

Parsed<void> parse_options(Arguments& arguments, Shipping& shipping) {
    const auto path = [&](const char* what) { return parse_path(arguments, what); };
    while (!arguments.at_end()) {
        Parsed<void> taken;
        if (arguments.take_if("every"))
            taken =
                assign(shipping.every_ns, parse_span(arguments, "an interval", second_ns, day_ns));
        else if (arguments.take_if("as"))
            taken = assign(shipping.service, path("the service"));
        else if (arguments.take_if("headers"))
            taken = assign(shipping.header_file, path("a file of headers"));
        else if (arguments.take_if("ca"))
            taken = assign(shipping.certificate_file, path("a file of certificates"));
        else if (arguments.take_if("spool"))
            taken = assign(shipping.spool, path("a folder"));
        else if (arguments.take_if("keep"))
            taken = assign(shipping.keep_ns, parse_span(arguments, "how long intervals wait",
                                                        60 * second_ns, longest_keep_ns));
        else if (arguments.take_if("size"))
            taken = assign(shipping.bytes, parse_size(arguments, "the spool's size",
                                                      least_spool_bytes, most_spool_bytes));
        else if (arguments.take_if("threads"))
            shipping.threads = true;
        else
            break; // who asked complains of what is left
        if (!taken)
            return taken;
    }
    return {};
}

Parsed<CommandPtr> parse_ship(Arguments& arguments) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowShipping>());
    if (arguments.take_if("off")) {
        auto end = std::make_unique<EndShipping>();
        if (!arguments.at_end()) {
            end->url_at = arguments.span_of(arguments.position());
            auto url = parse_server_url(arguments);
            if (!url)
                return url.complaint();
            end->url = std::move(*url);
        }
        return as_command(std::move(end));
    }
    auto command = std::make_unique<Ship>();
    command->receiver_at = arguments.span_of(arguments.position());
    Shipping& shipping = command->shipping;
    auto protocol = parse_protocol(arguments);
    if (!protocol)
        return protocol.complaint();
    shipping.protocol = *protocol;
    auto url = parse_server_url(arguments);
    if (!url)
        return url.complaint();
    shipping.url = std::move(*url);
    shipping.every_ns = usual_interval_ns;
    shipping.keep_ns = usual_keep_ns;
    shipping.bytes = usual_spool_bytes;
    if (auto options = parse_options(arguments, shipping); !options)
        return options.complaint();
    return as_command(std::move(command));
}

std::string ship_details() {
    std::string rows;
    for (const ReceiverProtocol& protocol : receiver_protocols())
        rows += fmt::format("  {:<18}{}\n", protocol.name, protocol.about);
    return fmt::format(R"help(
Continuous profiling with an engine that stores profiles. The samples of each interval (default 10s)
wait as a file in a spool, and go from there to the receiver. PROTOCOL, and who takes it:
{}
URL is that of the receiver; the protocol's own path is added. Unless something is sampled already,
CPU time is, at 49 Hz. Each command adds a receiver, and none waits for another; the same protocol
and URL again replaces its options. `off URL` ends one, `off` all of them.

  as NAME       the name of the service (default: each process's name, and "kernel" for the
                kernel's own threads; with pyroscope-ingest, the target's name)
  headers FILE  a file of headers that are sent along, one a line, as Authorization: Bearer TOKEN;
                nobody else may be able to read it. It is read anew for each request
  ca FILE       certificates of who may sign the receiver's (PEM), instead of those that this
                machine trusts
  spool DIR     where intervals wait (default: a folder of the receiver's own in
                ~/.local/state/auger/ship); those that are found there are sent, too
  keep SPAN, size SIZE  how long (default 6h), and in how much room (default 256M); the oldest go
  threads       tell threads apart: stores make a series of each

While the receiver is not there, or answers 429, 502, 503 or 504, intervals wait: 1 to 60 seconds from
one attempt to the next, or as long as it asks to. They also wait at 401 and 403 if there is a file of
headers, since its token may be replaced. With protocols other than otlp, an interval that is answered
with 408, 409 or 500 is sent again behind the others, until it has failed for an hour in which the
receiver took others. After any other answer it is not sent again. An interval larger than receivers
take at once is sent in parts. Each interval is found or written, then shipped, refused, given up or still waiting: `status`, /metrics and
`ship` alone say how many. What is not taken within five seconds of auger's end waits for the next
time. --ship does the same at startup: --ship 'otlp http://collector:4318 every 10s'.)help",
                       rows);
}

} // namespace

CommandRow ship_command() {
    return {
        .name = "ship",
        .group = "Files",
        .usage = "ship PROTOCOL URL [every SPAN] [as NAME] [headers FILE] [ca FILE] [spool DIR] "
                 "[keep SPAN] [size SIZE] [threads] | off [URL]",
        .summary = "send profiles of each interval to an engine that stores them",
        .details = ship_details(),
        .examples = R"help(ship otlp http://collector:4318 every 10s
ship pyroscope https://pyroscope.example:4040 as shop headers /etc/auger/headers
ship parca http://127.0.0.1:7070 every 60s spool /var/lib/auger/spool keep 24h size 1G
ship off http://127.0.0.1:7070
ship off)help",
        .arguments = {{.words = "otlp pyroscope pyroscope-ingest parca off"},
                      {.words = "http:// https://"},
                      {.file = true, .words = "every as headers ca spool keep size threads"}},
        .parse = parse_ship,
        .settings = {&shipping_setting},
    };
}

} // namespace auger
