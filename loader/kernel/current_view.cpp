// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/current_view.h"

#include "loader/process/proc_info.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

// Each is an open file. Those that were mapped the longest ago go first.
constexpr size_t most_modules_kept = 256;

} // namespace

const TargetView& CurrentView::get() {
    if (!is_old_)
        return view_;
    is_old_ = false;
    std::vector<TargetModule> former = std::move(view_.modules);
    view_ = {};
    view_.everything = target_.everything();
    view_.by_name = target_.spec().kind == TargetSpec::Kind::name;
    view_.started = !target_.waiting_to_start();
    view_.births_often = births_often_;
    if (view_.everything) {
        if (auto pids = all_pids()) {
            view_.pids = *pids;
            std::erase(view_.pids, getpid());
        }
    } else {
        view_.pids = target_.running();
    }
    if (view_.started) {
        view_.modules = catalogue_.modules_of(view_.pids);
    } else if (!target_.command_path().empty()) {
        view_.modules = catalogue_.modules_of_program(target_.command_path());
        for (TargetModule& module : view_.modules)
            module.pids.insert(view_.pids.begin(), view_.pids.end());
    }
    if (view_.by_name || view_.births_often)
        keep_modules(std::move(former));
    return view_;
}

void CurrentView::keep_modules(std::vector<TargetModule> former) {
    for (TargetModule& module : former) {
        if (view_.modules.size() >= most_modules_kept)
            break;
        const auto content = FileContent::of(module.file->fd()); // another when it was deleted
        if (!content || *content != module.content ||
            std::ranges::find(view_.modules, module.identity(), &TargetModule::identity) !=
                view_.modules.end())
            continue;
        module.pids.clear();
        view_.modules.push_back(std::move(module));
    }
    std::ranges::stable_partition(view_.modules, &TargetModule::main_program);
}

void CurrentView::begin_anew() {
    view_ = {};
    births_often_ = false;
    is_old_ = true;
}

void CurrentView::note_births_often() {
    births_often_ = true;
    is_old_ = true;
}

} // namespace auger
