// SPDX-License-Identifier: GPL-3.0-or-later
// record: the event stream goes to a file; or the samples of each interval to files of their own.
#include "loader/reports/host_report.h"
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "repl/language/file_arguments.h"
#include "repl/session/edit_command.h"
#include "views/escape.h"
#include "views/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace auger {
namespace {

// Among the formats of an interval's files: a recording, which is no export.
constexpr std::string_view own_form = "auger";

std::string describe(const IntervalFiles& files) {
    std::vector<std::string_view> formats;
    if (files.recordings)
        formats.push_back(own_form);
    for (const ExportFormat* format : files.formats)
        formats.push_back(format->name);
    return fmt::format("recording intervals of {} to {} as {}, the latest {} stay",
                       spell_duration(files.every_ns), escape_untrusted(files.folder),
                       fmt::join(formats, " and "), files.keep);
}

std::string written(uint64_t count, std::string_view what, const std::string& last) {
    std::string text = fmt::format("; {}{} written", count, what);
    if (!last.empty())
        text += fmt::format(", the last is of {}", last);
    return text;
}

// To begin it again would overwrite it: it is not saved.
constexpr SettingRow recording_setting{
    .same = same_members<&Settings::recording>,
    .apply = [](const Settings& to, Backend& backend,
                Services&) { return backend.record(to.recording); },
};

constexpr SettingRow intervals_setting{
    .same = same_members<&Settings::intervals>,
    .apply = [](const Settings& to, Backend&,
                Services& services) { return services.record_intervals(to.intervals); },
    .spell =
        [](const Settings& settings, std::vector<std::string>& lines) {
            const IntervalFiles& files = settings.intervals;
            if (files.folder.empty())
                return;
            std::string line = fmt::format("record {} every {} keep {}", spell_word(files.folder),
                                           spell_duration(files.every_ns), files.keep);
            if (files.recordings)
                line += fmt::format(" {}", own_form);
            for (const ExportFormat* format : files.formats)
                line += fmt::format(" {}", format->name);
            lines.push_back(std::move(line));
        },
};

// Of several hosts each has a file of its own.
std::string recording_to(const Session& session, const std::string& path) {
    const std::vector<HostReport> hosts = session.backend().hosts();
    // Those behind a relay (relay/web1) are one machine's.
    const auto own = std::ranges::count_if(
        hosts, [](const HostReport& host) { return host.name.find('/') == std::string::npos; });
    if (own < 2)
        return "recording to " + escape_untrusted(path);
    return fmt::format("recording each of {} hosts to {}", own,
                       escape_untrusted(path_of_host(path, "HOST")));
}

struct ShowRecord final : Command {
    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        const Settings& settings = session.settings();
        std::vector<std::string> lines;
        if (!settings.recording.empty())
            lines.push_back(recording_to(session, settings.recording));
        if (!settings.intervals.folder.empty()) {
            const IntervalWriter& intervals = session.services().intervals();
            lines.push_back(describe(settings.intervals));
            if (!settings.intervals.formats.empty())
                lines.back() += written(intervals.written(), "", intervals.last_stamp());
            if (const uint64_t late = intervals.late_samples())
                lines.back() +=
                    fmt::format("; {} samples came after their interval was written", late);
            if (settings.intervals.recordings) {
                const IntervalRecordings own = session.backend().interval_recordings();
                lines.back() += written(own.written, " recordings", own.last);
                if (own.failed)
                    lines.back() += fmt::format("; {} are not whole", own.failed);
            }
        }
        if (lines.empty())
            lines.emplace_back("nothing is being recorded");
        return reply_lines(place.name, lines);
    }
};

struct RecordOff final : EditCommand {
    Parsed<void> edit(SettingsEdit& edit) const override {
        edit.settings.recording.clear();
        edit.settings.intervals = {};
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        const Settings& before = outcome.before;
        std::string text;
        if (!before.recording.empty())
            text = fmt::format("recorded {}", escape_untrusted(before.recording));
        if (!before.intervals.folder.empty())
            text += fmt::format("{}no more intervals are recorded to {}", text.empty() ? "" : "; ",
                                escape_untrusted(before.intervals.folder));
        return text.empty() ? "there was no recording" : text;
    }
    // A stream would overwrite what was recorded: undo() lets it be.
    bool can_be_undone(const Settings& before) const override {
        return before.recording.empty() || !before.intervals.folder.empty();
    }
};

