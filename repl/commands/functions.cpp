// SPDX-License-Identifier: GPL-3.0-or-later
// functions: each function that probes time, with its calls and their durations, a row each.
#include "repl/commands/commands.h"
#include "repl/commands/showing.h"
#include "views/model/function_table.h"

#include <algorithm>

namespace auger {
namespace {

struct Functions final : Command {
    std::optional<ProbeRef> probe;
    FunctionColumn sorted_by = FunctionColumn::total;
    std::optional<size_t> limit; // rows

    Parsed<Reply> run(Session& session, const CommandPlace& place) const override {
        if (auto complaint = not_ready(session, place))
            return *complaint;
        const auto id = shown_probe(session, probe);
        if (!id)
            return id.complaint();
        const Model& model = session.model();
        return show(
            session, place,
            [&] { return functions_view(model, session.view_options(limit), *id, sorted_by); },
            [&] {
                return Lines{
                    functions_json(model, session.settings().window, *id, sorted_by, limit)};
            });
    }
};

// A probe that is called sort is quoted.
Parsed<CommandPtr> parse_functions(Arguments& arguments) {
    auto command = std::make_unique<Functions>();
    if (!arguments.at_end() && !arguments.peek().text.starts_with('-') &&
        (arguments.peek().quoted || arguments.peek().text != "sort"))
        command->probe = probe_ref(arguments.take());
    if (arguments.take_if("sort")) {
        const auto columns = function_columns();
        const auto column = arguments.expect_choice(
            "a column", std::vector<std::string>(columns.begin(), columns.end()));
        if (!column)
            return column.complaint();
        command->sorted_by = static_cast<FunctionColumn>(*column);
    }
    auto rows = take_rows(arguments);
    if (!rows)
        return rows.complaint();
    command->limit = *rows;
    return as_command(std::move(command));
}

constexpr std::string_view column_words = "calls total self mean p50 p95 p99 max function";

} // namespace

CommandRow functions_command() {
    return {
        .name = "functions",
        .group = "Views",
        .usage = "functions [PROBE] [sort COLUMN] [-n ROWS]",
        .summary = "the timed functions, each with its calls and their durations",
        .details = R"help(
A row for each function that a probe matches, such as those of `time 'parse_*'`, and for each call
site of `time recv@*`; without PROBE, of all probes. COLUMN is calls, total (without `sort`), self,
mean, p50, p95, p99, max or function; the largest comes first.

`calls` is how many began, the other figures are of those that returned, with the time in what they
called. `self` is `total` without the timed functions that they called, on the same stack; the more of
them are timed, the nearer it is to the functions' own time, which `top` has from samples. The sum of
`self` is the time of the outermost calls. calls, total, self, mean and max are exact.
Percentiles come from a histogram of each function and are less than 1 % off; under a window max does,
too, and is up to 1.6 % too long. `hist PROBE` shows the durations of all functions of a probe
together.)help",
        .examples = R"help(functions
functions 'parse_*' sort p99
functions 2 sort calls -n 10)help",
        .arguments = {{.probe = true, .words = "sort -n"},
                      {.words = "sort -n"},
                      {.words = "-n"},
                      {},
                      {.after = "sort", .words = column_words}},
        .parse = parse_functions,
    };
}

} // namespace auger
