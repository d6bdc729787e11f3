// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/generated_code_names.h"

#include "loader/symbols/generated_files.h"

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace auger {
namespace {

using name_messages::Kind;

constexpr uint64_t most_memory = uint64_t{1} << 40; // that is believed, so that sums hold

bool is_open_to_others(int fd) {
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

} // namespace

GeneratedCodeNames::State GeneratedCodeNames::State::of(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return {};
    return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size)};
}

name_messages::Request GeneratedCodeNames::Files::request() const {
    name_messages::Request request{Kind::refresh};
    request.has_map = map.get() >= 0;
    request.has_dump = dump >= 0;
    return request;
}

std::vector<int> GeneratedCodeNames::Files::descriptors() const {
    std::vector<int> all;
    for (const int fd : {map.get(), dump})
        if (fd >= 0)
            all.push_back(fd);
    return all;
}

GeneratedCodeNames::GeneratedCodeNames(ModuleSource source, int own_root, NameProcesses& processes,
                                       const WorkProgress& progress, uint64_t& uses)
    : user(source.uid), last_use(++uses), source_(std::move(source)), own_root_(own_root),
      progress_(progress), uses_(uses) {
    generated = true;
    FileOwner owner = FileOwner::of_program(user, source_.root.get());
    if (open_files().open_to_others)
        owner = owner.with_kind(FileOwner::Kind::nobody);
    conversation_.emplace(
        processes, owner, progress,
        [this](NameProcess& process, uint32_t number) { return open_in(process, number); });
    if (const auto opened = conversation_->open(); !opened)
        end(opened.error().message());
}

GeneratedCodeNames::Files GeneratedCodeNames::open_files() {
    Files files;
    note.clear();
    auto map =
        open_perf_map(source_.root ? source_.root.get() : own_root_, source_.namespace_pid, user);
    if (map) {
        files.map = *std::move(map);
        files.map_state = State::of(files.map.get());
    }
    if (source_.file) {
        const auto checked = check_generated_file(
            source_.file.get(), fmt::format("jit-{}.dump", source_.namespace_pid), user);
        if (checked) {
            files.dump = source_.file.get();
            files.dump_state = State::of(files.dump);
        } else {
            note = checked.error().message();
        }
    } else if (!map) {
        note = map.error().message();
    }
    files.open_to_others = is_open_to_others(files.map.get()) || is_open_to_others(files.dump);
    return files;
}

// One that takes the place of another has read nothing yet.
Result<void> GeneratedCodeNames::open_in(NameProcess& process, uint32_t number) {
    process.tell(name_messages::request({Kind::generate, number}));
    const Files files = open_files();
    name_messages::Request request = files.request();
    request.number = number;
    const auto taken =
        take(files, process.ask(name_messages::request(request), files.descriptors(), progress_));
    return taken;
}

Result<void> GeneratedCodeNames::take(const Files& files, const Result<std::string>& answer) {
    if (!answer)
        return answer.error();
    const auto refreshed = name_messages::refreshed(*answer);
    if (!refreshed)
        return conversation_->give_up();
    map_ = files.map_state;
    dump_ = files.dump_state;
    more_ = refreshed->more;
    memory_ = std::min(refreshed->memory, most_memory);
    symbols = refreshed->pieces;
    unseen_ = unseen_ || refreshed->news;
    if (refreshed->damaged)
        note = fmt::format("read jit-{}.dump: not a jitdump file of this machine, or damaged",
                           source_.namespace_pid);
    else if (refreshed->skipped && note.empty())
        note = fmt::format("{} entries for generated code were left out: they do not hold "
                           "together, or there are too many",
                           refreshed->skipped);
    return {};
}

bool GeneratedCodeNames::refresh() {
    if (!conversation_)
        return false;
    const std::string old_note = note;
    const Files files = open_files();
    if (!more_ && files.map_state == map_ && files.dump_state == dump_) {
        note = old_note;
    } else {
        if (files.open_to_others)
            conversation_->change(FileOwner::Kind::nobody);
        const auto taken = take(files, conversation_->ask(files.request(), files.descriptors()));
        if (!taken)
            end(taken.error().message());
    }
    // What another process read when it took the place of one is news, too.
    return std::exchange(unseen_, false);
}

std::vector<AddressName> GeneratedCodeNames::names(std::span<const AddressQuery> queries) {
    last_use = ++uses_;
    if (conversation_) {
        auto found = conversation_->find(queries);
        if (found)
            return *std::move(found);
        end(found.error().message());
    }
    return std::vector<AddressName>(queries.size(), {std::string(unknown_name), false});
}

void GeneratedCodeNames::let_go() {
    end(fmt::format("names of {} pieces of generated code were let go: those of this user took too "
                    "much memory",
                    symbols));
}

void GeneratedCodeNames::end(std::string why) {
    conversation_.reset();
    memory_ = symbols = 0;
    note = std::move(why);
}

} // namespace auger
