// SPDX-License-Identifier: GPL-3.0-or-later
// explain: which of the functions within a function's calls make some of them take longer.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/syscall_probe.h"
#include "repl/session/edit_command.h"
#include "repl/session/probe_report.h"
#include "repl/session/spelling.h"
#include "views/escape.h"
#include "views/format.h"
#include "views/model/explanation.h"
#include "views/model/part_candidates.h"
#include "views/short_name.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace auger {
namespace {

constexpr size_t most_picked = 8;
// Of a function that is picked: more calls would cost more than the answer is worth. Seen within
// `trial`, after which it is taken off again.
constexpr double most_calls_per_second = 20'000;
constexpr std::chrono::nanoseconds trial = std::chrono::milliseconds(100);
constexpr size_t place_rows = 5;
constexpr double calls_to_wait_for = 200;

void spell_explain(const Settings& settings, std::vector<std::string>& lines) {
    const ExplainRequest& explain = settings.explain;
    if (!explain.active)
        return;
    std::vector<std::string> by;
    for (const ProbeId id : explain.by)
        by.push_back(spell_probe(settings, id));
    lines.push_back(fmt::format("explain {}{}{}", spell_probe(settings, explain.probe),
                                by.empty() ? "" : " by ", fmt::join(by, ", ")));
}

constexpr SettingRow explain_setting{
    .order = SettingRow::Order::with_probes,
    .same = same_members<&Settings::explain>,
    .apply = [](const Settings& to, Backend& backend,
                Services&) { return backend.set_explained(to.explain); },
    .spell = spell_explain,
    .end_without = [](Settings& settings, ProbeId probe) -> std::string {
        ExplainRequest& explain = settings.explain;
        const bool part = std::erase(explain.by, probe) > 0;
        if (!explain.active || (probe != explain.probe && !(part && explain.by.empty())))
            return {};
        explain = {};
        return "its calls are no longer told with their parts";
    },
};

struct ExplainOff final : EditCommand {
    Parsed<void> edit(SettingsEdit& edit) const override {
        edit.settings.explain = {};
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return outcome.before.explain.active ? "nothing is explained any more; probes stay"
                                             : "nothing was explained";
    }
};

// Why nothing was picked that could have been.
struct Picking {
    std::vector<std::string> picked;  // probes
    std::vector<std::string> skipped; // with reasons
    uint64_t samples = 0;             // that it rests on
    bool tried = false;
};

struct Explain final : Command {
    std::optional<ProbeRef> probe; // else that of the setting in force
    std::vector<ProbeRef> by;
    bool automatic = false; // pick more functions from samples
    std::optional<size_t> limit;

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (session.backend().replaying())
            return show_recorded(session, place);
        SettingsEdit edit(session.edit_context());
        if (auto edited = change(edit, place); !edited)
            return edited.complaint();
        const Settings before = session.settings();
        const bool anew = !(before.explain == edit.settings.explain);
        Execution execution = session.editor().change(std::move(edit.settings));
        if (execution.error)
            return complaint_of(*execution.error, probe ? place_of(*execution.error) : place.at);
        if (auto refreshed = session.backend().refresh(); !refreshed)
            return complaint_of(refreshed.error(), place.at);
        Picking picking;
        if (automatic || (anew && by.empty() && !times_others(session.settings())))
            picking = pick(session);
        if (!(session.settings() == before))
            session.editor().note_undo(std::string(place.text()), before);
        const ProbeId id = session.settings().explain.probe;
        if (!anew && picking.picked.empty() && !automatic) {
            if (auto complaint = not_ready(session, place))
                return *complaint;
            return show_table(session, place, id);
        }
        return begun(session, place, execution, picking);
    }

  private:
    Parsed<Reply> show_table(const Session& session, const CommandPlace& place, ProbeId id) const {
        const Model& model = session.model();
        auto reply = show(
            session, place, [&] { return explain_view(model, session.view_options(limit), id); },
            [&] { return Lines{explain_json(model, session.settings().window, id, limit)}; });
        if (!reply || reply->text.empty() || session.backend().replaying())
            return reply;
        if (const ProbeSetting* whole = session.settings().find(id); whole && whole->off)
            reply->text += fmt::format("{0} is off, so no more calls come: \"time {0}\" attaches "
                                       "it again\n",
                                       spell_probe(whole->text));
        const std::vector<std::string> unused = not_called(session, id);
        if (!unused.empty())
            reply->text +=
                fmt::format("Timed, but not called in it so far: {}\n", fmt::join(unused, ", "));
        return reply;
    }

