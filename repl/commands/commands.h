// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the table, each declared by the file of its command.
#pragma once

#include "repl/session/command_table.h"

namespace auger {

// In the order of `help`.
CommandRow target_command();
CommandRow filter_command();
CommandRow exit_command();

CommandRow sample_command();
CommandRow overhead_command();
CommandRow window_command();
CommandRow ewma_command();

CommandRow time_command();
CommandRow span_command();
CommandRow slow_command();
CommandRow trace_command();
CommandRow threshold_command();
CommandRow delete_command();
CommandRow split_command();
CommandRow unsplit_command();
CommandRow only_command();

CommandRow view_command();
CommandRow flame_command();
CommandRow diff_command();
CommandRow top_command();
CommandRow threads_command();
CommandRow suggest_command();
CommandRow functions_command();
CommandRow explain_command();
CommandRow hist_command();
CommandRow calls_command();
CommandRow probes_command();
CommandRow sites_command();
CommandRow status_command();
CommandRow callers_command();
CommandRow callees_command();
CommandRow open_command();
CommandRow stacks_command();

CommandRow rewrite_command();
CommandRow drop_command();
CommandRow fold_command();
CommandRow rules_command();

CommandRow save_command();
CommandRow source_command();
CommandRow record_command();
CommandRow on_command();
CommandRow serve_command();
CommandRow ship_command();

CommandRow wait_command();
CommandRow assert_command();
CommandRow echo_command();

CommandRow undo_command();
CommandRow doctor_command();
CommandRow help_command();
CommandRow quit_command();

} // namespace auger
