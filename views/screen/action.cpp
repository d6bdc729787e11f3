// SPDX-License-Identifier: GPL-3.0-or-later
// The keys are those that people's fingers know: motions of vi and less, flamelens' zoom, freeze
// and reset, htop's function keys and threads, perf top's annotate. One key means one thing
// everywhere.
#include "views/screen/action.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

using Code = Key::Code;

Key plain(char32_t c) {
    return {.code = Code::character, .character = c};
}
Key ctrl(char32_t c) {
    return {.code = Code::character, .character = c, .control = true};
}
Key key(Code code) {
    return {.code = code};
}
Key f(char32_t number) {
    return {.code = Code::function, .character = number};
}

std::vector<KeyRow> make_table() {
    constexpr std::string_view move = "Moving", look = "Looking closer", shown = "What is shown",
                               panes = "Panes", drill = "The function under the cursor",
                               session = "Session";
    return {
        {{key(Code::up), plain('k')}, Action::up, move, "up", ""},
        {{key(Code::down), plain('j')}, Action::down, move, "down", ""},
        {{key(Code::left), plain('h')}, Action::left, move, "left; to the frame beside", ""},
        {{key(Code::right), plain('l')}, Action::right, move, "right; to the frame beside", ""},
        {{key(Code::page_up), ctrl('b')}, Action::page_up, move, "a page up", ""},
        {{key(Code::page_down), ctrl('f'), plain(' ')}, Action::page_down, move, "a page down", ""},
        {{key(Code::home), plain('g')}, Action::first, move, "to the first", ""},
        {{key(Code::end), plain('G')}, Action::last, move, "to the last", ""},

        {{key(Code::enter)}, Action::enter, look, "zoom into the frame, open the row", "zoom"},
        {{key(Code::escape), key(Code::backspace)},
         Action::back,
         look,
         "a step back: out of the zoom, the search, the class, the pane",
         "back"},
        {{plain('r')}, Action::reset, look, "all the way back", "reset"},
        {{plain('/'), f(3)}, Action::search, look, "search by a regular expression", "search"},
        {{plain('n')}, Action::next_match, look, "the next match", "next"},
        {{plain('N')}, Action::previous_match, look, "the match before", "previous"},

        {{plain('z'), plain('Z')},
         Action::freeze,
         shown,
         "freeze what is shown; data goes on being collected",
         "freeze"},
        {{plain('+'), plain('=')},
         Action::longer,
         shown,
         "a longer window or time constant",
         "longer"},
        {{plain('-')}, Action::shorter, shown, "a shorter one", "shorter"},
        {{plain('W')},
         Action::window_kind,
         shown,
         "what the window is: fading (ewma), the last seconds, everything",
         "window"},
        {{plain('c')},
         Action::class_filter,
         shown,
         "the next class: all, slow, fast, ...",
         "class"},
        {{plain('b')},
         Action::group_by,
         shown,
         "grouped by process, tid, cpu, task, coroutine and others",
         "by"},
        {{plain('m')},
         Action::colour_by,
         shown,
         "what colours mean: waiting, classes, modules, languages",
         "colours"},
        {{plain('L')}, Action::frames, shown, "which frames: all, of languages, native", "frames"},
        {{plain('i')}, Action::direction, shown, "flame growing down or up", "invert"},
        {{plain('w')}, Action::weigh_by, shown, "widths by time or by samples", "weigh"},
        {{f(6), plain('.')}, Action::sort, shown, "the next order of rows", "sort"},

        {{plain('1')}, Action::flame, panes, "flame: where the time goes", "flame"},
        {{plain('2')},
         Action::difference,
         panes,
         "difference: what slow calls do that fast do not",
         "what differs"},
        {{plain('3')},
         Action::histogram,
         panes,
         "histogram of a timed function's durations",
         "durations"},
        {{plain('4')}, Action::calls, panes, "slow calls", "slow calls"},
        {{plain('5')},
         Action::table,
         panes,
         "functions by self and total; callers and callees",
         "table"},
        {{plain('6')}, Action::threads, panes, "threads", "threads"},
        {{plain('7')}, Action::strip, panes, "the time strip: go there; there: hide it", "time"},
        {{key(Code::tab)}, Action::next_pane, panes, "the next pane", "next pane"},
        {{key(Code::back_tab)}, Action::previous_pane, panes, "the pane before", ""},

        {{plain('t')}, Action::time_it, drill, "time its calls", "time it"},
        {{plain('T')},
         Action::time_suggested,
         drill,
         "time the function that does the work, as samples tell",
         "time what is suggested"},
        {{plain('s')},
         Action::split_on_it,
         drill,
         "split the samples by how long its calls take",
         "split by its p95"},
        {{plain('S')}, Action::slow_it, drill, "trace its slow calls", "trace slow calls"},
        {{plain('o')},
         Action::only_this,
         drill,
         "keep only what happens in it; again: everything",
         "only this"},
        {{plain('@')},
         Action::call_sites,
         drill,
         "from where it is called; choose one to time it",
         "call sites"},
        {{plain('a')}, Action::source, drill, "its source", "source"},
        {{plain('C')}, Action::callers, drill, "its callers", "callers"},
        {{plain('E')}, Action::callees, drill, "what it calls", "callees"},
        {{plain('O')}, Action::open_calls, drill, "its calls that are running now", "open calls"},
        {{plain('d'), key(Code::remove)},
         Action::delete_probe,
         drill,
         "time it no longer",
         "delete"},
        {{plain(']')}, Action::threshold_up, drill, "raise the split's threshold", "raise"},
        {{plain('[')}, Action::threshold_down, drill, "lower it", "lower"},
        {{plain('}')},
         Action::gap_up,
         drill,
         "raise it to the next gap between durations",
         "next gap"},
        {{plain('{')}, Action::gap_down, drill, "lower it to the gap before", "gap before"},
        {{plain('v')},
         Action::select_range,
         drill,
         "begin and end a range: of durations, of moments",
         "range"},

        {{plain('u')}, Action::undo, session, "undo the last command", "undo"},
        {{plain(':')}, Action::command, session, "type a command", "command"},
        {{plain('?'), f(1)}, Action::help, session, "all keys", "keys"},
        {{plain('q'), f(10), ctrl('c')},
         Action::leave,
         session,
         "to the prompt; everything goes on",
         "quit"},
        {{ctrl('z')}, Action::suspend, session, "suspend auger", ""},
        {{ctrl('l')}, Action::redraw, session, "draw the screen anew", ""},
    };
}

} // namespace

