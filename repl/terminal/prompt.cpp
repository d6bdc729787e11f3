// SPDX-License-Identifier: GPL-3.0-or-later
// The readline prompt, through its callback interface: one poll() waits for keys and for events,
// and what happens meanwhile is printed above the line being typed.
#include "repl/language/script.h"
#include "repl/session/history_file.h"
#include "repl/terminal/console.h"
#include "repl/terminal/live_view.h"
#include "repl/terminal/signals.h"
#include "repl/terminal/terminal_view.h"

#include <fmt/format.h>

#include <poll.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

namespace auger {
namespace {

using std::chrono::milliseconds;

class Prompt {
  public:
    Prompt(Session& session, StreamOutput& output, Signals& signals, Guardian* guardian)
        : session_(session), output_(output), signals_(signals),
          view_(
              session, output, signals, guardian,
              [this](const std::string& line) { remember(line); }, past_lines) {
        self = this;
        rl_readline_name = "auger";
        rl_catch_signals = 0; // ours wake the poll
        rl_catch_sigwinch = 0;
        rl_completer_word_break_characters = const_cast<char*>("");
        rl_basic_word_break_characters = "";
        rl_completer_quote_characters = "";
        rl_attempted_completion_function = complete;
        rl_completion_display_matches_hook = display_matches;
        rl_variable_bind("enable-bracketed-paste", "on");
        using_history();
        load_history();
        output_.around([this] { hide(); }, [this] { show(); });
        session_.set_view_possible(true);
    }
    ~Prompt() {
        remove();
        session_.set_view_possible(false);
        output_.around([] {}, [] {});
        save_history();
        self = nullptr;
    }

    void run(bool begin_with_view) {
        if (begin_with_view)
            open_view({});
        done_ = session_.quitting();
        if (!done_ && !signals_.stopping())
            install();
        while (!done_) {
            if (signals_.stopping() || !output_.open()) {
                // What the shell prints next must not overwrite the line being typed.
                remove();
                output_.result("\n");
                return;
            }
            if (signals_.take_interrupt())
                discard_line();
            if (signals_.take_redraw()) {
                session_.view() = view_of_stdout();
                rl_resize_terminal();
                rl_deprep_terminal(); // the shell set the terminal while auger was stopped
                rl_prep_terminal(1);
                rl_forced_update_display();
            }
            wait();
        }
    }

  private:
    // Events come in while there is no key. When nothing can come, only keys are waited for.
    void wait() {
        if (pumping_) {
            auto more = session_.pump(signal_interval, STDIN_FILENO);
            if (!more) {
                output_.error(fmt::format("error: {}\n", printable(more.error().message())));
                pumping_ = false;
            } else if (!*more) {
                // The target is gone; another one may be chosen later.
                pollfd key{STDIN_FILENO, POLLIN, 0};
                ::poll(&key, 1, static_cast<int>(signal_interval.count()));
            }
        } else {
            session_.tend();
        }
        pollfd key{STDIN_FILENO, POLLIN, 0};
        const int ready = ::poll(&key, 1, pumping_ ? 0 : static_cast<int>(signal_interval.count()));
        if (ready <= 0)
            return;
        // What is there to be read was typed after Ctrl-C: the terminal forgets what was not.
        if (signals_.take_interrupt())
            discard_line();
        if ((key.revents & POLLIN) != 0)
            rl_callback_read_char();
        else
            done_ = true; // the terminal is gone
    }

    void install() {
        const std::string summary = session_.summary();
        const std::string prompt =
            summary.empty() ? "auger> " : fmt::format("auger [{}]> ", summary);
        rl_callback_handler_install(prompt.c_str(), [](char* line) { self->on_line(line); });
        installed_ = true;
    }
    void remove() {
        if (std::exchange(installed_, false))
            rl_callback_handler_remove();
    }

    void on_line(char* text) {
        // Commands run with the terminal as the user's shell left it.
        remove();
        if (!text) {
            output_.result("\n");
            done_ = true;
            return;
        }
        const std::string typed(text);
        std::free(text);
        std::vector<ScriptLine> lines = script_lines("", typed); // a paste has several
        for (const ScriptLine& line : lines)
            remember(line.text);
        session_.view() = view_of_stdout();
        session_.run(lines);
        // Ctrl-C while a command ran was meant for it, and it is over.
        signals_.take_interrupt();
        if (const auto pane = session_.take_view();
            pane && !session_.quitting() && !signals_.stopping())
            open_view(*pane);
        done_ = session_.quitting() || signals_.stopping();
        if (!done_)
            install();
    }

