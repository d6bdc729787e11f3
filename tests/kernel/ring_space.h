// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bpf/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace auger::test {

// The event ring of the test's session, by the kernel's own account of it.
class RingSpace {
  public:
    RingSpace() {
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            const int fd = std::stoi(entry.path().filename());
            bpf_map_info info = {};
            uint32_t length = sizeof(info);
            std::error_code gone; // the folder's own descriptor
            if (std::filesystem::read_symlink(entry, gone) != "anon_inode:bpf-map" ||
                bpf_obj_get_info_by_fd(fd, &info, &length) != 0 ||
                info.type != BPF_MAP_TYPE_RINGBUF || std::string(info.name) != "events")
                continue;
            size_ = info.max_entries;
            consumed_ = position(fd, 0);
            produced_ = position(fd, sysconf(_SC_PAGESIZE));
        }
        if (!size_)
            throw std::runtime_error("no event ring");
    }

    uint64_t free_bytes() const { return size_ - (*produced_ - *consumed_); }

  private:
    static const volatile uint64_t* position(int map, off_t page) {
        void* const at = mmap(nullptr, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_READ,
                              MAP_SHARED, map, page);
        if (at == MAP_FAILED)
            throw std::system_error(errno, std::generic_category(), "mmap of the event ring");
        return static_cast<const volatile uint64_t*>(at);
    }

    uint64_t size_ = 0;
    const volatile uint64_t *consumed_ = nullptr, *produced_ = nullptr;
};

} // namespace auger::test
