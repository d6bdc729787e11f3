// SPDX-License-Identifier: GPL-3.0-or-later
// The confined side of DwarfReader.
#include "loader/reader/dwarf/source_lines.h"
#include "loader/reader/names/demangle.h"
#include "loader/reader/services.h"
#include "loader/symbols/dwarf_messages.h"
#include "loader/symbols/dwarf_reader.h"

#include <sys/mman.h>

#include <new>
#include <unordered_map>

namespace auger {
namespace {

std::shared_ptr<const ElfFile> elf_of(Message& message, size_t number, const std::string& name) {
    if (message.descriptors.size() <= number)
        return nullptr;
    auto file = ElfFile::open(std::move(message.descriptors[number]), name);
    return file ? *file : nullptr;
}

// Behind the progress.
SourceLines::Files files_of(Message& message, const dwarf_messages::Files& files) {
    SourceLines::Files opened;
    size_t number = 1;
    if (files.dwarf)
        opened.dwarf = elf_of(message, number++, files.name);
    if (files.alternative)
        opened.alternative = elf_of(message, number++, files.name);
    if (files.go_program)
        opened.go_program = elf_of(message, number++, files.name);
    return opened;
}

// Where the other side looks at how far we are.
WorkProgress* progress_in(const Message& message) {
    void* memory = message.descriptors.empty()
                       ? MAP_FAILED
                       : mmap(nullptr, sizeof(WorkProgress), PROT_READ | PROT_WRITE, MAP_SHARED,
                              message.descriptors[0].get(), 0);
    return memory == MAP_FAILED ? nullptr : new (memory) WorkProgress;
}

// The same functions are asked for again and again.
class Demangler {
  public:
    void demangle(std::vector<SourceFrame>& chain) {
        for (SourceFrame& frame : chain) {
            if (known_.size() > limit)
                known_.clear();
            auto [at, added] = known_.try_emplace(frame.function);
            if (added)
                at->second = auger::demangle(frame.function);
            frame.function = at->second;
        }
    }

  private:
    static constexpr size_t limit = 200'000;
    std::unordered_map<std::string, std::string> known_;
};

} // namespace

void serve_dwarf(int socket) {
    Demangler demangler;
    std::unique_ptr<SourceLines> lines;
    WorkProgress* progress = nullptr;
    while (auto message = receive_message(socket, dwarf_messages::request_limit)) {
        const auto request = dwarf_messages::request(message->bytes);
        if (!request)
            return;
        std::string answer;
        if (request->files) {
            progress = progress_in(*message);
            if (!progress)
                return;
            auto opened = SourceLines::open(files_of(*message, *request->files), *progress);
            dwarf_messages::Opened said;
            if (opened) {
                lines = *std::move(opened);
                said.section_bytes = lines->section_bytes();
            } else {
                said.problem = opened.error().cause;
            }
            answer = dwarf_messages::opened(said);
        } else {
            if (!lines)
                return;
            std::vector<dwarf_messages::Frames> found;
            for (const uint64_t address : request->addresses) {
                found.push_back(lines->frames(address, *progress));
                demangler.demangle(found.back());
            }
            answer = dwarf_messages::frames(found);
        }
        if (!send_message(socket, answer))
            return;
    }
}

} // namespace auger
