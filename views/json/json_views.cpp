// SPDX-License-Identifier: GPL-3.0-or-later
// Names pass escape_untrusted first, so nlohmann never meets invalid UTF-8.
#include "views/json/json_views.h"

#include "views/escape.h"
#include "views/json/call_records.h"
#include "views/model/account.h"
#include "views/model/frames_under.h"
#include "views/model/slow_call_query.h"
#include "views/model/stack_completeness.h"
#include "views/model/timed_function.h"
#include "views/overhead_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace auger {

namespace {

using namespace json_parts;

Line names(const Model& model, std::span<const FunctionId> path) {
    Line list = Line::array();
    for (FunctionId function : path)
        list.push_back(escape_untrusted(model.symbols().name(function)));
    return list;
}

// Each with its module, as in `top`.
Line function_lines(const Model& model, const std::set<FunctionId>& functions) {
    const SymbolTables& symbols = model.symbols();
    Line list = Line::array();
    for (FunctionId function : functions)
        list.push_back(
            {{"function", escape_untrusted(symbols.name(function))},
             {"module", escape_untrusted(symbols.module(symbols.function(function).module).path)}});
    return list;
}

// As commands, in their order.
Line rules_line(const Model& model) {
    Line list = Line::array();
    for (const Rule& rule : model.symbols().rules().list())
        list.push_back(escape_untrusted(spell_rule(rule)));
    return list;
}

// What became of all that began.
Line span_account(const Model& model, const ProbeInfo& probe) {
    const CallStatistics spans = model.probe_statistics(probe.id);
    return {{"probe", escape_untrusted(probe.text)}, {"begins", number(spans.entries)},
            {"ended", number(spans.returns)},        {"unended", number(spans.unwound)},
            {"expired", number(spans.expired)},      {"open", spans.open},
            {"dropped", number(spans.dropped)},      {"ambiguous", number(spans.filtered)},
            {"stray_ends", number(spans.stray)},     {"adds_up", spans.add_up()}};
}

Error unknown_probe(const char* operation, ProbeId id) {
    return {operation, fmt::format("#{}", id.value), "no such probe", "see: probes",
            Error::Kind::failed};
}

} // namespace

std::string flame_json(const Model& model, const Window& window, const ClassFilter& filter,
                       GroupBy by, const std::string& under, FrameChoice frames_shown) {
    Classifier classify(model);
    LabelledSums summed = sum_labelled_stacks(model, classify, window, by, filter);
    ClassTable table = tabulate_classes(model, classify, window);
    Line line = start("flame");
    line["window"] = window_line(window);
    line["split"] = split_line(model);
    line["by"] = by.name();
    line["under"] = text_or_null(under);
    line["frames"] = name_of(frames_shown);
    line["only"] = text_or_null(model.only().text);
    line["class"] = escape_untrusted(to_string(filter));
    line["classes"] = class_sums(table.by_duration);
    put_combined(line, model, table, window);
    line["left_out"] = sums(table.left_out);
    // Stacks of different addresses but the same functions are one.
    std::map<std::pair<Line, CallClass>, SampleSum> stacks;
    std::set<FunctionId> functions;
    FramesUnder frames(model.symbols(), under);
    std::vector<FunctionId> path;
    for (const LabelledSums::Entry& entry : summed.entries) {
        expand_stack(model.symbols(), entry.stack, path, frames_shown);
        if (!frames.cut(summed.labels[entry.label], path))
            continue;
        Line stack = Line::array({escape_untrusted(summed.labels[entry.label])});
        for (Line& name : names(model, path))
            stack.push_back(std::move(name));
        functions.insert(path.begin(), path.end());
        for (CallClass c : all_call_classes)
            if (entry.sums[c].samples > 0)
                stacks[{stack, c}] += entry.sums[c];
    }
    Line list = Line::array();
    for (const auto& [key, sum] : stacks) {
        Line entry = sums(sum);
        entry["stack"] = key.first;
        entry["class"] = std::string(to_string(key.second));
        list.push_back(std::move(entry));
    }
    line["stacks"] = std::move(list);
    line["functions"] = function_lines(model, functions);
    return finish(line);
}

std::string top_json(const Model& model, const Window& window, const ClassFilter& filter,
                     std::optional<size_t> limit, FrameChoice frames) {
    std::vector<FunctionSums> functions = sum_functions(model, window, filter, frames);
    std::sort(functions.begin(), functions.end(), [](const FunctionSums& a, const FunctionSums& b) {
        double x = a.self.sum().weight_ns, y = b.self.sum().weight_ns;
        return x != y ? x > y : a.function < b.function;
    });
    if (limit && functions.size() > *limit)
        functions.resize(*limit);
    Line list = Line::array();
    for (const FunctionSums& f : functions)
        list.push_back(
            {{"function", escape_untrusted(model.symbols().name(f.function))},
             {"module",
              escape_untrusted(
                  model.symbols().module(model.symbols().function(f.function).module).path)},
             {"self", sums(f.self.sum())},
             {"total", sums(f.total.sum())},
             {"classes", class_sums(f.total)}});
    Line line = start("top");
    line["window"] = window_line(window);
    line["split"] = split_line(model);
    line["frames"] = name_of(frames);
    line["only"] = text_or_null(model.only().text);
    line["class"] = escape_untrusted(to_string(filter));
    line["functions"] = std::move(list);
    return finish(line);
}

