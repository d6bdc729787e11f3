// SPDX-License-Identifier: GPL-3.0-or-later
// The same views as data: one JSON object on one line each, times in nanoseconds, names escaped so
// that every string is valid UTF-8. Fields are a contract: schemas/auger.json.
// Each returns text without a newline; `calls` has one object a call, so a list of lines.
#pragma once

#include "views/model/fold.h"
#include "views/text/views.h"

namespace auger {

std::string flame_json(const Model&, const Window&, const ClassFilter& filter = {},
                       GroupBy by = GroupBy::process, const std::string& under = {},
                       FrameChoice frames = FrameChoice::all);
// `limit`, here and below: of functions or threads, those with most; all without one.
std::string neighbours_json(const Model&, const Window&, const FunctionFocus&,
                            const ClassFilter& filter = {}, std::optional<size_t> limit = {},
                            FrameChoice frames = FrameChoice::all);
std::string top_json(const Model&, const Window&, const ClassFilter& filter = {},
                     std::optional<size_t> limit = {}, FrameChoice frames = FrameChoice::all);
std::string threads_json(const Model&, const Window&, const ClassFilter& filter = {},
                         std::optional<size_t> limit = {});
std::string suggest_json(const Model&, const Suggestions&, std::optional<size_t> limit = {});
std::string status_json(const Model&, const StatusContext&);
// The figures that say whether anything is new, on one short line.
std::string summary_json(const Model&, const Window&, const TargetStatus&);
std::string overhead_json(const Model&, const StatusContext&);
Result<std::string> diff_json(const Model&, const Window&, const ClassFilter& first,
                              const ClassFilter& second, FrameChoice frames = FrameChoice::all);
// One object a probe that was matched; a probe with several functions has one object.
// With `by_host` also that of each host.
Result<std::string> hist_json(const Model&, const Window&, ProbeId probe,
                              const std::optional<HostChoice>& host = {}, bool by_host = false);
// One object a timed function.
std::vector<std::string> probes_json(const Model&);
// One object; of the functions of a probe, or of all, those that come first.
std::string functions_json(const Model&, const Window&, std::optional<ProbeId> probe = {},
                           FunctionColumn sorted_by = FunctionColumn::total,
                           std::optional<size_t> limit = {});
// One object; shares are parts of 1.
std::string explain_json(const Model&, const Window&, ProbeId probe,
                         std::optional<size_t> limit = {});
// One object a slow call, the oldest first; calls within the window only.
Result<std::vector<std::string>> calls_json(const Model&, const Window&,
                                            std::optional<ProbeId> probe = {},
                                            const ClassFilter& filter = {},
                                            const StackOptions& stack = whole_stack);

// One object a call, the oldest first.
std::vector<std::string> open_calls_json(const Model&, std::span<const OpenCall>,
                                         const StackOptions& stack = whole_stack);

// One object a thread, of at most so many.
std::vector<std::string> stacks_json(const Model&, std::span<const ThreadNow>,
                                     std::optional<size_t> limit = {},
                                     const StackOptions& stack = whole_stack);

} // namespace auger
