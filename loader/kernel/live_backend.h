// SPDX-License-Identifier: GPL-3.0-or-later
// The backend that observes this machine's kernel.
#pragma once

#include "loader/backend.h"
#include "loader/stream/interner.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace auger {

class ConfinedProcesses;
class Starter;

struct LiveOptions {
    enum class Attach { automatic, multi, perf };
    // How probes are attached; automatic: uprobe_multi links where the kernel has them.
    Attach attach = Attach::automatic;
    // How much of the stream the sink holds.
    RetentionOf retention = [] { return Retention(); };
    // Debug information that is not on this machine is fetched from the servers of DEBUGINFOD_URLS.
    bool debuginfod = false;
    // Asked every tenth of a second while a command waits for what reads a file: false ends that.
    std::function<bool()> go_on{};
    // Somebody waits for what commands say: they do not wait for other users' files for longer than
    // a second altogether, and what is found in them later is attached then.
    bool at_terminal = false;
    // What is made before rights are given up (capabilities.h): the processes that read files, and
    // what starts commands. Null: made when they are needed, with the rights that are left then.
    std::shared_ptr<ConfinedProcesses> readers{};
    Starter* starter = nullptr; // outlives the backend
    // Whether this process gives up what it does not need, as soon as it is known how probes are
    // attached, and before anything of a target is read.
    bool give_up_rights = false;
    // Walks of stacks that took as long are given up (bpf/unwind_table.h); tests take others.
    std::optional<uint32_t> late_walk_jiffies{};
};

// Loads the BPF programs. Fails with kind `unsupported`, saying which privilege or kernel feature
// is missing and what to do. `sink` must outlive the backend.
Result<std::unique_ptr<Backend>> make_live_backend(const LiveOptions& options, EventSink& sink);

// What `doctor` says when no backend could be made.
std::vector<Capability> kernel_capabilities();

} // namespace auger