// Of the machines that agents observe.
static Line hosts_line(const std::vector<HostReport>& hosts) {
    Line lines = Line::array();
    for (const HostReport& host : hosts) {
        Line lacks = Line::array();
        for (const std::string& probe : host.lacks)
            lacks.push_back(escape_untrusted(probe));
        lines.push_back({{"host", escape_untrusted(host.name)},
                         {"state", state_text(host.state)},
                         {"cause", text_or_null(host.cause)},
                         {"program", text_or_null(host.program)},
                         {"machine", text_or_null(host.machine)},
                         {"silent", host.silent_ns},
                         {"clock_error", host.clock_error_ns},
                         {"round_trip", host.round_trip_ns},
                         {"received_bytes", host.received_bytes},
                         {"bytes_per_second", host.bytes_per_second},
                         {"lost_samples", host.lost_samples},
                         {"times_lost", host.times_lost},
                         {"processes", host.processes},
                         {"lacks", std::move(lacks)}});
    }
    return lines;
}

std::string status_json(const Model& model, const StatusContext& context) {
    Account account = make_account(model);
    const LedgerEvent& ledger = model.ledger();
    Line line = start("status");
    line["samples"] = account.received;
    line["ticks"] = account.ticks;
    line["sent"] = account.sent;
    line["filtered"] = account.filtered;
    line["gated"] = {{"ticks", ledger.gated},
                     {"waits", ledger.gated_waits},
                     {"slow_calls", ledger.gated_slow_calls}};
    line["kept"] = account.kept;
    line["evicted"] = account.evicted;
    line["classes"] = class_sums(account.classes);
    put_combined(line, model, tabulate_classes(model, Classifier(model), {}), {});
    line["only"] = text_or_null(model.only().text);
    line["rules"] = rules_line(model);
    line["left_out"] = account.left_out;
    line["lost_ends"] = account.samples_in_lost_ends;
    line["calls"] = {
        {"entries", number(account.calls.entries)}, {"returns", number(account.calls.returns)},
        {"unwound", number(account.calls.unwound)}, {"open", account.calls.open},
        {"dropped", number(account.calls.dropped)}, {"filtered", number(account.calls.filtered)},
        {"expired", number(account.calls.expired)}};
    line["spans"] = Line::array();
    for (const auto& [id, probe] : model.probes())
        if (!probe.deleted && !probe.span.empty())
            line["spans"].push_back(span_account(model, probe));
    line["checks"] = {{"ticks", account.ticks_add_up},
                      {"samples", account.samples_add_up},
                      {"calls", account.calls_add_up}};
    Line lost = Line::object();
    for (const auto& [cause, count] : ledger.lost)
        lost[escape_untrusted(cause)] = count;
    line["lost"] = std::move(lost);
    line["rate"] = ledger.rate_hz;
    line["raised"] = text_or_null(context.raised);
    line["rate_achieved"] = number(ledger.rate_achieved_hz);
    line["wall"] = ledger.wall;
    line["waits"] = {{"ended", ledger.waits}, {"samples", ledger.wait_samples}};
    line["goroutines"] = {{"watched", ledger.goroutines == LedgerEvent::Goroutines::watched},
                          {"too_often", ledger.goroutines == LedgerEvent::Goroutines::too_often},
                          {"switches", ledger.goroutine_switches}};
    line["waits_rate"] = ledger.waits_hz ? Line(ledger.waits_hz) : Line(nullptr);
    line["overhead"] = {
        {"share", overhead_share(ledger.overhead, overhead_cost(ledger.overhead))},
        {"limit", context.overhead_limit > 0 ? Line(context.overhead_limit) : Line(nullptr)}};
    line["sample_gap"] = ledger.sample_gap_ns;
    line["links"] = context.links;
    line["split"] = split_line(model);
    Line processes = Line::array();
    for (const TargetStatus::Process& process : context.target.processes) {
        processes.push_back({{"pid", process.pid},
                             {"comm", escape_untrusted(process.comm)},
                             {"user", escape_untrusted(process.user)},
                             {"running", process.running},
                             {"exit", escape_untrusted(process.exit)}});
        if (!process.machine.empty()) // of several
            processes.back()["machine"] = escape_untrusted(process.machine);
    }
    line["processes"] = std::move(processes);
    if (!context.hosts.empty())
        line["hosts"] = hosts_line(context.hosts);
    const StackCompleteness stacks = stack_completeness(model);
    Line cut = Line::object();
    for (const auto& [cause, samples] : stacks.cut)
        cut[escape_untrusted(cause)] = samples;
    line["stacks"] = {{"whole", stacks.whole}, {"cut", std::move(cut)}};
    line["probe_handling"] = stacks.probe_handling;
    Line notes = Line::array();
    for (const std::string& note : context.unwinding.notes)
        notes.push_back(escape_untrusted(note));
    line["unwinding"] = {{"modules", context.unwinding.modules},
                         {"bytes", context.unwinding.bytes},
                         {"pending", context.unwinding.pending.size()},
                         {"notes", std::move(notes)}};
    Line services = Line::object();
    for (const auto& [service, use] : context.readers.services)
        services[service] = {{"processes", use.processes}, {"bytes", use.bytes}};
    line["readers"] = {{"services", std::move(services)}, {"limit", context.readers.limit}};
    line["symbols_pending"] = context.symbols.pending;
    line["store"] = {{"samples", model.samples().size()},
                     {"capacity", model.samples().capacity()},
                     {"bytes", model.memory_bytes()}};
    line["memory"] = {{"resident", context.resident_bytes},
                      {"samples", model.memory_bytes()},
                      {"stacks", model.stacks_bytes()},
                      {"calls", model.calls_bytes()},
                      {"definitions", context.symbols.bytes}};
    Line refused = Line::object();
    for (const auto& [cause, count] : context.clients.refused)
        refused[cause] = count;
    line["clients"] = {{"answered", context.clients.answered},
                       {"refused", std::move(refused)},
                       {"sampled", context.clients.sampled_ns},
                       {"cpu", context.clients.cpu_ns}};
    for (const ShippingStatus& shipping : context.shipping) {
        Line account = {{"receiver", escape_untrusted(shipping.receiver)}};
        for (const auto& [name, count] : shipping.counts())
            account[std::string(name)] = {{"intervals", count.intervals},
                                          {"samples", count.samples}};
        account["unwritten"] = shipping.unwritten;
        account["evicted"] = shipping.evicted;
        account["late"] = shipping.late;
        account["rejected"] = shipping.rejected;
        account["spool_bytes"] = shipping.bytes;
        account["problem"] = escape_untrusted(shipping.problem);
        line["shipping"].push_back(std::move(account));
    }
    return finish(line);
}

