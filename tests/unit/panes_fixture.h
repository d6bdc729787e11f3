// SPDX-License-Identifier: GPL-3.0-or-later
// Panes by themselves, on a session of a service (pane_session.h).
#pragma once

#include "tests/unit/pane_session.h"
#include "views/screen/pane.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace auger {

inline void settle(Pane& pane, const Model& model, const Scope& scope = {}) {
    for (int i = 0; pane.refresh(model, scope, TimeSlice::one_step()); i++)
        ASSERT_LT(i, 1000);
}

inline std::string drawn(Pane& pane, size_t width, size_t height, size_t x = 0, size_t y = 0) {
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
inline std::vector<size_t> rows_filled(Pane& pane, Fill fill, size_t width, size_t height) {
    Canvas canvas(width);
    pane.draw(canvas, {0, 0, width, height}, true);
    std::vector<size_t> rows;
    for (size_t y = 0; y < canvas.height(); y++)
        if (!canvas.row(y).empty() && canvas.row(y)[0].fill == fill)
            rows.push_back(y);
    return rows;
}

inline std::vector<Wish> act(Pane& pane, Action action, const Model& model,
                             const Scope& scope = {}) {
    std::vector<Wish> wishes;
    pane.act(action, model, scope, wishes);
    settle(pane, model, scope);
    return wishes;
}

// The row that the cursor is on, as drawn.
inline std::string row_at_cursor(Pane& pane, size_t width = 100, size_t height = 30) {
    Canvas canvas(width);
    pane.draw(canvas, {0, 0, width, height}, true);
    const std::vector<size_t> rows = rows_filled(pane, Fill::cursor, width, height);
    EXPECT_EQ(rows.size(), 1u);
    std::string text;
    for (size_t x = 0; !rows.empty() && x < canvas.row(rows[0]).size(); x++)
        text += canvas.row(rows[0])[x].text;
    return text;
}

class Panes : public testing::Test {
  protected:
    Panes() { session.serve(2000); }

    PaneSession session;
    Model& model = session.model;
    Scope scope;
};

} // namespace auger
