// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/terminal/live_view.h"

#include "loader/base/guarded.h"
#include "loader/process/safe_open.h"
#include "repl/language/complaint.h"
#include "repl/language/script.h"
#include "repl/terminal/busy_note.h"
#include "repl/terminal/terminal_view.h"
#include "views/overhead_text.h"

#include <fmt/format.h>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <tuple>

namespace auger {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds frame{100};         // while nobody presses a key
constexpr milliseconds quick_frame{33};    // while somebody does
constexpr milliseconds key_frame{10};      // a key's own: it is waited for
constexpr milliseconds hands_on{1000};     // after a key
constexpr milliseconds idle_frame{1000};   // nothing came, but time passes
constexpr milliseconds rewrite_after{200}; // where a command that auger started writes too
constexpr milliseconds key_limit{20};      // of one turn's keys; then something is drawn
// Of taking in what came, before there is another look at the keyboard. While more is left than
// that, as much time again is given to others.
constexpr milliseconds work_slice{5};
constexpr milliseconds key_slice{1}; // before a key's own frame
constexpr size_t source_limit = 16 << 20;

// What a command says, for the screen to show.
class CapturedOutput final : public Output {
  public:
    explicit CapturedOutput(Screen& screen) : screen_(screen) {}

    void result(std::string_view text) override { text_ += text; }
    void error(std::string_view text) override { text_ += text; }
    void notice(std::string_view line) override {
        line.remove_suffix(line.ends_with('\n'));
        screen_.notice(line);
    }
    bool open() const override { return true; }

    std::string take() { return std::exchange(text_, {}); }

