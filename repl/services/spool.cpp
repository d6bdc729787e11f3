// SPDX-License-Identifier: GPL-3.0-or-later
// A file is interval_NUMBER_WRITTEN_BEGIN_LENGTH_SAMPLES_SERVICE.PROTOCOL, with times in ms.
#include "repl/services/spool.h"

#include "loader/process/file_series.h"
#include "loader/process/proc_info.h"
#include "loader/process/state_folder.h"
#include "loader/process/user_rights.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace auger {
namespace {

constexpr std::string_view spool_prefix = "interval";

std::string service_name(std::string_view text) {
    return plain_name(text, 100, "_");
}

struct SpoolName {
    Spool::Entry entry;
    std::string_view protocol;
};

std::optional<SpoolName> parse_spool_name(std::string_view name) {
    if (!name.starts_with(spool_prefix))
        return std::nullopt;
    SpoolName parsed;
    Spool::Entry& entry = parsed.entry;
    const char* at = name.data() + spool_prefix.size();
    const char* const end = name.data() + name.size();
    for (uint64_t* number :
         {&entry.number, &entry.written_ms, &entry.begin_ms, &entry.length_ms, &entry.samples}) {
        if (at == end || *at != '_')
            return std::nullopt;
        const auto [next, error] = std::from_chars(at + 1, end, *number);
        // Sums of them stay within 64 bits.
        if (error != std::errc() || *number > uint64_t{1} << 48)
            return std::nullopt;
        at = next;
    }
    const std::string_view rest(at, static_cast<size_t>(end - at));
    const size_t dot = rest.rfind('.');
    if (!rest.starts_with('_') || dot == rest.npos)
        return std::nullopt;
    entry.service = rest.substr(1, dot - 1);
    parsed.protocol = rest.substr(dot + 1);
    // It becomes part of a URL.
    return service_name(entry.service) == entry.service ? std::optional(parsed) : std::nullopt;
}

// Its size, of a file of ours.
std::optional<uint64_t> size_of_own_file(int folder, const char* name) {
    struct stat status {};
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode) ||
        std::ranges::count(our_users(), status.st_uid) == 0)
        return std::nullopt;
    return static_cast<uint64_t>(status.st_size);
}

} // namespace

Result<Spool> Spool::open(const std::string& folder, std::string_view protocol) {
    const auto user = invoking_user();
    const UserRights rights(user);
    if (auto made = make_folders_above(folder + "/"); !made) {
        Error error = made.error();
        error.hint = rights_hint(user);
        return error;
    }
    UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!lock)
        return system_error("open the spool", folder, rights_hint(user, "read"));
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? Error{"open the spool", folder, "another auger ships from there",
                           "name another folder (spool DIR)"}
                   : system_error("lock the spool", folder);
    Spool spool(folder, protocol, std::move(lock));
    if (auto found = spool.find(); !found)
        return found.error();
    return spool;
}

Result<void> Spool::find() {
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder_.c_str()), closedir);
    if (!listing)
        return system_error("list the spool", folder_);
    while (const dirent* file = readdir(listing.get())) {
        auto known = parse_spool_name(file->d_name);
        const auto size = known ? size_of_own_file(lock_.get(), file->d_name) : std::nullopt;
        if (!size)
            continue;
        if (known->protocol != protocol_)
            return Error{"open the spool", folder_,
                         fmt::format("it holds intervals for {}", known->protocol),
                         "ship those first, or name another folder (spool DIR)"};
        known->entry.bytes = *size;
        entries_.push_back(known->entry);
        bytes_ += *size;
        next_ = std::max(next_, known->entry.number + 1);
    }
    std::ranges::sort(entries_, {}, &Entry::number);
    return {};
}

std::string Spool::name_of(const Entry& entry) const {
    return fmt::format("{}_{}_{}_{}_{}_{}_{}.{}", spool_prefix, entry.number, entry.written_ms,
                       entry.begin_ms, entry.length_ms, entry.samples, service_name(entry.service),
                       protocol_);
}

std::optional<Spool::Entry> Spool::add(std::string_view name) {
    const UserRights rights(invoking_user());
    auto parsed = parse_spool_name(name);
    const auto size =
        parsed ? size_of_own_file(lock_.get(), std::string(name).c_str()) : std::nullopt;
    if (!size || parsed->protocol != protocol_ || parsed->entry.number < next_)
        return std::nullopt;
    Entry& entry = parsed->entry;
    entry.bytes = *size;
    entries_.push_back(entry);
    bytes_ += *size;
    next_ = entry.number + 1;
    return entry;
}

Result<UniqueFd> Spool::read(const Entry& entry) const {
    const UserRights rights(invoking_user());
    UniqueFd file(openat(lock_.get(), name_of(entry).c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file)
        return system_error("read", path_of(entry));
    return file;
}

Result<void> Spool::remove(uint64_t number) {
    const auto at = std::ranges::find(entries_, number, &Entry::number);
    if (at == entries_.end())
        return {};
    const Entry entry = *at;
    entries_.erase(at);
    bytes_ -= entry.bytes;
    const UserRights rights(invoking_user());
    if (unlinkat(lock_.get(), name_of(entry).c_str(), 0) != 0 && errno != ENOENT)
        return system_error("remove", path_of(entry));
    return {};
}

std::vector<Spool::Entry> Spool::trim(const Limits& limits, uint64_t now_ms,
                                      std::optional<uint64_t> kept) {
    std::vector<Entry> beyond;
    uint64_t bytes = bytes_;
    for (const Entry& entry : entries_) {
        const bool old = now_ms > entry.written_ms && now_ms - entry.written_ms > limits.age_ms;
        if (!old && bytes <= limits.bytes)
            break;
        if (entry.number == kept)
            continue;
        bytes -= entry.bytes;
        beyond.push_back(entry);
    }
    for (const Entry& entry : beyond)
        (void)remove(entry.number);
    return beyond;
}

} // namespace auger
