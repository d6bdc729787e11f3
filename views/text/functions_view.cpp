// SPDX-License-Identifier: GPL-3.0-or-later
// functions: each timed function with its calls and their durations, a row each.
#include "views/escape.h"
#include "views/format.h"
#include "views/model/function_table.h"
#include "views/short_name.h"
#include "views/tail.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace auger {

namespace {

constexpr size_t figure_columns = 8; // all but the name

std::array<std::string, figure_columns> figures_of(const FunctionRow& row) {
    std::array<std::string, figure_columns> figures;
    figures.fill("-");
    figures[0] = format_count(row.calls.counted());
    if (row.calls.returns > 0) {
        const std::array durations = {
            row.calls.sum_ns, row.calls.self_ns(),     row.mean_ns, row.p50_ns, row.p95_ns,
            row.p99_ns,       double(row.calls.max_ns)};
        std::ranges::transform(durations, figures.begin() + 1, format_duration);
        if (!row.calls.is_nested_known)
            figures[static_cast<size_t>(FunctionColumn::self)] = "-";
    }
    return figures;
}

// The names that several places have are told apart by their files.
std::string name_of(const Model& model, const FunctionRow& row,
                    const std::map<std::string_view, size_t>& places) {
    const SpecInfo& spec = model.specs()[row.spec.index()];
    std::string name = display_name(spec.function);
    if (places.at(spec.function) > 1)
        name += fmt::format(" {}+{:#x}",
                            escape_untrusted(spec.module.substr(spec.module.rfind('/') + 1)),
                            spec.offset);
    return name;
}

} // namespace

Canvas functions_view(const Model& model, const ViewOptions& options, std::optional<ProbeId> probe,
                      FunctionColumn sorted_by) {
    std::vector<FunctionRow> table = function_table(model, options.window, probe, sorted_by);
    std::string title = "functions";
    if (probe)
        title += " " + probe_text(model, *probe);
    uint64_t from = model.first_ns();
    for (const FunctionRow& row : table)
        from = std::max(from, row.calls.from_ns);
    Canvas canvas = start_view(model, options, title, from, false);
    const size_t timed = table.size();
    std::erase_if(table, [](const FunctionRow& row) {
        return row.calls.entries <= 0 && row.calls.returns <= 0 && row.calls.open <= 0;
    });
    if (table.empty()) {
        canvas.add_line(timed ? "No calls." : "No function is timed.", Style::dim);
        return canvas;
    }
    const size_t rows = options.limit ? std::min(options.limit, table.size()) : table.size();
    std::vector<std::array<std::string, figure_columns>> shown;
    std::array<size_t, figure_columns> widths;
    const auto names = function_columns();
    for (size_t i = 0; i < figure_columns; i++)
        widths[i] = std::max<size_t>(names[i].size(), 7);
    std::map<std::string_view, size_t> places;
    for (const FunctionRow& row : table)
        places[model.specs()[row.spec.index()].function]++;
    for (size_t i = 0; i < rows; i++) {
        shown.push_back(figures_of(table[i]));
        for (size_t at = 0; at < figure_columns; at++)
            widths[at] = std::max(widths[at], shown.back()[at].size());
    }
    const size_t gap = canvas.width() < 100 ? 1 : 2;
    size_t y = canvas.height() + 1, right = 0;
    for (size_t at = 0; at < figure_columns; at++) {
        right += widths[at] + (at ? gap : 0);
        canvas.put_right(right, y, names[at],
                         at == static_cast<size_t>(sorted_by) ? Style::title : Style::dim);
        for (size_t i = 0; i < rows; i++)
            canvas.put_right(right, y + 1 + i, shown[i][at], at ? Style::plain : Style::number);
    }
    const size_t left = right + 2;
    canvas.put(left, y++, "function",
               sorted_by == FunctionColumn::function ? Style::title : Style::dim);
    for (size_t i = 0; i < rows && left < canvas.width(); i++)
        canvas.put(left, y + i,
                   fit_with_tail(name_of(model, table[i], places),
                                 tail_text(tail_of(model.specs()[table[i].spec.index()])),
                                 canvas.width() - left, ellipsis(options.unicode)),
                   Style::name);
    if (rows < table.size())
        canvas.add_line(
            fmt::format("({} more functions)", format_count(double(table.size() - rows))),
            Style::dim);
    if (timed > table.size())
        canvas.add_line(fmt::format("({} function{} without a call)",
                                    format_count(double(timed - table.size())),
                                    timed - table.size() == 1 ? "" : "s"),
                        Style::dim);
    return canvas;
}

} // namespace auger
