// SPDX-License-Identifier: GPL-3.0-or-later
// The confined side of NameProcess.
#include "loader/process/message.h"
#include "loader/reader/dwarf/dwarf_file.h"
#include "loader/reader/names/elf_answers.h"
#include "loader/reader/names/elf_names.h"
#include "loader/reader/names/jit_names.h"
#include "loader/reader/services.h"
#include "loader/symbols/name_messages.h"
#include "loader/symbols/name_process.h"

#include <map>

namespace auger {
namespace {

using name_messages::Kind;
using name_messages::Request;

class NameServer {
  public:
    // False: this was no request, or of nothing that is known. It has an answer, or none.
    bool handle(Request request, std::vector<UniqueFd> files, std::optional<std::string>& answer);

  private:
    std::optional<std::string> open(uint32_t number, const std::string& name, UniqueFd file);
    std::optional<std::string> read(uint32_t number, const std::string& name,
                                    std::vector<UniqueFd>& files);
    std::optional<std::string> refresh(const Request& request, std::vector<UniqueFd>& files);
    std::optional<std::string> find(const Request& request);

    UniqueFd memory_;
    std::map<uint32_t, ElfNames> files_;
    std::map<uint32_t, JitNames> programs_;
};

std::optional<std::string> NameServer::open(uint32_t number, const std::string& name,
                                            UniqueFd file) {
    const auto elf = ElfFile::open(std::move(file), name);
    if (elf)
        files_.insert_or_assign(number, ElfNames(*elf));
    return opened_answer(elf);
}

std::optional<std::string> NameServer::read(uint32_t number, const std::string& name,
                                            std::vector<UniqueFd>& files) {
    const auto at = files_.find(number);
    if (at == files_.end())
        return std::nullopt;
    std::shared_ptr<const ElfFile> apart;
    if (!files.empty())
        if (auto elf = ElfFile::open(std::move(files[0]), name))
            apart = *std::move(elf);
    ElfNames& names = at->second;
    names.read(apart, memory_.get());
    name_messages::ReadSymbols symbols;
    symbols.functions = names.symbols();
    symbols.go = names.file().is_go();
    if (const ElfFile* dwarf = names.dwarf()) {
        using Dwarf = name_messages::ReadSymbols::Dwarf;
        symbols.dwarf = names.dwarf_is_apart() ? Dwarf::apart : Dwarf::in_file;
        symbols.alternative = alternative_build_id(*dwarf);
    }
    return name_messages::read_symbols(symbols);
}

std::optional<std::string> NameServer::refresh(const Request& request,
                                               std::vector<UniqueFd>& files) {
    const auto at = programs_.find(request.number);
    if (at == programs_.end() || files.size() != size_t{request.has_map} + request.has_dump)
        return std::nullopt;
    JitNames& names = at->second;
    name_messages::Refreshed refreshed;
    const auto add = [&](const AppendedFile::News& news) {
        refreshed.news |= news.any;
        refreshed.more |= news.more;
    };
    if (request.has_map)
        add(names.read_map(files.front().get()));
    if (request.has_dump)
        add(names.read_dump(files.back().get()));
    refreshed.damaged = names.damaged();
    refreshed.pieces = names.size();
    refreshed.memory = names.memory();
    refreshed.skipped = names.skipped();
    return name_messages::refreshed(refreshed);
}

std::optional<std::string> NameServer::find(const Request& request) {
    const auto file = files_.find(request.number);
    const auto program = programs_.find(request.number);
    if (file == files_.end() && program == programs_.end())
        return std::nullopt;
    std::vector<AddressName> names;
    for (const AddressQuery& query : request.queries)
        names.push_back(file != files_.end() ? file->second.find(query)
                                             : program->second.find(query));
    return name_messages::names(names);
}

bool NameServer::handle(Request request, std::vector<UniqueFd> files,
                        std::optional<std::string>& answer) {
    switch (request.kind) {
    case Kind::memory:
        if (files.empty())
            return false;
        memory_ = std::move(files[0]);
        return true;
    case Kind::generate:
        programs_.try_emplace(request.number);
        return true;
    case Kind::close:
        files_.erase(request.number);
        programs_.erase(request.number);
        return true;
    case Kind::open:
        if (!files.empty())
            answer = open(request.number, request.name, std::move(files[0]));
        break;
    case Kind::build_id:
        if (!files.empty())
            answer = build_id_answer(files[0].get());
        break;
    case Kind::checksum:
        if (!files.empty())
            answer = checksum_answer(files[0].get());
        break;
    case Kind::read:
        answer = read(request.number, request.name, files);
        break;
    case Kind::refresh:
        answer = refresh(request, files);
        break;
    case Kind::find:
        answer = find(request);
        break;
    }
    return answer.has_value();
}

} // namespace

void serve_names(int socket) {
    NameServer server;
    serve_messages(
        socket, name_messages::request_limit,
        [](std::string_view bytes) { return name_messages::request(bytes); },
        [&](Request request, std::vector<UniqueFd> files, std::optional<std::string>& answer) {
            return server.handle(std::move(request), std::move(files), answer);
        });
}

} // namespace auger