Result<std::string> diff_json(const Model& model, const Window& window, const ClassFilter& first,
                              const ClassFilter& second, FrameChoice frames) {
    Result<Diff> result = diff_classes(model, window, first, second, frames);
    if (!result)
        return result.error();
    auto side = [](const DiffSide& s) -> Line {
        return {{"class", escape_untrusted(to_string(s.filter))},
                {"calls", number(s.calls)},
                {"estimated", s.estimated},
                {"sampled_calls", number(s.sampled_calls)},
                {"samples", number(s.samples.samples)},
                {"weight", number(s.samples.weight_ns)}};
    };
    auto put_entry = [](Line& line, const DiffEntry& entry) {
        line["first"] = nanoseconds(entry.first_ns);
        line["second"] = nanoseconds(entry.second_ns);
        line["difference"] = nanoseconds(entry.difference_ns);
        line["margin"] = nanoseconds(entry.margin_ns);
        line["p"] = entry.p_value;
        line["significant"] = entry.significant;
        line["calls_needed"] = entry.calls_needed ? Line(entry.calls_needed) : Line(nullptr);
    };
    Line line = start("diff");
    line["split"] = split_line(model);
    line["frames"] = name_of(frames);
    line["first"] = side(result->first);
    line["second"] = side(result->second);
    line["recursive"] = result->recursive;
    line["probe_handling"] = {{"samples", number(result->probe_handling.samples)},
                              {"weight", number(result->probe_handling.weight_ns)}};
    line["tested_functions"] = result->tested_functions;
    line["functions"] = Line::array();
    for (const FunctionDiff& f : result->functions) {
        Line entry = {{"function", escape_untrusted(model.symbols().name(f.function))}};
        put_entry(entry, f);
        entry["self_difference"] = nanoseconds(f.self_difference_ns);
        entry["rest_difference"] = nanoseconds(f.rest_difference_ns);
        entry["by_definition"] = f.by_split;
        line["functions"].push_back(std::move(entry));
    }
    line["stacks"] = Line::array();
    for (const StackDiff& s : result->stacks) {
        Line entry = {{"stack", names(model, s.path)}};
        put_entry(entry, s);
        line["stacks"].push_back(std::move(entry));
    }
    return finish(line);
}

