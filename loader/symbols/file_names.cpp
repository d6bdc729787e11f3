// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/file_names.h"

#include "loader/process/trusted_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace auger {
namespace {

using name_messages::Kind;

// Anybody may write another's build id into a file, so only the same bytes are the same file. What
// is larger than any honest file is compared with none.
bool same_bytes(int a, int b, const WorkProgress& progress) {
    constexpr size_t step = 1 << 20;
    constexpr off_t limit = off_t{4} << 30;
    struct stat of_a, of_b;
    if (fstat(a, &of_a) != 0 || fstat(b, &of_b) != 0 || of_a.st_size != of_b.st_size ||
        of_a.st_size > limit)
        return false;
    std::vector<char> first(step), second(step);
    for (off_t at = 0; !progress.stopped();) {
        const ssize_t got = pread(a, first.data(), step, at);
        if (got < 0 || pread(b, second.data(), step, at) != got)
            return false;
        if (got == 0)
            return true;
        if (std::memcmp(first.data(), second.data(), static_cast<size_t>(got)) != 0)
            return false;
        at += got;
    }
    return false;
}

bool same_file(const std::optional<DebugFile>& a, const std::optional<DebugFile>& b) {
    struct stat first, second;
    return a && b ? fstat(a->fd->get(), &first) == 0 && fstat(b->fd->get(), &second) == 0 &&
                        first.st_dev == second.st_dev && first.st_ino == second.st_ino
                  : !a && !b;
}

// The vdso's image is our own.
FileOwner owner_of(const ModuleSource& source) {
    if (source.kind == ModuleKind::vdso)
        return {FileOwner::Kind::trusted, {}};
    return FileOwner::of_file(source.file.get(), source.root.get());
}

// Nothing of one that may be written without its times telling so.
std::optional<FileContent> content_of(int fd) {
    const auto content = FileContent::of(fd);
    if (!content || content->just_changed())
        return std::nullopt;
    return *content;
}

} // namespace

FileNames::FileNames(ModuleSource source, const NameSources& sources, NameProcesses& processes,
                     const WorkProgress& progress)
    : source_(std::move(source)), sources_(sources), progress_(progress), owner_(owner_of(source_)),
      conversation_(
          processes, owner_, progress,
          [this](NameProcess& process, uint32_t number) { return open_in(process, number); }),
      content_(content_of(source_.file.get())) {}

// A process that took the place of another one has to be told all that the other knew.
Result<void> FileNames::open_in(NameProcess& process, uint32_t number) {
    const int file[] = {source_.file.get()};
    const auto answer =
        process.ask(name_messages::request({Kind::open, number, source_.path}), file, progress_);
    if (!answer)
        return answer.error();
    auto opened = elf_messages::opened(*answer);
    if (!opened)
        return process.give_up();
    if (!opened_)
        opened_ = std::move(opened);
    if (!was_read_)
        return {};
    auto read = read_request(apart_);
    read.request.number = number;
    const auto done =
        process.ask(name_messages::request(read.request), read.descriptors, progress_);
    return done ? Result<void>() : done.error();
}

bool FileNames::open() {
    if (!source_.file) {
        fail(source_.error.empty() ? "cannot be opened" : source_.error);
        return false;
    }
    if (const auto opened = conversation_.open(); !opened) {
        fail(opened.error().message());
        return false;
    }
    if (!opened_->problem.empty()) {
        fail(opened_->problem);
        return false;
    }
    build_id = opened_->build_id;
    const bool may_be_apart =
        source_.kind == ModuleKind::file && (!opened_->dwarf || !opened_->symbols);
    if (may_be_apart)
        apart_ =
            find_debug_file({source_.file.get(), source_.path, build_id, opened_->link},
                            {source_.root.get(), sources_.own_root, sources_.debug_folder}, *this);
    incomplete = may_be_apart && !apart_;
    // Who may write the one says what the functions of the other are called, and of no more.
    struct stat status;
    if (apart_ &&
        (fstat(apart_->fd->get(), &status) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0))
        conversation_.change(FileOwner::Kind::nobody);
    is_open_ = true;
    return true;
}

void FileNames::fail(std::string why) {
    // Each one is that many attempts (see NameConversation), and takes a process each.
    constexpr int most_retries = 3;
    failed_ = true;
    if (conversation_.died() && retries_ < most_retries)
        put_off = std::chrono::seconds(1 << retries_);
    note = std::move(why);
}

void FileNames::try_again() {
    if (!put_off)
        return;
    put_off.reset();
    retries_++;
    failed_ = false;
    note.clear();
    if ((is_open_ || open()) && !was_read_)
        read();
}

