// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleMap: (process, address, time) -> Location. Fed by /proc/PID/maps at the start and by events
// afterwards; it remembers what was unmapped and what has exited, within bounds, so that samples
// taken before still resolve.
#pragma once

#include "loader/process/perf_record.h"
#include "loader/process/proc_maps.h"
#include "loader/symbols/module_table.h"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace auger {

// A mapping with its life, CLOCK_MONOTONIC ns: [from, to).
struct ModuleMapping {
    uint64_t start;
    uint64_t end;
    uint64_t offset;
    ModuleId module;
    uint64_t from;
    uint64_t to;
};

class ModuleMap {
  public:
    struct Limits {
        size_t exited_processes = 4096;   // remembered; the longest gone are forgotten first
        size_t mappings_per_image = 8192; // later ones are refused and counted
        size_t images_per_process = 16;   // execs remembered
    };

    explicit ModuleMap(ModuleTable& modules) : ModuleMap(modules, Limits()) {}
    ModuleMap(ModuleTable& modules, Limits limits);

    // Reads /proc/PID/maps, of a new process or again after lost events. Fails when it is gone.
    Result<void> scan(pid_t pid, uint64_t now);
    void apply(const ProcessEvent& event);

    // `pid` is the process (thread group), `time` that of the sample. A return address is looked up
    // one byte earlier. Addresses of the upper half belong to the kernel. What is mapped nowhere is
    // unknown_module with the address; anonymous executable memory is the process's jit module.
    Location locate(pid_t pid, uint64_t address, uint64_t time, bool is_return = false) const;

    // Code at addresses of this jit module has been replaced: what is located from now on is in a
    // new one.
    void renew_jit(ModuleId module);

    // Mappings of the image at `time`, by address; for recordings and for finding where libraries
    // are.
    std::vector<ModuleMapping> mappings(pid_t pid, uint64_t time) const;
    bool knows(pid_t pid) const { return processes_.contains(pid); }
    bool exited(pid_t pid) const;
    // The process, and before whom it was forked from while it had the image of `time`: their
    // memory was the same. The nearest one first, at most `most_forebears` of them.
    std::vector<pid_t> lineage(pid_t pid, uint64_t time) const;
    static constexpr size_t most_forebears = 8;
    // When the process has executed its program; 0: before it was looked at, or it is unknown.
    uint64_t image_began(pid_t pid) const;
    // The processes whose mappings have changed since the last call, and those that have exited.
    std::set<pid_t> take_changed() { return std::exchange(changed_, {}); }
    std::vector<pid_t> processes() const;
    uint64_t refused_mappings() const { return refused_; }
    const ModuleTable& modules() const { return modules_; }
    uint64_t forgotten_processes() const { return forgotten_; }

  private:
    struct Image {
        uint64_t from = 0;
        std::vector<ModuleMapping> mappings; // sorted by `start`, then `from`
        ModuleId jit = unknown_module;
        std::pair<uint64_t, uint64_t> jit_dump{}; // device and inode; 0: none mapped yet
        pid_t forked_from = 0; // 0: it has executed its program itself, or that was not seen
    };
    struct Process {
        std::vector<Image> images; // oldest first
        uint64_t exited = 0;       // 0: alive
    };

    void use_jit(Image& image, ModuleId module);
    // By device and inode. A process may have thousands of mappings of one file.
    using FilesOfScan = std::map<std::pair<uint64_t, uint64_t>, ModuleId>;
    ModuleId file_of(pid_t pid, const Mapping& mapping, FilesOfScan* known);
    void add_mapping(pid_t pid, Image& image, const Mapping& mapping, uint64_t time,
                     FilesOfScan* known = nullptr);
    const Image* image_at(pid_t pid, uint64_t time) const;
    Image& new_image(Process& process, uint64_t time);
    void forget_oldest();

    ModuleTable& modules_;
    Limits limits_;
    std::unordered_map<pid_t, Process> processes_;
    std::deque<pid_t> exit_order_;
    std::set<pid_t> changed_;
    uint64_t refused_ = 0;
    uint64_t forgotten_ = 0;
};

} // namespace auger
