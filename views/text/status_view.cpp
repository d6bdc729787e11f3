// SPDX-License-Identifier: GPL-3.0-or-later
// status: the ledger. Every sum is written out, with a mark that says whether it holds.
#include "views/escape.h"
#include "views/format.h"
#include "views/hosts_text.h"
#include "views/model/account.h"
#include "views/model/slow_call_query.h"
#include "views/model/stack_completeness.h"
#include "views/overhead_text.h"
#include "views/shipping_text.h"
#include "views/target_text.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <utility>

namespace auger {

namespace {

constexpr size_t body = 12; // where the text behind a label begins

class StatusDrawing {
  public:
    StatusDrawing(Canvas& canvas, const Model& model, const ViewOptions& options,
                  const StatusContext& context)
        : canvas_(canvas), model_(model), options_(options), context_(context),
          account_(make_account(model)) {}

    void draw() {
        add_target();
        add_hosts();
        add_sampling();
        add_samples();
        add_calls();
        add_spans();
        add_losses();
        add_overhead();
        add_thresholds();
        add_only();
        add_rules();
        add_combined();
        line("links", format_count(static_cast<double>(context_.links.size())));
        add_symbols();
        add_stacks();
        add_store();
        add_readers();
        add_clients();
        add_shipping();
        add_notices();
    }

  private:
    void line(std::string_view label, std::string_view text, Style style = Style::plain) {
        size_t y = canvas_.height();
        canvas_.add_line(text, style, body);
        canvas_.put(0, y, label, Style::dim);
    }

    void sum(std::string_view label, const std::string& text, bool holds) {
        line(label, text);
        size_t y = canvas_.height() - 1, columns = canvas_.row(y).size();
        std::string_view mark = holds ? "ok" : "DOES NOT ADD UP";
        if (columns + 1 + mark.size() > canvas_.width())
            canvas_.put(0, ++y, "");
        canvas_.put_right(canvas_.width(), y, mark, holds ? Style::good : Style::warning);
    }

    static std::string percent(uint64_t part, uint64_t whole) {
        return fmt::format("{:.2f} %",
                           100 * static_cast<double>(part) / static_cast<double>(whole));
    }
    static std::string count(double n) { return format_count(n); }
    static std::string count(uint64_t n) { return format_count(static_cast<double>(n)); }

    void add_target() {
        std::string_view label = "target";
        for (const std::string& text : target_lines(context_.target))
            line(std::exchange(label, ""), text);
    }

    void add_hosts() {
        std::string_view label = "hosts";
        for (const HostRow& row : host_rows(context_.hosts))
            line(std::exchange(label, ""), row.text, row.fine ? Style::plain : Style::warning);
    }

    void add_sampling() {
        const LedgerEvent& ledger = model_.ledger();
        if (!options_.filter.empty())
            line("filter", options_.filter);
        if (ledger.rate_hz == 0) {
            line("sampling", "off");
            return;
        }
        line("sampling", fmt::format("{} asked for, {} achieved over {} on CPU",
                                     format_rate(static_cast<double>(ledger.rate_hz)),
                                     format_rate(ledger.rate_achieved_hz),
                                     format_duration(static_cast<double>(ledger.on_cpu_ns))));
        if (ledger.waits_hz)
            line("", fmt::format("waits at {}, with stacks where a sample is expected",
                                 format_rate(static_cast<double>(ledger.waits_hz))));
        if (!context_.raised.empty())
            line("", "raised to " + context_.raised);
        if (ledger.sample_gap_ns)
            line("", fmt::format("a sample costs its thread {}, which is taken out of durations",
                                 format_duration(static_cast<double>(ledger.sample_gap_ns))));
    }

    // What is known of goroutines that wait.
    std::string goroutine_text() const {
        using Goroutines = LedgerEvent::Goroutines;
        const LedgerEvent& ledger = model_.ledger();
        if (ledger.goroutines == Goroutines::watched)
            return fmt::format("goroutines are watched while they are parked: {} switches",
                               count(ledger.goroutine_switches));
        if (ledger.goroutines == Goroutines::too_often)
            return "goroutines switch too often to be watched while they are parked";
        return {};
    }

