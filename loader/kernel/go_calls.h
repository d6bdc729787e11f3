// SPDX-License-Identifier: GPL-3.0-or-later
// What the tracker needs beside the probes of a Go function, whose calls it keeps by goroutine, and
// of Go programs whose goroutines work for spans.
#pragma once

#include "loader/kernel/attachment.h"
#include "loader/probes/go_places.h"

#include <sys/types.h>

#include <set>
#include <string>

namespace auger {

// Before the probes of a spec with this cookie are attached. Fails for a version of Go whose
// runtime is not understood.
Result<void> enter_go_runtime(const Programs& programs, uint64_t cookie, const GoPlaces& places,
                              const std::string& path);

// Adds the place where goroutines end, whose calls end with them.
void add_goroutine_ends(AttachmentRequest& request, const GoPlaces& places);

// Of these processes it is known where their goroutines leave threads and come back, where the
// probes are attached. The tracker forgets those that end.
void enter_go_processes(const Programs& programs, const wire_go_runtime& runtime,
                        const std::set<pid_t>& pids);

} // namespace auger
