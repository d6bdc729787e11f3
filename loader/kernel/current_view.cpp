// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/current_view.h"

#include "loader/process/proc_info.h"

#include <unistd.h>

#include <vector>

namespace auger {

const TargetView& CurrentView::get() {
    if (!is_old_)
        return view_;
    is_old_ = false;
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
    return view_;
}

void CurrentView::set_births_often(bool often) {
    births_often_ = often;
    is_old_ = true;
}

} // namespace auger