std::span<const KeyRow> key_table() {
    static const std::vector<KeyRow> table = make_table();
    return table;
}

std::optional<Action> action_of(const Key& pressed) {
    Key bare = pressed;
    bare.x = bare.y = 0;
    for (const KeyRow& row : key_table()) {
        if (std::find(row.keys.begin(), row.keys.end(), bare) != row.keys.end())
            return row.action;
    }
    return std::nullopt;
}

std::string name_of(const Key& key) {
    switch (key.code) {
    case Code::character:
        if (key.character == ' ')
            return "Space";
        if (key.control)
            return fmt::format("Ctrl-{}", static_cast<char>(key.character - 'a' + 'A'));
        return std::string(1, static_cast<char>(key.character));
    case Code::enter:
        return "Enter";
    case Code::escape:
        return "Esc";
    case Code::tab:
        return "Tab";
    case Code::back_tab:
        return "Shift-Tab";
    case Code::backspace:
        return "Backspace";
    case Code::remove:
        return "Del";
    case Code::up:
        return "Up";
    case Code::down:
        return "Down";
    case Code::left:
        return "Left";
    case Code::right:
        return "Right";
    case Code::home:
        return "Home";
    case Code::end:
        return "End";
    case Code::page_up:
        return "PgUp";
    case Code::page_down:
        return "PgDn";
    case Code::function:
        return fmt::format("F{}", static_cast<uint32_t>(key.character));
    case Code::mouse_press:
        return "click";
    case Code::mouse_double:
        return "double click";
    case Code::wheel_up:
        return "wheel up";
    case Code::wheel_down:
        return "wheel down";
    }
    return {};
}

std::string key_name(Action action) {
    for (const KeyRow& row : key_table()) {
        if (row.action == action)
            return name_of(row.keys.front());
    }
    return {};
}

} // namespace auger