std::optional<std::string> FileNames::build_id_of(int fd) {
    const int file[] = {fd};
    const auto answer = conversation_.ask({Kind::build_id}, file);
    const auto id = answer ? elf_messages::build_id(*answer) : std::nullopt;
    return id && !id->text.empty() ? std::optional(id->text) : std::nullopt;
}

std::optional<uint32_t> FileNames::checksum_of(int fd) {
    const int file[] = {fd};
    const auto answer = conversation_.ask({Kind::checksum}, file);
    if (!answer) // a large file on a slow disk, say
        conversation_.forgive();
    const auto checksum = answer ? elf_messages::checksum(*answer) : std::nullopt;
    return checksum ? checksum->crc : std::nullopt;
}

bool FileNames::same_as(const FileNames& other) const {
    // Of files of the same owner, or root's: the other's names are those of its owner's process.
    const bool believable = (owner_.shares() && owner_ == other.owner_) ||
                            other.owner_.kind == FileOwner::Kind::trusted;
    if (!believable || failed_ || other.failed_ || source_.path != other.source_.path ||
        !same_file(apart_, other.apart_) || !other.content_ ||
        !same_bytes(source_.file.get(), other.source_.file.get(), progress_))
        return false;
    // What the other's names were read from must be what was compared.
    const auto now = FileContent::of(other.source_.file.get());
    return now && *now == *other.content_;
}

FileNames::ReadRequest FileNames::read_request(const std::optional<DebugFile>& apart) {
    ReadRequest read{{Kind::read}, {}};
    if (apart) {
        read.request.name = apart->name;
        read.descriptors.push_back(apart->fd->get());
    }
    return read;
}

void FileNames::read() {
    if (failed_)
        return;
    const ReadRequest read = read_request(apart_);
    const auto answer = conversation_.ask(read.request, read.descriptors);
    if (!answer)
        return fail(answer.error().message());
    const auto symbols_read = name_messages::read_symbols(*answer);
    if (!symbols_read)
        return fail(conversation_.give_up().message());
    was_read_ = true;
    symbols = symbols_read->functions;
    note = symbols == 0 ? "no symbols" : "";
    if (apart_)
        debug_file = apart_->name;
    find_dwarf(*symbols_read);
}

void FileNames::find_dwarf(const name_messages::ReadSymbols& symbols_read) {
    using Dwarf = name_messages::ReadSymbols::Dwarf;
    const bool has_dwarf =
        symbols_read.dwarf == Dwarf::in_file || (symbols_read.dwarf == Dwarf::apart && apart_);
    // What was fetched may have the DWARF that a Go program lacks.
    if ((dwarf_ && (dwarf_->file || !has_dwarf)) || (!has_dwarf && !symbols_read.go))
        return;
    DwarfSource dwarf;
    dwarf.name = source_.path;
    const auto module = std::make_shared<const UniqueFd>(duplicate(source_.file.get()));
    if (symbols_read.go)
        dwarf.go_program = module;
    if (has_dwarf) {
        dwarf.file = symbols_read.dwarf == Dwarf::apart ? apart_->fd : module;
        if (symbols_read.dwarf == Dwarf::apart)
            dwarf.name = apart_->name;
    }
    if (has_dwarf && symbols_read.alternative) {
        const auto alternative =
            debug_file_by_build_id(*symbols_read.alternative, dwarf.file->get(),
                                   // What our own root does not have may be anything.
                                   {-1, sources_.own_root, sources_.debug_folder}, *this);
        if (alternative)
            dwarf.alternative = alternative->fd;
        else
            dwarf.problem =
                symbols_read.alternative->empty() ? damaged_alternative : no_alternative;
    }
    dwarf_ = std::make_shared<const DwarfSource>(std::move(dwarf));
}

void FileNames::complete(const DebugFile& apart) {
    incomplete = false;
    // A server may be wrong, as may be what an earlier one left on disk, and its file is no more to
    // be believed than a target's.
    conversation_.change(FileOwner::Kind::fetched);
    if (build_id_of(apart.fd->get()) != build_id) {
        note = Error{"read", apart.name, "it has another build id", {}}.message();
        return;
    }
    apart_ = apart;
    read();
}

std::vector<AddressName> FileNames::names(std::span<const AddressQuery> queries) {
    if (!failed_) {
        auto found = conversation_.find(queries);
        if (found)
            return *std::move(found);
        fail(found.error().message());
    }
    std::vector<AddressName> offsets;
    for (const AddressQuery& query : queries)
        offsets.push_back({offset_name(source_.path, query.address), false});
    return offsets;
}

} // namespace auger
