// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/module_names.h"

#include "loader/process/safe_open.h"
#include "loader/symbols/demangle.h"
#include "loader/symbols/dwarf_file.h"
#include "loader/symbols/jit_dump.h"
#include "loader/symbols/kernel_symbols.h"
#include "loader/symbols/mini_debug_info.h"
#include "loader/symbols/perf_map.h"
#include "loader/symbols/symbolizer.h"
#include "loader/symbols/vdso.h"
#include "loader/unwind/function_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace auger {
namespace {

// Anybody may write another's build id into a file, so only the same bytes are the same file.
bool same_content(const ElfFile& a, const ElfFile& b, const WorkProgress& progress) {
    constexpr size_t step = 1 << 20;
    std::vector<char> first(step), second(step);
    for (off_t at = 0; !progress.stopped();) {
        const ssize_t got = pread(a.fd(), first.data(), step, at);
        if (got < 0 || pread(b.fd(), second.data(), step, at) != got)
            return false;
        if (got == 0)
            return true;
        if (std::memcmp(first.data(), second.data(), static_cast<size_t>(got)) != 0)
            return false;
        at += got;
    }
    return false;
}

bool same_file(const std::shared_ptr<const ElfFile>& a, const std::shared_ptr<const ElfFile>& b) {
    return a && b ? a->device() == b->device() && a->inode() == b->inode() : !a && !b;
}

} // namespace

class FileNames : public ModuleNames {
  public:
    explicit FileNames(std::string path) : path_(std::move(path)) {}

    // Finds out what there is, and reads nothing of it yet. False when there is nothing.
    bool open(ModuleSource source, const NameSources& sources, const WorkProgress& progress) {
        if (!source.file) {
            note = source.error.empty() ? "cannot be opened" : source.error;
            return false;
        }
        auto opened = ElfFile::open(std::move(source.file), path_);
        if (!opened) {
            note = opened.error().message();
            return false;
        }
        module_ = *std::move(opened);
        build_id = module_->build_id();
        has_symbols_ = module_->has_section(".symtab");
        if (has_dwarf(*module_))
            dwarf_ = module_;
        const bool may_be_apart = source.kind == ModuleKind::file && (!dwarf_ || !has_symbols_);
        if (may_be_apart)
            apart_ = find_debug_file(*module_, path_,
                                     {source.root.get(), sources.own_root, sources.debug_folder},
                                     progress);
        incomplete = may_be_apart && !apart_;
        return true;
    }

    // Whether reading this one, too, would give the same.
    bool same_as(const FileNames& other, const WorkProgress& progress) const {
        return path_ == other.path_ && same_file(apart_, other.apart_) &&
               same_content(*module_, *other.module_, progress);
    }

    void read() {
        add_index(module_);
        if (apart_)
            FileNames::complete(apart_);
        else if (const auto inside = has_symbols_ ? nullptr : mini_debug_file(*module_))
            add_index(inside);
        if (symbols == 0)
            note = "no symbols";
    }

    void complete(std::shared_ptr<const ElfFile> apart) override {
        incomplete = false;
        debug_file = apart->name();
        if (!dwarf_ && has_dwarf(*apart))
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
    std::string unnamed(uint64_t address, uint64_t place) override {
        if (!module_)
            return offset_name(path_, address);
        if (!bounds_)
            bounds_.emplace(*module_);
        const auto begin = bounds_->begin_of(place);
        // By convention, of every C library.
        if (begin && *begin != 0 && *begin == module_->entry())
            return "_start";
        return offset_name(path_, begin.value_or(address));
    }
    std::shared_ptr<const ElfFile> dwarf() const override { return dwarf_; }

  private:
    void add_index(const std::shared_ptr<const ElfFile>& file) {
        const auto added = indices_.insert(indices_.begin(), std::make_unique<FunctionIndex>(file));
        symbols += (*added)->functions().size();
    }

    std::string path_;
    std::shared_ptr<const ElfFile> module_;
    std::shared_ptr<const ElfFile> apart_; // its debug file, or null
    std::shared_ptr<const ElfFile> dwarf_;
    bool has_symbols_ = false;
    std::vector<std::unique_ptr<FunctionIndex>> indices_; // those with most names first
    std::unordered_map<const FunctionIndex::Function*, std::string> demangled_;
    std::optional<FunctionBounds> bounds_; // read when they are asked for
};

// A JIT writes one or the other, by how it was started.
class JitNames : public ModuleNames {
  public:
    // `uses` outlives it: each use has a number.
    JitNames(ModuleSource source, int own_root, uint64_t& uses)
        : user(source.uid), root_(std::move(source.root)),
          map_(root_ ? root_.get() : own_root, source.namespace_pid, source.uid), uses_(uses) {
        generated = true;
        if (source.file)
            dump_.emplace(std::move(source.file), fmt::format("jit-{}.dump", source.namespace_pid),
                          source.uid);
        JitNames::refresh();
    }

