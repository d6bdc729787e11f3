// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that show: views, and settings asked for without a value.
#include "repl/session/runner.h"

#include "repl/session/edits.h"
#include "repl/session/spell_settings.h"
#include "views/escape.h"
#include "views/exports/collapsed.h"
#include "views/format.h"
#include "views/json/json_views.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

namespace auger {
namespace {

using Lines = std::vector<std::string>;

constexpr size_t process_rows = 10;

Result<Lines> one(Result<std::string> json) {
    if (!json)
        return json.error();
    return Lines{std::move(*json)};
}

} // namespace

Complaint complaint_of(const Error& error, Span at) {
    Error without_hint = error;
    without_hint.hint.clear();
    return {at, without_hint.message(), error.hint, error.kind};
}

template <typename Draw, typename Write>
Parsed<Reply> Session::Runner::show(Draw draw, Write write) {
    Reply reply;
    if (session.options_.json) {
        Result<Lines> lines = write();
        if (!lines)
            return complaint_of(lines.error(), at);
        reply.json = std::move(*lines);
    } else {
        Result<Canvas> canvas = draw();
        if (!canvas)
            return complaint_of(canvas.error(), at);
        reply.text = to_text(*canvas, session.options_.view.colour);
    }
    return reply;
}

std::optional<Complaint> Session::Runner::not_ready(const ClassFilter& filter) {
    if (auto ready = session.prepare_view(); !ready)
        return complaint_of(ready.error(), at);
    if (auto lacking = lacking_part(session.model_, filter))
        return complaint_of(*lacking, at);
    return std::nullopt;
}

Parsed<Reply> Session::Runner::operator()(const ViewCommand& command) {
    if (!session.view_possible_ || session.options_.json)
        return Complaint{
            at,
            session.options_.json ? "the view is for people: --json has none"
                                  : "the view needs a terminal, and a prompt to leave to",
            "flame, diff, hist, calls and top print what it shows", Error::Kind::failed};
    session.view_ = command.pane;
    return Reply{};
}

Parsed<Reply> Session::Runner::operator()(const FlameCommand& command) {
    const SampleSelection& query = command.query;
    if (auto complaint = not_ready(query.filter))
        return *complaint;
    const Window window = session.settings_.window;
    if (command.folded) {
        Reply reply;
        reply.text = collapsed_stacks(session.model_, ExportQuery{query, window});
        JsonObject object = json_reply("flame");
        object["folded"] = reply.text;
        reply.json.push_back(json_line(object));
        return reply;
    }
    return show(
        [&] {
            return flame_view(session.model_, session.view_options(), query.filter, query.by,
                              query.under);
        },
        [&] {
            return Lines{flame_json(session.model_, window, query.filter, query.by, query.under)};
        });
}

Parsed<Reply> Session::Runner::operator()(const DiffCommand& command) {
    if (auto complaint = not_ready())
        return *complaint;
    return show(
        [&] {
            return diff_view(session.model_, session.view_options(), command.first, command.second);
        },
        [&] {
            return one(
                diff_json(session.model_, session.settings_.window, command.first, command.second));
        });
}

Parsed<Reply> Session::Runner::operator()(const TopCommand& command) {
    if (auto complaint = not_ready(command.filter))
        return *complaint;
    return show(
        [&] {
            return top_view(session.model_, session.view_options(command.limit), command.filter);
        },
        [&] {
            return Lines{
                top_json(session.model_, session.settings_.window, command.filter, command.limit)};
        });
}

Parsed<Reply> Session::Runner::operator()(const ThreadsCommand& command) {
    if (auto complaint = not_ready(command.filter))
        return *complaint;
    return show(
        [&] {
            return threads_view(session.model_, session.view_options(command.limit),
                                command.filter);
        },
        [&] {
            return Lines{threads_json(session.model_, session.settings_.window, command.filter,
                                      command.limit)};
        });
}

Parsed<Reply> Session::Runner::operator()(const HistCommand& command) {
    if (auto complaint = not_ready())
        return *complaint;
    const auto id = session.shown_probe(command.probe);
    if (!id)
        return id.complaint();
    return show([&] { return hist_view(session.model_, session.view_options(), *id); },
                [&] { return one(hist_json(session.model_, session.settings_.window, *id)); });
}

Parsed<Reply> Session::Runner::operator()(const CallsCommand& command) {
    if (auto complaint = not_ready(command.filter))
        return *complaint;
    const auto probe = session.shown_probe(command.probe);
    if (!probe)
        return probe.complaint();
    return show(
        [&] {
            return calls_view(session.model_, session.view_options(command.limit), *probe,
                              command.filter);
        },
        [&]() -> Result<Lines> {
            auto lines =
                calls_json(session.model_, session.settings_.window, *probe, command.filter);
            // Oldest first: the newest are what a limit keeps, as in the text.
            if (lines && command.limit && lines->size() > *command.limit)
                lines->erase(lines->begin(), lines->end() - static_cast<ptrdiff_t>(*command.limit));
            return lines;
        });
}

Parsed<Reply> Session::Runner::operator()(const ProbesCommand&) {
    if (auto complaint = not_ready())
        return *complaint;
    return show([&] { return probes_view(session.model_, session.view_options()); },
                [&] { return probes_json(session.model_); });
}

namespace {

// The second number of /proc/self/statm is of pages; 0 where there is none.
uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    uint64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

StatusContext Session::status_context() const {
    return {
        backend_.target_status(),      backend_.links(),
        backend_.symbol_progress(),    backend_.unwind_status(),
        backend_.reader_status(),      resident_bytes(),
        spell_raised(settings_),       settings_.overhead.brakes ? settings_.overhead.percent : 0,
        services_.endpoint().clients()};
}

Parsed<Reply> Session::Runner::operator()(const StatusCommand&) {
    if (auto complaint = not_ready())
        return *complaint;
    const StatusContext context = session.status_context();
    return show([&] { return status_view(session.model_, session.view_options(), context); },
                [&] { return Lines{status_json(session.model_, context)}; });
}

Parsed<Reply> Session::Runner::operator()(const TargetCommand&) {
    const TargetStatus status = session.backend_.target_status();
    JsonObject object = json_reply("target");
    object["target"] = describe(session.settings_.target);
    object["processes"] = json_target(status);
    Reply reply =
        Reply::message(fmt::format("target: {}", session.backend_.replaying()
                                                     ? "a recording"
                                                     : describe(session.settings_.target)),
                       std::move(object));
    reply.text += process_lines(status, process_rows);
    return reply;
}

Parsed<Reply> Session::Runner::operator()(const FilterCommand&) {
    return Reply::message(fmt::format("filter: {}", describe(session.settings_.filter)),
                          json_reply("filter"));
}

Parsed<Reply> Session::Runner::operator()(const WindowCommand&) {
    return Reply::message(fmt::format("window: {}", format_window(session.settings_.window,
                                                                  session.model_.first_ns())),
                          json_reply("window"));
}

Parsed<Reply> Session::Runner::operator()(const OnlyCommand&) {
    const std::string& text = session.settings_.only.text;
    JsonObject object = json_reply("only");
    object["only"] = text.empty() ? JsonObject(nullptr) : JsonObject(escape_untrusted(text));
    JsonObject probes = JsonObject::object();
    std::string lines;
    for (const ProbeSetting& probe : session.settings_.probes) {
        if (probe.conditions.only_if.empty())
            continue;
        const std::string name = escape_untrusted(probe.text),
                          predicate = escape_untrusted(probe.conditions.only_if);
        probes[name] = predicate;
        lines += fmt::format("only {} if {}\n", name, predicate);
    }
    object["probes"] = std::move(probes);
    Reply reply = Reply::message(text.empty() ? "everything is kept"
                                              : fmt::format("only {}", escape_untrusted(text)),
                                 std::move(object));
    reply.text += lines;
    return reply;
}

Parsed<Reply> Session::Runner::operator()(const RulesCommand&) {
    JsonObject object = json_reply("rules");
    JsonObject rules = JsonObject::array();
    std::string lines;
    size_t number = 0;
    for (const Rule& rule : session.settings_.rules) {
        const std::string text = escape_untrusted(spell_rule(rule));
        lines += fmt::format("{:>3}  {}\n", ++number, text);
        rules.push_back(text);
    }
    object["rules"] = std::move(rules);
    if (lines.empty())
        return Reply::message("no rules", std::move(object));
    return Reply{std::move(lines), json_line(object)};
}

Parsed<std::optional<ProbeId>> Session::shown_probe(const std::optional<ProbeRef>& ref) const {
    if (!ref)
        return std::optional<ProbeId>();
    const auto probe = shown_probe(*ref);
    if (!probe)
        return probe.complaint();
    return std::optional(*probe);
}

Parsed<ProbeId> Session::shown_probe(const ProbeRef& ref) const {
    auto probe = find_probe(settings_, ref);
    if (probe)
        return probe->id;
    // What a deleted probe collected can still be shown.
    for (auto known = model_.probes().rbegin(); known != model_.probes().rend(); ++known) {
        if (ref.number ? known->first.value == *ref.number : known->second.text == ref.text)
            return known->first;
    }
    return probe.complaint();
}

} // namespace auger
