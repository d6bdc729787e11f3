// SPDX-License-Identifier: GPL-3.0-or-later
// The table of keys is whole and without contradictions, and so is what is made of it.
#include "views/screen/action.h"
#include "views/screen/key_help.h"
#include "views/screen/panes.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace auger {
namespace {

TEST(ScreenKeys, EveryActionHasAKeyAndNoKeyHasTwo) {
    std::set<Action> actions;
    std::map<std::string, int> keys;
    for (const KeyRow& row : key_table()) {
        EXPECT_FALSE(row.keys.empty());
        EXPECT_TRUE(actions.insert(row.action).second) << "twice: " << row.summary;
        EXPECT_FALSE(row.summary.empty());
        EXPECT_FALSE(row.group.empty());
        for (const Key& key : row.keys) {
            EXPECT_EQ(++keys[name_of(key)], 1) << name_of(key);
            EXPECT_EQ(action_of(key), row.action) << name_of(key);
        }
        EXPECT_EQ(key_name(row.action), name_of(row.keys.front()));
    }
    for (int i = 0; i <= static_cast<int>(Action::redraw); i++)
        EXPECT_TRUE(actions.count(static_cast<Action>(i))) << "no key for action " << i;
}

TEST(ScreenKeys, MeanWhatFingersKnow) {
    const auto of = [](char c) {
        return action_of({.code = Key::Code::character, .character = char32_t(c)});
    };
    // vi and less; flamelens; htop; perf top.
    EXPECT_EQ(of('j'), Action::down);
    EXPECT_EQ(of('k'), Action::up);
    EXPECT_EQ(of('h'), Action::left);
    EXPECT_EQ(of('l'), Action::right);
    EXPECT_EQ(of('/'), Action::search);
    EXPECT_EQ(of('n'), Action::next_match);
    EXPECT_EQ(of('N'), Action::previous_match);
    EXPECT_EQ(of('z'), Action::freeze);
    EXPECT_EQ(of('r'), Action::reset);
    EXPECT_EQ(of('q'), Action::leave);
    EXPECT_EQ(of('?'), Action::help);
    EXPECT_EQ(of('Z'), Action::freeze);
    EXPECT_EQ(of('a'), Action::source);
    EXPECT_EQ(action_of({.code = Key::Code::function, .character = 1}), Action::help);
    EXPECT_EQ(action_of({.code = Key::Code::function, .character = 10}), Action::leave);
    EXPECT_EQ(action_of({.code = Key::Code::escape}), Action::back);
    EXPECT_EQ(action_of({.code = Key::Code::enter}), Action::enter);
    EXPECT_EQ(action_of({.code = Key::Code::character, .character = 'q', .control = true}),
              std::nullopt);
    // Where the pointer was does not matter to a key.
    EXPECT_EQ(action_of({.code = Key::Code::tab, .x = 3, .y = 4}), Action::next_pane);
}

TEST(ScreenKeys, EveryPaneHasAnActionOfItsOwn) {
    std::set<Action> actions;
    std::set<std::string_view> names;
    for (const PaneRow& row : pane_table()) {
        EXPECT_TRUE(actions.insert(row.action).second);
        EXPECT_TRUE(names.insert(row.name).second);
        EXPECT_EQ(row.make({})->name(), row.name);
    }
    EXPECT_EQ(pane_table().front().action, Action::flame);
}

} // namespace
} // namespace auger
