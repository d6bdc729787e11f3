// SPDX-License-Identifier: GPL-3.0-or-later
// Whole screens at the sizes that people have, beside files that a person has looked at.
// AUGER_UPDATE_GOLDEN=1 writes the files anew, and fails.
#include "tests/unit/golden.h"
#include "tests/unit/screen_fixture.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

class ScreenGolden : public testing::Test, public ScreenFixture {
  protected:
    ScreenGolden() {
        time_handle();
        split_handle();
        serve(1, 2000);
        refresh();
    }

    void check(const std::string& name, size_t width, size_t height) {
        const std::string text = drawn(width, height);
        expect_golden("screen/" + name, text);
    }
};

TEST_F(ScreenGolden, FlameOfUsualSize) {
    check("flame_80x24.txt", 80, 24);
}

TEST_F(ScreenGolden, FlameOfLeastSize) {
    check("flame_40x10.txt", 40, 10);
}

TEST_F(ScreenGolden, FlameOfLargeSize) {
    check("flame_120x40.txt", 120, 40);
}

TEST_F(ScreenGolden, ZoomedAndSearched) {
    for (int i = 0; i < 5; i++)
        press('j');
    press(Key::Code::enter);
    press('/');
    type("send|scan");
    press(Key::Code::enter);
    press('n');
    check("zoom_search_80x24.txt", 80, 24);
}

TEST_F(ScreenGolden, KeysAreListed) {
    press('?');
    check("keys_80x70.txt", 80, 70);
}

// Wide and combining characters, control characters, bytes that are no text.
TEST_F(ScreenGolden, NamesOfAllKinds) {
    serve(2001, 2001);
    const std::vector<std::string> names = {
        "\xe6\xbc\xa2\xe5\xad\x97\xe9\x96\xa2\xe6\x95\xb0", // four ideographs
        "e\xcc\x81tude_de_cas",
        "\x1b]0;title\x07",
        "\xff\xfe raw",
        "\xf0\x9f\x98\x80smile",
        "a\xe2\x80\xae"
        "b",
        ""};
    for (size_t i = 0; i < names.size(); i++)
        for (int n = 0; n < 2000; n++)
            stream.sample(30'000 * ms + i * us, 101,
                          stream.stack({"_start", names[i], names[i] + names[(i + 1) % 7]}));
    refresh();
    for (int i = 0; i < 3; i++)
        press('j');
    check("names_70x16.txt", 70, 16);
}

TEST_F(ScreenGolden, AnErrorShowsItsPlace) {
    press(':');
    type("splt handle");
    press(Key::Code::enter);
    screen.answer({"splt handle",
                   "error: there is no command \"splt\"\n    splt handle\n    ^~~~\n  did you mean "
                   "\"split\"?\n",
                   true});
    check("error_80x24.txt", 80, 24);
}

} // namespace
} // namespace auger
