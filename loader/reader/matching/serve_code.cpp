// SPDX-License-Identifier: GPL-3.0-or-later
// The confined side of CodeReaders.
#include "loader/probes/code_messages.h"
#include "loader/probes/code_readers.h"
#include "loader/process/message.h"
#include "loader/reader/dwarf/dwarf_file.h"
#include "loader/reader/matching/find_go_places.h"
#include "loader/reader/matching/probe_match.h"
#include "loader/reader/matching/switch_record.h"
#include "loader/reader/matching/unwind_facts.h"
#include "loader/reader/names/elf_answers.h"
#include "loader/reader/services.h"
#include "loader/reader/values/compile_program.h"
#include "loader/reader/values/read_thread_local_block.h"
#include "loader/reader/values/read_thread_variable.h"
#include "loader/symbols/dwarf_source.h"

#include <map>
#include <set>

namespace auger {
namespace {

using code_messages::Kind;
using code_messages::Request;

// One file that was handed over, and what was made of it.
class OpenFile {
  public:
    OpenFile(std::shared_ptr<const ElfFile> elf, std::string path)
        : elf_(std::move(elf)), path_(std::move(path)) {}

    const std::shared_ptr<const ElfFile>& elf() const { return elf_; }
    const std::string& path() const { return path_; }
    const ElfFile& with_dwarf() const { return separate_.file ? *separate_.file : *elf_; }

    void set_debug_file(std::shared_ptr<const ElfFile> file) {
        separate_.file = std::move(file);
        debug_ = nullptr;
        index_.reset();
    }
    void set_alternative(std::shared_ptr<const ElfFile> file, std::string problem) {
        separate_.alternative = std::move(file);
        separate_.problem = std::move(problem);
        debug_ = nullptr;
    }
    const std::shared_ptr<ModuleDebug>& debug() {
        if (!debug_)
            debug_ = std::make_shared<ModuleDebug>(elf_, path_, separate_);
        return debug_;
    }
    // A stripped file's functions are known from what was stripped, where that is installed.
    const ModuleIndex& index() {
        if (!index_)
            index_.emplace([elf = elf_, separate = separate_.file] {
                const bool stripped = !elf->has_symbols() && separate && separate->has_symbols();
                return std::make_shared<const FunctionIndex>(elf, stripped ? separate : nullptr);
            });
        return *index_;
    }

  private:
    std::shared_ptr<const ElfFile> elf_;
    std::string path_;
    SeparateDebug separate_;
    std::shared_ptr<ModuleDebug> debug_;
    std::optional<ModuleIndex> index_;
};

class CodeServer {
  public:
    // False: this was no request, or of nothing that is known. It has an answer, or none.
    bool handle(Request request, std::vector<UniqueFd> files, std::optional<std::string>& answer);

  private:
    std::string open(const Request& request, UniqueFd file);
    std::optional<std::vector<ProbeModule>> modules_of(const Request& request);
    std::optional<std::string> find(const Request& request);
    std::optional<std::string> compile(const Request& request);
    static std::string switches(const OpenFile& file, const std::string& record);
    // Of one file that is open.
    std::optional<std::string> of_file(OpenFile& file, const Request& request, UniqueFd other);