  private:
    Screen& screen_;
    std::string text_;
};

// Where a source file's name comes from a target, it may lead anywhere.
Result<std::string> read_source(const std::string& path) {
    auto file = open_regular(path);
    if (!file)
        return file.error();
    return read_all(file->get(), source_limit);
}

uint64_t now_ns() {
    return static_cast<uint64_t>(
        std::chrono::nanoseconds(steady_clock::now().time_since_epoch()).count());
}

uint64_t cpu_time_ns() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto ns = [](const timeval& time) {
        return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
               static_cast<uint64_t>(time.tv_usec) * 1'000;
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// What auger costs, of one CPU, lately: its own time, and that which it takes of the target's.
class Load {
  public:
    double of(const Overhead& overhead) {
        const auto now = steady_clock::now();
        if (now - since_ >= std::chrono::seconds(1)) {
            const uint64_t cpu = cpu_time_ns();
            const auto elapsed = std::chrono::duration<double, std::nano>(now - since_).count();
            if (since_ != steady_clock::time_point{})
                own_ = static_cast<double>(cpu - cpu_) / elapsed;
            since_ = now;
            cpu_ = cpu;
        }
        return own_ + overhead_of_a_cpu(overhead);
    }

  private:
    steady_clock::time_point since_{};
    uint64_t cpu_ = 0;
    double own_ = 0;
};

} // namespace

// One stay in the view: the terminal is taken at its beginning and given back at its end.
class LiveView::Run {
  public:
    Run(LiveView& view, std::unique_ptr<TerminalScreen> terminal)
        : view_(view), session_(view.session_), screen_(*view.screen_),
          terminal_(std::move(terminal)), output_(screen_) {
        keeper_.emplace(terminal_->modes());
        if (view_.guardian_)
            view_.guardian_->watch(terminal_->modes());
        view_.output_.divert(&output_);
    }
    ~Run() {
        view_.output_.divert(nullptr);
        keeper_.reset();
        terminal_.reset();
        if (view_.guardian_)
            view_.guardian_->watch_prompt();
        session_.view() = view_of_stdout();
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    void run() {
        // Ctrl-C from before was not meant for the view.
        view_.signals_.take_interrupt();
        while (!leaving_ && !session_.quitting()) {
            if (view_.signals_.stopping())
                return;
            // The terminal makes a signal of Ctrl-C.
            if (view_.signals_.take_interrupt())
                press({.character = 'c', .control = true});
            if (view_.signals_.take_redraw()) {
                terminal_->renew();
                changed_ = true;
            }
            take_keys();
            if (!leaving_ && !session_.quitting()) {
                draw_if_due();
                wait();
            }
        }
    }

  private:
    void press(const Key& key) {
        last_key_ = steady_clock::now();
        changed_ = pressed_ = true;
        for (const Request& request : screen_.press(key))
            serve(request);
    }
    void take_keys() {
        const auto begin = steady_clock::now();
        while (!leaving_ && !session_.quitting()) {
            const auto key = terminal_->next_key();
            if (!key)
                return;
            press(*key);
            if (last_key_ - begin > key_limit)
                return;
        }
    }

    void serve(const Request& request) {
        switch (request.kind) {
        case Request::Kind::run:
            execute(request.line);
            break;
        case Request::Kind::leave:
            leaving_ = true;
            break;
        case Request::Kind::suspend:
            ::raise(SIGTSTP);
            break;
        case Request::Kind::redraw:
            terminal_->renew();
            break;
        }
    }

    void execute(const std::string& line) {
        view_.remember_(line);
        // What was pressed is shown before it is done.
        show();
        ViewOptions& options = session_.view();
        options = view_of_stdout();
        options.width = terminal_->width();
        options.colour = ColourMode::none;
        bool failed = false;
        {
            const BusyNote note(terminal_->modes().fd, terminal_->last_row_bytes(fmt::format(
                                                           "{}   ... (Ctrl-C ends it)", line)));
            failed = session_.run(script_lines("", line)).has_value();
        }
        terminal_->forget_last_row();
        // Ctrl-C while the command ran was meant for it, and it is over.
        view_.signals_.take_interrupt();
        screen_.answer({line, output_.take(), failed});
        if (const auto pane = session_.take_view(); pane && !pane->empty())
            screen_.show(*pane);
        pumping_ = session_.live();
        changed_ = true;
    }

    // What tells that there may be something else to show, beside the passing of time.
    using ModelState = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, size_t, bool>;
    ModelState state_of_model() const {
        const Model& model = session_.model();
        return {model.samples_received(),    model.slow_calls_received(),
                model.notices_received(),    model.symbols().names_version(),
                model.symbols().locations(), pumping_};
    }

    steady_clock::time_point next_frame() const {
        if (pressed_)
            return last_frame_ + key_frame;
        const auto now = steady_clock::now();
        const bool quick = changed_ || unfinished_ || now - last_key_ < hands_on;
        if (quick)
            return last_frame_ + quick_frame;
        return last_frame_ + (state_of_model() != drawn_ ? frame : idle_frame);
    }

    void draw_if_due() {
        const auto now = steady_clock::now();
        if (now < next_frame())
            return;
        const bool nothing_new =
            !changed_ && !unfinished_ && !pumping_ && state_of_model() == drawn_;
        if (nothing_new)
            return;
        drawn_ = state_of_model();
        state_ = session_.screen_state();
        state_.overhead = overhead_.of(session_.model().ledger().overhead);
        state_.ended = !pumping_;
        work(pressed_ ? key_slice : work_slice);
        // A command that auger started has the same terminal.
        if (session_.settings().target.kind == TargetSpec::Kind::command &&
            now - rewritten_ > rewrite_after) {
            rewritten_ = now;
            terminal_->rewrite();
        }
        show();
        changed_ = pressed_ = false;
        last_frame_ = now;
    }

    void work(milliseconds slice) {
        unfinished_ = screen_.refresh(state_, TimeSlice(now_ns, slice));
    }

    void show() { terminal_->show(screen_.draw(terminal_->width(), terminal_->height())); }

    // Events come in while there is no key, until the next frame, and what is left to do is done.
    void wait() {
        using std::chrono::nanoseconds;
        auto left = std::max(nanoseconds(0), nanoseconds(next_frame() - steady_clock::now()));
        if (unfinished_)
            left = std::min<nanoseconds>(left, work_slice);
        if (pumping_) {
            auto more = session_.pump(std::min<nanoseconds>(left, frame), STDIN_FILENO);
            if (!more)
                screen_.notice("error: " + printable(more.error().message()));
            pumping_ = more && *more;
            changed_ |= !pumping_;
        } else {
            session_.tend();
            const bool something = changed_ || unfinished_;
            const auto pause = something ? std::chrono::ceil<milliseconds>(left) : idle_frame;
            pollfd key{STDIN_FILENO, POLLIN, 0};
            if (::poll(&key, 1, static_cast<int>(pause.count())) > 0 && (key.revents & POLLIN) == 0)
                leaving_ = true; // the terminal is gone
        }
        if (unfinished_ && !pressed_) {
            work(work_slice);
            changed_ |= !unfinished_;
        }
    }

    LiveView& view_;
    Session& session_;
    Screen& screen_;
    std::unique_ptr<TerminalScreen> terminal_;
    CapturedOutput output_;
    std::optional<ModesKeeper> keeper_;
    Load overhead_;
    ScreenState state_;
    bool pumping_ = session_.live();
    bool leaving_ = false;
    bool changed_ = true;     // by a key, a command, another size
    bool pressed_ = false;    // by a key
    bool unfinished_ = false; // the screen has not yet taken in everything
    steady_clock::time_point last_key_{}, last_frame_{}, rewritten_{};
    ModelState drawn_{};
};

LiveView::LiveView(Session& session, StreamOutput& output, Signals& signals, Guardian* guardian,
                   std::function<void(const std::string&)> remember,
                   std::function<std::vector<std::string>()> past)
    : session_(session), output_(output), signals_(signals), guardian_(guardian),
      remember_(std::move(remember)), past_(std::move(past)) {}

LiveView::~LiveView() = default;

Result<void> LiveView::run(const std::string& pane) {
    auto terminal = TerminalScreen::open();
    if (!terminal)
        return terminal.error();
    if (!screen_) {
        ScreenOptions options;
        options.unicode = terminal_is_utf8();
        options.read_source = read_source;
        options.past_commands = past_;
        options.complete = [this](std::string_view line) {
            Completion completion = session_.complete(line);
            return LineCompletion{completion.start, std::move(completion.common),
                                  std::move(completion.candidates)};
        };
        screen_ = std::make_unique<Screen>(session_.model(), std::move(options));
    }
    if (!pane.empty())
        screen_->show(pane);
    return guarded([&]() -> Result<void> {
        Run(*this, std::move(*terminal)).run();
        return {};
    });
}

} // namespace auger
