// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/symbolizer.h"

#include "loader/symbols/symbol_worker.h"

#include <fmt/format.h>

namespace auger {

std::string progress_text(const ModuleProgress& module) {
    const std::string amount =
        module.total ? fmt::format("{} %", 100 * module.done / module.total) : "begun";
    return fmt::format("{} ({}, {})", module.name, module.phase, amount);
}

Symbolizer::Symbolizer(ModuleSources& modules, SymbolizerOptions options)
    : modules_(modules), worker_(std::make_shared<SymbolWorker>(std::move(options))) {
    worker_->start();
}

Symbolizer::~Symbolizer() {
    worker_->stop();
}

Resolution Symbolizer::request(const Location& location) {
    const ModuleInfo& module = modules_.info(location.module);
    return worker_->request(location, module.path, module.kind,
                            [&] { return modules_.source(location.module); });
}

Resolution Symbolizer::known(const Location& location) const {
    return worker_->known(location);
}

void Symbolizer::read_on() {
    worker_->read_on();
}
std::set<ModuleId> Symbolizer::take_outdated() {
    return worker_->take_outdated();
}
uint64_t Symbolizer::generation() const {
    return worker_->generation();
}
std::vector<ModuleProgress> Symbolizer::progress() const {
    return worker_->progress();
}
std::vector<ModuleReport> Symbolizer::reports() const {
    return worker_->reports();
}
size_t Symbolizer::waiting() const {
    return worker_->waiting();
}

bool Symbolizer::wait_idle(std::chrono::steady_clock::time_point deadline) const {
    return worker_->wait_idle(deadline);
}

} // namespace auger
