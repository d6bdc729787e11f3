// SPDX-License-Identifier: GPL-3.0-or-later
// explain: what makes the calls of a probe differ, a row each part.
#include "views/escape.h"
#include "views/format.h"
#include "views/model/explanation.h"
#include "views/short_name.h"
#include "views/tail.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace auger {

namespace {

constexpr size_t explained_columns = 6; // all but the name
constexpr std::array<std::string_view, explained_columns> column_names = {
    "variance", "95 % CI", "duration", "mean", "slow calls", "calls"};

std::string tenths_text(int64_t tenths) {
    return fmt::format("{}{}.{} %", tenths < 0 ? "-" : "", std::abs(tenths) / 10,
                       std::abs(tenths) % 10);
}

// Without a "-0".
int64_t whole_percent(double share) {
    return std::lround(std::clamp(share * 100, -1e15, 1e15));
}

std::string interval_text(const std::optional<Interval>& interval) {
    return interval ? fmt::format("{} to {} %", whole_percent(interval->low),
                                  whole_percent(interval->high))
                    : "-";
}

std::string longer_by(double ns) {
    return (ns < 0 ? "-" : "+") + format_duration(std::abs(ns));
}

std::string count_text(double calls) {
    if (calls > 0 && calls < 0.01)
        return "<0.01";
    return calls < 99.95 && calls != std::floor(calls) ? fmt::format("{:.2f}", calls)
                                                       : format_count(calls);
}

std::vector<double> shares_of(const std::vector<ExplainedPart>& parts, bool of_variance) {
    std::vector<double> shares;
    for (const ExplainedPart& part : parts)
        shares.push_back(of_variance ? part.share.variance.value_or(0) : part.share.mean);
    return shares;
}

class Table {
  public:
    Table(Canvas& canvas, const Model& model, const ViewOptions& options, ProbeId probe)
        : canvas_(canvas), model_(model), options_(options), probe_(probe) {}

    void add(const std::vector<ExplainedPart>& parts, std::string_view heading, double mean_ns) {
        const std::vector<int64_t> variance = rounded_shares(shares_of(parts, true), 1);
        const std::vector<int64_t> duration = rounded_shares(shares_of(parts, false), mean_ns);
        std::vector<std::array<std::string, explained_columns>> rows;
        for (size_t i = 0; i < parts.size(); i++) {
            const PartShare& share = parts[i].share;
            rows.push_back(
                {share.variance ? tenths_text(variance[i]) : "-", interval_text(share.interval),
                 tenths_text(duration[i]),
                 share.mean < 0 ? longer_by(share.mean) : format_duration(share.mean),
                 longer_by(share.slow_mean - share.others_mean),
                 parts[i].state.empty() && !parts[i].rest ? count_text(parts[i].calls) : ""});
        }
        // As many as are asked for, and the rest.
        const size_t shown =
            options_.limit && rows.size() > options_.limit + 1 ? options_.limit : rows.size();
        size_t y = canvas_.height() + 1, right = 0;
        for (size_t at = 0; at < explained_columns; at++) {
            if (at == explained_columns - 1 && !parts.front().state.empty())
                break;
            size_t width = column_names[at].size();
            for (const auto& row : rows)
                width = std::max(width, row[at].size());
            right += width + (at ? 2 : 0);
            canvas_.put_right(right, y, column_names[at], Style::dim);
            for (size_t i = 0; i < shown; i++)
                canvas_.put_right(right, y + 1 + i, rows[i][at], at ? Style::plain : Style::number);
        }
        const size_t left = right + 2;
        canvas_.put(left, y++, heading, Style::dim);
        for (size_t i = 0; i < shown && left < canvas_.width(); i++)
            canvas_.put(left, y + i, name_of(parts[i], canvas_.width() - left),
                        parts[i].rest || !parts[i].state.empty() ? Style::dim : Style::name);
        if (shown < rows.size())
            canvas_.add_line(fmt::format("({} more parts)", rows.size() - shown), Style::dim);
    }

  private:
    std::string name_of(const ExplainedPart& part, size_t width) const {
        std::string name(part.state), tail;
        if (part.rest) {
            const ProbeInfo* probe = model_.find_probe(probe_);
            name =
                "the rest of " + (probe ? display_name(probe->text) : probe_text(model_, probe_));
            tail = probe ? tail_text(tail_of(model_, *probe)) : "";
        } else if (part.state.empty()) {
            const SpecInfo& function = model_.specs()[part.spec.index()];
            name = display_name(function.function);
            tail = tail_text(tail_of(function));
        }
        return fit_with_tail(name, tail, width, ellipsis(options_.unicode));
    }

