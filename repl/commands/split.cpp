// SPDX-License-Identifier: GPL-3.0-or-later
// split, unsplit: samples are classed by what the enclosing call turned out to do.
#include "repl/commands/commands.h"
#include "repl/language/keep_condition.h"
#include "repl/language/probe_arguments.h"
#include "repl/language/sections.h"
#include "repl/session/edit_command.h"
#include "repl/session/spelling.h"
#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace auger {
namespace {

void spell_split(const Settings& settings, std::vector<std::string>& lines) {
    const SplitSetting& split = settings.split;
    if (!split.active)
        return;
    std::string line = "split " + spell_probe(settings, split.probe);
    if (split.threshold.kind != Threshold::Kind::none)
        line +=
            fmt::format(" > {}{}", spell_threshold(split.threshold), split.so_far ? " so-far" : "");
    if (!split.branch.empty())
        line += " " + split.branch.text();
    if (!split.label.empty())
        line += " by " + split.label;
    lines.push_back(std::move(line));
}

constexpr SettingRow split_setting{
    .order = SettingRow::Order::with_probes,
    .same = same_members<&Settings::split>,
    .apply = [](const Settings& to, Backend& backend,
                Services&) { return backend.set_split(to.split.info()); },
    .spell = spell_split,
    .end_without = [](Settings& settings, ProbeId probe) -> std::string {
        if (!settings.split.active || settings.split.probe != probe)
            return {};
        settings.split = {};
        return "the split on it has ended";
    },
};

// The parts that are given; those in force on the same probe stay.
struct Split final : EditCommand {
    std::optional<ProbeRef> probe; // else that of the split in force
    Span at;                       // of the first part, where there is no probe
    std::optional<Threshold> threshold;
    bool so_far = false; // belongs to the threshold
    std::optional<Branch> branch;
    std::optional<std::string> label;

    Parsed<void> edit(SettingsEdit& edit) const override {
        SplitSetting& split = edit.settings.split;
        if (!probe && !split.active)
            return Complaint{at, "there is no split whose probe this could mean",
                             "name it: split PROBE at ..., split PROBE if ..., split PROBE by ...",
                             Error::Kind::failed};
        if (probe) {
            auto found = edit.find_or_add(*probe);
            if (!found)
                return found.complaint();
            if (!split.active || split.probe != (*found)->id)
                split = {true, (*found)->id, {}, false};
        } else {
            edit.probe = split.probe;
        }
        if (threshold) {
            split.threshold = *threshold;
            split.so_far = so_far;
        }
        if (branch)
            split.branch = *branch;
        if (label)
            split.label = *label;
        edit.note_if_off(split.probe);
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        const SplitSetting& split = outcome.now.split;
        std::string text = fmt::format("split by {}", probe_name(*outcome.probe));
        if (split.threshold.kind != Threshold::Kind::none)
            text += fmt::format(" > {}{}", spell_threshold(split.threshold),
                                split.so_far ? ", by the time elapsed so far" : "");
        if (!split.branch.empty())
            text += fmt::format(", taken or not {}", escape_untrusted(split.branch.text()));
        if (!split.label.empty())
            text += fmt::format(", by {}", escape_untrusted(split.label));
        return text;
    }
    const ProbeRef* makes() const override { return probe ? &*probe : nullptr; }
    std::string next_step(const ProbeSetting&) const override {
        return threshold ? "\"flame slow\" and \"diff\" show what slow calls do"
               : branch  ? "\"flame taken\" and \"diff taken not-taken\" show the difference"
                         : "\"flame\" lists the values, and \"flame =VALUE\" shows one";
    }
};

struct Unsplit final : EditCommand {
    Parsed<void> edit(SettingsEdit& edit) const override {
        edit.settings.split = {};
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return outcome.before.split.active ? "no split" : "there was no split";
    }
};

constexpr std::array<std::string_view, 3> part_keywords{"at", "if", "by"};

// Whether a part stands here and no probe that is called like its keyword.
bool begins_part(Arguments arguments) {
    if (arguments.at_end() || arguments.peek().quoted ||
        std::ranges::find(part_keywords, arguments.peek().text) == part_keywords.end())
        return false;
    arguments.take();
    return arguments.at_end() || !arguments.peek().comparison;
}

Parsed<std::string> line_of(const Section& section) {
    return source_line_of({section.text, section.at, false, false});
}

Parsed<void> parse_parts(Arguments& arguments, Split& command) {
    auto sections = parse_sections(arguments, part_keywords);
    if (!sections)
        return sections.complaint();
    for (const Section& section : *sections) {
        auto text = section.keyword == "at"   ? line_of(section)
                    : section.keyword == "if" ? predicate_of(section)
                                              : expression_of(section);
        if (!text)
            return text.complaint();
        if (section.keyword == "by") {
            command.label = std::move(*text);
            continue;
        }
        if (command.branch)
            return Complaint{section.at, "a split has one branch: a line or a predicate", "",
                             Error::Kind::usage};
        command.branch = section.keyword == "at" ? Branch::at_line(*std::move(text))
                                                 : Branch::on_condition(*std::move(text));
    }
    return {};
}

// `split in py:app.handler`: there are such classes without a split.
std::optional<Complaint> asks_for_stacks(Arguments arguments) {
    if (arguments.at_end() || arguments.peek().quoted || !arguments.take_if("in") ||
        arguments.at_end() || arguments.peek().comparison)
        return std::nullopt;
    const Word& function = arguments.take();
    const std::string name = spell_word(function.text);
    return Complaint{function.span, "what is on a sample's stack needs no split",
                     fmt::format("\"flame in={0}\" and \"flame in!={0}\" show samples with it on "
                                 "the stack and all others, \"only in {0}\" keeps the former",
                                 name),
                     Error::Kind::usage};
}

Parsed<CommandPtr> parse_split(Arguments& arguments) {
    auto command = std::make_unique<Split>();
    if (auto complaint = asks_for_stacks(arguments))
        return *complaint;
    if (!begins_part(arguments)) {
        auto probe = parse_probe(arguments);
        if (!probe)
            return probe.complaint();
        if (probe->text == "off" && arguments.at_end())
            return as_command(std::make_unique<Unsplit>());
        command->probe = std::move(*probe);
        if (!begins_part(arguments)) {
            auto threshold = parse_threshold_value(arguments, *command->probe);
            if (!threshold)
                return threshold.complaint();
            command->threshold = *threshold;
            command->so_far = arguments.take_if("so-far");
        }
    } else {
        command->at = arguments.peek().span;
    }
    if (auto parts = parse_parts(arguments, *command); !parts)
        return parts.complaint();
    return as_command(std::move(command));
}

Parsed<CommandPtr> parse_unsplit(Arguments&) {
    return as_command(std::make_unique<Unsplit>());
}

} // namespace

