// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/edits.h"

#include "repl/language/suggest.h"
#include "repl/language/values.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

// Of continuous recording, when the user has not said another: hardly to be noticed, and not in
// step with what happens every hundredth of a second.
constexpr uint32_t interval_rate_hz = 49;

ProbeSetting& at(Settings& settings, ProbeId id) {
    return *std::ranges::find(settings.probes, id, &ProbeSetting::id);
}

// The probe, added to the settings where it is not there yet.
Parsed<ProbeId> find_or_add(Settings& settings, const ProbeRef& ref, const EditContext& context) {
    if (ref.number || settings.find(ref.text)) {
        auto probe = find_probe(settings, ref);
        if (!probe)
            return probe.complaint();
        return probe->id;
    }
    if (settings.target.kind == TargetSpec::Kind::none && !context.replaying)
        return Complaint{
            ref.at, fmt::format("\"{}\" cannot be looked up: there is no target yet", ref.text),
            "first target PID, target NAME or target -- COMMAND", Error::Kind::failed};
    ProbeId id = context.fresh;
    while (settings.find(id))
        id.value++;
    settings.probes.push_back({id, ref.text, {}});
    return id;
}

struct EditOf {
    const EditContext& context;
    Edited edited;

    Parsed<Edited> operator()(const TargetCommand& command) {
        edited.settings.target = *command.spec;
        return std::move(edited);
    }
    Parsed<Edited> operator()(const FilterCommand& command) {
        FilterSpec& filter = edited.settings.filter;
        switch (command.kind) {
        case FilterCommand::Kind::pid:
            filter.pids = command.values.pids;
            break;
        case FilterCommand::Kind::tid:
            filter.tids = command.values.tids;
            break;
        case FilterCommand::Kind::comm:
            filter.comms = command.values.comms;
            break;
        case FilterCommand::Kind::cgroup:
            filter.cgroups = command.values.cgroups;
            break;
        case FilterCommand::Kind::off:
        case FilterCommand::Kind::show:
            filter = {};
            break;
        }
        return std::move(edited);
    }
    Parsed<Edited> operator()(const WindowCommand& command) {
        Window& window = edited.settings.window = *command.window;
        if (!command.until_ns)
            return std::move(edited);
        const uint64_t observed = context.now_ns - context.first_ns;
        if (*command.until_ns > observed)
            return Complaint{
                command.until_at,
                context.first_ns ? fmt::format("this moment lies ahead: {} have been observed",
                                               spell_duration(observed / 1'000'000 * 1'000'000))
                                 : "nothing has been observed yet",
                "give the time since observation began, as `calls` shows it", Error::Kind::failed};
        window.end_ns = context.first_ns + *command.until_ns;
        return std::move(edited);
    }
    Parsed<Edited> operator()(const WayOutCommand& command) {
        edited.settings.way_out = command.way_out;
        return std::move(edited);
    }
    Parsed<Edited> operator()(const OverheadCommand& command) {
        edited.settings.overhead = *command.limit;
        return std::move(edited);
    }
    Parsed<Edited> operator()(const SampleCommand& command) {
        SamplingSettings& sampling = edited.settings.sampling;
        if (!command.only) {
            sampling = command.sampling;
            return std::move(edited);
        }
        if (command.sampling.rate_hz <= sampling.rate_hz)
            return Complaint{
                command.only->at,
                fmt::format("everything is sampled at {} Hz already", sampling.rate_hz),
                "give a higher rate, or first \"sample off\" or a lower one for the rest",
                Error::Kind::failed};
        auto gate = resolved(*command.only);
        if (!gate)
            return gate.complaint();
        sampling.wall |= command.sampling.wall;
        if (command.sampling.waits_hz)
            sampling.waits_hz = command.sampling.waits_hz;
        sampling.raised_hz = command.sampling.rate_hz;
        sampling.raised = std::move(*gate);
        return std::move(edited);
    }
    Parsed<Edited> operator()(const RecordCommand& command) {
        Settings& settings = edited.settings;
        switch (command.kind) {
        case RecordCommand::Kind::off:
            settings.recording.clear();
            settings.intervals = {};
            break;
        case RecordCommand::Kind::stream:
            settings.recording = command.path;
            break;
        case RecordCommand::Kind::intervals:
            settings.intervals = command.intervals;
            if (settings.sampling.rate_hz == 0 && settings.sampling.raised_hz == 0 &&
                !context.replaying) {
                settings.sampling.rate_hz = interval_rate_hz;
                add_note(fmt::format("sampling CPU time at {} Hz", interval_rate_hz));
            }
            break;
        case RecordCommand::Kind::show:
            break;
        }
        return std::move(edited);
    }
    Parsed<Edited> operator()(const TriggerCommand& command) {
        std::vector<Trigger>& triggers = edited.settings.triggers;
        if (command.kind == TriggerCommand::Kind::off) {
            triggers.clear();
            return std::move(edited);
        }
        const bool off = command.kind == TriggerCommand::Kind::off_probe;
        auto id =
            off ? existing(command.probe) : find_or_add(edited.settings, command.probe, context);
        if (!id)
            return id.complaint();
        edited.probe = *id;
        std::erase_if(triggers, [&](const Trigger& trigger) { return trigger.probe == *id; });
        if (off)
            return std::move(edited);
        at(edited.settings, *id).slow = command.threshold;
        triggers.push_back(command.trigger);
        triggers.back().probe = *id;
        return std::move(edited);
    }
    Parsed<Edited> operator()(const ServeCommand& command) {
        std::vector<ServedAddress>& serving = edited.settings.serving;
        const auto known = std::ranges::find(serving, command.address, &ServedAddress::address);
        if (command.kind == ServeCommand::Kind::address) {
            if (known == serving.end())
                serving.push_back({command.address, command.token_file});
            else if (!command.token_file.empty())
                known->token_file = command.token_file;
            return std::move(edited);
        }
        if (command.address.empty())
            serving.clear();
        else if (known != serving.end())
            serving.erase(known);
        else
            return Complaint{command.at, fmt::format("\"{}\" is not served", command.address),
                             "\"serve\" lists what is", Error::Kind::failed};
        return std::move(edited);
    }
    Parsed<Edited> operator()(const TimeCommand& command) {
        auto id = command.off ? existing(command.probe)
                              : find_or_add(edited.settings, command.probe, context);
        if (!id)
            return id.complaint();
        edited.probe = *id;
        at(edited.settings, *id).off = command.off;
        return std::move(edited);
    }
    Parsed<Edited> operator()(const SlowCommand& command) {
        const bool off = command.threshold.kind == Threshold::Kind::none;
        auto id =
            off ? existing(command.probe) : find_or_add(edited.settings, command.probe, context);
        if (!id)
            return id.complaint();
        edited.probe = *id;
        ProbeSetting& probe = at(edited.settings, *id);
        probe.slow = command.threshold;
        if (off && end_trigger(*id))
            add_note("what it triggered has ended");
        probe.conditions.slow_if = command.slow_if;
        probe.conditions.show = command.show;
        probe.conditions.show_default = command.show_default;
        return std::move(edited);
    }
    Parsed<Edited> operator()(const SplitCommand& command) {
        SplitSetting& split = edited.settings.split;
        if (!command.probe && !split.active)
            return Complaint{command.at, "there is no split whose probe this could mean",
                             "name it: split PROBE at ..., split PROBE if ..., split PROBE by ...",
                             Error::Kind::failed};
        const auto id = command.probe ? find_or_add(edited.settings, *command.probe, context)
                                      : Parsed<ProbeId>(split.probe);
        if (!id)
            return id.complaint();
        edited.probe = *id;
        if (!split.active || split.probe != *id)
            split = {true, *id, {}, false};
        if (command.threshold) {
            split.threshold = *command.threshold;
            split.so_far = command.so_far;
        }
        if (command.branch)
            split.branch = *command.branch;
        if (command.label)
            split.label = *command.label;
        return std::move(edited);
    }
    Parsed<Edited> operator()(const OnlyCommand& command) {
        if (command.kind == OnlyCommand::Kind::calls) {
            auto id = command.only_if.empty()
                          ? existing(command.probe)
                          : find_or_add(edited.settings, command.probe, context);
            if (!id)
                return id.complaint();
            edited.probe = *id;
            at(edited.settings, *id).conditions.only_if = command.only_if;
            return std::move(edited);
        }
        OnlyInfo only;
        if (command.kind == OnlyCommand::Kind::condition) {
            auto gate = resolved(command.condition);
            if (!gate)
                return gate.complaint();
            only.text = command.condition.text;
            only.gate = std::move(*gate);
            only.lines = command.condition.lines;
            only.line_clauses = command.condition.line_clauses;
            if (!only.lines.empty() && edited.settings.probes.empty())
                edited.note = "until calls are timed (time, split), no line is seen in any";
        }
        edited.settings.only = std::move(only);
        return std::move(edited);
    }
    Parsed<Edited> operator()(const ThresholdCommand& command) {
        auto id = existing(command.probe);
        if (!id)
            return id.complaint();
        edited.probe = *id;
        SplitSetting& split = edited.settings.split;
        ProbeSetting& probe = at(edited.settings, *id);
        if (split.active && split.probe == *id) {
            split.threshold = command.threshold;
            if (probe.slow.kind != Threshold::Kind::none)
                edited.note = fmt::format("slow calls are still traced above {}",
                                          spell_threshold(probe.slow));
        } else if (probe.slow.kind != Threshold::Kind::none) {
            probe.slow = command.threshold;
        } else {
            const std::string value = spell_threshold(command.threshold);
            return Complaint{
                command.probe.at,
                fmt::format("\"{}\" is only timed: it has no threshold", probe.text),
                fmt::format("use split {0} > {1}, or slow {0} > {1}", probe.text, value),
                Error::Kind::failed};
        }
        return std::move(edited);
    }
    Parsed<Edited> operator()(const UnsplitCommand&) {
        edited.settings.split = {};
        return std::move(edited);
    }
    Parsed<Edited> operator()(const DeleteCommand& command) {
        for (const ProbeRef& ref : command.probes) {
            auto id = existing(ref);
            if (!id)
                return id.complaint();
            if (edited.settings.split.active && edited.settings.split.probe == *id) {
                edited.settings.split = {};
                add_note("the split on it has ended");
            }
            if (needs_probe(edited.settings.only.gate, *id)) {
                edited.settings.only = {};
                add_note("`only`, which needs it, has ended");
            }
            if (needs_probe(edited.settings.sampling.raised, *id)) {
                edited.settings.sampling.raised_hz = 0;
                edited.settings.sampling.raised = {};
                add_note("the raised rate, which needs it, has ended");
            }
            if (end_trigger(*id))
                add_note("what it triggered has ended");
            std::erase_if(edited.settings.probes,
                          [&](const ProbeSetting& probe) { return probe.id == *id; });
        }
        return std::move(edited);
    }
    Parsed<Edited> operator()(const RuleCommand& command) {
        std::vector<Rule>& rules = edited.settings.rules;
        if (command.rule.kind != Rule::Kind::fold_recursion || !has(rules, command.rule))
            rules.push_back(command.rule);
        return std::move(edited);
    }
    Parsed<Edited> operator()(const RulesCommand& command) {
        std::vector<Rule> left;
        for (const RulesCommand::Number& one : command.numbers)
            if (one.number < 1 || one.number > context.settings.rules.size())
                return Complaint{one.at, fmt::format("there is no rule {}", one.number),
                                 "\"rules\" lists them", Error::Kind::failed};
        for (size_t i = 0; i < context.settings.rules.size() && !command.numbers.empty(); i++)
            if (std::ranges::find(command.numbers, i + 1, &RulesCommand::Number::number) ==
                command.numbers.end())
                left.push_back(context.settings.rules[i]);
        edited.settings.rules = std::move(left);
        return std::move(edited);
    }
    // Not edits: see is_edit.
    Parsed<Edited> operator()(const auto&) { return std::move(edited); }

