// SPDX-License-Identifier: GPL-3.0-or-later
// Lines to commands, commands to replies; errors with their place. What single commands do is in
// run_*.cpp.
#include "repl/session/session.h"

#include "loader/base/guarded.h"
#include "repl/session/edits.h"
#include "repl/session/runner.h"
#include "views/escape.h"
#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

Session::Session(Backend& backend, Model& model, Output& output, Interrupts& interrupts,
                 SessionOptions options)
    : backend_(backend), model_(model), output_(output), interrupts_(interrupts),
      options_(std::move(options)), store_limit_(options_.store_bytes),
      services_(backend, model,
                {[this] { return status_context(); }, [this] { return settings_.window; }}),
      executor_(backend, services_) {}

std::optional<Error::Kind> Session::run(const std::vector<ScriptLine>& lines) {
    first_failure_.reset();
    for (const ScriptLine& line : lines) {
        const bool ok = run_line(line);
        if (quit_ || interrupts_.stopping() || !output_.open())
            break;
        if (!ok && !options_.keep_going)
            break;
    }
    tell_rules();
    return first_failure_;
}

bool Session::run_line(const ScriptLine& line) {
    auto commands = commands_of(line.text);
    if (!commands) {
        report(line, commands.complaint(), "");
        return false;
    }
    bool ok = true;
    for (const CommandText& text : *commands) {
        auto command = parse_command(text, line.text);
        if (!command) {
            const auto row = find_command(text.words.front());
            report(line, command.complaint(), row ? (*row)->name : text.words.front().text);
        } else if (auto reply = run_command(*command, line); !reply) {
            report(line, reply.complaint(), command->row->name);
        } else {
            print(*reply);
            show_notices();
            if (quit_ || interrupts_.stopping() || !output_.open())
                return ok;
            continue;
        }
        show_notices();
        ok = false;
        if (!options_.keep_going)
            return false;
    }
    return ok;
}

Parsed<Reply> Session::run_command(const ParsedCommand& command, const ScriptLine& line) {
    const auto run = [&]() -> Parsed<Reply> {
        if (backend_.replaying())
            adopt_recorded();
        if (!std::holds_alternative<RuleCommand>(command.command))
            tell_rules();
        if (is_edit(command.command))
            return run_edit(command, line);
        return std::visit(Runner{*this, command.at}, command.command);
    };
    return guarded(run, [&](const Error& error) { return complaint_of(error, command.at); });
}

void Session::report(const ScriptLine& line, const Complaint& complaint, std::string_view command) {
    if (!first_failure_)
        first_failure_ = complaint.kind;
    const Diagnostic diagnostic{line, complaint};
    if (options_.json)
        output_.result(json_error(escape_untrusted(command), diagnostic) + "\n");
    else
        output_.error(diagnostic.render());
}

void Session::print(const Reply& reply) {
    if (!options_.json) {
        output_.result(reply.text);
        return;
    }
    std::string lines;
    for (const std::string& line : reply.json)
        lines += line + "\n";
    output_.result(lines);
}

void Session::show_notice(uint64_t time_ns, std::string_view raw) {
    const std::string text = escape_untrusted(raw);
    if (options_.json) {
        JsonObject object = json_reply("notice");
        object["time"] = time_ns;
        object["message"] = text;
        output_.result(json_line(object) + "\n");
    } else {
        output_.notice(text + "\n");
    }
}

void Session::show_notices() {
    const uint64_t received = model_.notices_received();
    const auto& kept = model_.notices();
    const uint64_t fresh = std::min<uint64_t>(received - notices_shown_, kept.size());
    for (auto notice = kept.end() - static_cast<ptrdiff_t>(fresh); notice != kept.end(); ++notice)
        show_notice(notice->time_ns, notice->text);
    notices_shown_ = received;
}

void Session::tend() {
    const auto work = [this]() -> Result<std::vector<std::string>> { return services_.work(); };
    const auto news = guarded(work);
    for (const std::string& line : news ? *news : std::vector{news.error().message()})
        show_notice(backend_.now_ns(), line);
    brake();
}