CommandRow split_command() {
    return {
        .name = "split",
        .letter = "sp",
        .group = "Calls",
        .usage = "split [PROBE] [> PERCENTILE | DURATION [so-far]] [at FILE:LINE | if PREDICATE] "
                 "[by EXPRESSION]",
        .summary = "class the samples by what the enclosing call turned out to do",
        .details = R"help(
Each sample is classified by the outermost call of PROBE around it ("help classes"):
  > p95           slow or fast, by how long it took; open while it runs. A percentile
                  follows the load. so-far: by the time elapsed at the sample.
  at FILE:LINE    taken or not-taken: whether that line was executed in the call
  if PREDICATE    taken or not-taken: whether it holds for the call ("help expressions")
  by EXPRESSION   =VALUE: by the value of the expression; "METERED (1)" is also =METERED and =1
Parts combine, and so do their classes: slow+taken, fast+not-taken, slow+=3. A part given for the
probe in force (which may be left out) replaces that part only; another probe begins a new split.
Times the function if it is not timed yet. What was collected before is split by duration, too;
lines and values are known for calls that begin from now on.)help",
        .examples = R"help(split handle > p95
split handle > 10ms so-far
split handle at main.cc:1290
split if arg2 > 4096
split handle > p95 at main.cc:1290 by req->type)help",
        .arguments = {{.probe = true, .function = true, .words = "at if by"},
                      {.words = "> at if by"},
                      {.words = threshold_words},
                      {.words = "so-far at if by"},
                      {.words = "at if by"}},
        .parse = parse_split,
        .settings = {&split_setting},
    };
}

CommandRow unsplit_command() {
    return {
        .name = "unsplit",
        .group = "Calls",
        .usage = "unsplit",
        .summary = "end the split, with all its parts; the probe stays timed",
        .arguments = {{}},
        .parse = parse_unsplit,
    };
}

} // namespace auger
