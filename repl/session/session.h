// SPDX-License-Identifier: GPL-3.0-or-later
// Session: takes lines, acts on Backend and Model, answers to Output. Holds the settings in force
// and the edits that `undo` takes back. Lines come from the prompt, files and the command line
// alike; nothing here knows a terminal or reads a clock.
#pragma once

#include "repl/commands/completion.h"
#include "repl/commands/table.h"
#include "repl/exit_code.h"
#include "repl/services/brake.h"
#include "repl/services/services.h"
#include "repl/session/executor.h"
#include "repl/session/output.h"
#include "repl/session/reply.h"
#include "repl/session/settings.h"
#include "repl/session/store_limit.h"
#include "views/model/model.h"
#include "views/screen/screen.h"
#include "views/text/views.h"

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace auger {

struct SessionOptions {
    bool json = false;
    bool keep_going = false; // a script goes on after a command that failed
    // Nobody will type anything: a source that ends by itself (a command, a recording) is run to
    // its end before it is first looked at, unless the script waits.
    bool batch = false;
    // The longest time that a view waits for names.
    std::chrono::nanoseconds settle = std::chrono::milliseconds(200);
    size_t store_bytes = StoreLimit::default_bytes;
    ViewOptions view; // width, colour, unicode; the window comes from the settings
};

class Session {
  public:
    Session(Backend& backend, Model& model, Output& output, Interrupts& interrupts,
            SessionOptions options);

    // Runs every command of the lines, up to the first that fails (unless keep_going) or `quit`.
    // Returns the first failure's kind, or nothing when all went well.
    std::optional<Error::Kind> run(const std::vector<ScriptLine>& lines);

    bool keeps_going() const { return options_.keep_going; }
    // Whether something may happen while nobody asks.
    bool live() const { return backend_.live(); }
    bool quitting() const { return quit_; }
    // Whether the target is a name that no process has yet.
    bool waits_for_target() const;

    // Before the first prompt: lets a `-- COMMAND` target run; reads a recording to its end, unless
    // the script waited.
    Result<void> before_prompt();
    // In batch mode, after the last command: when the script never waited, waits for the end of a
    // command that auger started.
    Result<void> finish();
    // Ends a recording that is being written; says whether it is whole.
    Result<void> close();
    // Lets services do what is due, where nothing is delivered any more.
    void tend();
    // Delivers what has come, and lets services work; waits at most `timeout`, or until `wake_fd`
    // is readable.
    Result<bool> pump(std::chrono::nanoseconds timeout, int wake_fd);

    // "nginx 999 Hz", for the prompt; empty without a target.
    std::string summary() const;
    // What the live view shows beside the model, but for overhead and end.
    ScreenState screen_state() const;
    Completion complete(std::string_view line) const;
    const Settings& settings() const { return settings_; }
    const Model& model() const { return model_; }
    ViewOptions& view() { return options_.view; }
    // Whether there is a terminal for `view`, and somebody who opens it after the line.
    void set_view_possible(bool possible) { view_possible_ = possible; }
    // The pane (empty: any) that `view` asked for since the last call.
    std::optional<std::string> take_view() { return std::exchange(view_, std::nullopt); }

  private:
    struct UndoEntry {
        std::string command; // as typed
        Settings before;
    };
    struct Runner; // one overload a command

    bool run_line(const ScriptLine& line);
    Parsed<Reply> run_command(const ParsedCommand& command, const ScriptLine& line);
    Parsed<Reply> run_edit(const ParsedCommand& command, const ScriptLine& line);
    Parsed<Reply> undo(Span at);
    Parsed<Reply> wait_for(const WaitCommand& command, Span at);
    Parsed<Reply> check(const AssertCommand& command);
    Parsed<Reply> run_source(const SourceCommand& command, Span at);
    Parsed<Reply> save_export(const SaveCommand& command, Span at);
    Parsed<Reply> save_session(const SaveCommand& command, Span at);

    Result<void> start_command();
    // Makes `to` the settings in force.
    void tell_rules();
    Execution change(Settings to);
    // Takes less, when observing takes too much; see Brake.
    void note_undo(std::string command, Settings before);
    void brake();
    // Whether something has changed.
    bool act(const BrakeAction& action, const Overhead& span);
    void report(const ScriptLine& line, const Complaint& complaint, std::string_view command);
    void print(const Reply& reply);
    void show_notices();
    void show_notice(uint64_t time_ns, std::string_view text);
    // A recording defines its probes while it plays.
    void adopt_recorded();
    // What must happen before anything collected is looked at.
    Result<void> prepare_view();
    Result<void> run_to_end();
    // Goes on for its services until somebody ends it.
    Result<void> run_services();
    StatusContext status_context() const;
    std::vector<std::string> serving_lines(const std::string& address = {}) const;
    // What is in force, a line each.
    Reply told(const std::vector<std::string>& lines, std::string_view reply) const;
    // Polls for at most `timeout`; false when nothing more will come.
    Result<bool> step(std::chrono::nanoseconds timeout);
    bool target_ended() const;
    Parsed<ProbeId> shown_probe(const ProbeRef& ref) const;
    Parsed<std::optional<ProbeId>> shown_probe(const std::optional<ProbeRef>& ref) const;
    Parsed<double> value_of(const Quantity& quantity, Span at) const;
    ViewOptions view_options(std::optional<size_t> limit = {}) const;
    std::string target_name() const;
    std::string name_of_process(pid_t pid) const;

    Backend& backend_;
    Model& model_; // what is shown of it is edited here, what is collected is not
    Output& output_;
    Interrupts& interrupts_;
    SessionOptions options_;
    StoreLimit store_limit_;

    Settings settings_;
    Services services_;
    Executor executor_;
    Brake brake_;
    std::deque<UndoEntry> undo_;
    SplitInfo recorded_split_; // last adopted
    OnlyInfo recorded_only_;   // likewise
    Rules rules_;              // of the settings, compiled
    bool rules_told_ = true;   // to the model
    std::optional<Error::Kind> first_failure_;
    uint64_t notices_shown_ = 0;
    size_t source_depth_ = 0;
    bool waited_ = false; // a `wait` was run: the script decides about time
    bool quit_ = false;
    bool view_possible_ = false;
    std::optional<std::string> view_;
};

} // namespace auger
