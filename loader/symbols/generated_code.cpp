// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/generated_code.h"

#include <algorithm>

namespace auger {
namespace {

constexpr size_t programs_a_look = 64;

} // namespace

void GeneratedCode::add(const Location& at, const std::shared_ptr<ModuleNames>& names,
                        std::string name) {
    Program& program = programs_[names.get()];
    program.names = names;
    if (program.newest.value < at.module.value) {
        program.newest = at.module;
        program.outdated = false;
    }
    program.places.push_back({at, std::move(name)});
}

void GeneratedCode::changed(const std::shared_ptr<ModuleNames>& names) {
    if (const auto program = programs_.find(names.get()); program != programs_.end())
        program->second.changed = true;
}

GeneratedCode::News GeneratedCode::look() {
    News news;
    for (size_t i = 0; i < std::min(programs_.size(), programs_a_look); i++) {
        auto program = programs_.upper_bound(last_);
        if (program == programs_.end())
            program = programs_.begin();
        last_ = program->first;
        if (program->second.names->refresh() || program->second.changed)
            look(program->second, news);
    }
    return news;
}

void GeneratedCode::look(Program& program, News& news) {
    program.changed = false;
    bool outdated = false;
    std::vector<AddressQuery> queries;
    for (const Place& place : program.places)
        queries.push_back({place.at.address, place.at.address - (place.at.is_return ? 1 : 0)});
    std::vector<AddressName> names = program.names->names(queries);
    for (size_t i = 0; i < names.size(); i++) {
        Place& place = program.places[i];
        if (!names[i].named)
            continue; // freed, and not used again: what it was it stays
        if (!place.name.empty()) {
            outdated |= place.name != names[i].text && place.at.module == program.newest;
            continue;
        }
        news.named.emplace_back(place.at, names[i].text);
        place.name = std::move(names[i].text);
    }
    if (outdated && !program.outdated)
        news.outdated.insert(program.newest);
    program.outdated = program.outdated || outdated;
    // Names of the past are final.
    std::erase_if(program.places, [&](const Place& place) {
        return !place.name.empty() && (program.outdated || place.at.module != program.newest);
    });
}

} // namespace auger