    void add_samples() {
        const Account& a = account_;
        sum("samples",
            fmt::format("{} ticks = {} sent + {} filtered{} + {} lost", count(a.ticks),
                        count(a.sent), count(a.filtered),
                        a.gated ? fmt::format(" + {} gated", count(a.gated)) : "",
                        count(a.lost_samples)),
            a.ticks_add_up);
        if (model_.ledger().wall || model_.ledger().waits)
            line("", fmt::format("{} waits ended, {} samples of waits{}",
                                 count(model_.ledger().waits), count(a.wait_samples),
                                 model_.ledger().wall ? "" : " (no longer sampled)"));
        if (const std::string goroutines = goroutine_text(); !goroutines.empty())
            line("", goroutines);
        std::string classes;
        if (model_.split().active && model_.split().threshold.kind == Threshold::Kind::none)
            classes =
                fmt::format("{} inside + {} outside + ", count(a.classes[CallClass::open].samples),
                            count(a.classes[CallClass::outside].samples));
        else
            for (CallClass c : all_call_classes)
                classes += fmt::format("{} {} + ", count(a.classes[c].samples), to_string(c));
        sum("",
            fmt::format("{} received = {}{} evicted", count(a.received), classes, count(a.evicted)),
            a.samples_add_up);
        if (a.samples_in_lost_ends)
            line("",
                 fmt::format("{} open samples lie in calls whose end was never seen",
                             count(a.samples_in_lost_ends)),
                 Style::warning);
    }

    void add_calls() {
        const CallStatistics& calls = account_.calls;
        sum("calls",
            fmt::format(
                "{} entries = {} returns + {} unwound + {} open + {} dropped{}{}",
                count(calls.entries), count(calls.returns), count(calls.unwound),
                count(static_cast<double>(calls.open)), count(calls.dropped),
                calls.filtered > 0 ? fmt::format(" + {} filtered", count(calls.filtered)) : "",
                calls.expired > 0 ? fmt::format(" + {} expired", count(calls.expired)) : ""),
            account_.calls_add_up);
        if (model_.slow_calls_received())
            line("slow calls",
                 fmt::format("{} traced, {} kept", count(model_.slow_calls_received()),
                             count(uint64_t{model_.slow_calls().size()})));
    }

    // Each by itself: they are among the calls above.
    void add_spans() {
        bool any = false;
        for (const auto& [id, probe] : model_.probes()) {
            if (probe.deleted || probe.span.empty())
                continue;
            const CallStatistics spans = model_.probe_statistics(id);
            const bool exchanges = probe.is_exchanges();
            sum(any ? "" : "spans",
                fmt::format(
                    "{}: {} begins = {} ended + {} {} + {} expired + {} open + {} dropped{}; "
                    "{} stray ends",
                    escape_untrusted(probe.text), count(spans.entries), count(spans.returns),
                    count(spans.unwound), exchanges ? "unanswered" : "unended",
                    count(spans.expired), count(static_cast<double>(spans.open)),
                    count(spans.dropped),
                    exchanges ? fmt::format(" + {} ambiguous", count(spans.filtered)) : "",
                    count(spans.stray)),
                spans.add_up());
            any = true;
        }
    }

    void add_losses() {
        bool any = false;
        for (const auto& [cause, lost] : model_.ledger().lost) {
            if (lost == 0)
                continue;
            line(any ? "" : "lost", fmt::format("{}  {}", count(lost), cause), Style::warning);
            any = true;
        }
        if (!any)
            line("lost", "nothing", Style::good);
    }