    void open_view(const std::string& pane) {
        if (auto shown = view_.run(pane); !shown)
            output_.error(fmt::format("error: {}\n", printable(shown.error().message())));
        pumping_ = session_.live();
    }

    void discard_line() {
        if (!installed_)
            return;
        rl_callback_sigcleanup();
        rl_free_line_state();
        rl_replace_line("", 0);
        rl_crlf();
        rl_on_new_line();
        rl_redisplay();
    }

    // Around output while the prompt is shown: the line being typed is taken away and put back.
    void hide() {
        if (!installed_)
            return;
        rl_clear_visible_line();
        std::fflush(rl_outstream); // what is written next goes around its buffer
    }
    void show() {
        if (installed_)
            rl_forced_update_display();
    }

    // readline completes the whole line as one word, so that the language's own rules about words
    // hold; the list shows only the parts that differ.
    static char** complete(const char*, int, int end) {
        rl_attempted_completion_over = 1;
        const std::string line(rl_line_buffer, static_cast<size_t>(end));
        const Completion completion = self->session_.complete(line);
        self->completion_start_ = completion.start;
        const auto& found = completion.candidates;
        if (found.empty())
            return nullptr;
        const std::string kept = line.substr(0, completion.start);
        auto** matches = static_cast<char**>(std::calloc(found.size() + 2, sizeof(char*)));
        if (!matches)
            return nullptr;
        matches[0] = ::strdup((kept + completion.common).c_str());
        if (found.size() > 1) {
            for (size_t i = 0; i < found.size(); ++i)
                matches[i + 1] = ::strdup((kept + found[i]).c_str());
        } else {
            rl_completion_append_character = completion.common.ends_with('/') ? '\0' : ' ';
        }
        return matches;
    }

    static void display_matches(char** matches, int count, int) {
        std::vector<std::string> shown;
        std::vector<char*> pointers{matches[0]};
        int longest = 0;
        for (int i = 1; i <= count; ++i) {
            shown.push_back(
                printable(std::string_view(matches[i])
                              .substr(std::min(self->completion_start_, std::strlen(matches[i])))));
            longest = std::max(longest, static_cast<int>(shown.back().size()));
        }
        for (std::string& text : shown)
            pointers.push_back(text.data());
        pointers.push_back(nullptr);
        rl_crlf();
        rl_display_match_list(pointers.data(), count, longest);
        rl_forced_update_display();
    }

    void remember(std::string line) {
        line.resize(line.find_last_not_of(" \t") + 1); // completion leaves a blank behind
        if (line.empty() || line[0] == ' ')
            return;
        const HIST_ENTRY* last =
            history_length > 0 ? history_get(history_base + history_length - 1) : nullptr;
        if (last && line == last->line)
            return;
        add_history(line.c_str());
        fresh_.push_back(line);
    }
    static std::vector<std::string> past_lines() {
        std::vector<std::string> lines;
        for (int i = 0; i < history_length; ++i)
            lines.emplace_back(history_get(history_base + i)->line);
        return lines;
    }
    void load_history() {
        auto file = HistoryFile::of_user();
        if (!file)
            return; // told when there is something to save
        auto lines = file->load();
        if (!lines) {
            output_.error(fmt::format("warning: {}\n", printable(lines.error().message())));
            return;
        }
        for (const std::string& line : *lines)
            add_history(line.c_str());
    }
    void save_history() {
        if (fresh_.empty())
            return;
        auto file = HistoryFile::of_user();
        const Result<void> saved = file ? file->append(fresh_) : Result<void>(file.error());
        if (!saved)
            output_.error(fmt::format("warning: {}\n", printable(saved.error().message())));
    }

    static Prompt* self; // readline calls plain functions

    Session& session_;
    StreamOutput& output_;
    Signals& signals_;
    LiveView view_;
    std::vector<std::string> fresh_; // lines for the history file
    size_t completion_start_ = 0;
    bool installed_ = false;
    bool pumping_ = session_.live();
    bool done_ = false;
};

Prompt* Prompt::self = nullptr;

} // namespace

void run_prompt(Session& session, StreamOutput& output, Signals& signals, Guardian* guardian,
                bool begin_with_view) {
    Prompt(session, output, signals, guardian).run(begin_with_view);
}

} // namespace auger
