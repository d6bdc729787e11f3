// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/tui/terminal.h"

#include "tests/support/run.h"
#include "tests/support/wait.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace auger::test {

namespace {

constexpr const char* tmux_path = "/usr/bin/tmux";

std::string trimmed(std::string line) {
    while (!line.empty() && line.back() == '\n')
        line.pop_back();
    return line;
}

int terminals = 0; // a server that ends takes its socket along: each has its own

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

} // namespace

void TerminalTest::SetUp() {
    KernelTest::SetUp();
    if (!IsSkipped() && !std::filesystem::exists(tmux_path))
        GTEST_SKIP() << "needs tmux, which plays the terminal";
}

Terminal::Terminal(const TemporaryFolder& folder, const std::vector<std::string>& command)
    : socket_(folder.path("tmux-" + std::to_string(terminals++))) {
    std::string line = "trap : INT; ";
    for (const std::string& word : command)
        line += quoted(word) + " ";
    line += "; echo \"[exit $?]\"";
    tmux({"start-server",
          ";",
          "set-option",
          "-g",
          "remain-on-exit",
          "on",
          ";",
          "set-option",
          "-g",
          "history-limit",
          "10000",
          ";",
          "new-session",
          "-d",
          "-x",
          "120",
          "-y",
          "40",
          "-e",
          "XDG_STATE_HOME=" + folder.path("state"),
          "-e",
          "SUDO_UID=",
          "-e",
          "LC_ALL=C.UTF-8",
          line});
    const std::string shell = trimmed(tmux({"list-panes", "-F", "#{pane_pid}"}));
    wait_until([&] {
        return static_cast<bool>(std::ifstream("/proc/" + shell + "/task/" + shell + "/children") >>
                                 pid_);
    });
}

Terminal::~Terminal() {
    if (pid_ >= 0)
        close();
}

std::string Terminal::tmux(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {tmux_path, "-u", "-S", socket_, "-f", "/dev/null"});
    Outcome outcome = run(std::move(arguments));
    if (outcome.code != 0)
        throw std::runtime_error("tmux: " + outcome.err);
    return outcome.out;
}

void Terminal::type(const std::string& text) {
    tmux({"send-keys", "-l", "--", text});
}

void Terminal::press(const std::string& key) {
    tmux({"send-keys", key});
}

void Terminal::press_at_once(const std::vector<std::string>& keys) {
    std::vector<std::string> command = {"send-keys"};
    command.insert(command.end(), keys.begin(), keys.end());
    tmux(command);
}

void Terminal::enter(const std::string& line) {
    type(line);
    press("Enter");
}

void Terminal::paste(const std::string& text) {
    tmux({"set-buffer", "--", text});
    tmux({"paste-buffer", "-p"});
}

void Terminal::resize(int columns, int rows) {
    tmux({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)});
    const std::string path = trimmed(tmux({"list-panes", "-F", "#{pane_tty}"}));
    const int terminal = open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    // tmux takes its time.
    wait_until([&] {
        winsize size = {};
        return ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col == columns;
    });
    ::close(terminal);
}

void Terminal::close() {
    tmux({"kill-server"});
    wait_gone(std::exchange(pid_, -1)); // it may still write its history into the folder
}

std::string Terminal::screen() const {
    return tmux({"capture-pane", "-p", "-S", "-"});
}

std::string Terminal::window() const {
    return tmux({"capture-pane", "-p"});
}

void Terminal::expect_window(const std::string& text) const {
    if (!wait_until([&] { return window().find(text) != std::string::npos; }))
        ADD_FAILURE() << "the window does not show: " << text << "\n" << window();
}

void Terminal::expect_gone(const std::string& text) const {
    if (!wait_until([&] { return window().find(text) == std::string::npos; }))
        ADD_FAILURE() << "the window still shows: " << text << "\n" << window();
}

std::string Terminal::state(const std::string& variable) const {
    return trimmed(tmux({"display-message", "-p", "#{" + variable + "}"}));
}

bool Terminal::cooked() const {
    const std::string path = trimmed(tmux({"list-panes", "-F", "#{pane_tty}"}));
    const int terminal = open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    termios line = {};
    const bool known = tcgetattr(terminal, &line) == 0;
    ::close(terminal);
    constexpr tcflag_t edited = ICANON | ECHO | ISIG | IEXTEN;
    return known && (line.c_lflag & edited) == edited && (line.c_iflag & ICRNL) != 0;
}

void Terminal::copy_output(const std::string& path) const {
    tmux({"pipe-pane", "-o", "cat > " + quoted(path)});
}

std::string Terminal::last_line() const {
    std::istringstream lines(screen());
    std::string last;
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty())
            last = line;
    }
    return last;
}

void Terminal::expect(const std::string& text) const {
    if (!wait_until([&] { return screen().find(text) != std::string::npos; }))
        ADD_FAILURE() << "the screen does not show: " << text << "\n" << screen();
}

void Terminal::expect_last_line(const std::string& text) const {
    if (!wait_until([&] { return last_line() == text; }))
        ADD_FAILURE() << "the last line is not: " << text << "\n" << screen();
}

int Terminal::wait_exit() const {
    static const std::regex exit(R"((?:^|\n)\[exit (\d+)\]\n)");
    std::smatch found;
    std::string text;
    const bool ended = wait_until([&] {
        text = screen();
        return std::regex_search(text, found, exit);
    });
    if (!ended)
        throw std::runtime_error("the command does not end:\n" + text);
    return std::stoi(found[1]);
}

bool wait_gone(pid_t pid) {
    return wait_until([pid] {
        std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
        std::string text;
        // The state follows the name in parentheses; a zombie has ended as well.
        return !std::getline(stat, text) || text.substr(text.rfind(')') + 2, 1) == "Z";
    });
}

} // namespace auger::test
