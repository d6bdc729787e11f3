// SPDX-License-Identifier: GPL-3.0-or-later
// Session: puts the parts together that carry out commands on Backend and Model and answer to
// Output, and lets time pass. Nothing here knows a terminal or reads a clock.
#pragma once

#include "repl/exit_code.h"
#include "repl/services/services.h"
#include "repl/services/wall_clock.h"
#include "repl/session/command_table.h"
#include "repl/session/completion.h"
#include "repl/session/editor.h"
#include "repl/session/output.h"
#include "repl/session/overhead_control.h"
#include "repl/session/printer.h"
#include "repl/session/script_runner.h"
#include "repl/session/store_limit.h"
#include "views/model/model.h"
#include "views/screen/screen.h"
#include "views/text/views.h"

#include <chrono>
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
            const CommandTable& commands, SessionOptions options);

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
    const Settings& settings() const { return editor_.settings(); }
    const Model& model() const { return model_; }
    ViewOptions& view() { return options_.view; }
    // Whether there is a terminal for `view`, and somebody who opens it after the line.
    void set_view_possible(bool possible) { view_possible_ = possible; }
    // The pane (empty: any) that `view` asked for since the last call.
    std::optional<std::string> take_view() { return std::exchange(view_, std::nullopt); }

    // For commands.

    Backend& backend() { return backend_; }
    const Backend& backend() const { return backend_; }
    const Services& services() const { return services_; }
    Editor& editor() { return editor_; }
    EditContext edit_context() const;
    const CommandTable& commands() const { return commands_; }
    const SessionOptions& options() const { return options_; }
    ViewOptions view_options(std::optional<size_t> limit = {}) const;
    StatusContext status_context() const;
    bool view_possible() const { return view_possible_; }
    void ask_for_view(std::string pane) { view_ = std::move(pane); }
    void quit() { quit_ = true; }
    // What must happen before anything collected is looked at.
    Result<void> prepare_view();
    // ... without letting time pass for it.
    Result<void> refresh_view();
    // An edit may be about what is in a recording: reads it to its end, where prepare_view() would.
    // False: it was read, or somebody waits for it.
    bool read_recording();
    // The script decides about time from now on. Lets a `-- COMMAND` target run.
    Result<void> begin_wait();
    // Delivers what comes within `timeout`; false when nothing more will come. Fails when the user
    // interrupts.
    Result<bool> step(std::chrono::nanoseconds timeout);
    bool target_ended() const;
    // Runs the commands of a file; returns the number of its lines.
    Parsed<size_t> run_file(const std::string& path, Span at);
    // The commands of a line that stands for what was typed at `at`, where complaints point.
    Parsed<Reply> run_inside(const std::string& line, Span at);

  private:
    Parsed<Reply> run_command(const ParsedCommand& command, std::string_view line);
    Result<void> start_command();
    Result<void> run_to_end();
    // Goes on for its services until somebody ends it.
    Result<void> run_services();
    std::string target_name() const;
    std::string name_of_process(pid_t pid) const;

    Backend& backend_;
    Model& model_;
    Interrupts& interrupts_;
    const CommandTable& commands_;
    SessionOptions options_;
    StoreLimit store_limit_;

    const WallClock wall_clock_{[] { return read_clock(CLOCK_REALTIME); }};
    Services services_;
    Editor editor_;
    OverheadControl overhead_;
    Printer printer_;
    ScriptRunner scripts_;
    bool waited_ = false; // the script decides about time
    bool quit_ = false;
    bool view_possible_ = false;
    std::optional<std::string> view_;
};

} // namespace auger
