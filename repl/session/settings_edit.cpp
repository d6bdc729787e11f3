// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/settings_edit.h"

#include "repl/language/suggest.h"
#include "repl/language/syscall_probe.h"
#include "repl/session/spelling.h"
#include "views/model/function_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace auger {
namespace {

// "deflate" of "libz:deflate"; a "::" is part of the name.
std::string_view without_library(std::string_view text) {
    for (size_t at = 0; (at = text.find(':', at)) != std::string_view::npos; at += 2) {
        if (text.substr(at, 2) != "::")
            return text.substr(at + 1);
    }
    return text;
}

} // namespace

void SettingsEdit::add_note(std::string_view text) {
    note += note.empty() ? "" : "; ";
    note += text;
}

ProbeSetting* SettingsEdit::at(ProbeId id) {
    return &*std::ranges::find(settings.probes, id, &ProbeSetting::id);
}

void SettingsEdit::note_if_off(ProbeId id) {
    const ProbeSetting* const found = settings.find(id);
    if (found && found->off && !context.replaying)
        add_note(fmt::format("{} is off, so it has no calls: \"time {}\" attaches it again",
                             found->text, spell_probe(found->text)));
}

void SettingsEdit::sample_all_day() {
    // Hardly to be noticed, and not in step with what happens every hundredth of a second.
    constexpr uint32_t rate_hz = 49;
    SamplingSettings& sampling = settings.sampling;
    if (sampling.rate_hz != 0 || sampling.raised_hz != 0 || context.replaying)
        return;
    sampling.rate_hz = rate_hz;
    add_note(fmt::format("sampling CPU time at {} Hz", rate_hz));
}

Parsed<ProbeId> SettingsEdit::id_of(const ProbeRef& ref) {
    if (ref.number || settings.find(ref.text)) {
        auto found = find_probe(settings, ref);
        if (!found)
            return found.complaint();
        return found->id;
    }
    if (settings.target.kind == TargetSpec::Kind::none && !context.replaying)
        return Complaint{
            ref.at, fmt::format("\"{}\" cannot be looked up: there is no target yet", ref.text),
            "first target PID, target NAME or target -- COMMAND", Error::Kind::failed};
    ProbeId id = context.fresh;
    while (settings.find(id))
        id.value++;
    ProbeSetting made{id, ref.text, {}};
    if (is_syscall_probe(ref.text)) {
        auto span = syscall_span(ref.text, ref.at);
        if (!span)
            return span.complaint();
        made.span = std::move(*span);
    }
    settings.probes.push_back(std::move(made));
    return id;
}

Parsed<ProbeSetting*> SettingsEdit::existing(const ProbeRef& ref) {
    auto found = find_probe(settings, ref);
    if (!found)
        return found.complaint();
    probe = found->id;
    return at(found->id);
}

Parsed<ProbeSetting*> SettingsEdit::find_or_add(const ProbeRef& ref) {
    auto id = id_of(ref);
    if (!id)
        return id.complaint();
    probe = *id;
    return at(*id);
}

Parsed<Gate> SettingsEdit::resolved(const KeepCondition& condition) {
    Gate gate = condition.gate;
    for (size_t i = 0; i < gate.terms.size(); ++i) {
        if (!condition.probes[i])
            continue;
        auto id = id_of(*condition.probes[i]);
        if (!id)
            return id.complaint();
        gate.terms[i].probe = *id;
        note_if_off(*id);
    }
    return gate;
}

void SettingsEdit::delete_probe(ProbeId id) {
    for (const SettingRow* row : context.table) {
        const std::string ended = row->end_without ? row->end_without(settings, id) : "";
        if (!ended.empty())
            add_note(ended);
    }
    std::erase_if(settings.probes, [&](const ProbeSetting& each) { return each.id == id; });
}

Parsed<ProbeSetting> find_probe(const Settings& settings, const ProbeRef& ref) {
    if (ref.number) {
        if (const ProbeSetting* probe = settings.find(ProbeId{*ref.number}))
            return *probe;
        return Complaint{ref.at, fmt::format("there is no probe {}", *ref.number),
                         settings.probes.empty() ? "\"time FUNCTION\" makes one"
                                                 : "\"probes\" lists them",
                         Error::Kind::failed};
    }
    if (const ProbeSetting* probe = settings.find(ref.text))
        return *probe;
    std::vector<const ProbeSetting*> meant;
    for (const ProbeSetting& probe : settings.probes) {
        if (without_library(probe.text) == ref.text)
            meant.push_back(&probe);
    }
    if (meant.empty())
        for (const ProbeSetting& probe : settings.probes)
            if (names_function(without_library(probe.text), ref.text))
                meant.push_back(&probe);
    if (meant.size() == 1)
        return *meant[0];
    if (!meant.empty())
        return Complaint{
            ref.at, fmt::format("\"{}\" could be any of {} probes", ref.text, meant.size()),
            fmt::format("one of: {}",
                        fmt::join(meant | std::views::transform([](const ProbeSetting* probe) {
                                      return probe->text;
                                  }),
                                  ", ")),
            Error::Kind::failed};
    std::vector<std::string> texts;
    for (const ProbeSetting& probe : settings.probes)
        texts.push_back(probe.text);
    std::string hint = did_you_mean(ref.text, texts);
    if (hint.empty())
        hint = fmt::format("\"time {}\" makes it{}", ref.text,
                           texts.empty() ? "" : "; \"probes\" lists those there are");
    return Complaint{ref.at, fmt::format("\"{}\" is not timed", ref.text), std::move(hint),
                     Error::Kind::failed};
}

} // namespace auger
