// SPDX-License-Identifier: GPL-3.0-or-later
// What the reports consist of that an agent answers (fields.h). Changes with loader/reports.
#pragma once

#include "loader/remote/fields.h"
#include "loader/remote/settings_fields.h"
#include "loader/reports/call_sites.h"
#include "loader/reports/capability.h"
#include "loader/reports/host_report.h"
#include "loader/reports/listeners.h"
#include "loader/reports/open_call.h"
#include "loader/reports/probe_plan.h"
#include "loader/reports/probe_report.h"
#include "loader/reports/reader_status.h"
#include "loader/reports/symbol_progress.h"
#include "loader/reports/target_status.h"
#include "loader/reports/tracepoints.h"
#include "loader/reports/unwind_status.h"
#include "loader/reports/usdt_probes.h"

namespace auger::remote {

void fields(auto& all, IsA<HostReport> auto& host) {
    all(host.name);
    all.choice(host.state, HostReport::State::lost);
    all(host.cause, host.program, host.machine, host.silent_ns, host.clock_error_ns,
        host.round_trip_ns, host.received_bytes, host.bytes_per_second, host.lost_samples,
        host.times_lost, host.processes, host.lacks);
}

void fields(auto& all, IsA<ProbePlace> auto& place) {
    all(place.spec, place.function, place.module, place.offset, place.kind, place.note);
}

void fields(auto& all, IsA<ProbeReport> auto& report) {
    all(report.places, report.skipped, report.pending, report.notes);
}

void fields(auto& all, IsA<ProbePlan::Cost> auto& cost) {
    all(cost.least_ns, cost.most_ns);
}

void fields(auto& all, IsA<ProbePlan> auto& plan) {
    all(plan.report, plan.costs, plan.costs_measured);
    all.require(plan.costs.size() == plan.report.places.size());
}

void fields(auto& all, IsA<CallSiteInfo> auto& site) {
    all(site.function, site.caller, site.file, site.line, site.module, site.offset, site.kind);
}

void fields(auto& all, IsA<CallSites> auto& sites) {
    all(sites.sites, sites.skipped);
}

void fields(auto& all, IsA<Capability> auto& capability) {
    all(capability.name);
    all.choice(capability.state, Capability::State::missing);
    all(capability.detail, capability.remedy);
}

void fields(auto& all, IsA<ThreadInfo> auto& thread) {
    all(thread.pid, thread.tid, thread.comm, thread.cgroup);
}

void fields(auto& all, IsA<OpenCall> auto& call) {
    all(call.probe, call.spec, call.age_ns, call.thread, call.depth, call.running, call.no_thread,
        call.wait, call.stack);
}

void fields(auto& all, IsA<ThreadNow> auto& thread) {
    all(thread.thread, thread.thread.machine, thread.running, thread.wait, thread.stack);
}

void fields(auto& all, IsA<ReaderStatus::Service> auto& service) {
    all(service.processes, service.bytes);
}

void fields(auto& all, IsA<ReaderStatus> auto& readers) {
    all(readers.services, readers.limit);
}

void fields(auto& all, IsA<SymbolProgress> auto& progress) {
    all(progress.pending, progress.bytes, progress.modules);
}

void fields(auto& all, IsA<TargetStatus::Process> auto& process) {
    all(process.pid, process.comm, process.user, process.running, process.exit);
}

void fields(auto& all, IsA<TargetStatus> auto& status) {
    all(status.spec, status.processes);
}

void fields(auto& all, IsA<TracepointInfo::Field> auto& field) {
    all(field.type, field.name);
}

void fields(auto& all, IsA<TracepointInfo> auto& tracepoint) {
    all(tracepoint.category, tracepoint.name, tracepoint.fields, tracepoint.ends_at,
        tracepoint.fault);
}

void fields(auto& all, IsA<Tracepoints> auto& found) {
    all(found.tracepoints);
}

void fields(auto& all, IsA<UnwindStatus> auto& status) {
    all(status.modules, status.bytes, status.pending, status.notes);
}

void fields(auto& all, IsA<UsdtProbeInfo> auto& probe) {
    all(probe.module, probe.provider, probe.name, probe.arguments, probe.semaphore, probe.sites);
}

void fields(auto& all, IsA<Listener> auto& listener) {
    all(listener.port, listener.unix_path);
}

void fields(auto& all, IsA<Listeners> auto& found) {
    all(found.places);
}

void fields(auto& all, IsA<UsdtProbes> auto& found) {
    all(found.probes, found.skipped);
}

} // namespace auger::remote
