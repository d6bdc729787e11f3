// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/module_names.h"

#include "loader/process/safe_open.h"
#include "loader/symbols/file_names.h"
#include "loader/symbols/generated_code_names.h"
#include "loader/symbols/kernel_symbols.h"
#include "loader/symbols/vdso.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

class KernelNames final : public ModuleNames {
  public:
    explicit KernelNames(const std::string& path) : symbols_(read(path, note)) {
        symbols = symbols_.size();
        if (symbols_.restricted())
            note = "kernel addresses are hidden (needs CAP_SYSLOG; see "
                   "/proc/sys/kernel/kptr_restrict)";
    }

    std::vector<AddressName> names(std::span<const AddressQuery> queries) override {
        std::vector<AddressName> all;
        for (const AddressQuery& query : queries)
            all.push_back(name(query.place));
        return all;
    }

  private:
    static std::string read(const std::string& path, std::string& note) {
        auto text = read_file(path, 256 << 20);
        if (!text)
            note = text.error().message();
        return text ? *std::move(text) : std::string();
    }
    AddressName name(uint64_t address) const {
        const auto match = symbols_.find(address);
        if (!match)
            return {std::string(unknown_name), false};
        if (match->module.empty())
            return {std::string(match->name), true};
        return {fmt::format("{} [{}]", match->name, match->module), true};
    }

    KernelSymbols symbols_;
};

class NoNames final : public ModuleNames {
  public:
    std::vector<AddressName> names(std::span<const AddressQuery> queries) override {
        return std::vector<AddressName>(queries.size(), {std::string(unknown_name), false});
    }
};

} // namespace

std::optional<std::string> ModuleNames::find(uint64_t address) {
    const AddressQuery query{address, address};
    AddressName name = std::move(names({&query, 1}).front());
    return name.named ? std::optional(std::move(name.text)) : std::nullopt;
}

std::shared_ptr<ModuleNames> ModuleNamesMaker::file_names(ModuleSource source) {
    const auto names =
        std::make_shared<FileNames>(std::move(source), sources_, processes_, progress_);
    if (!names->open())
        return names;
    if (names->build_id.empty()) {
        names->read();
        return names;
    }
    auto& known = files_[names->build_id];
    std::erase_if(known, [](const auto& other) { return other.expired(); });
    for (const auto& other : known)
        if (const auto same = other.lock(); same && names->same_as(*same))
            return same;
    names->read();
    // Some may share a build id and nothing else; not many do.
    constexpr size_t most_variants = 8;
    if (known.size() < most_variants)
        known.push_back(names);
    return names;
}

std::shared_ptr<ModuleNames> ModuleNamesMaker::generated_names(ModuleSource source) {
    auto names = std::make_shared<GeneratedCodeNames>(std::move(source), sources_.own_root,
                                                      processes_, progress_, uses_);
    generated_.push_back(names);
    return names;
}

bool ModuleNamesMaker::limit_generated() {
    std::erase_if(generated_, [](const auto& names) { return names.expired(); });
    for (bool let_go = false;; let_go = true) {
        std::map<uid_t, size_t> by_user;
        size_t all = 0;
        for (const auto& weak : generated_)
            if (const auto names = weak.lock()) {
                by_user[names->user] += names->memory();
                all += names->memory();
            }
        if (all <= sources_.generated_limit)
            return let_go;
        const uid_t largest = std::ranges::max_element(by_user, {}, [](const auto& entry) {
                                  return entry.second;
                              })->first;
        std::shared_ptr<GeneratedCodeNames> oldest;
        for (const auto& weak : generated_)
            if (auto names = weak.lock(); names && names->user == largest && names->memory() &&
                                          (!oldest || names->last_use < oldest->last_use))
                oldest = std::move(names);
        if (!oldest)
            return let_go;
        oldest->let_go();
    }
}

std::shared_ptr<ModuleNames> ModuleNamesMaker::make(ModuleSource source) {
    switch (source.kind) {
    case ModuleKind::kernel:
        return std::make_shared<KernelNames>(sources_.kallsyms);
    case ModuleKind::vdso: {
        auto image = vdso_image();
        if (image)
            source.file = *std::move(image);
        else
            source.error = image.error().message();
        return file_names(std::move(source));
    }
    case ModuleKind::file:
        return file_names(std::move(source));
    case ModuleKind::jit:
        return generated_names(std::move(source));
    case ModuleKind::unknown:
    case ModuleKind::syscall: // have names from the start
    case ModuleKind::waker:
    case ModuleKind::cut:
    case ModuleKind::python:
    case ModuleKind::task:
    case ModuleKind::java:
    case ModuleKind::js:
    case ModuleKind::php:
    case ModuleKind::ruby:
    case ModuleKind::perl:
    case ModuleKind::go_label:
        break;
    }
    return std::make_shared<NoNames>();
}

} // namespace auger
