// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/service_identity.h"

#include "loader/process/container.h"

namespace auger {

namespace {

constexpr std::string_view kernel_service = "kernel";

} // namespace

ServiceIdentity service_identity(const Model& model, const ExportQuery& query, ThreadId id) {
    const ThreadInfo& thread = model.symbols().thread(id);
    ServiceIdentity found{query.service, query.host, {}, {}, thread.container};
    if (found.service.empty())
        found.service = thread.kernel ? kernel_service : model.process_name(id);
    if (found.host.empty())
        found.host = model.machine(thread.machine).name;
    if (auto container = outermost_container(thread.cgroup)) {
        found.container = std::move(container->id);
        if (!found.names.known()) // of an old recording
            found.names.name = std::move(container->name);
    }
    found.pod = kubernetes_pod_of(thread.cgroup);
    return found;
}

std::string_view exported_process(const Model& model, const ExportQuery& query, ThreadId id) {
    if (!query.threads && model.symbols().thread(id).kernel)
        return kernel_service;
    return model.process_name(id);
}

SeriesLabels series_labels(const ServiceIdentity& identity) {
    SeriesLabels labels;
    const auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty())
            labels.emplace_back(name, value);
    };
    add("service_name", identity.service.empty() ? "unknown_service" : identity.service);
    add("hostname", identity.host);
    add("namespace", identity.names.pod_namespace);
    add("pod", identity.names.pod.empty() ? identity.pod : identity.names.pod);
    add("container", identity.names.known() ? identity.names.name : identity.container);
    return labels;
}

} // namespace auger
