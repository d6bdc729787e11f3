// SPDX-License-Identifier: GPL-3.0-or-later
// glibc reaches its thread-local variables through slots that the dynamic linker fills with the
// offset from the control block. Every such slot tells where the library's block
// of thread-local variables begins, and the symbol table where errno is in it. In a static program
// the block ends where the control block begins.
#include "loader/values/errno_place.h"

#include "loader/process/proc_info.h"
#include "loader/process/proc_maps.h"
#include "loader/process/process_memory.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace auger {
namespace {

Error failure(std::string cause, std::string hint = {}) {
    return {{}, {}, std::move(cause), std::move(hint), Error::Kind::failed};
}

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool is_glibc(std::string_view path) {
    const std::string_view name = base_name(path);
    return name == "libc.so.6" || (name.starts_with("libc-2.") && name.ends_with(".so"));
}

bool is_musl(std::string_view path) {
    const std::string_view name = base_name(path);
    return name.starts_with("ld-musl-") || name.starts_with("libc.musl-");
}

class Search {
  public:
    explicit Search(const BlockReader& read) : read_(read) {}

    Result<int32_t> find(pid_t pid) {
        auto maps = read_maps(pid);
        if (!maps)
            return maps.error();
        for (const Mapping& mapping : *maps)
            if (is_glibc(mapping.path))
                return in_library(pid, mapping);
        for (const Mapping& mapping : *maps)
            if (is_musl(mapping.path))
                return failure("musl keeps it where only musl knows", "with glibc it can be read");
        return in_program(pid, *maps);
    }

  private:
    // Of the open file; opened and read once, however many processes map it.
    Result<const ThreadLocalBlock*> block_of(pid_t pid, const Mapping& mapping) {
        const auto key = std::pair(mapping.device, mapping.inode);
        auto known = blocks_.find(key);
        if (known == blocks_.end()) {
            auto fd = open_mapped_file(pid, mapping);
            if (!fd)
                return fd.error();
            auto block = read_(pid, *std::move(fd), mapping.path);
            if (!block)
                return block.error();
            known = blocks_.emplace(key, *std::move(block)).first;
        }
        return &known->second;
    }

    Result<int32_t> in_library(pid_t pid, const Mapping& mapping) {
        auto block = block_of(pid, mapping);
        if (!block)
            return block.error();
        const ThreadLocalBlock& own = **block;
        // The lowest mapping is the file's beginning.
        const auto first = own.address_of_offset(mapping.offset);
        if (!own.error_number || own.slots.empty() || !first)
            return failure("its place in this C library is not known");
        std::optional<int64_t> begin;
        for (const ThreadLocalBlock::Slot& slot : own.slots) {
            int64_t offset;
            const uint64_t address = mapping.start - *first + slot.address;
            if (read_process_memory(living_thread(pid), address, &offset, sizeof offset) !=
                MemoryRead::whole)
                return failure(fmt::format("memory of process {} cannot be read", pid));
            offset -= static_cast<int64_t>(slot.variable);
            // All slots agree, once the dynamic linker has filled them.
            if (offset >= 0 || offset < INT32_MIN / 2 || (begin && *begin != offset))
                return failure("the process has not begun, so that its location is not known yet",
                               "try again when it runs");
            begin = offset;
        }
        return static_cast<int32_t>(*begin + static_cast<int64_t>(*own.error_number));
    }

    Result<int32_t> in_program(pid_t pid, const std::vector<Mapping>& maps) {
        const auto program = std::find_if(maps.begin(), maps.end(), [](const Mapping& mapping) {
            return mapping.executable && mapping.path.starts_with('/');
        });
        if (program == maps.end())
            return failure("its location is not known");
        auto block = block_of(pid, *program);
        if (!block)
            return block.error();
        const ThreadLocalBlock& own = **block;
        if (own.interpreter)
            return failure("the process has not loaded its C library yet",
                           "try again when it runs");
        if (!own.error_number || own.size == 0 || own.size > INT32_MAX / 2)
            return failure("its location is not known: the program has no symbol for it");
        return static_cast<int32_t>(static_cast<int64_t>(*own.error_number) -
                                    static_cast<int64_t>(own.size));
    }

    const BlockReader& read_;
    std::map<std::pair<uint64_t, uint64_t>, ThreadLocalBlock> blocks_;
};

} // namespace

Result<int32_t> errno_offset(std::span<const pid_t> pids, const BlockReader& read) {
    if (pids.empty())
        return failure("its location is not known: no process of the target runs",
                       "ask again when one does");
    Search search(read);
    std::optional<int32_t> common;
    for (pid_t pid : pids) {
        auto found = search.find(pid);
        if (!found)
            return failure(fmt::format("process {}: {}", pid, found.error().cause),
                           found.error().hint);
        if (common && *common != *found)
            return failure(fmt::format("it is elsewhere in process {} than in {}", pid, pids[0]),
                           "observe processes of one program");
        common = *found;
    }
    return *common;
}

} // namespace auger
