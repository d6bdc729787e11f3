// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_process.h"

#include "loader/process/message.h"
#include "loader/symbols/dwarf_source.h"
#include "loader/symbols/elf_messages.h"

#include <sys/stat.h>

namespace auger {
namespace {

using code_messages::Kind;
using code_messages::Request;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds tell_patience{1}; // what is told is read at once

Error failed(const char* cause) {
    return {"read code", {}, cause, {}};
}

Request about(Kind kind, uint32_t number, std::string text = {}) {
    Request request;
    request.kind = kind;
    request.number = number;
    request.text = std::move(text);
    return request;
}

std::string said(Request request, int file) {
    request.has_file = file >= 0;
    return code_messages::request(request);
}

// Whether somebody may write the debug file who may not write the module, and is not to say what
// its functions are called.
bool is_others(int debug_file, int module) {
    constexpr mode_t for_others = S_IWGRP | S_IWOTH;
    struct stat of_debug_file, of_module;
    if (fstat(debug_file, &of_debug_file) != 0 || fstat(module, &of_module) != 0)
        return true;
    const mode_t writable = of_debug_file.st_mode & for_others;
    return (writable & ~of_module.st_mode) != 0 ||
           ((writable & S_IWGRP) && of_debug_file.st_gid != of_module.st_gid);
}

} // namespace

Error CodeProcess::give_up() {
    given_up_ = true;
    process_.reset();
    return failed("its reader sent an invalid answer");
}

Result<std::string> CodeProcess::ask(const Request& request, int file) {
    if (!process_)
        return failed("its reader was ended");
    const auto end = Clock::now() + code_patience;
    const auto go_on = [&] {
        given_up_ = Clock::now() >= end;
        interrupted_ = go_on_ && !go_on_();
        return !given_up_ && !interrupted_;
    };
    const std::span<const int> descriptors(&file, file >= 0 ? 1 : 0);
    if (send_message(process_->socket(), said(request, file), descriptors, go_on))
        if (auto answer = receive_message(process_->socket(), code_messages::answer_limit, go_on))
            return std::move(answer->bytes);
    process_.reset();
    return why_gone();
}

Error CodeProcess::why_gone() const {
    return failed(interrupted_ ? "interrupted"
                  : given_up_  ? "it takes too long"
                               : "its reader crashed or was killed");
}

void CodeProcess::tell(const Request& request, int file) {
    const auto end = Clock::now() + tell_patience;
    const std::span<const int> descriptors(&file, file >= 0 ? 1 : 0);
    if (process_ && !send_message(process_->socket(), said(request, file), descriptors,
                                  [&] { return Clock::now() < end; }))
        process_.reset();
}

uint32_t CodeProcess::number_of(const File& file) const {
    const auto found = numbers_.find(file);
    return found == numbers_.end() ? 0 : found->second;
}

Result<void> CodeProcess::open(const File& file, const CodeDescription& description) {
    const uint32_t number = ++last_number_;
    const auto opened = ask(about(Kind::open, number, file->path()), file->fd());
    if (!opened)
        return opened.error();
    const auto& debug_file = description.debug_file;
    const auto apart = ask(about(Kind::apart, number, debug_file ? debug_file->name : ""),
                           debug_file ? debug_file->fd->get() : -1);
    if (!apart)
        return apart.error();
    if (description.alternative || !description.no_alternative.empty())
        tell(about(Kind::alternative, number, description.no_alternative),
             description.alternative ? description.alternative->get() : -1);
    numbers_.emplace(file, number);
    return {};
}

std::optional<std::string> CodeProcess::build_id_of(int fd) {
    const auto answer = ask(about(Kind::build_id, 0), fd);
    const auto id = answer ? elf_messages::build_id(*answer) : std::nullopt;
    return id && !id->text.empty() ? std::optional(id->text) : std::nullopt;
}

std::optional<uint32_t> CodeProcess::checksum_of(int fd) {
    const auto answer = ask(about(Kind::checksum, 0), fd);
    const auto checksum = answer ? elf_messages::checksum(*answer) : std::nullopt;
    return checksum ? checksum->crc : std::nullopt;
}

void CodeProcess::find_alternative(const File& file, uint32_t number, int own_root,
                                   CodeDescription& description) {
    const auto& debug_file = description.debug_file;
    const auto answer = ask(about(Kind::apart, number, debug_file ? debug_file->name : ""),
                            debug_file ? debug_file->fd->get() : -1);
    const auto alternative = answer ? code_messages::alternative(*answer) : std::nullopt;
    if (!alternative || !alternative->build_id)
        return;
    const int module = debug_file ? debug_file->fd->get() : file->fd();
    // What our own root does not have may be anything.
    auto found = debug_file_by_build_id(*alternative->build_id, module, {-1, own_root}, *this);
    if (found && is_others(found->fd->get(), file->fd()))
        found.reset();
    if (found)
        description.alternative = found->fd;
    else
        description.no_alternative =
            alternative->build_id->empty() ? damaged_alternative : no_alternative;
    tell(about(Kind::alternative, number, description.no_alternative),
         found ? found->fd->get() : -1);
}

Result<CodeDescription> CodeProcess::describe(const File& file, int own_root) {
    const uint32_t number = ++last_number_;
    const auto answer = ask(about(Kind::open, number, file->path()), file->fd());
    if (!answer)
        return answer.error();
    const auto opened = elf_messages::opened(*answer);
    if (!opened)
        return give_up();
    CodeDescription description{opened->problem, {}, {}, {}};
    if (!opened->problem.empty())
        return description;
    if (!opened->dwarf) {
        auto found = find_debug_file({file->fd(), file->path(), opened->build_id, opened->link},
                                     {file->root() ? file->root()->get() : -1, own_root}, *this);
        if (found && !is_others(found->fd->get(), file->fd()))
            description.debug_file = std::move(found);
    }
    find_alternative(file, number, own_root, description);
    if (!usable())
        return why_gone();
    numbers_.emplace(file, number);
    return description;
}

void CodeProcess::close_forgotten() {
    std::erase_if(numbers_, [&](const auto& entry) {
        if (!entry.first.expired())
            return false;
        tell(about(Kind::close, entry.second));
        return true;
    });
}

} // namespace auger