    void add_overhead() {
        const Overhead& overhead = model_.ledger().overhead;
        if (!overhead.target_ns)
            return;
        const uint64_t cost = overhead_cost(overhead);
        std::string text = fmt::format("{} of the target's CPU time",
                                       format_percent(overhead_share(overhead, cost)));
        if (const auto causes = dearest_causes(overhead); !causes.empty())
            text += fmt::format(", {} of it for {}",
                                format_percent(cost ? static_cast<double>(causes.front().cost_ns) /
                                                          static_cast<double>(cost)
                                                    : 0),
                                overhead_cause(model_, causes.front()));
        line("overhead", text);
    }

    void add_thresholds() {
        std::string_view label = "thresholds";
        if (model_.split().active) {
            line(label, "split " + split_text(model_));
            label = "";
        }
        for (const auto& [id, probe] : model_.probes())
            if (!probe.deleted && probe.slow.kind != Threshold::Kind::none) {
                line(label, tracing_text(probe, model_.slow_state(id), probe_text(model_, id)));
                label = "";
            }
    }

    void add_only() {
        std::string_view label = "only";
        const LedgerEvent& ledger = model_.ledger();
        if (!model_.only().text.empty()) {
            line(label, model_.only().text);
            label = "";
        }
        for (const auto& [id, probe] : model_.probes())
            if (!probe.deleted && !probe.conditions.only_if.empty()) {
                line(label, probe_text(model_, id) + " if " + probe.conditions.only_if);
                label = "";
            }
        if (ledger.gated || ledger.gated_waits || ledger.gated_slow_calls) {
            line(label, fmt::format("kept back: {} ticks, {} samples of waits, {} slow calls",
                                    count(ledger.gated), count(ledger.gated_waits),
                                    count(ledger.gated_slow_calls)));
            label = "";
        }
        if (!model_.only().line_clauses.empty() || !model_.kept_stacks().empty())
            line(label, fmt::format("left out of views: {} samples, {} slow calls",
                                    count(account_.left_out),
                                    count(uint64_t{count_left_out(model_, Classifier(model_), {},
                                                                  std::nullopt)})));
    }

    void add_rules() {
        std::string_view label = "rules";
        for (const Rule& rule : model_.symbols().rules().list()) {
            line(label, spell_rule(rule));
            label = "";
        }
    }

    // Classes by branch and value; those by duration stand with the samples.
    void add_combined() {
        const SplitInfo& split = model_.split();
        if (!split.active || (split.branch.empty() && split.label.empty()))
            return;
        size_t y = canvas_.height();
        Classifier classify(model_);
        add_combined_classes(canvas_, model_, tabulate_classes(model_, classify, {}), {}, body);
        canvas_.put(0, y, "classes", Style::dim);
    }

    void add_symbols() {
        std::string text =
            fmt::format("{} locations", count(uint64_t{model_.symbols().locations()}));
        if (context_.symbols.pending)
            text +=
                fmt::format(", {} waiting for names", count(uint64_t{context_.symbols.pending}));
        line("symbols", text);
        for (const std::string& module : context_.symbols.modules)
            line("", "reading " + module, Style::dim);
    }

    void add_stacks() {
        const StackCompleteness stacks = stack_completeness(model_);
        if (const uint64_t samples = stacks.samples()) {
            line("stacks", fmt::format("{} of {} samples whole", percent(stacks.whole, samples),
                                       count(samples)));
            for (const auto& [cause, cut] : stacks.cut)
                line("", fmt::format("{} cut: {}", percent(cut, samples), cause));
            if (stacks.probe_handling)
                line("", fmt::format("{} in [probe]: the kernel at work for probes",
                                     percent(stacks.probe_handling, samples)));
        }
        const UnwindStatus& unwinding = context_.unwinding;
        if (unwinding.modules)
            line("unwinding",
                 fmt::format("tables of {} modules, {}", count(uint64_t{unwinding.modules}),
                             format_bytes(static_cast<double>(unwinding.bytes))));
        for (const std::string& module : unwinding.pending)
            line("", "being made: " + module, Style::dim);
        for (const std::string& note : unwinding.notes)
            line("", note, Style::dim);
    }

