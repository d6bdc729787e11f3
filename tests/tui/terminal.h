// SPDX-License-Identifier: GPL-3.0-or-later
// Terminal: a command at a terminal of its own, which tmux plays: keys go in, the screen comes out.
#pragma once

#include "tests/support/kernel_test.h"
#include "tests/support/temporary_folder.h"

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace auger::test {

// Base of the tests here: they observe real processes from a real terminal.
class TerminalTest : public KernelTest {
  protected:
    void SetUp() override;

    TemporaryFolder folder_; // of the test; its state/ is XDG_STATE_HOME
};

class Terminal {
  public:
    // Starts the command. `folder` holds the history and tmux's socket.
    Terminal(const TemporaryFolder& folder, const std::vector<std::string>& command);
    ~Terminal(); // the terminal is closed, whatever still runs there
    Terminal(Terminal&& other) noexcept
        : socket_(std::move(other.socket_)), pid_(std::exchange(other.pid_, -1)) {}
    Terminal& operator=(Terminal&&) = delete;

    // Of the command, which a shell runs to tell how it ended; -1 when the terminal is closed.
    pid_t pid() const { return pid_; }

    void type(const std::string& text);  // as it stands
    void press(const std::string& key);  // "Enter", "Tab", "C-c": tmux's names
    void press_at_once(const std::vector<std::string>& keys); // and text, without a pause
    void enter(const std::string& line); // typed, and Enter
    void paste(const std::string& text); // bracketed, if the program asked for that
    void resize(int columns, int rows);  // returns when the program can see it
    void close();                        // its window is closed, as by its user

    // All lines so far, those scrolled away too; blanks at ends of lines are not kept.
    std::string screen() const;
    // What is seen now: the lines of the window.
    std::string window() const;
    void expect_window(const std::string& text) const;
    // The same, until nothing of it is seen any more.
    void expect_gone(const std::string& text) const;
    // tmux's variable about the terminal: "alternate_on", "cursor_flag", "mouse_any_flag" ...
    std::string state(const std::string& variable) const;
    // Whether the line discipline is as a shell sets it: lines are edited and echoed.
    bool cooked() const;
    // From now on all that the program writes also goes to the file.
    void copy_output(const std::string& path) const;

    // The last line that is not empty.
    std::string last_line() const;
    // Waits until the screen holds the text; else the test fails and shows the screen.
    void expect(const std::string& text) const;
    // The same for the whole of the last line.
    void expect_last_line(const std::string& text) const;
    // Waits until the command has ended; its exit code, or 128 and the signal's number. Throws
    // (failing the test) when it goes on and on.
    int wait_exit() const;

  private:
    std::string tmux(std::vector<std::string> arguments) const;

    std::string socket_;
    pid_t pid_ = -1;
};

// Whether nothing of that number runs any more, after a generous time.
bool wait_gone(pid_t pid);

} // namespace auger::test
