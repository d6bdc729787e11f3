// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/stack_shares.h"

#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/symbols/symbolizer.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string_view>

namespace auger::bench {

namespace {

// The first functions of processes and threads: of the C library, ld.so, and Go's runtime.
constexpr std::array<std::string_view, 14> beginnings = {
    "_start",
    "_dl_start_user",
    "__clone3",
    "clone3",
    "__clone",
    "clone",
    "__libc_start_call_main",
    "_rt0_amd64_linux",
    "runtime.rt0_go",
    "runtime.goexit",
    "runtime.mstart",
    "runtime.clone",
    "runtime.mcall",
    "runtime.morestack", // of a goroutine that has been preempted
};

bool is_beginning(std::string_view function) {
    if (function.ends_with(".abi0"))
        function.remove_suffix(5);
    return std::ranges::find(beginnings, function) != beginnings.end();
}

// Of files without symbols of such functions: the entry point, and what calls clone or clone3.
class Beginnings {
  public:
    bool has(const ModuleInfo& module, const Location& location, std::string_view function) {
        if (is_beginning(function))
            return true;
        if (module.kind != ModuleKind::file)
            return false;
        // A function without a name is called by where it begins: "libc.so.6+0x1098e1".
        const std::string unnamed = std::string(base_name(module.path)) + "+0x";
        if (!function.starts_with(unnamed))
            return false;
        const uint64_t begin =
            std::strtoull(std::string(function.substr(unnamed.size())).c_str(), nullptr, 16);
        const ElfFile* file = file_of(module.path);
        return file && (begin == file->entry() || makes_threads(*file, begin, location.address));
    }

  private:
    const ElfFile* file_of(const std::string& path) {
        const auto [found, is_new] = files_.try_emplace(path);
        if (is_new) {
            if (auto fd = open_regular(path); fd)
                if (auto file = ElfFile::open(std::move(*fd), path); file)
                    found->second = *file;
        }
        return found->second.get();
    }
    // mov $SYS_clone3,%eax or mov $SYS_clone,%eax; syscall, and the new thread goes on here.
    static bool makes_threads(const ElfFile& file, uint64_t begin, uint64_t address) {
        if (address < begin || address - begin > 256)
            return false;
        const std::vector<std::byte> code = file.read_code(begin, address - begin);
        for (const uint32_t number : {SYS_clone3, SYS_clone}) {
            std::array<std::byte, 5> wanted{std::byte{0xb8}};
            std::memcpy(&wanted[1], &number, sizeof number);
            if (!std::ranges::search(code, wanted).empty())
                return true;
        }
        return false;
    }

    std::map<std::string, std::shared_ptr<const ElfFile>> files_;
};

bool is_user_code(ModuleKind kind) {
    return kind == ModuleKind::file || kind == ModuleKind::vdso || kind == ModuleKind::jit ||
           kind == ModuleKind::unknown;
}

} // namespace

StackShares stack_shares(const Model& model, const std::string& process, uint64_t from_ns) {
    StackShares shares;
    const SymbolTables& symbols = model.symbols();
    const SampleStore& store = model.samples();
    Beginnings beginnings;
    for (size_t i = 0; i < store.size(); i++) {
        if (store.times()[i] < from_ns || model.process_name(store.threads()[i]) != process)
            continue;
        uint64_t depth = 0;
        std::string_view outermost, cause;
        Location from;
        for (const LocationId location : symbols.stack(store.stacks()[i])) {
            const FunctionId function = symbols.frames(location).back().function;
            const ModuleInfo& module = symbols.module(symbols.function(function).module);
            const std::string_view name = symbols.name(function);
            if (module.kind == ModuleKind::cut)
                cause = name;
            if (!is_user_code(module.kind))
                continue;
            depth++;
            outermost = name;
            from = symbols.location(location);
            shares.named += name != unknown_name &&
                            !name.starts_with(std::string(base_name(module.path)) + "+0x");
        }
        if (depth == 0)
            continue;
        shares.samples++;
        shares.frames += depth;
        shares.depths.push_back(static_cast<double>(depth));
        const bool beginning = beginnings.has(symbols.module(from.module), from, outermost);
        shares.from_the_beginning += beginning;
        if (!cause.empty()) {
            shares.cut[std::string(cause)]++;
            shares.cut_at[std::string(cause) + " " + std::string(outermost)]++;
            continue;
        }
        shares.whole++;
        if (!beginning)
            shares.other_beginnings[std::string(outermost)]++;
    }
    return shares;
}

} // namespace auger::bench
