// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/bpf_objects.h"

#include "tests/support/wait.h"

#include <bpf/bpf.h>

#include <algorithm>
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

} // namespace auger::test