    std::map<uint32_t, OpenFile> files_;
    std::set<std::shared_ptr<DwarfFile>> kept_; // what programs were compiled by
};

std::shared_ptr<const ElfFile> elf_of(UniqueFd file, const std::string& name) {
    auto elf = file ? ElfFile::open(std::move(file), name) : Error{};
    return elf ? *std::move(elf) : nullptr;
}

std::string CodeServer::open(const Request& request, UniqueFd file) {
    const auto elf = ElfFile::open(std::move(file), request.text);
    if (elf)
        files_.insert_or_assign(request.number, OpenFile(*elf, request.text));
    return opened_answer(elf);
}

std::optional<std::vector<ProbeModule>> CodeServer::modules_of(const Request& request) {
    std::vector<ProbeModule> modules;
    for (const code_messages::Module& module : request.modules) {
        const auto at = files_.find(module.number);
        if (at == files_.end())
            return std::nullopt;
        OpenFile& file = at->second;
        modules.push_back({file.index(), file.path(), module.main_program, file.debug(),
                           module.searched, module.named});
    }
    return modules;
}

std::optional<std::string> CodeServer::find(const Request& request) {
    const auto modules = modules_of(request);
    const ParsedProbe parsed = parse_probe(request.text);
    if (!modules || !parsed.pattern)
        return std::nullopt;
    bool absent = false;
    auto found = find_places(*parsed.pattern, *modules, {request.limit, request.explain}, absent);
    return code_messages::places({std::move(found), absent});
}

std::optional<std::string> CodeServer::compile(const Request& request) {
    ValueScope scope{request.text};
    scope.address = request.address;
    scope.usdt_arguments = request.usdt_arguments;
    scope.tracepoint = request.tracepoint;
    if (request.error_number)
        scope.error_number = *request.error_number;
    else
        scope.error_number = request.no_error_number;
    if (request.number != 0) {
        const auto at = files_.find(request.number);
        if (at == files_.end())
            return std::nullopt;
        scope.file = at->second.elf();
        scope.debug = at->second.debug();
        if (auto dwarf = scope.debug->dwarf())
            kept_.insert(*std::move(dwarf));
    }
    return code_messages::program(compile_program(request.program, scope));
}

std::string CodeServer::switches(const OpenFile& file, const std::string& record) {
    const auto read = read_switches(*file.elf(), std::as_bytes(std::span(record)));
    return code_messages::switches(
        {read.objection,
         std::string(reinterpret_cast<const char*>(read.record.data()), read.record.size())});
}

std::optional<std::string> CodeServer::of_file(OpenFile& file, const Request& request,
                                               UniqueFd other) {
    switch (request.kind) {
    case Kind::apart:
        file.set_debug_file(elf_of(std::move(other), request.text));
        return code_messages::alternative(
            code_messages::Alternative{alternative_build_id(file.with_dwarf())});
    case Kind::needed:
        return code_messages::texts(file.elf()->needed());
    case Kind::facts:
        return code_messages::facts(unwind_facts(*file.elf()));
    case Kind::switches:
        return switches(file, request.text);
    case Kind::go:
        return code_messages::go(find_go_places(*file.elf()));
    case Kind::block:
        return code_messages::block(read_thread_local_block(*file.elf()));
    case Kind::variable:
        return code_messages::variable(read_thread_variable(*file.elf(), request.text));
    default:
        return std::nullopt;
    }
}

bool CodeServer::handle(Request request, std::vector<UniqueFd> files,
                        std::optional<std::string>& answer) {
    UniqueFd file = files.empty() ? UniqueFd() : std::move(files[0]);
    if (request.has_file != static_cast<bool>(file))
        return false;
    const auto known = files_.find(request.number);
    switch (request.kind) {
    case Kind::open:
        if (file)
            answer = open(request, std::move(file));
        break;
    case Kind::build_id:
        if (file)
            answer = build_id_answer(file.get());
        break;
    case Kind::checksum:
        if (file)
            answer = checksum_answer(file.get());
        break;
    case Kind::alternative:
        if (known == files_.end())
            return false;
        if (auto elf = elf_of(std::move(file), known->second.path()))
            known->second.set_alternative(std::move(elf), {});
        else
            known->second.set_alternative(nullptr,
                                          request.text.empty() ? no_alternative : request.text);
        return true;
    case Kind::close:
        files_.erase(request.number);
        return true;
    case Kind::forget:
        kept_.clear();
        return true;
    case Kind::find:
        answer = find(request);
        break;
    case Kind::complete:
        if (const auto modules = modules_of(request))
            answer = code_messages::texts(complete_function(request.text, *modules, request.limit));
        break;
    case Kind::compile:
        answer = compile(request);
        break;
    default:
        if (known != files_.end())
            answer = of_file(known->second, request, std::move(file));
        break;
    }
    return answer.has_value();
}

} // namespace

void serve_code(int socket) {
    CodeServer server;
    serve_messages(
        socket, code_messages::request_limit,
        [](std::string_view bytes) { return code_messages::request(bytes); },
        [&](Request request, std::vector<UniqueFd> files, std::optional<std::string>& answer) {
            return server.handle(std::move(request), std::move(files), answer);
        });
}

} // namespace auger
