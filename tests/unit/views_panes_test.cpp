// SPDX-License-Identifier: GPL-3.0-or-later
// Panes by themselves: what they show at a narrow and a wide size, what keys do in them, and that
// they stay where the user is while data streams in.
#include "tests/unit/pane_session.h"
#include "views/model/account.h"
#include "views/screen/calls_pane.h"
#include "views/screen/difference_pane.h"
#include "views/screen/histogram_pane.h"
#include "views/screen/table_pane.h"
#include "views/screen/threads_pane.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace auger {
namespace {

std::vector<std::unique_ptr<Pane>> all_panes(bool unicode = true) {
    std::vector<std::unique_ptr<Pane>> panes;
    for (auto make : {make_difference_pane, make_histogram_pane, make_calls_pane, make_table_pane,
                      make_threads_pane})
        panes.push_back(make({.unicode = unicode}));
    return panes;
}

void settle(Pane& pane, const Model& model, const Scope& scope = {}) {
    for (int i = 0; pane.refresh(model, scope); i++)
        ASSERT_LT(i, 1000);
}

std::string drawn(Pane& pane, size_t width, size_t height, size_t x = 0, size_t y = 0) {
    Canvas canvas(x + width + 7);
    pane.draw(canvas, {x, y, width, height}, true);
    EXPECT_LE(canvas.height(), y + height) << pane.name();
    for (size_t row = 0; row < canvas.height(); row++) {
        EXPECT_LE(canvas.row(row).size(), x + width) << pane.name();
        for (size_t column = 0; column < canvas.row(row).size(); column++) {
            const Cell& cell = canvas.row(row)[column];
            EXPECT_TRUE(cell.text.empty() || static_cast<unsigned char>(cell.text[0]) >= 0x20);
            if (row < y || column < x) {
                EXPECT_EQ(cell.text, " ") << pane.name() << " draws outside of its rectangle";
            }
        }
    }
    return to_text(canvas);
}

// Where the cursor's background is, and a match's: "3" for a row.
std::vector<size_t> rows_filled(Pane& pane, Fill fill, size_t width, size_t height) {
    Canvas canvas(width);
    pane.draw(canvas, {0, 0, width, height}, true);
    std::vector<size_t> rows;
    for (size_t y = 0; y < canvas.height(); y++)
        if (!canvas.row(y).empty() && canvas.row(y)[0].fill == fill)
            rows.push_back(y);
    return rows;
}

std::vector<Wish> act(Pane& pane, Action action, const Model& model, const Scope& scope = {}) {
    std::vector<Wish> wishes;
    pane.act(action, model, scope, wishes);
    settle(pane, model, scope);
    return wishes;
}

void check(const std::string& name, const std::string& text) {
    const std::string path = std::string(AUGER_SOURCE_DIR) + "/tests/unit/golden/panes/" + name;
    if (std::getenv("AUGER_UPDATE_GOLDEN")) {
        std::ofstream(path) << text;
        ADD_FAILURE() << "wrote " << path << ": look at it, then run without the switch";
        return;
    }
    std::ifstream file(path);
    std::stringstream golden;
    golden << file.rdbuf();
    ASSERT_TRUE(file) << "cannot read " << path;
    EXPECT_EQ(text, golden.str());
}

class Panes : public testing::Test {
  protected:
    Panes() { session.serve(2000); }

    PaneSession session;
    Model& model = session.model;
    Scope scope;
};

TEST_F(Panes, Golden) {
    for (auto& pane : all_panes()) {
        settle(*pane, model);
        const std::string name(pane->name());
        check(name + "_40.txt", drawn(*pane, 40, 12));
        check(name + "_120.txt", drawn(*pane, 120, 24));
    }
}

TEST_F(Panes, StayWithinTheirRectangleWhateverItIs) {
    Model empty;
    for (const Model* m : {static_cast<const Model*>(&model), static_cast<const Model*>(&empty)})
        for (bool unicode : {true, false})
            for (auto& pane : all_panes(unicode)) {
                drawn(*pane, 30, 5); // before anything is known
                settle(*pane, *m);
                for (size_t width : {0, 1, 2, 7, 39, 40, 57, 64, 80, 119, 200, 400})
                    for (size_t height : {0, 1, 2, 3, 5, 9, 40}) {
                        const std::string text = drawn(*pane, width, height, 3, 2);
                        for (char c : unicode ? "" : text)
                            ASSERT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << text;
                    }
            }
}

TEST_F(Panes, EveryActionIsSafeAnywhere) {
    Model empty;
    for (const Model* m : {static_cast<const Model*>(&model), static_cast<const Model*>(&empty)})
        for (auto& pane : all_panes()) {
            for (int round = 0; round < 3; round++)
                for (auto a = Action::up; a <= Action::redraw;
                     a = static_cast<Action>(static_cast<int>(a) + 1)) {
                    act(*pane, a, *m);
                    pane->selected();
                    EXPECT_FALSE(pane->command().empty());
                    drawn(*pane, 60, 12);
                    std::vector<Wish> wishes;
                    pane->click(static_cast<size_t>(round * 7), static_cast<size_t>(a) % 12,
                                round == 2, *m, {}, wishes);
                    EXPECT_FALSE(pane->search("(", *m).empty());
                    pane->search("a", *m);
                }
        }
}

TEST_F(Panes, SayWhatIsMissing) {
    Model empty;
    auto text = [&](const Model& m, auto make) {
        auto pane = make({});
        settle(*pane, m);
        return drawn(*pane, 80, 10);
    };
    EXPECT_NE(text(empty, make_difference_pane).find("Press s on a function"), std::string::npos);
    EXPECT_NE(text(empty, make_histogram_pane).find("Press t on"), std::string::npos);
    EXPECT_NE(text(empty, make_calls_pane).find("Press S on a function"), std::string::npos);
    EXPECT_NE(text(empty, make_table_pane).find("No samples"), std::string::npos);
    EXPECT_NE(text(empty, make_threads_pane).find("No samples"), std::string::npos);

    PaneSession fresh;
    fresh.serve(20);
    EXPECT_NE(text(fresh.model, make_difference_pane).find("warming up: 20 of"), std::string::npos);
    EXPECT_NE(text(fresh.model, make_histogram_pane).find("warming up: 20 of"), std::string::npos);
}

} // namespace
} // namespace auger
