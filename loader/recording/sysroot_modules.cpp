// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/sysroot_modules.h"

#include "loader/process/safe_open.h"
#include "loader/symbols/symbolizer.h"

#include <fmt/format.h>

#include <optional>

namespace auger {
namespace {

constexpr size_t most_modules = 1 << 20;

} // namespace

Result<SysrootModules> SysrootModules::open(const std::string& folder,
                                            std::shared_ptr<ConfinedProcesses> readers) {
    auto opened = open_folder(folder);
    if (!opened)
        return opened.error();
    auto own_root = open_folder("/");
    if (!own_root)
        return own_root.error();
    return SysrootModules(std::move(*opened), std::move(*own_root), std::move(readers));
}

void SysrootModules::define(ModuleId id, const ModuleInfo& info) {
    if (id.index() >= most_modules)
        return;
    if (id.index() >= modules_.size())
        modules_.resize(id.index() + 1);
    modules_[id.index()] = info;
}

Result<UniqueFd> SysrootModules::find(const ModuleInfo& module) {
    const auto because = [&](std::string cause) {
        return Error{"find", module.path, std::move(cause), ""};
    };
    if (module.build_id.empty())
        return because("the recording has no build id of it, by which a file could be checked");
    std::optional<std::string> other_id;
    if (auto file = open_regular_beneath(folder_.get(), module.path, Symlinks::follow)) {
        const auto id = questions_.build_id_of(file->get());
        if (id == module.build_id)
            return file;
        other_id = id.value_or("none");
    }
    if (const auto file = debug_file_by_build_id(module.build_id, -1,
                                                 {folder_.get(), own_root_.get()}, questions_))
        return duplicate(file->fd->get());
    if (other_id)
        return because(fmt::format("the file below the folder has build id {}, the recorded one {}",
                                   *other_id, module.build_id));
    return because(
        fmt::format("no file below the folder has its path or its build id {}", module.build_id));
}

ModuleSource SysrootModules::source(ModuleId id) {
    const ModuleInfo& module = info(id);
    ModuleSource source;
    source.kind = module.kind;
    source.path = module.path;
    source.root = duplicate(folder_.get());
    auto file = find(module);
    if (file) {
        source.file = std::move(*file);
    } else {
        source.error = file.error().cause;
        problems_.push_back(fmt::format("{}: {}", base_name(module.path), source.error));
    }
    return source;
}

} // namespace auger