Result<std::string> hist_json(const Model& model, const Window& window, ProbeId id,
                              const std::optional<HostChoice>& host, bool by_host) {
    const ProbeInfo* probe = model.find_probe(id);
    if (!probe)
        return unknown_probe("show histogram", id);
    Line line = start("hist");
    put_histogram(line, model, *probe, window, host);
    if (by_host) {
        line["hosts"] = Line::array();
        for (const std::string& name : model.machine_list()) {
            Line of{{"host", text_or_null(name)}};
            put_histogram(of, model, *probe, window, HostChoice{name});
            line["hosts"].push_back(std::move(of));
        }
    }
    return finish(line);
}

std::vector<std::string> probes_json(const Model& model) {
    std::vector<std::string> lines;
    for (const auto& [id, probe] : model.probes()) {
        if (probe.deleted)
            continue;
        ThresholdState slow = model.slow_state(id);
        Line line = start("probes");
        line["id"] = id.value;
        line["spec"] = escape_untrusted(probe.text);
        const Overhead& overhead = model.ledger().overhead;
        const Overhead::Cause* cause = overhead_of(overhead, id);
        line["overhead"] = cause ? Line{{"events", cause->events},
                                        {"cost", cause->cost_ns},
                                        {"share", overhead_share(overhead, cause->cost_ns)}}
                                 : Line(nullptr);
        auto put_place = [&](Line module, Line offset, Line function, Line kind, Line calls) {
            line["module"] = std::move(module);
            line["offset"] = std::move(offset);
            line["function"] = std::move(function);
            line["kind"] = std::move(kind);
            line["calls"] = std::move(calls);
            line["threshold"] = slow.in_force() ? Line(slow.value_ns) : Line(nullptr);
            line["slow"] = threshold_line(probe.slow, slow);
            line["only_if"] = text_or_null(probe.conditions.only_if);
            line["slow_if"] = text_or_null(probe.conditions.slow_if);
            line["show"] = nullptr; // parameters and result, as far as they are known
            if (!probe.conditions.show_default) {
                line["show"] = Line::array();
                for (const std::string& expression : probe.conditions.show)
                    line["show"].push_back(escape_untrusted(expression));
            }
            line["off"] = probe.off;
            lines.push_back(finish(line));
        };
        const std::vector<TimedFunction> functions = timed_functions(model, id);
        for (const TimedFunction& timed : functions) {
            const SpecInfo& spec = timed.info(model);
            put_place(escape_untrusted(spec.module), spec.offset, escape_untrusted(spec.function),
                      escape_untrusted(spec.way_out.text()),
                      timed.is_point(model) ? Line(nullptr) : number(timed.calls(model).counted()));
        }
        if (functions.empty()) // pending
            put_place(nullptr, nullptr, nullptr, nullptr, nullptr);
    }
    return lines;
}

Result<std::vector<std::string>> calls_json(const Model& model, const Window& window,
                                            std::optional<ProbeId> probe, const ClassFilter& filter,
                                            const StackOptions& stack) {
    if (probe && !model.find_probe(*probe))
        return unknown_probe("show calls", *probe);
    std::vector<std::string> lines;
    Classifier classify(model);
    for (const SlowCall* call : find_slow_calls(model, classify, window, probe, filter)) {
        Line line = start("calls");
        put_slow_call(line, model, classify, *call, stack);
        lines.push_back(finish(line));
    }
    return lines;
}

static void put_thread(Line& line, const Model& model, const ThreadNow& thread,
                       const StackOptions& stack) {
    line["pid"] = thread.thread.pid;
    line["tid"] = thread.thread.tid;
    line["comm"] = escape_untrusted(model.symbols().rules().thread_name(thread.thread.comm));
    line["running"] = thread.running;
    line["wait"] = thread.wait.empty() ? Line(nullptr) : Line(escape_untrusted(thread.wait));
    put_stack(line, model, thread.stack, stack);
}

std::vector<std::string> open_calls_json(const Model& model, std::span<const OpenCall> calls,
                                         const StackOptions& stack) {
    std::vector<std::string> lines;
    for (const OpenCall& call : calls) {
        Line line = start("open");
        line["probe"] = probe_name(model, call.probe);
        line["age"] = call.age_ns;
        line["depth"] = call.depth;
        put_thread(line, model, call, stack);
        lines.push_back(finish(line));
    }
    return lines;
}

std::vector<std::string> stacks_json(const Model& model, std::span<const ThreadNow> threads,
                                     std::optional<size_t> limit, const StackOptions& stack) {
    std::vector<std::string> lines;
    for (const ThreadNow& thread : threads) {
        if (limit && lines.size() == *limit)
            break;
        Line line = start("stacks");
        line["machine"] = text_or_null(model.machine(thread.thread.machine).name);
        put_thread(line, model, thread, stack);
        lines.push_back(finish(line));
    }
    return lines;
}

} // namespace auger
