// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/bpf_objects.h"

#include "tests/support/wait.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace auger::test {

namespace {

std::set<uint32_t> all_ids(int (*next)(uint32_t, uint32_t*)) {
    std::set<uint32_t> ids;
    for (uint32_t id = 0; next(id, &id) == 0;)
        ids.insert(id);
    return ids;
}

std::set<uint32_t> difference(const std::set<uint32_t>& ids, const std::set<uint32_t>& others) {
    std::set<uint32_t> rest;
    std::set_difference(ids.begin(), ids.end(), others.begin(), others.end(),
                        std::inserter(rest, rest.end()));
    return rest;
}

pid_t parent_of(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    // A name may hold any byte but this one. Not by iterators: of a process that has ended
    // meanwhile they throw.
    std::string line;
    std::getline(stat, line, '\0');
    const size_t name_end = line.rfind(')');
    pid_t parent = 0;
    char state = 0;
    if (name_end != line.npos)
        std::sscanf(line.c_str() + name_end + 1, " %c %d", &state, &parent);
    return parent;
}

bool is_somebody_elses(pid_t pid) {
    if (parent_of(pid) == 1)
        return false;
    for (; pid > 1; pid = parent_of(pid))
        if (pid == getpid())
            return false;
    return true;
}

BpfObjects held_by_others() {
    BpfObjects objects;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != name.npos)
            continue;
        const pid_t pid = std::stoi(name);
        if (!is_somebody_elses(pid))
            continue;
        const BpfObjects held = BpfObjects::held_by(pid);
        objects.programs.insert(held.programs.begin(), held.programs.end());
        objects.links.insert(held.links.begin(), held.links.end());
    }
    return objects;
}

} // namespace

BpfObjects BpfObjects::existing() {
    return {all_ids(bpf_prog_get_next_id), all_ids(bpf_link_get_next_id)};
}

BpfObjects BpfObjects::held_by(pid_t pid) {
    BpfObjects objects;
    std::error_code error;
    std::filesystem::directory_iterator descriptors("/proc/" + std::to_string(pid) + "/fdinfo",
                                                    error);
    for (const std::filesystem::directory_iterator end; !error && descriptors != end;
         descriptors.increment(error)) {
        std::ifstream info(descriptors->path());
        std::string key, value;
        while (info >> key && std::getline(info, value)) {
            if (key == "prog_id:")
                objects.programs.insert(static_cast<uint32_t>(std::stoul(value)));
            else if (key == "link_id:")
                objects.links.insert(static_cast<uint32_t>(std::stoul(value)));
        }
    }
    return objects;
}

BpfObjects BpfObjects::without(const BpfObjects& others) const {
    return {difference(programs, others.programs), difference(links, others.links)};
}

bool BpfObjects::gone() const {
    const BpfObjects now = existing();
    return difference(programs, now.programs) == programs && difference(links, now.links) == links;
}

bool BpfObjects::wait_gone() const {
    return wait_until([this] { return gone(); });
}

bool BpfObjects::wait_nothing_left(const BpfObjects& since) {
    return wait_until([&] {
        BpfObjects left = existing().without(since);
        if (!left.programs.empty() || !left.links.empty())
            left = left.without(held_by_others());
        return left.programs.empty() && left.links.empty();
    });
}

} // namespace auger::test
