// SPDX-License-Identifier: GPL-3.0-or-later
// A monkey at the keyboard while data streams in and the terminal changes its size: whatever it
// does, the screen stays within its bounds, harmless, and gives sound commands.
#include "tests/unit/screen_fixture.h"
#include "views/escape.h"
#include "views/screen/action.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

// Every cell is harmless, and rows are no wider than the screen.
void check_canvas(const Canvas& canvas, size_t width, size_t height) {
    ASSERT_LE(canvas.height(), height);
    for (size_t y = 0; y < canvas.height(); y++) {
        const auto& row = canvas.row(y);
        ASSERT_LE(row.size(), width);
        size_t columns = 0;
        for (const Cell& cell : row) {
            columns += text_width(cell.text);
            for (size_t at = 0; at < cell.text.size();) {
                const uint32_t c = decode_utf8(cell.text, at);
                ASSERT_NE(c, UINT32_MAX);
                ASSERT_FALSE(c < 0x20 || (c >= 0x7f && c < 0xa0));
            }
        }
        ASSERT_EQ(columns, row.size()) << "row " << y << ": a wide character without its half";
    }
}

class Monkey : public ScreenFixture {
  public:
    explicit Monkey(unsigned seed, bool unicode) : ScreenFixture(unicode), chance_(seed) {
        time_handle();
        serve(1, 200);
    }

    Key any_key() {
        const auto& rows = key_table();
        switch (chance_() % 10) {
        case 0:
            return {.code = Key::Code::character, .character = char32_t(chance_() % 0x180)};
        case 1:
            return {.code = static_cast<Key::Code>(chance_() % 2
                                                       ? static_cast<int>(Key::Code::mouse_press)
                                                       : static_cast<int>(Key::Code::mouse_double)),
                    .x = chance_() % 130,
                    .y = chance_() % 45};
        case 2:
            return {.code = chance_() % 2 ? Key::Code::wheel_up : Key::Code::wheel_down};
        default: {
            const KeyRow& row = rows[chance_() % rows.size()];
            return row.keys[chance_() % row.keys.size()];
        }
        }
    }

    // What the session would say; sometimes much, sometimes an error, sometimes hostile.
    void reply(const Request& request) {
        ASSERT_EQ(request.line.find('\n'), std::string::npos);
        if (request.kind != Request::Kind::run) {
            ASSERT_TRUE(request.line.empty());
            return;
        }
        std::string text = "done\n";
        switch (chance_() % 5) {
        case 0:
            for (int i = 0; i < 50; i++)
                text += "          -         -         -  a.cc:" + std::to_string(i) + "  main\n";
            break;
        case 1:
            text = "error: \x1b[2J\xff no\n    x\n    ^\n";
            break;
        case 2:
            text.clear();
            break;
        default:
            break;
        }
        screen.answer({request.line, text, chance_() % 4 == 0});
        if (request.line.starts_with("split"))
            split_handle();
        if (request.line.starts_with("ewma"))
            state.window = {Window::Kind::ewma, (1 + chance_() % 20) * 1'000'000'000};
        if (request.line.starts_with("window"))
            state.window = chance_() % 2
                               ? Window{}
                               : Window{Window::Kind::last, (1 + chance_() % 20) * 1'000'000'000};
    }

    void play(int keys) {
        uint64_t served = 200;
        size_t width = 80, height = 24;
        for (int i = 0; i < keys; i++) {
            for (const Request& request : screen.press(any_key())) {
                ASSERT_NO_FATAL_FAILURE(reply(request));
            }
            if (chance_() % 20 == 0) {
                serve(served + 1, served + 25);
                served += 25;
            }
            if (chance_() % 50 == 0) {
                width = 1 + chance_() % (chance_() % 4 ? 130 : 400);
                height = 1 + chance_() % (chance_() % 4 ? 45 : 120);
            }
            if (chance_() % 3 == 0)
                screen.refresh(state, TimeSlice::one_step());
            if (chance_() % 3 == 0) {
                ASSERT_NO_FATAL_FAILURE(check_canvas(screen.draw(width, height), width, height))
                    << "after " << i << " keys at " << width << "x" << height;
            }
        }
    }

  private:
    std::mt19937 chance_;
};

TEST(ScreenMonkey, TenThousandKeysBreakNothing) {
    Monkey(1, true).play(10'000);
}

TEST(ScreenMonkey, NorWithAsciiOnly) {
    Monkey(2, false).play(3'000);
}

} // namespace
} // namespace auger
