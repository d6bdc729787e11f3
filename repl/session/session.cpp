// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/session.h"

#include "loader/base/guarded.h"
#include "repl/session/spelling.h"

#include <unistd.h>

#include <fstream>

namespace auger {
namespace {

// The second number of /proc/self/statm is of pages; 0 where there is none.
uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    uint64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

Session::Session(Backend& backend, Model& model, Output& output, Interrupts& interrupts,
                 const CommandTable& commands, SessionOptions options)
    : backend_(backend), model_(model), interrupts_(interrupts), commands_(commands),
      options_(std::move(options)), store_limit_(options_.store_bytes),
      services_(backend, model,
                {[this] { return status_context(); }, [this] { return settings().window; }}),
      editor_(backend, services_, model, commands.settings()),
      overhead_(backend, model, services_, editor_), printer_(output, options_.json),
      scripts_(
          commands, printer_, options_.keep_going,
          [this](const ParsedCommand& command, std::string_view line) {
              return run_command(command, line);
          },
          [this] { printer_.new_notices(model_); },
          [this] { return quit_ || interrupts_.stopping() || !printer_.open(); }) {
    model_.keep_histories_in(store_limit_.histories_bytes());
}

std::optional<Error::Kind> Session::run(const std::vector<ScriptLine>& lines) {
    const auto failure = scripts_.run(lines);
    editor_.apply_rules();
    return failure;
}

Parsed<size_t> Session::run_file(const std::string& path, Span at) {
    return scripts_.run_file(path, at, interrupts_.wake_fd(), [this] {
        return interrupts_.stopping() || interrupts_.take_interrupt();
    });
}

Parsed<Reply> Session::run_inside(const std::string& line, Span at) {
    const auto complaint = [&](const Complaint& of_line) {
        return Complaint{at, of_line.message, fmt::format("in: {}", line), of_line.kind};
    };
    auto commands = lex(line);
    if (!commands)
        return complaint(commands.complaint());
    Reply all;
    for (const CommandText& text : *commands) {
        auto command = commands_.parse(text, line);
        if (!command)
            return complaint(command.complaint());
        auto reply = run_command(*command, line);
        if (!reply)
            return complaint(reply.complaint());
        all.text += reply->text;
        all.json.insert(all.json.end(), reply->json.begin(), reply->json.end());
    }
    return all;
}

Parsed<Reply> Session::run_command(const ParsedCommand& command, std::string_view line) {
    const auto run = [&]() -> Parsed<Reply> {
        if (backend_.replaying())
            editor_.adopt_recorded();
        if (command.command->needs_rules())
            editor_.apply_rules();
        return command.command->run(*this, CommandPlace{command.row->name, line, command.at});
    };
    return guarded(run, [&](const Error& error) { return complaint_of(error, command.at); });
}

EditContext Session::edit_context() const {
    return {editor_.settings(),   editor_.table(),   editor_.fresh_id(),
            backend_.replaying(), model_.first_ns(), model_.now_ns()};
}

ViewOptions Session::view_options(std::optional<size_t> limit) const {
    ViewOptions options = options_.view;
    options.window = settings().window;
    if (!(settings().filter == FilterSpec()))
        options.filter = filter_text(settings().filter);
    if (limit)
        options.limit = *limit;
    return options;
}

StatusContext Session::status_context() const {
    const OverheadLimit& overhead = settings().overhead;
    return {backend_.target_status(),
            backend_.links(),
            backend_.symbol_progress(),
            backend_.unwind_status(),
            backend_.reader_status(),
            resident_bytes(),
            spell_raised(settings()),
            overhead.brakes ? overhead.percent : 0,
            services_.endpoint().clients(),
            services_.shippers().status(),
            backend_.hosts()};
}

Completion Session::complete(std::string_view line) const {
    CompletionSource source;
    source.probes = [this] {
        std::vector<std::string> texts;
        for (const ProbeSetting& probe : settings().probes)
            texts.push_back(probe.text);
        return texts;
    };
    source.functions = [this](std::string_view prefix) {
        constexpr size_t limit = 200;
        return backend_.complete_function(prefix, limit);
    };
    source.files = complete_file;
    source.fields = [this](const std::string& tracepoint) {
        std::vector<std::string> names;
        const auto found = backend_.list_tracepoints(tracepoint);
        if (found && !found->tracepoints.empty()) // an agent may answer that there are none
            for (const TracepointInfo::Field& field : found->tracepoints.front().fields)
                names.push_back(field.name);
        return names;
    };
    return auger::complete(commands_, line, source);
}

} // namespace auger