    std::optional<std::string> find(uint64_t address) override {
        last_use = ++uses_;
        auto name = dump_ ? dump_->dump().find(address) : std::nullopt;
        if (!name)
            name = map_.map().find(address);
        return name ? std::optional(demangle(*name)) : std::nullopt;
    }
    std::string unnamed(uint64_t, uint64_t) override { return std::string(unknown_name); }
    bool refresh() override {
        if (gone_)
            return false;
        const auto map_read = map_.refresh();
        const auto dump_read = dump_ ? dump_->refresh() : map_read;
        note = dump_read ? "" : dump_read.error().message();
        const uint64_t skipped = map_.map().skipped() + (dump_ ? dump_->dump().skipped() : 0);
        if (skipped && note.empty())
            note = fmt::format("{} entries for generated code were left out: they do not hold "
                               "together, or there are too many",
                               skipped);
        symbols = map_.map().size() + (dump_ ? dump_->dump().size() : 0);
        return (map_read && *map_read) || (dump_read && *dump_read);
    }
    size_t memory() const { return map_.map().memory() + (dump_ ? dump_->dump().memory() : 0); }
    // What was named keeps its name; nothing else will have one.
    void let_go() {
        gone_ = true;
        map_.let_go();
        if (dump_)
            dump_->let_go();
        note = fmt::format("names of {} pieces of generated code were let go: those of this user "
                           "took too much memory",
                           symbols);
        symbols = 0;
    }

    const uid_t user;
    uint64_t last_use = 0;

  private:
    UniqueFd root_;
    PerfMapFile map_;
    std::optional<JitDumpFile> dump_;
    uint64_t& uses_;
    bool gone_ = false;
};

namespace {

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
    std::string unnamed(uint64_t, uint64_t) override { return std::string(unknown_name); }

  private:
    static std::string read(const std::string& path, std::string& note) {
        auto text = read_file(path, 256 << 20);
        if (!text)
            note = text.error().message();
        return text ? *std::move(text) : std::string();
    }

    KernelSymbols symbols_;
};

class NoNames : public ModuleNames {
  public:
    std::optional<std::string> find(uint64_t) override { return std::nullopt; }
    std::string unnamed(uint64_t, uint64_t) override { return std::string(unknown_name); }
};

} // namespace

std::shared_ptr<ModuleNames> ModuleNamesMaker::file_names(ModuleSource source,
                                                          const WorkProgress& progress) {
    const auto names = std::make_shared<FileNames>(source.path);
    if (!names->open(std::move(source), sources_, progress))
        return names;
    if (names->build_id.empty()) {
        names->read();
        return names;
    }
    auto& known = files_[names->build_id];
    std::erase_if(known, [](const auto& other) { return other.expired(); });
    for (const auto& other : known)
        if (const auto same = other.lock(); same && names->same_as(*same, progress))
            return same;
    names->read();
    // Some may share a build id and nothing else; not many do.
    constexpr size_t most_variants = 8;
    if (known.size() < most_variants)
        known.push_back(names);
    return names;
}

std::shared_ptr<ModuleNames> ModuleNamesMaker::generated_names(ModuleSource source) {
    auto names = std::make_shared<JitNames>(std::move(source), sources_.own_root, uses_);
    names->last_use = ++uses_;
    generated_.push_back(names);
    return names;
}

void ModuleNamesMaker::limit_generated() {
    std::erase_if(generated_, [](const auto& names) { return names.expired(); });
    for (;;) {
        std::map<uid_t, size_t> by_user;
        size_t all = 0;
        for (const auto& weak : generated_)
            if (const auto names = weak.lock()) {
                by_user[names->user] += names->memory();
                all += names->memory();
            }
        if (all <= sources_.generated_limit)
            return;
        const uid_t largest = std::ranges::max_element(by_user, {}, [](const auto& entry) {
                                  return entry.second;
                              })->first;
        std::shared_ptr<JitNames> oldest;
        for (const auto& weak : generated_)
            if (auto names = weak.lock(); names && names->user == largest && names->memory() &&
                                          (!oldest || names->last_use < oldest->last_use))
                oldest = std::move(names);
        if (!oldest)
            return;
        oldest->let_go();
    }
}

std::shared_ptr<ModuleNames> ModuleNamesMaker::make(ModuleSource source,
                                                    const WorkProgress& progress) {
    switch (source.kind) {
    case ModuleKind::kernel:
        return std::make_shared<KernelNames>(sources_.kallsyms);
    case ModuleKind::vdso: {
        auto image = vdso_image();
        if (image)
            source.file = *std::move(image);
        else
            source.error = image.error().message();
        return file_names(std::move(source), progress);
    }
    case ModuleKind::file:
        return file_names(std::move(source), progress);
    case ModuleKind::jit:
        return generated_names(std::move(source));
    case ModuleKind::unknown:
    case ModuleKind::syscall: // have names from the start
    case ModuleKind::waker:
    case ModuleKind::cut:
        break;
    }
    return std::make_shared<NoNames>();
}

} // namespace auger
