// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/chrome_trace.h"

#include "views/escape.h"
#include "views/exports/json_stream.h"
#include "views/model/slow_call_query.h"
#include "views/tail.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>
#include <span>
#include <tuple>

namespace auger {

namespace {

using Event = nlohmann::ordered_json;

class Trace {
  public:
    // `calls`: those that will be added.
    Trace(const Model& model, const ExportQuery& query, std::span<const SlowCall* const> calls,
          ByteSink& out)
        : model_(model), query_(query), out_(out), json_(out) {
        for (const SlowCall* call : calls)
            written_.insert(key_of(call->end.call.start_ns, call->end.call.sequence,
                                   call->end.call.spec, call->end.thread));
        json_.begin_object();
        json_.key("displayTimeUnit");
        json_.text("ms");
        json_.key("traceEvents");
        json_.begin_list();
    }

    void add(const SlowCall& call, const Classifier& classify) {
        const CallEndEvent& end = call.end;
        Event event = complete(end.call.spec, end.thread, end.call.start_ns, end.duration_ns);
        event["cat"] = end.is_hit() ? "hit" : "slow";
        Event& arguments = event["args"];
        if (model_.split().active)
            arguments["class"] = to_string(class_of(model_, classify, call));
        arguments["threshold_ns"] = call.threshold_ns;
        if (end.waits) {
            arguments["cpu_ns"] = cpu_ns(end);
            arguments["blocked_ns"] = end.waits->blocked_ns;
            arguments["runnable_ns"] = end.waits->runnable_ns;
        }
        if (end.parked_ns || end.queued_ns) {
            if (is_park_known(model_, call))
                arguments["parked_ns"] = end.parked_ns;
            arguments["queued_ns"] = end.queued_ns;
        }
        if (call.longest_wait.blocked_ns)
            arguments["longest_wait"] = escape_untrusted(call.longest_wait.what);
        for (const CallValue& value : call.values)
            arguments[escape_untrusted(value.name)] = escape_untrusted(value.text);
        if (end.unwound)
            arguments["unwound"] = true;
        Event stack = Event::array();
        const SymbolTables& symbols = model_.symbols();
        symbols.for_each_frame(symbols.stack(call.stack), [&](size_t, const FrameEntry& frame) {
            stack.push_back(escape_untrusted(symbols.name(frame.function)));
        });
        arguments["stack"] = std::move(stack); // leaf first
        if (end.is_hit())
            put_instant(std::move(event));
        else
            put_call(std::move(event), end.call.of_no_thread());
        if (call.call != no_call)
            add_enclosing(model_.calls()[call.call].parent, end.thread);
    }
    void finish() {
        for (const ThreadId thread : threads_)
            name_thread(thread);
        json_.end_list();
        json_.key("otherData");
        json_.begin_object();
        json_.key("producer");
        json_.text("auger");
        json_.key("losses");
        json_.texts(export_losses(model_, query_));
        json_.key("rules");
        json_.texts(export_rules(model_));
        json_.end_object();
        json_.end_object();
        out_.write("\n");
    }

  private:
    // What a call is known by, whatever is around it: when it began, its number, its spec, and the
    // thread (0: of no thread).
    using CallName = std::tuple<uint64_t, uint32_t, uint32_t, uint64_t>;
    CallName key_of(uint64_t start_ns, uint32_t sequence, SpecId spec, ThreadId thread) const {
        const ThreadInfo& info = model_.symbols().thread(thread);
        return {start_ns, sequence, spec.value,
                sequence & CallKey::no_thread_bit ? 0 : number(info, info.tid)};
    }
    // Of several machines a pid or tid stands for one thing each: the kernel's are below 2^22.
    static uint64_t number(const ThreadInfo& info, uint32_t number) {
        return uint64_t{info.machine.value} * 10'000'000 + number;
    }
    Event complete(SpecId spec, ThreadId thread, uint64_t start_ns, uint64_t duration_ns) {
        threads_.insert(thread);
        const ThreadInfo& info = model_.symbols().thread(thread);
        const auto us = [](uint64_t ns) { return static_cast<double>(ns) / 1000; };
        Event event;
        event["name"] = spec.index() < model_.specs().size()
                            ? escape_untrusted(model_.specs()[spec.index()].function)
                            : "[unknown]";
        event["ph"] = "X";
        event["ts"] = us(start_ns);
        event["dur"] = us(duration_ns);
        event["pid"] = number(info, info.pid);
        event["tid"] = number(info, info.tid);
        if (std::string tail = tail_text(tail_of(model_, spec)); !tail.empty())
            event["args"]["tail"] = std::move(tail);
        return event;
    }
    // Those that run still have no end yet, and are left out.
    void add_enclosing(CallIndex index, ThreadId thread) {
        for (; index != no_call; index = model_.calls()[index].parent) {
            const CallRecord& call = model_.calls()[index];
            if (call.state == CallRecord::State::open ||
                call.state == CallRecord::State::filtered ||
                !written_.insert(key_of(call.start_ns, call.sequence, call.spec, thread)).second)
                continue;
            Event event = complete(call.spec, thread, call.start_ns, call.duration_ns);
            event["cat"] = "enclosing";
            put_call(std::move(event), call.of_no_thread());
        }
    }
    void name_thread(ThreadId thread) {
        const ThreadInfo& info = model_.symbols().thread(thread);
        const std::string on =
            model_.machines() > 1 ? " on " + model_.machine(info.machine).name : "";
        for (const auto& [kind, name] :
             {std::pair{"process_name", std::string(model_.process_name(thread))},
              std::pair{"thread_name", info.comm}})
            put(Event{{"name", kind},
                      {"ph", "M"},
                      {"pid", number(info, info.pid)},
                      {"tid", number(info, info.tid)},
                      {"args", {{"name", escape_untrusted(name + on)}}}});
    }
    // Spans of one thread overlap, and go from thread to thread: they are pairs of asynchronous
    // events, which have a row of their own for each. An event that is complete lies within those
    // that it overlaps, or viewers draw it wrongly.
    void put_call(Event event, bool of_no_thread) {
        if (!of_no_thread) {
            put(event);
            return;
        }
        Event end = {{"name", event["name"]}, {"cat", event["cat"]}, {"ph", "e"}};
        event["id"] = end["id"] = fmt::format("{:#x}", ++spans_);
        end["ts"] = event["ts"].get<double>() + event["dur"].get<double>();
        end["pid"] = event["pid"];
        end["tid"] = event["tid"];
        event["ph"] = "b";
        event.erase("dur");
        put(event);
        put(end);
    }
    // A place that was reached, on its thread.
    void put_instant(Event event) {
        event["ph"] = "i";
        event["s"] = "t";
        event.erase("dur");
        put(event);
    }
    void put(const Event& event) {
        json_.new_line();
        json_.value(event);
    }

    const Model& model_;
    const ExportQuery& query_;
    ByteSink& out_;
    JsonStream json_;
    std::set<ThreadId> threads_;
    // Slow calls, and those around them: each once.
    std::set<CallName> written_;
    uint64_t spans_ = 0; // that have an id
};

} // namespace

Result<uint64_t> write_chrome_trace(const Model& model, const ExportQuery& query, ByteSink& out) {
    const Classifier classify(model);
    const auto calls = find_slow_calls(model, classify, query.window, {}, query.filter);
    Trace trace(model, query, calls, out);
    for (const SlowCall* call : calls)
        trace.add(*call, classify);
    trace.finish();
    return calls.size();
}

} // namespace auger
