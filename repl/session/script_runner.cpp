// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/script_runner.h"

#include "views/escape.h"

#include <fmt/format.h>

#include <utility>

namespace auger {
namespace {

constexpr size_t source_limit = 16; // files that source each other

} // namespace

std::optional<Error::Kind> ScriptRunner::run(const std::vector<ScriptLine>& lines) {
    first_failure_.reset();
    for (const ScriptLine& line : lines) {
        const bool ok = run_line(line);
        if (is_over_() || (!ok && !keep_going_))
            break;
    }
    return first_failure_;
}

bool ScriptRunner::run_line(const ScriptLine& line) {
    auto commands = lex(line.text);
    if (!commands) {
        report(line, commands.complaint(), "");
        return false;
    }
    bool ok = true;
    for (const CommandText& text : *commands) {
        bool failed = true;
        auto command = table_.parse(text, line.text);
        if (!command) {
            const auto row = table_.find(text.words.front());
            report(line, command.complaint(), row ? (*row)->name : text.words.front().text);
        } else if (auto reply = run_(*command, line.text); !reply) {
            report(line, reply.complaint(), command->row->name);
        } else {
            printer_.print(*reply);
            failed = false;
        }
        show_news_();
        if (failed)
            ok = false;
        if (failed ? !keep_going_ : is_over_())
            return ok;
    }
    return ok;
}

void ScriptRunner::report(const ScriptLine& line, const Complaint& complaint,
                          std::string_view command) {
    if (!first_failure_)
        first_failure_ = complaint.kind;
    printer_.report({line, complaint}, command);
}

Parsed<size_t> ScriptRunner::run_file(const std::string& path, Span at, int wake_fd,
                                      const std::function<bool()>& stop) {
    if (depth_ == source_limit)
        return Complaint{at, fmt::format("{} files source each other", source_limit),
                         "does one source itself?", Error::Kind::failed};
    auto text = read_script(path, wake_fd, stop);
    if (!text)
        return complaint_of(text.error(), at);
    ++depth_;
    const auto failure_before = std::exchange(first_failure_, std::nullopt);
    size_t lines = 0;
    for (const ScriptLine& line : script_lines(path, *text)) {
        ++lines;
        const bool ok = run_line(line);
        if (is_over_() || (!ok && !keep_going_))
            break;
    }
    --depth_;
    const auto failure = std::exchange(first_failure_, failure_before);
    if (failure)
        return Complaint{at, fmt::format("{} failed", escape_untrusted(path)), "", *failure};
    return lines;
}

} // namespace auger
