// SPDX-License-Identifier: GPL-3.0-or-later
// Symbolizer: Location -> frames, asynchronously. request() never reads a file: it returns what is
// known and leaves the rest to a worker, which names first and adds source lines and inlined frames
// behind. Only PODs, strings and descriptors go to the worker, so that it can become a process.
#pragma once

#include "loader/stream/events.h"
#include "loader/symbols/address_name.h"
#include "loader/symbols/module_table.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

class ConfinedProcesses;
class Debuginfod;

enum class Detail : uint8_t {
    offset, // module+0x1f3; names are on their way, or may come (generated code)
    name,   // function names; lines and inlined frames are on their way
    full,   // all that will be known
};

struct Resolution {
    Detail detail = Detail::offset;
    // Innermost first; never null, at least one frame.
    std::shared_ptr<const std::vector<Frame>> frames;
};

// A module that the worker is busy with.
struct ModuleProgress {
    std::string name;  // base name
    std::string phase; // "symbols", "line information", "lines", "debuginfod"
    uint64_t done = 0; // of `total`, in the phase's own unit; total 0: not known
    uint64_t total = 0;
};

// "libLLVM-14.so.1 (lines, 38 %)".
std::string progress_text(const ModuleProgress&);

// What came of a module, for `status` and `doctor`.
struct ModuleReport {
    ModuleId module;
    std::string name;
    std::string build_id;
    size_t symbols = 0;
    bool lines = false;     // are told: it has DWARF, or is a Go program
    std::string debug_file; // where symbols or DWARF came from when not from the module itself
    std::string note;       // why something is missing; empty when nothing is
};

struct SymbolizerOptions {
    bool lines = true; // source lines and inlined frames (DWARF)
    std::string debug_folder = "/usr/lib/debug";
    std::string kallsyms = "/proc/kallsyms";
    // Whose processes read lines; null: of a group that is started with the symbolizer.
    std::shared_ptr<ConfinedProcesses> readers;
    // What to fetch debug information with that is not on this machine; null: nothing is fetched.
    std::shared_ptr<Debuginfod> debuginfod;
};

class SymbolWorker;

class Symbolizer {
  public:
    // `modules` must outlive the symbolizer and is used only inside request().
    explicit Symbolizer(ModuleSources& modules, SymbolizerOptions options = {});
    ~Symbolizer(); // does not wait for a module that is being read
    Symbolizer(const Symbolizer&) = delete;
    Symbolizer& operator=(const Symbolizer&) = delete;

    // For a return address the frames are those of the call before it.
    Resolution request(const Location& location);
    // The same for one that was requested before.
    Resolution known(const Location& location) const;
    // Reads on at once in what is written of generated code, which happens now and then anyway;
    // wait_idle() waits for it.
    void read_on();
    // Modules of generated code in which other code now lies at addresses that were asked for; each
    // is told once. What was named keeps its name: locations of now need a module of their own.
    std::set<ModuleId> take_outdated();
    // Grows whenever some earlier answer has become better.
    uint64_t generation() const;
    std::vector<ModuleProgress> progress() const;
    std::vector<ModuleReport> reports() const;
    size_t waiting() const; // locations that are being worked on
    // True when nothing is left to do; false at the deadline.
    bool wait_idle(std::chrono::steady_clock::time_point deadline) const;

  private:
    ModuleSources& modules_;
    std::shared_ptr<SymbolWorker> worker_; // shared with its thread
};

} // namespace auger
