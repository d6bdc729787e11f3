// SPDX-License-Identifier: GPL-3.0-or-later
// ScriptRunner: lines to commands, errors with their place. Lines come from the prompt, files and
// the command line alike.
#pragma once

#include "repl/language/script.h"
#include "repl/session/command_table.h"
#include "repl/session/printer.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace auger {

class ScriptRunner {
  public:
    using RunCommand = std::function<Parsed<Reply>(const ParsedCommand&, std::string_view line)>;

    // `keep_going`: a script goes on after a command that failed. `show_news`: called after each
    // command. `is_over`: nothing more is to be run, whatever is left.
    ScriptRunner(const CommandTable& table, Printer& printer, bool keep_going, RunCommand run,
                 std::function<void()> show_news, std::function<bool()> is_over)
        : table_(table), printer_(printer), keep_going_(keep_going), run_(std::move(run)),
          show_news_(std::move(show_news)), is_over_(std::move(is_over)) {}

    // Every command of the lines, up to the first that fails (unless keep_going). Returns the first
    // failure's kind, or nothing when all went well.
    std::optional<Error::Kind> run(const std::vector<ScriptLine>& lines);
    // Likewise a file, from within a script. `stop`: reading it is to end; `wake_fd` tells that.
    // Returns the number of lines that were run.
    Parsed<size_t> run_file(const std::string& path, Span at, int wake_fd,
                            const std::function<bool()>& stop);

  private:
    // False when something failed and nothing more is to be run.
    bool run_line(const ScriptLine& line);
    void report(const ScriptLine& line, const Complaint& complaint, std::string_view command);

    const CommandTable& table_;
    Printer& printer_;
    bool keep_going_;
    RunCommand run_;
    std::function<void()> show_news_;
    std::function<bool()> is_over_;
    std::optional<Error::Kind> first_failure_;
    size_t depth_ = 0; // of files that source each other
};

} // namespace auger
