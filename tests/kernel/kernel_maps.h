// SPDX-License-Identifier: GPL-3.0-or-later
// The BPF maps that this process holds, as the kernel tells of them.
#pragma once

#include "bpf/wire.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace auger::test {

using Bytes = std::vector<char>;
using Elements = std::map<Bytes, Bytes>;

class KernelMaps {
  public:
    KernelMaps() {
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code error;
            if (std::filesystem::read_symlink(entry.path(), error) != "anon_inode:bpf-map")
                continue;
            const std::string name = entry.path().filename();
            int fd = -1;
            std::from_chars(name.data(), name.data() + name.size(), fd);
            bpf_map_info info = {};
            uint32_t size = sizeof(info);
            if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
                maps_[info.name] = {fd, info.key_size, info.value_size};
        }
    }

    Elements all(const std::string& name) const {
        const Map& map = maps_.at(name);
        Elements found;
        Bytes key(map.key_size), value(map.value_size);
        for (void* before = nullptr; bpf_map_get_next_key(map.fd, before, key.data()) == 0;
             before = key.data()) {
            if (bpf_map_lookup_elem(map.fd, key.data(), value.data()) == 0)
                found[key] = value;
        }
        return found;
    }
    std::vector<Bytes> keys(const std::string& name) const {
        const Map& map = maps_.at(name);
        std::vector<Bytes> found;
        Bytes key(map.key_size);
        for (void* before = nullptr; bpf_map_get_next_key(map.fd, before, key.data()) == 0;
             before = key.data())
            found.push_back(key);
        std::ranges::sort(found);
        return found;
    }
    template <typename Value>
    Value at(const std::string& name, uint32_t index) const {
        const Map& map = maps_.at(name);
        Bytes value(map.value_size);
        EXPECT_GE(value.size(), sizeof(Value)) << name;
        EXPECT_EQ(bpf_map_lookup_elem(map.fd, &index, value.data()), 0) << name;
        Value found;
        std::memcpy(&found, value.data(), sizeof found);
        return found;
    }
    // All of an array.
    template <typename Value>
    std::vector<Value> array(const std::string& name, uint32_t size) const {
        const Map& map = maps_.at(name);
        std::vector<Value> values(size);
        std::vector<uint32_t> keys(size);
        EXPECT_EQ(map.value_size, sizeof(Value)) << name;
        uint32_t next = 0, count = size;
        const int read = bpf_map_lookup_batch(map.fd, nullptr, &next, keys.data(), values.data(),
                                              &count, nullptr);
        EXPECT_TRUE(read == 0 || read == -ENOENT) << name << " ends with this batch";
        EXPECT_EQ(count, size) << name;
        return values;
    }
    wire_config config() const { return at<wire_config>("auger_bp.bss", 0); }

  private:
    struct Map {
        int fd;
        uint32_t key_size, value_size;
    };
    std::map<std::string, Map> maps_;
};

} // namespace auger::test
