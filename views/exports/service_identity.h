// SPDX-License-Identifier: GPL-3.0-or-later
// ServiceIdentity: what stores keep samples apart by: the service, and where it runs. A resource of
// OTLP's, a series of other stores.
#pragma once

#include "views/exports/export.h"

#include <compare>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace auger {

struct ServiceIdentity {
    std::string service;              // empty: not known
    std::string host, container, pod; // of the container its id, of the pod its uid
    ContainerNames names;
    auto operator<=>(const ServiceIdentity&) const = default;
};

// Of what a thread runs. Without a name in the query the service is its process, and of all threads
// of the kernel's own one: there are hundreds, which come and go.
ServiceIdentity service_identity(const Model&, const ExportQuery&, ThreadId);

// The process that a thread's samples are said to be of: where threads are not told apart, the
// kernel's own are of one.
std::string_view exported_process(const Model&, const ExportQuery&, ThreadId);

// As labels of a series, as Pyroscope's and Parca's own agents name them.
using SeriesLabels = std::vector<std::pair<std::string_view, std::string>>;
SeriesLabels series_labels(const ServiceIdentity&);

} // namespace auger
