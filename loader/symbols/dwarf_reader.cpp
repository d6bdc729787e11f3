// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/dwarf_reader.h"

#include "loader/symbols/dwarf_messages.h"

#include <fcntl.h>
#include <sys/mman.h>

namespace auger {
namespace {

using Clock = std::chrono::steady_clock;

} // namespace

Result<void> DwarfReader::share_progress() {
    UniqueFd file(memfd_create("progress", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    // Whoever has it cannot make it shorter under us.
    if (!file || ftruncate(file.get(), sizeof(WorkProgress)) != 0 ||
        fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return system_error("share memory with", "a process to read in");
    void* memory =
        mmap(nullptr, sizeof(WorkProgress), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED)
        return system_error("share memory with", "a process to read in");
    shared_progress_ = static_cast<WorkProgress*>(memory);
    progress_file_ = std::move(file);
    return {};
}

DwarfReader::~DwarfReader() {
    if (shared_progress_)
        munmap(shared_progress_, sizeof(WorkProgress));
}

Result<std::unique_ptr<DwarfReader>> DwarfReader::open(ConfinedProcesses& processes,
                                                       const DwarfSource& source,
                                                       WorkProgress& progress, bool& died,
                                                       std::chrono::seconds patience) {
    died = false;
    if (!source.problem.empty())
        return Error{"read line information of", source.name, source.problem, {}};
    auto reader = attempt(processes, source, progress, patience, died);
    return died ? attempt(processes, source, progress, patience, died) : std::move(reader);
}

Result<std::unique_ptr<DwarfReader>>
DwarfReader::attempt(ConfinedProcesses& processes, const DwarfSource& source,
                     WorkProgress& progress, std::chrono::seconds patience, bool& died) {
    auto process = processes.make(dwarf_service);
    if (!process)
        return process.error();
    std::unique_ptr<DwarfReader> reader(
        new DwarfReader(*std::move(process), source.name, patience));
    if (auto shared = reader->share_progress(); !shared)
        return shared.error();
    std::vector<int> descriptors = {reader->progress_file_.get()};
    for (const auto& file : {source.file, source.alternative, source.go_program})
        if (file)
            descriptors.push_back(file->get());
    const dwarf_messages::Files files{source.name, source.file != nullptr,
                                      source.alternative != nullptr, source.go_program != nullptr};
    const auto answer = reader->ask(dwarf_messages::open(files), descriptors, progress);
    died = reader->died();
    if (!answer)
        return answer.error();
    const auto opened = dwarf_messages::opened(*answer);
    if (!opened)
        return Error{
            "read line information of", source.name, "its reader sent an invalid answer", {}};
    if (!opened->problem.empty())
        return Error{"read line information of", source.name, opened->problem, {}};
    reader->section_bytes_ = opened->section_bytes;
    return reader;
}

Result<std::vector<DwarfReader::Frames>> DwarfReader::frames(std::span<const uint64_t> addresses,
                                                             WorkProgress& progress) {
    const auto answer = ask(dwarf_messages::addresses(addresses), {}, progress);
    if (!answer)
        return answer.error();
    auto frames = dwarf_messages::frames(*answer, addresses.size());
    if (!frames)
        return Error{"read lines of", name_, "its reader sent an invalid answer", {}};
    return *std::move(frames);
}

Result<std::string> DwarfReader::ask(std::string_view request, std::span<const int> descriptors,
                                     WorkProgress& progress) {
    const auto end = Clock::now() + patience_;
    bool given_up = false;
    const auto go_on = [&] {
        progress.done = shared_progress_->done.load(std::memory_order_relaxed);
        progress.total = shared_progress_->total.load(std::memory_order_relaxed);
        given_up = progress.stopped() || Clock::now() >= end;
        return !given_up;
    };
    const int socket = process_.socket();
    if (send_message(socket, request, descriptors, go_on))
        if (auto answer = receive_message(socket, dwarf_messages::answer_limit, go_on))
            return std::move(answer->bytes);
    died_ = !given_up;
    return Error{"read line information of",
                 name_,
                 died_ ? "its reader crashed or was killed" : "it takes too long",
                 {}};
}

} // namespace auger
