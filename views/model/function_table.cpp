// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/function_table.h"

#include <algorithm>
#include <array>

namespace auger {

namespace {

constexpr std::array<std::string_view, 9> column_names = {
    "calls", "total", "self", "mean", "p50", "p95", "p99", "max", "function"};

double figure(const FunctionRow& row, FunctionColumn column) {
    switch (column) {
    case FunctionColumn::calls:
        return row.calls.counted();
    case FunctionColumn::self:
        return row.calls.self_ns();
    case FunctionColumn::mean:
        return row.mean_ns;
    case FunctionColumn::p50:
        return row.p50_ns;
    case FunctionColumn::p95:
        return row.p95_ns;
    case FunctionColumn::p99:
        return row.p99_ns;
    case FunctionColumn::max:
        return static_cast<double>(row.calls.max_ns);
    case FunctionColumn::total:
    case FunctionColumn::function:
        break;
    }
    return row.calls.sum_ns;
}

} // namespace

std::span<const std::string_view> function_columns() {
    return column_names;
}

std::string_view to_string(FunctionColumn column) {
    return column_names[static_cast<size_t>(column)];
}

std::vector<FunctionRow> function_table(const Model& model, const Window& window,
                                        std::optional<ProbeId> probe, FunctionColumn sorted_by) {
    std::vector<FunctionRow> rows;
    for (const TimedFunction& timed : timed_functions(model, probe)) {
        if (timed.is_point(model) || timed.is_counted(model))
            continue;
        FunctionRow row{timed.specs.back(), timed.calls(model, window)};
        if (row.calls.returns > 0)
            row.mean_ns = row.calls.sum_ns / row.calls.returns;
        row.p50_ns = row.calls.quantile(0.5);
        row.p95_ns = row.calls.quantile(0.95);
        row.p99_ns = row.calls.quantile(0.99);
        row.p999_ns = row.calls.quantile(0.999);
        row.calls.durations = {}; // 18 KB, of thousands of functions
        rows.push_back(std::move(row));
    }
    const auto name = [&](const FunctionRow& row) -> const std::string& {
        return model.specs()[row.spec.index()].function;
    };
    // Of equal figures in the order of total time, then of names, then as they were first timed.
    std::ranges::stable_sort(rows, [&](const FunctionRow& a, const FunctionRow& b) {
        if (sorted_by != FunctionColumn::function)
            for (const FunctionColumn column : {sorted_by, FunctionColumn::total})
                if (const double x = figure(a, column), y = figure(b, column); x != y)
                    return x > y;
        return name(a) < name(b);
    });
    return rows;
}

} // namespace auger