    Canvas& canvas_;
    const Model& model_;
    const ViewOptions& options_;
    ProbeId probe_;
};

void add_note(Canvas& canvas, const std::string& text, Style style = Style::warning) {
    canvas.add_line(text, style);
}

double total_mean(const std::vector<ExplainedPart>& parts) {
    double sum = 0;
    for (const ExplainedPart& part : parts)
        sum += part.share.mean;
    return sum;
}

std::string plural(size_t count, std::string_view what) {
    return fmt::format("{} {}{}", format_count(double(count)), what, count == 1 ? "" : "s");
}

void add_incomplete(Canvas& canvas, const Explanation& found) {
    if (found.incomplete)
        add_note(canvas, fmt::format("{} of {} on average left out: a call inside ended without "
                                     "being seen (help explain).",
                                     plural(found.incomplete, "call"),
                                     format_duration(found.incomplete_mean_ns)));
}

void add_doubts(Canvas& canvas, const Explanation& found) {
    if (found.functions.front().share.variance == std::nullopt)
        add_note(canvas, "All of them took equally long: there is nothing to explain.", Style::dim);
    else if (found.calls < least_explained_calls)
        add_note(canvas, fmt::format("Too few calls: with fewer than {} these shares say little.",
                                     least_explained_calls));
    else if (found.effective_calls < least_effective_calls)
        add_note(canvas,
                 fmt::format("The variance rests on about {}: one more may change the "
                             "picture.",
                             plural(size_t(std::lround(found.effective_calls)), "very long call")));
    add_incomplete(canvas, found);
}

void add_losses(Canvas& canvas, const LedgerEvent& ledger) {
    for (const char* cause : {lost_explained_calls, explained_on_other_stacks})
        if (const auto lost = ledger.lost.find(cause);
            lost != ledger.lost.end() && lost->second > 0)
            add_note(canvas, fmt::format("Lost since the beginning, {}: {}", cause,
                                         format_count(double(lost->second))));
}

} // namespace

Canvas explain_view(const Model& model, const ViewOptions& options, ProbeId probe) {
    const Explanation found = explain_calls(model, options.window, probe);
    Canvas canvas = start_view(model, options, "explain " + probe_text(model, probe),
                               std::max(found.from_ns, model.first_ns()), false);
    if (!found.calls) {
        canvas.add_line("No call of it was told with its parts.", Style::dim);
        add_incomplete(canvas, found);
        add_losses(canvas, model.ledger());
        return canvas;
    }
    std::string calls = plural(found.calls, "call");
    if (found.stands_for > static_cast<double>(found.calls))
        calls += fmt::format(", which stand for {}", format_count(found.stands_for));
    canvas.add_line(fmt::format("{}: {} on average, standard deviation {}", calls,
                                format_duration(found.mean_ns),
                                format_duration(found.deviation_ns)),
                    Style::dim);
    canvas.add_line(fmt::format("{} longer than p95 = {}: by how much each part is longer there",
                                plural(found.slow_calls, "slow call"),
                                format_duration(found.p95_ns)),
                    Style::dim);
    Table table(canvas, model, options, probe);
    if (!found.of_span)
        table.add(found.functions, "own time of", found.mean_ns);
    if (!found.states.empty())
        table.add(found.states, "time of the thread", total_mean(found.states));
    add_doubts(canvas, found);
    if (found.states.empty())
        canvas.add_line(
            "With \"sample wall\" its calls are also told apart by running and waiting.",
            Style::dim);
    else if (found.state_calls < found.calls)
        canvas.add_line(
            fmt::format("What the thread did is known of {}.", plural(found.state_calls, "call")),
            Style::dim);
    if (found.probing_ns > 0.1 * found.mean_ns)
        add_note(canvas, fmt::format("The probes inside take about {} of each call, most of it "
                                     "those of {}, which seems longer than it is: \"delete {}\".",
                                     format_duration(found.probing_ns),
                                     display_name(model.specs()[found.dearest.index()].function),
                                     model.specs()[found.dearest.index()].probe.value));
    add_losses(canvas, model.ledger());
    return canvas;
}

} // namespace auger
