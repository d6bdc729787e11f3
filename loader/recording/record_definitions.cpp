// SPDX-License-Identifier: GPL-3.0-or-later
// RecordDecoder's definitions: what later records name by id, and what is in force.
#include "loader/recording/record_decoder.h"

namespace auger {

CallConditions RecordDecoder::conditions() {
    CallConditions conditions;
    conditions.only_if = text();
    conditions.slow_if = text();
    conditions.show_default = in_.boolean();
    conditions.show.resize(in_.count(recording::max_expressions));
    for (std::string& expression : conditions.show)
        expression = text();
    return conditions;
}

std::vector<Clause> RecordDecoder::clauses(size_t terms) {
    std::vector<Clause> clauses(in_.count(recording::max_terms));
    for (Clause& clause : clauses) {
        for (auto* list : {&clause.all, &clause.none}) {
            list->resize(in_.count(recording::max_terms));
            for (uint32_t& term : *list) {
                term = in_.varint32();
                if (term >= terms)
                    in_.fail();
            }
        }
    }
    return clauses;
}

// Counts a definition; ids come in their order.
bool RecordDecoder::define(uint32_t id, size_t& count) {
    if (own_)
        return !in_.failed();
    if (in_.failed() || id != count || count >= recording::max_ids) {
        in_.fail();
        return false;
    }
    ++count;
    return true;
}

// The same of a stack or thread, whose id may be given to one after the other.
bool RecordDecoder::define_again(uint32_t id, size_t& count) {
    return !in_.failed() && id < count ? true : define(id, count);
}

void RecordDecoder::machine(EventSink& sink) {
    MachineInfo info;
    info.name = text();
    info.boot_ns = in_.varint();
    if (!in_.failed())
        sink.on_machine(MachineId{}, info);
}

void RecordDecoder::define_series() {
    SeriesInfo series;
    series.session = in_.fixed64();
    series.number = in_.varint();
    if (!in_.failed())
        series_ = series;
}

void RecordDecoder::module(EventSink& sink) {
    const ModuleId id{in_.varint32()};
    ModuleInfo info;
    info.kind =
        static_cast<ModuleKind>(in_.varint_up_to(static_cast<uint64_t>(ModuleKind::go_label)));
    info.path = text();
    info.build_id = text();
    if (define(id.value, modules_))
        sink.on_module(id, info);
}

void RecordDecoder::location(EventSink& sink) {
    const LocationId id{in_.varint32()};
    Location location;
    location.module = defined<ModuleId>(modules_);
    location.address = in_.varint();
    location.is_return = in_.boolean();
    if (define(id.value, locations_))
        sink.on_location(id, location);
}

void RecordDecoder::frames(EventSink& sink) {
    const auto id = defined<LocationId>(locations_);
    frame_buffer_.resize(in_.count(recording::max_frames));
    for (Frame& frame : frame_buffer_) {
        frame.function = text();
        frame.file = text();
        frame.line = in_.varint32();
        frame.inlined = in_.boolean();
    }
    if (!in_.failed())
        sink.on_frames(id, frame_buffer_);
}

void RecordDecoder::stack(EventSink& sink) {
    const StackId id{in_.varint32()};
    stack_buffer_.resize(in_.count(recording::max_stack));
    for (LocationId& location : stack_buffer_)
        location = defined<LocationId>(locations_);
    if (define_again(id.value, stacks_))
        sink.on_stack(id, stack_buffer_);
}

void RecordDecoder::thread(EventSink& sink) {
    const ThreadId id{in_.varint32()};
    ThreadInfo info;
    info.pid = in_.varint32();
    info.tid = in_.varint32();
    info.comm = text();
    if (has_marks())
        info.cgroup = text();
    if (has_containers()) {
        info.container.name = text();
        info.container.pod = text();
        info.container.pod_namespace = text();
    }
    if (has_kernel_threads())
        info.kernel = in_.varint() != 0;
    if (define_again(id.value, threads_))
        sink.on_thread(id, info);
}

void RecordDecoder::spec(EventSink& sink) {
    const SpecId id{in_.varint32()};
    SpecInfo info;
    info.probe = ProbeId{in_.varint32()}; // its definition follows: a probe lists its specs
    info.function = text();
    info.module = text();
    info.offset = in_.varint();
    info.way_out = ObservedExit::parse(text());
    if (define(id.value, specs_))
        sink.on_spec(id, info);
}

void RecordDecoder::probe(EventSink& sink) {
    ProbeInfo info;
    info.id = ProbeId{in_.varint32()};
    info.text = text();
    info.specs.resize(in_.count(recording::max_probe_specs));
    for (SpecId& spec : info.specs)
        spec = defined<SpecId>(specs_);
    info.slow = threshold();
    info.deleted = in_.boolean();
    if (has_marks())
        info.conditions = conditions();
    if (has_overhead())
        info.off = in_.boolean();
    if (has_spans())
        info.span = text();
    if (in_.failed())
        return;
    probes_.insert(info.id);
    if (probes_.size() > recording::max_probes)
        in_.fail();
    else
        sink.on_probe(info);
}

void RecordDecoder::split(EventSink& sink) {
    SplitInfo info;
    info.active = in_.boolean();
    info.probe = ProbeId{in_.varint32()};
    info.threshold = threshold();
    info.so_far = in_.boolean();
    if (has_marks()) {
        info.branch = Branch::parse(text());
        info.label = text();
        info.branch_bit = static_cast<uint32_t>(in_.varint_up_to(most_marks - 1));
        for (uint64_t* time_ns : {&info.branch_since_ns, &info.branch_until_ns,
                                  &info.label_since_ns, &info.label_until_ns})
            *time_ns = in_.varint();
    }
    if (info.active && !probes_.contains(info.probe))
        in_.fail();
    if (!in_.failed())
        sink.on_split(info);
}

void RecordDecoder::only(EventSink& sink) {
    OnlyInfo info;
    info.text = text();
    info.gate.terms.resize(in_.count(recording::max_terms));
    for (GateTerm& term : info.gate.terms) {
        term.kind = static_cast<GateTerm::Kind>(
            in_.varint_up_to(static_cast<uint64_t>(GateTerm::Kind::cgroup)));
        term.probe = ProbeId{in_.varint32()};
        term.older = threshold();
        term.number = in_.varint();
        term.text = text();
        if (term.kind == GateTerm::Kind::call && !probes_.contains(term.probe))
            in_.fail();
    }
    info.gate.clauses = clauses(info.gate.terms.size());
    info.lines.resize(in_.count(recording::max_terms));
    for (std::string& line : info.lines)
        line = text();
    info.line_clauses = clauses(info.lines.size());
    info.marks.resize(in_.count(recording::max_terms));
    for (MarkInfo& mark : info.marks) {
        mark.bit = static_cast<uint32_t>(in_.varint_up_to(most_marks - 1));
        mark.text = text();
        mark.since_ns = in_.varint();
        mark.until_ns = in_.varint();
    }
    if (!in_.failed())
        sink.on_only(info);
}

void RecordDecoder::label(EventSink& sink) {
    const LabelId id{in_.varint32()};
    const std::string text(this->text());
    if (define(id.value, labels_))
        sink.on_label(id, text);
}

} // namespace auger