void Session::adopt_recorded() {
    for (const auto& [id, info] : model_.probes()) {
        executor_.reserve_through(id);
        auto known = std::ranges::find(settings_.probes, id, &ProbeSetting::id);
        if (info.deleted) {
            if (known != settings_.probes.end())
                settings_.probes.erase(known);
        } else if (known == settings_.probes.end()) {
            settings_.probes.push_back({id, info.text, info.slow, info.conditions});
        } else {
            known->slow = info.slow;
            known->conditions = info.conditions;
        }
    }
    const auto setting = [](const SplitInfo& split) {
        return split.active ? SplitSetting{true,         split.probe,  split.threshold,
                                           split.so_far, split.branch, split.label}
                            : SplitSetting{};
    };
    if (!(setting(model_.split()) == setting(recorded_split_)))
        settings_.split = setting(model_.split());
    recorded_split_ = model_.split();
    if (!(model_.only() == recorded_only_)) {
        settings_.only = model_.only();
        settings_.only.marks.clear();
        recorded_only_ = model_.only();
    }
}

Result<bool> Session::pump(std::chrono::nanoseconds timeout, int wake_fd) {
    auto more = guarded(
        [&] { return backend_.poll(services_.idle_time(timeout), services_.wake_fd(wake_fd)); });
    if (const auto news =
            store_limit_.keep(model_, [&] { return backend_.symbol_progress().bytes; }))
        show_notice(backend_.now_ns(), *news);
    show_notices();
    tend();
    return more;
}

namespace {

std::string split_summary(const std::string& probe, const SplitSetting& split) {
    std::string text = probe;
    if (split.threshold.kind != Threshold::Kind::none)
        text += " " + format_threshold(split.threshold);
    if (!split.branch.empty())
        text += " " + split.branch;
    if (!split.label.empty())
        text += " by " + split.label;
    return text;
}

} // namespace

// "nginx 4711": the number alone says nothing to a reader.
std::string Session::name_of_process(pid_t pid) const {
    for (const TargetStatus::Process& process : backend_.target_status().processes)
        if (process.pid == pid && !process.comm.empty())
            return fmt::format("{} {}", process.comm, pid);
    return fmt::format("{}", pid);
}

bool Session::waits_for_target() const {
    const auto running = [](const TargetStatus::Process& process) { return process.running; };
    return settings_.target.kind == TargetSpec::Kind::name &&
           std::ranges::none_of(backend_.target_status().processes, running);
}

std::string Session::target_name() const {
    const TargetSpec& target = settings_.target;
    switch (target.kind) {
    case TargetSpec::Kind::none:
        break;
    case TargetSpec::Kind::pids:
        return target.pids.size() == 1 ? name_of_process(target.pids[0])
                                       : fmt::format("{} processes", target.pids.size());
    case TargetSpec::Kind::name:
        return target.name;
    case TargetSpec::Kind::all:
        return "everything";
    case TargetSpec::Kind::command: {
        const std::string& path = target.command.front();
        return path.substr(path.rfind('/') + 1);
    }
    }
    return {};
}

std::string Session::summary() const {
    std::string text;
    if (backend_.replaying()) {
        text = "replay";
    } else {
        text = target_name();
        if (text.empty())
            return {};
        const SamplingSettings& sampling = settings_.sampling;
        if (sampling.rate_hz != 0 || sampling.raised_hz != 0)
            text += fmt::format(" {}{}{} Hz", sampling.wall ? "wall " : "", sampling.rate_hz,
                                sampling.raised_hz ? fmt::format("/{}", sampling.raised_hz) : "");
    }
    if (settings_.split.active) {
        if (const ProbeSetting* probe = settings_.find(settings_.split.probe))
            text += " " + split_summary(probe->text, settings_.split);
    }
    return elide_middle(escape_untrusted(text), 48);
}

ScreenState Session::screen_state() const {
    ScreenState state;
    state.window = settings_.window;
    state.replaying = backend_.replaying();
    state.target = state.replaying ? "replay" : target_name();
    state.rate_hz = state.replaying ? static_cast<double>(model_.ledger().rate_hz)
                                    : static_cast<double>(std::max(settings_.sampling.rate_hz,
                                                                   settings_.sampling.raised_hz));
    state.symbols = backend_.symbol_progress();
    return state;
}

ViewOptions Session::view_options(std::optional<size_t> limit) const {
    ViewOptions options = options_.view;
    options.window = settings_.window;
    if (limit)
        options.limit = *limit;
    return options;
}

} // namespace auger
