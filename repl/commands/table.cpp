// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/commands/table.h"

#include "repl/commands/commands.h"

namespace auger {

const CommandTable& command_table() {
    static const CommandTable table({
        target_command(),    filter_command(),    exit_command(),

        sample_command(),    overhead_command(),  window_command(),  ewma_command(),

        time_command(),      span_command(),      slow_command(),    trace_command(),
        threshold_command(), delete_command(),    split_command(),   unsplit_command(),
        only_command(),

        view_command(),      flame_command(),     diff_command(),    top_command(),
        threads_command(),   functions_command(), explain_command(), hist_command(),
        calls_command(),     probes_command(),    sites_command(),   suggest_command(),
        status_command(),    callers_command(),   callees_command(), open_command(),
        stacks_command(),

        rewrite_command(),   drop_command(),      fold_command(),    rules_command(),

        save_command(),      source_command(),    record_command(),  on_command(),
        serve_command(),     ship_command(),

        wait_command(),      assert_command(),    echo_command(),

        undo_command(),      doctor_command(),    help_command(),    quit_command(),
    });
    return table;
}

} // namespace auger