  private:
    static bool has(const std::vector<Rule>& rules, const Rule& rule) {
        return std::ranges::find(rules, rule) != rules.end();
    }
    void add_note(std::string_view text) {
        edited.note += edited.note.empty() ? "" : "; ";
        edited.note += text;
    }

    // Whether there was one.
    bool end_trigger(ProbeId probe) {
        return std::erase_if(edited.settings.triggers,
                             [&](const Trigger& trigger) { return trigger.probe == probe; }) > 0;
    }

    // The gate with its probes, which are timed from now on if they are not yet.
    Parsed<Gate> resolved(const KeepCondition& condition) {
        Gate gate = condition.gate;
        for (size_t i = 0; i < gate.terms.size(); ++i) {
            if (!condition.probes[i])
                continue;
            auto id = find_or_add(edited.settings, *condition.probes[i], context);
            if (!id)
                return id.complaint();
            gate.terms[i].probe = *id;
        }
        return gate;
    }

    Parsed<ProbeId> existing(const ProbeRef& ref) {
        auto probe = find_probe(edited.settings, ref);
        if (!probe)
            return probe.complaint();
        return probe->id;
    }
};

struct IsEdit {
    bool operator()(const TargetCommand& c) const { return c.spec.has_value(); }
    bool operator()(const FilterCommand& c) const { return c.kind != FilterCommand::Kind::show; }
    bool operator()(const WindowCommand& c) const { return c.window.has_value(); }
    bool operator()(const WayOutCommand&) const { return true; }
    bool operator()(const OverheadCommand& c) const { return c.limit.has_value(); }
    bool operator()(const SampleCommand&) const { return true; }
    bool operator()(const TimeCommand&) const { return true; }
    bool operator()(const SlowCommand&) const { return true; }
    bool operator()(const SplitCommand&) const { return true; }
    bool operator()(const ThresholdCommand&) const { return true; }
    bool operator()(const UnsplitCommand&) const { return true; }
    bool operator()(const OnlyCommand& c) const { return c.kind != OnlyCommand::Kind::show; }
    bool operator()(const DeleteCommand&) const { return true; }
    bool operator()(const RecordCommand& c) const { return c.kind != RecordCommand::Kind::show; }
    bool operator()(const TriggerCommand& c) const { return c.kind != TriggerCommand::Kind::show; }
    bool operator()(const ServeCommand& c) const { return c.kind != ServeCommand::Kind::show; }
    bool operator()(const RuleCommand&) const { return true; }
    bool operator()(const RulesCommand& c) const { return c.kind == RulesCommand::Kind::off; }
    bool operator()(const auto&) const { return false; }
};

} // namespace

bool is_edit(const Command& command) {
    return std::visit(IsEdit{}, command);
}

Parsed<Edited> edit(const Command& command, const EditContext& context) {
    return std::visit(EditOf{context, {context.settings, std::nullopt, {}}}, command);
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
