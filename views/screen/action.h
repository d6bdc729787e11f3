// SPDX-License-Identifier: GPL-3.0-or-later
// What a key means. One table gives the keys of all actions: the screen looks keys up in it, the
// help and the manual are made of it.
#pragma once

#include "views/screen/key.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace auger {

enum class Action : uint8_t {
    // Moving.
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    first,
    last,
    // Looking closer and back.
    enter, // zoom into the frame, open the row
    back,  // one step back: search, zoom, selection, class, pane; not commands, see undo
    reset, // all the way
    // Search.
    search,
    next_match,
    previous_match,
    // What is shown.
    freeze,
    longer, // window or time constant
    shorter,
    window_kind, // ewma, last, all
    class_filter,
    group_by,
    colour_by,
    frames,    // of languages, native ones, all
    direction, // flame: growing down or up
    weigh_by,  // samples or time
    sort,
    // Panes.
    flame,
    difference,
    histogram,
    calls,
    table,
    threads,
    strip, // time strip on and off
    next_pane,
    previous_pane,
    // Drilling at the function under the cursor.
    time_it,
    time_suggested, // wherever the cursor is
    slow_it,
    split_on_it,
    only_this,
    call_sites,
    source,
    callers,
    callees,
    open_calls,
    delete_probe,
    // The split's threshold.
    threshold_up,
    threshold_down,
    gap_up, // to where durations part next
    gap_down,
    // A range is begun and ended where the cursor is: of durations, of time.
    select_range,
    // The program.
    undo,
    command, // the command line
    help,
    leave,   // to the prompt
    suspend, // Ctrl-Z
    redraw,  // Ctrl-L
};

struct KeyRow {
    std::vector<Key> keys; // the first is the one that hints name
    Action action;
    std::string_view group;   // heading in the help
    std::string_view summary; // a line
    std::string_view hint;    // a word or two for the hint line; empty: never hinted
};

std::span<const KeyRow> key_table();
std::optional<Action> action_of(const Key&);
// "t", "Ctrl-L", "PgUp", "F1".
std::string name_of(const Key&);
// The first key of an action.
std::string key_name(Action);

} // namespace auger