    Parsed<Reply> show_recorded(Session& session, const CommandPlace& place) const {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        const bool has_any = !session.model().explained_calls().calls().empty();
        if (!probe && has_any)
            return show_table(session, place, last_explained(session.model()));
        if (!probe)
            return Complaint{place.at, "the recording has no calls with their parts",
                             "record while \"explain PROBE\" is in force", Error::Kind::failed};
        const auto id = shown_probe(session, *probe);
        if (!id)
            return id.complaint();
        if (!by.empty() || automatic)
            return Complaint{probe->at,
                             "a recording's calls have the parts that they were "
                             "recorded with",
                             fmt::format("explain {}", spell_word(probe->text)),
                             Error::Kind::failed};
        const Explanation found = explain_calls(session.model(), Window(), *id);
        if (!found.calls && !found.incomplete)
            return Complaint{
                probe->at, "the recording has no calls of it with their parts",
                fmt::format("record while \"explain {}\" is in force", spell_word(probe->text)),
                Error::Kind::failed};
        return show_table(session, place, *id);
    }
    static ProbeId last_explained(const Model& model) {
        return model.specs()[model.explained_calls().calls().back().spec.index()].probe;
    }

    // What is to be in force, before anything is picked.
    Parsed<void> change(SettingsEdit& edit, const CommandPlace& place) const {
        ExplainRequest& explain = edit.settings.explain;
        if (!probe) {
            if (!explain.active)
                return Complaint{place.at, "nothing is explained so far",
                                 "name a function: explain PROBE", Error::Kind::failed};
            return {};
        }
        auto whole = edit.find_or_add(*probe);
        if (!whole)
            return whole.complaint();
        const ProbeId id = (*whole)->id;
        if (!explain.active || explain.probe != id) {
            explain = {true, id, {}};
            (*whole)->off = false;
        }
        if (by.empty())
            return {};
        explain.by.clear();
        for (const ProbeRef& part : by) {
            auto found = edit.find_or_add(part);
            if (!found)
                return found.complaint();
            if ((*found)->id == id)
                return Complaint{part.at, "a function cannot be a part of itself",
                                 "what is left of it is shown anyhow", Error::Kind::usage};
            (*found)->off = false;
            if (std::ranges::find(explain.by, (*found)->id) == explain.by.end())
                explain.by.push_back((*found)->id);
        }
        return {};
    }
    Span place_of(const Error& error) const {
        for (const ProbeRef& part : by)
            if (part.text == error.subject)
                return part.at;
        return probe->at;
    }
    static bool times_others(const Settings& settings) {
        const ProbeSetting* whole = settings.find(settings.explain.probe);
        return (whole && !whole->span.empty()) ||
               std::ranges::any_of(settings.probes, [&](const ProbeSetting& each) {
                   return each.id != settings.explain.probe && !each.off && each.span.empty();
               });
    }

