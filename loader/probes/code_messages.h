// SPDX-License-Identifier: GPL-3.0-or-later
// What is said between auger and a process that reads the code of files (code_readers.h,
// loader/reader/matching/serve_code.cpp). Nothing that an answer says is believed unless it holds
// together; whether places lie where they may is for who knows the files to check.
#pragma once

#include "loader/base/result.h"
#include "loader/probes/go_places.h"
#include "loader/probes/place_match.h"
#include "loader/probes/unwind_proof.h"
#include "loader/values/call_program.h"
#include "loader/values/thread_local_block.h"
#include "loader/values/thread_variable.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger::code_messages {

inline constexpr size_t request_limit = 4 << 20;
inline constexpr size_t answer_limit = 64 << 20;
inline constexpr size_t text_limit = 64 << 10; // of a name, path or message; longer ones are cut
inline constexpr size_t record_limit = 4096;   // bytes; see SwitchCache

enum class Kind : uint8_t {
    open,        // an ELF file, its name and descriptor: elf_messages::Opened
    build_id,    // of a descriptor: elf_messages::BuildId
    checksum,    // of a descriptor: elf_messages::Checksum
    apart,       // a file's debug file, or that it has none: Alternative
    alternative, // what dwz has put elsewhere, or why that is not there; no answer
    close,       // a file; no answer
    needed,      // a file's DT_NEEDED: texts
    find,        // places: Places
    complete,    // names of functions: texts
    compile,     // what is asked of a function's calls: Result<std::optional<CallProgram>>
    forget,      // debug information that was read for that; no answer
    facts,       // a file's: UnwindFacts
    switches,    // of a file, with what was remembered: Switches
    go,          // a file's: GoPlaces
    block,       // a file's: ThreadLocalBlock
    variable,    // a file's of a name: std::optional<ThreadVariable>
};

// One that is searched, or tells what others call; in the order of TargetView::modules.
struct Module {
    uint32_t number = 0;
    // See ProbeModule.
    bool main_program = false, searched = false, named = false;
    friend bool operator==(const Module&, const Module&) = default;
};

struct Request {
    Kind kind{};
    uint32_t number = 0; // of the file; kind compile: 0: the function is in none
    // A name; a pattern as the user wrote it; a beginning; a function's name; why something is not
    // there; what was remembered.
    std::string text{};
    bool has_file = false; // a descriptor comes with it: apart, alternative
    uint64_t limit = 0;    // find: places; complete: names
    bool explain = false;  // find: see MatchOptions
    std::vector<Module> modules{};
    // compile
    ProgramRequest program{};
    uint64_t address = 0;
    std::optional<int32_t> error_number{};
    Error no_error_number{}; // why it is not known
    // See CalledFunction.
    std::optional<std::string> usdt_arguments{}, tracepoint{};
};
std::string request(const Request& request);
std::optional<Request> request(std::string_view bytes);

struct Alternative {
    std::optional<std::string> build_id; // see alternative_build_id()
};
std::string alternative(const Alternative& alternative);
std::optional<Alternative> alternative(std::string_view bytes);

std::string texts(const std::vector<std::string>& texts);
std::optional<std::vector<std::string>> texts(std::string_view bytes);

struct Places {
    Result<ProbeMatches> matches;
    bool absent = false; // see find_places(); false unless they fail
};
std::string places(const Places& places);
// Of so many modules, which their numbers are below.
std::optional<Places> places(std::string_view bytes, size_t modules);

using Program = Result<std::optional<CallProgram>>;
std::string program(const Program& program);
std::optional<Program> program(std::string_view bytes);

std::string facts(const UnwindFacts& facts);
std::optional<UnwindFacts> facts(std::string_view bytes);

struct Switches {
    std::string objection; // see SwitchCache::Read
    std::string record;
};
std::string switches(const Switches& switches);
std::optional<Switches> switches(std::string_view bytes);

std::string go(const GoPlaces& go);
std::optional<GoPlaces> go(std::string_view bytes);

std::string block(const ThreadLocalBlock& block);
std::optional<ThreadLocalBlock> block(std::string_view bytes);

// Nothing: the file exports none of that name.
using Variable = std::optional<ThreadVariable>;
std::string variable(const Variable& variable);
std::optional<Variable> variable(std::string_view bytes);

} // namespace auger::code_messages