    void add_readers() {
        size_t processes = 0;
        uint64_t total = 0;
        std::string services;
        for (const auto& [service, use] : context_.readers.services) {
            processes += use.processes;
            total += use.bytes;
            services += fmt::format("{}{} {} ({})", services.empty() ? "" : ", ",
                                    count(uint64_t{use.processes}), service,
                                    format_bytes(static_cast<double>(use.bytes)));
        }
        if (processes)
            line("readers",
                 fmt::format("{} processes, {} of at most {}: {}", count(uint64_t{processes}),
                             format_bytes(static_cast<double>(total)),
                             format_bytes(static_cast<double>(context_.readers.limit)), services));
    }

    void add_store() {
        size_t size = model_.samples().size(), capacity = model_.samples().capacity();
        line("store", fmt::format("{} of {} samples, {} calls, {}", count(uint64_t{size}),
                                  count(uint64_t{capacity}), count(uint64_t{model_.calls().live()}),
                                  format_bytes(static_cast<double>(model_.memory_bytes()))));
        auto bytes = [](uint64_t n) { return format_bytes(static_cast<double>(n)); };
        const uint64_t stacks = model_.stacks_bytes(), calls = model_.calls_bytes(),
                       stream = context_.symbols.bytes,
                       known = model_.memory_bytes() + stacks + calls + stream;
        std::string whole = context_.resident_bytes
                                ? fmt::format("{} resident: ", bytes(context_.resident_bytes))
                                : "";
        std::string rest;
        if (context_.resident_bytes > known)
            rest = fmt::format(", {} views, tables of symbols and the program",
                               bytes(context_.resident_bytes - known));
        line("memory",
             fmt::format("{}{} samples, {} stacks and names, {} durations and slow calls, "
                         "{} for recordings to begin with{}",
                         whole, bytes(model_.memory_bytes()), bytes(stacks), bytes(calls),
                         bytes(stream), rest));
    }

    void add_clients() {
        const ClientsStatus& clients = context_.clients;
        if (!clients.served)
            return;
        std::string text = fmt::format("{} answered", count(clients.answered));
        if (clients.cpu_ns)
            text += fmt::format(", which took {} of CPU time",
                                format_duration(static_cast<double>(clients.cpu_ns)));
        if (clients.sampled_ns)
            text += fmt::format("; {} sampled for them alone",
                                format_duration(static_cast<double>(clients.sampled_ns)));
        line("clients", text);
        for (const auto& [cause, refused] : clients.refused)
            line("", fmt::format("{} refused: {}", count(refused), cause));
    }

    void add_shipping() {
        using Count = ShippingStatus::Count;
        const char* label = "shipping";
        for (const ShippingStatus& shipping : context_.shipping) {
            line(std::exchange(label, ""), "to " + shipping.receiver);
            sum("", "intervals: " + shipping_sum(shipping, &Count::intervals), shipping.adds_up());
            sum("", "samples: " + shipping_sum(shipping, &Count::samples), shipping.adds_up());
            for (const std::string& note : shipping_notes(shipping))
                line("", note, Style::warning);
        }
    }

    void add_notices() {
        constexpr size_t most = 5;
        const std::deque<Notice>& notices = model_.notices();
        size_t first = notices.size() > most ? notices.size() - most : 0;
        for (size_t i = first; i < notices.size(); i++)
            line(i == first ? "notices" : "", notices[i].text);
    }

    Canvas& canvas_;
    const Model& model_;
    const ViewOptions& options_;
    const StatusContext& context_;
    Account account_;
};

} // namespace

Canvas status_view(const Model& model, const ViewOptions& options, const StatusContext& context) {
    ViewOptions everything = options; // the ledger has no window
    everything.window = {};
    Canvas canvas = start_view(model, everything, "status", false);
    StatusDrawing(canvas, model, everything, context).draw();
    return canvas;
}

} // namespace auger