struct RecordStream final : EditCommand {
    std::string path;

    Parsed<void> edit(SettingsEdit& edit) const override {
        edit.settings.recording = path;
        return {};
    }
    std::string told(const Session& session, const EditOutcome& outcome) const override {
        return recording_to(session, outcome.now.recording);
    }
};

struct RecordIntervals final : EditCommand {
    IntervalFiles files;

    Parsed<void> edit(SettingsEdit& edit) const override {
        edit.settings.intervals = files;
        edit.sample_all_day();
        return {};
    }
    std::string told(const Session&, const EditOutcome& outcome) const override {
        return describe(outcome.now.intervals);
    }
};

// Behind `DIR every`.
Parsed<CommandPtr> parse_intervals(Arguments& arguments, std::string folder) {
    auto command = std::make_unique<RecordIntervals>();
    IntervalFiles& files = command->files;
    files.folder = std::move(folder);
    auto every = parse_span(arguments, "an interval", second_ns, day_ns);
    if (!every)
        return every.complaint();
    files.every_ns = *every;
    files.keep = default_keep;
    if (arguments.take_if("keep")) {
        auto keep = parse_keep(arguments);
        if (!keep)
            return keep.complaint();
        files.keep = *keep;
    }
    while (!arguments.at_end()) {
        if (arguments.take_if(own_form)) {
            files.recordings = true;
            continue;
        }
        auto format = parse_format(arguments);
        if (!format) {
            Complaint complaint = format.complaint();
            if (!complaint.hint.empty())
                complaint.hint += fmt::format(" {}", own_form);
            return complaint;
        }
        if (std::ranges::find(files.formats, *format) == files.formats.end())
            files.formats.push_back(*format);
    }
    if (files.formats.empty() && !files.recordings)
        files.formats = {find_export_format("collapsed"), find_export_format("html")};
    return as_command(std::move(command));
}

Parsed<CommandPtr> parse_record(Arguments& arguments) {
    if (arguments.at_end())
        return as_command(std::make_unique<ShowRecord>());
    if (arguments.take_if("off"))
        return as_command(std::make_unique<RecordOff>());
    auto path = parse_path(arguments, "a file");
    if (!path)
        return path.complaint();
    if (arguments.take_if("every"))
        return parse_intervals(arguments, std::move(*path));
    auto command = std::make_unique<RecordStream>();
    command->path = std::move(*path);
    return as_command(std::move(command));
}

std::string record_details() {
    return fmt::format(R"help(
FILE: the whole event stream, with everything defined so far, so that `auger --replay FILE` answers
the same commands elsewhere, without privileges; it can be read however auger ends. Of what is there
by that name only a recording of yours, or an empty file, is replaced.

DIR every SPAN: continuous profiling. The samples of each interval become files of their own,
profile_TIME in UTC, and links last_profile lead to the latest; files of all but the latest N
intervals (default {}) are removed. Intervals follow each other without a gap. FORMAT, several of:
{}; default: collapsed and html. Unless something is sampled already, CPU time is, at 49 Hz.

FORMAT auger: the stream of each interval as a recording, recording_TIME.auger, which opens by
itself; only these can be split anew. `auger --replay DIR --from -15m` reads what is of that time.
Each event is in one of them, by when it happened: a call in that in which it ended, so that one
which spans two has its samples in both, and in the first alone is open. With several hosts (-H)
each has its own folder, DIR/HOST, with its latest N; `auger --replay DIR` reads them all.

`record` alone says what is being recorded.)help",
                       default_keep, format_names());
}

} // namespace

CommandRow record_command() {
    return {
        .name = "record",
        .group = "Files",
        .usage = "record FILE | DIR every SPAN [keep N] [FORMAT...] | off",
        .summary = "write the event stream to a file, or files of each interval",
        .details = record_details(),
        .examples = R"help(record slow.auger
record /var/lib/auger every 60s keep 1440
record profiles every 10s keep 6 pprof
record /var/lib/auger every 60s keep 1440 auger
record off)help",
        .arguments = {{.file = true, .words = "off"},
                      {.words = "every"},
                      {.words = "10s 60s"},
                      {.words = "keep"},
                      {}},
        .parse = parse_record,
        .settings = {&recording_setting, &intervals_setting},
    };
}

} // namespace auger
