// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/module_names.h"

#include "loader/process/safe_open.h"
#include "loader/symbols/demangle.h"
#include "loader/symbols/jit_dump.h"
#include "loader/symbols/kernel_symbols.h"
#include "loader/symbols/mini_debug_info.h"
#include "loader/symbols/perf_map.h"
#include "loader/symbols/symbolizer.h"
#include "loader/symbols/vdso.h"

#include <fmt/format.h>

#include <unordered_map>

namespace auger {
namespace {

class FileNames : public ModuleNames {
  public:
    FileNames(ModuleSource source, const NameSources& sources, const WorkProgress& progress)
        : path_(source.path) {
        if (!source.file) {
            note = source.error.empty() ? "cannot be opened" : source.error;
            return;
        }
        auto opened = ElfFile::open(std::move(source.file), path_);
        if (!opened) {
            note = opened.error().message();
            return;
        }
        std::shared_ptr<const ElfFile> module = *std::move(opened);
        build_id = module->build_id();
        const bool has_dwarf = has_lines(*module);
        has_symbols_ = module->has_section(".symtab");
        std::shared_ptr<const ElfFile> apart;
        if (source.kind == ModuleKind::file && (!has_dwarf || !has_symbols_))
            apart = find_debug_file(*module, path_,
                                    {source.root.get(), sources.own_root, sources.debug_folder},
                                    progress);
        if (has_dwarf)
            dwarf_ = module;
        add_index(module);
        if (apart)
            FileNames::complete(apart);
        else if (const auto inside = has_symbols_ ? nullptr : mini_debug_file(*module))
            add_index(inside);
        incomplete = source.kind == ModuleKind::file && !apart && (!has_dwarf || !has_symbols_);
        if (symbols == 0)
            note = "no symbols";
    }

    void complete(std::shared_ptr<const ElfFile> apart) override {
        incomplete = false;
        debug_file = apart->name();
        if (!dwarf_ && has_lines(*apart))
            dwarf_ = apart;
        if (!has_symbols_ && apart->has_section(".symtab"))
            add_index(apart);
        if (symbols != 0)
            note.clear();
    }

    std::optional<std::string> find(uint64_t address) override {
        for (const auto& index : indices_) {
            const FunctionIndex::Function* function = index->containing(address);
            if (!function)
                continue;
            auto [at, added] = demangled_.try_emplace(function);
            if (added)
                at->second = demangle(index->best_name(*function));
            if (!at->second.empty())
                return at->second;
        }
        return std::nullopt;
    }
    std::string unnamed(uint64_t address) const override { return offset_name(path_, address); }
    std::shared_ptr<const ElfFile> dwarf() const override { return dwarf_; }

  private:
    static bool has_lines(const ElfFile& file) {
        return file.has_section(".debug_info") || file.has_section(".zdebug_info");
    }
    void add_index(const std::shared_ptr<const ElfFile>& file) {
        const auto added = indices_.insert(indices_.begin(), std::make_unique<FunctionIndex>(file));
        symbols += (*added)->functions().size();
    }

    std::string path_;
    std::shared_ptr<const ElfFile> dwarf_;
    bool has_symbols_ = false;
    std::vector<std::unique_ptr<FunctionIndex>> indices_; // those with most names first
    std::unordered_map<const FunctionIndex::Function*, std::string> demangled_;
};

class KernelNames : public ModuleNames {
  public:
    explicit KernelNames(const std::string& path) : symbols_(read(path, note)) {
        symbols = symbols_.size();
        if (symbols_.restricted())
            note = "kernel addresses are hidden (needs CAP_SYSLOG; see "
                   "/proc/sys/kernel/kptr_restrict)";
    }

    std::optional<std::string> find(uint64_t address) override {
        const auto match = symbols_.find(address);
        if (!match)
            return std::nullopt;
        if (match->module.empty())
            return std::string(match->name);
        return fmt::format("{} [{}]", match->name, match->module);
    }
    std::string unnamed(uint64_t) const override { return std::string(unknown_name); }

  private:
    static std::string read(const std::string& path, std::string& note) {
        auto text = read_file(path, 256 << 20);
        if (!text)
            note = text.error().message();
        return text ? *std::move(text) : std::string();
    }

    KernelSymbols symbols_;
};

// A JIT writes one or the other, by how it was started.
class JitNames : public ModuleNames {
  public:
    JitNames(ModuleSource source, int own_root)
        : root_(std::move(source.root)),
          map_(root_ ? root_.get() : own_root, source.namespace_pid, source.uid) {
        generated = true;
        if (source.file)
            dump_.emplace(std::move(source.file), fmt::format("jit-{}.dump", source.namespace_pid),
                          source.uid);
        JitNames::refresh();
    }

    std::optional<std::string> find(uint64_t address) override {
        auto name = dump_ ? dump_->dump().find(address) : std::nullopt;
        if (!name)
            name = map_.map().find(address);
        return name ? std::optional(demangle(*name)) : std::nullopt;
    }
    std::string unnamed(uint64_t) const override { return std::string(unknown_name); }
    bool refresh() override {
        const auto map_read = map_.refresh();
        const auto dump_read = dump_ ? dump_->refresh() : map_read;
        note = dump_read ? "" : dump_read.error().message();
        symbols = map_.map().size() + (dump_ ? dump_->dump().size() : 0);
        return (map_read && *map_read) || (dump_read && *dump_read);
    }

  private:
    UniqueFd root_;
    PerfMapFile map_;
    std::optional<JitDumpFile> dump_;
};

class NoNames : public ModuleNames {
  public:
    std::optional<std::string> find(uint64_t) override { return std::nullopt; }
    std::string unnamed(uint64_t) const override { return std::string(unknown_name); }
};

} // namespace

std::unique_ptr<ModuleNames> make_module_names(ModuleSource source, const NameSources& sources,
                                               const WorkProgress& progress) {
    switch (source.kind) {
    case ModuleKind::kernel:
        return std::make_unique<KernelNames>(sources.kallsyms);
    case ModuleKind::vdso: {
        auto image = vdso_image();
        if (image)
            source.file = *std::move(image);
        else
            source.error = image.error().message();
        return std::make_unique<FileNames>(std::move(source), sources, progress);
    }
    case ModuleKind::file:
        return std::make_unique<FileNames>(std::move(source), sources, progress);
    case ModuleKind::jit:
        return std::make_unique<JitNames>(std::move(source), sources.own_root);
    case ModuleKind::unknown:
    case ModuleKind::syscall: // have names from the start
    case ModuleKind::waker:
    case ModuleKind::cut:
        break;
    }
    return std::make_unique<NoNames>();
}

} // namespace auger