    static Picking pick(Session& session) {
        Picking picking;
        picking.tried = true;
        // A command that has not begun has none; to look at them would run it to its end.
        if (session.model().samples().size() == 0 || !session.prepare_view())
            return picking;
        const ProbeId whole = session.settings().explain.probe;
        const PartCandidates candidates = part_candidates(session.model(), whole, most_picked);
        picking.samples = candidates.samples;
        if (candidates.samples < least_samples_to_pick)
            return picking;
        std::vector<ProbeId> ids;
        for (const PartCandidate& candidate : candidates.functions) {
            if (candidate.probe.empty() || is_syscall_probe(candidate.probe)) {
                picking.skipped.emplace_back(
                    "a function whose name means something else as a probe");
                continue;
            }
            SettingsEdit edit(session.edit_context());
            auto added = edit.find_or_add(ProbeRef{candidate.probe, {}, {}});
            if (!added)
                continue;
            const ProbeId id = (*added)->id;
            if (!edit.settings.explain.by.empty())
                edit.settings.explain.by.push_back(id);
            const Execution execution = session.editor().change(std::move(edit.settings));
            if (execution.error) {
                picking.skipped.push_back(escape_untrusted(execution.error->message()));
                continue;
            }
            picking.picked.push_back(candidate.probe);
            ids.push_back(id);
        }
        take_off_hot(session, ids, picking);
        return picking;
    }
    // Probes that are hit too often for what they tell.
    static void take_off_hot(Session& session, const std::vector<ProbeId>& ids, Picking& picking) {
        if (ids.empty() || !session.live())
            return;
        const Backend& backend = session.backend();
        const auto count = [&] {
            (void)session.backend().refresh();
            std::vector<double> entries;
            for (const ProbeId id : ids)
                entries.push_back(session.model().probe_statistics(id).entries);
            return entries;
        };
        const std::vector<double> before = count();
        const uint64_t begin_ns = backend.now_ns(), end_ns = begin_ns + uint64_t{trial.count()};
        for (uint64_t now_ns = begin_ns; now_ns < end_ns; now_ns = backend.now_ns())
            if (const auto more = session.step(std::chrono::nanoseconds(end_ns - now_ns));
                !more || !*more)
                break;
        const std::vector<double> after = count();
        const double seconds =
            std::max(static_cast<double>(backend.now_ns() - begin_ns) / 1e9, 1e-3);
        for (size_t i = ids.size(); i-- > 0;) {
            const double rate = (after[i] - before[i]) / seconds;
            if (rate <= most_calls_per_second)
                continue;
            SettingsEdit edit(session.edit_context());
            edit.delete_probe(ids[i]);
            if (session.editor().change(std::move(edit.settings)).error)
                continue;
            picking.skipped.push_back(fmt::format("{}: called {} times a second",
                                                  display_name(picking.picked[i]),
                                                  format_count(rate)));
            picking.picked.erase(picking.picked.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    static std::vector<std::string> not_called(const Session& session, ProbeId whole) {
        const Model& model = session.model();
        const Explanation found = explain_calls(model, session.settings().window, whole);
        std::vector<std::string> names;
        if (found.of_span || !found.calls)
            return names;
        const std::vector<ProbeId>& by = session.settings().explain.by;
        for (const ProbeSetting& each : session.settings().probes)
            if (each.id != whole && !each.off && each.span.empty() && !model.is_counted(each.id) &&
                (by.empty() || std::ranges::find(by, each.id) != by.end()) &&
                std::ranges::none_of(found.functions, [&](const ExplainedPart& part) {
                    return !part.rest && model.specs()[part.spec.index()].probe == each.id;
                }))
                names.push_back(escape_untrusted(each.text));
        return names;
    }

    // "ask again after some 200 calls (about 12 s)".
    static std::string when_to_ask(const Session& session, const ProbeSetting& whole) {
        const Model& model = session.model();
        std::string text = fmt::format("ask again after some {} calls", calls_to_wait_for);
        const double calls = model.probe_statistics(whole.id).returns,
                     seconds = static_cast<double>(model.now_ns() - model.first_ns()) / 1e9;
        if (calls >= 10 && model.first_ns())
            text += fmt::format(" (about {})",
                                format_duration(calls_to_wait_for * seconds / calls * 1e9));
        return text + fmt::format(": explain {}", spell_probe(whole.text));
    }

    Parsed<Reply> begun(Session& session, const CommandPlace& place, const Execution& execution,
                        const Picking& picking) const {
        const Settings& settings = session.settings();
        const ProbeSetting& whole = *settings.find(settings.explain.probe);
        std::vector<std::string> parts;
        for (const ProbeSetting& each : settings.probes)
            if (each.id != whole.id && !each.off && each.span.empty() && whole.span.empty() &&
                !session.model().is_counted(each.id) &&
                (settings.explain.by.empty() ||
                 std::ranges::find(settings.explain.by, each.id) != settings.explain.by.end()))
                parts.push_back(each.text);
        JsonObject object = json_reply(place.name);
        object["probe"] = whole.id.value;
        object["text"] = escape_untrusted(whole.text);
        object["by"] = names_of(parts, escape_untrusted);
        std::string text = fmt::format("explaining {}", display_name(whole.text));
        if (!parts.empty())
            text += fmt::format(" by {}", fmt::join(names_of(parts, display_name), ", "));
        std::string lines;
        for (const auto& [id, report] : execution.reports) {
            add_report(object, report);
            lines += report_lines(report, place_rows);
        }
        if (picking.tried) {
            object["picked"] = names_of(picking.picked, escape_untrusted);
            object["left_out"] = picking.skipped;
            object["samples"] = picking.samples;
            lines += picked_lines(whole, picking);
        }
        lines += "  " + when_to_ask(session, whole) + "\n";
        Reply reply = Reply::message(std::move(text), std::move(object));
        reply.text += lines;
        return reply;
    }
    template <typename Form>
    static std::vector<std::string> names_of(const std::vector<std::string>& probes, Form form) {
        std::vector<std::string> names;
        for (const std::string& probe : probes)
            names.push_back(form(probe));
        return names;
    }
    static std::string picked_lines(const ProbeSetting& whole, const Picking& picking) {
        std::string lines;
        if (!picking.picked.empty())
            lines += fmt::format("  picked from {} samples, and timed: {}\n",
                                 format_count(static_cast<double>(picking.samples)),
                                 fmt::join(names_of(picking.picked, display_name), ", "));
        else if (picking.samples < least_samples_to_pick)
            lines += fmt::format("  no function within it is picked: {} samples in calls of it are "
                                 "too few; \"sample wall 499\", then \"explain {} auto\", or name "
                                 "them: \"explain {} by ...\"\n",
                                 picking.samples, spell_probe(whole.text), spell_probe(whole.text));
        else
            lines += "  no further function within it that can be timed takes much of it\n";
        for (const std::string& skipped : picking.skipped)
            lines += fmt::format("  left out: {}\n", skipped);
        return lines;
    }
};

// by F, F ...: separated by commas or blanks.
Parsed<std::vector<ProbeRef>> parse_parts(Arguments& arguments) {
    std::vector<ProbeRef> parts;
    while (!arguments.at_end() && (arguments.peek().quoted || arguments.peek().text != "-n")) {
        Word word = arguments.take();
        if (word.quoted) {
            if (word.text.ends_with(','))
                word.text.pop_back();
            parts.push_back(probe_ref(word));
            continue;
        }
        const std::string text = word.text;
        for (size_t begin = 0; begin <= text.size();) {
            const size_t end = std::min(text.find(',', begin), text.size());
            if (end > begin)
                parts.push_back(probe_ref({.text = text.substr(begin, end - begin),
                                           .span = {word.span.offset + begin, end - begin}}));
            begin = end + 1;
        }
    }
    if (parts.empty())
        return arguments.missing("a function");
    return parts;
}

Parsed<CommandPtr> parse_explain(Arguments& arguments) {
    if (arguments.left() == 1 && !arguments.peek().quoted && arguments.take_if("off"))
        return as_command(std::make_unique<ExplainOff>());
    auto command = std::make_unique<Explain>();
    if (!arguments.at_end() && (arguments.peek().quoted || arguments.peek().text != "-n")) {
        auto probe = parse_probe(arguments);
        if (!probe)
            return probe.complaint();
        command->probe = std::move(*probe);
        if (arguments.take_if("auto")) {
            command->automatic = true;
        } else if (arguments.take_if("by")) {
            auto parts = parse_parts(arguments);
            if (!parts)
                return parts.complaint();
            command->by = std::move(*parts);
        }
    }
    auto rows = take_rows(arguments);
    if (!rows)
        return rows.complaint();
    command->limit = *rows;
    return as_command(std::move(command));
}

} // namespace

CommandRow explain_command() {
    return {
        .name = "explain",
        .group = "Views",
        .usage = "explain [PROBE [by FUNCTION, FUNCTION ... | auto]] [-n ROWS]   or   explain off",
        .summary = "which of the functions within a call make some calls take longer",
        .details = R"help(
The first `explain PROBE` starts recording, for each call of PROBE, the time that every timed
function took in it; repeat it to see the table. The functions are those timed with `time`. If there
are none, explain picks up to eight from the samples (the innermost ones that matter to the duration
of the calls) and times them; any called more than 20,000 times a second is taken off again. `auto`
picks more, from what was sampled since; `by` names them. `explain off` ends it; the probes stay.

A call's duration is the sum of its parts: the own time of each function (without that of other parts
that it called) and the rest, which is PROBE's own and that of what is not timed. So is its variance
the sum of the parts' covariances with the duration:
  variance    the part's share of it. They add up to 100 %; below 0: the part is shorter in long
              calls.
  95 % CI     the share's confidence interval (White's of a regression, HC3; Student's t with as
              many degrees of freedom as calls make up the variance)
  duration    its share of the mean duration
  mean        its time in a call
  slow calls  by how much longer it is in calls beyond p95 than in the others
  calls       of the function in one call of PROBE
With `sample wall` a second table has the same for running, waiting blocked and waiting for a CPU. A
span has that table alone, with parked and queued time.

Above some 1,000 calls a second only the longest calls are all recorded; of the others a random share
is, each weighted for those that it stands for. Left out, and counted, are calls in which another
timed call's end was not seen (exceptions, longjmp, tail calls between timed functions), and calls on
a stack other than the thread's own. A recursive call of PROBE is part of the outer one. Exchanges,
spans that end at a tracepoint and Go functions cannot be explained.)help",
        .examples = R"help(explain handle
explain handle by parse, lookup, 'reply_*'
explain handle auto
explain -n 5
explain off)help",
        .arguments = {{.probe = true, .function = true, .words = "off -n"},
                      {.words = "by auto -n"},
                      {.probe = true, .function = true, .words = "-n"}},
        .parse = parse_explain,
        .settings = {&explain_setting},
    };
}

} // namespace auger
