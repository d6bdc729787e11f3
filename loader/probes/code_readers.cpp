// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_readers.h"

#include "loader/probes/code_process.h"
#include "loader/probes/module_name.h"
#include "loader/process/safe_open.h"
#include "loader/values/errno_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <thread>

namespace auger {
namespace {

using code_messages::Kind;
using code_messages::Request;
using File = CodeReaders::File;

using Clock = std::chrono::steady_clock;

constexpr int most_given_up = 3; // processes, of one user's files
// Beyond that files are left out: anybody may map any number of files of any kind.
constexpr size_t most_processes = 64;
constexpr size_t most_groups = 256; // of one user, in containers too
constexpr size_t most_unshared = 8;

// Files that are read together: whoever wrote one may say what the others hold.
struct Group {
    FileOwner owner;
    // Of files that others may write, too: the group that may, or the file itself.
    std::optional<gid_t> writers{};
    uint64_t device = 0, inode = 0;
    auto operator<=>(const Group&) const = default;

    static Group of(const CodeFile& file) {
        Group group{file.owner(), file.writers()};
        if (!group.owner.shares() && !group.writers) {
            group.device = file.device();
            group.inode = file.inode();
        }
        return group;
    }
    bool trusted() const { return owner.kind == FileOwner::Kind::trusted; }
    // Whether its files may be handed to who reads the other's: as root's files are, also those of
    // root where the other's owner is a user.
    bool serves(const Group& other) const {
        const bool of_its_root = !other.trusted() && owner.kind == FileOwner::Kind::user &&
                                 owner.user.uid == 0 &&
                                 owner.user.device == other.owner.user.device &&
                                 owner.user.inode == other.owner.user.inode;
        return *this == other || trusted() || of_its_root;
    }
};

// Of what is listed in a request: the files, and where they stand among those that were asked for.
struct Listed {
    std::vector<SearchedFile> files;
    std::vector<size_t> positions;
    std::vector<bool> searched;
    bool has_main_program = false; // that is searched

    void add(const Listed& from, size_t at) {
        files.push_back(from.files[at]);
        positions.push_back(from.positions[at]);
        searched.push_back(from.searched[at]);
        has_main_program |= from.searched[at] && from.files[at].main_program;
    }
};

// A place must lie where the process that was asked may know of: in code of a file of its owner's.
bool may_be(const PlaceMatch& place, const Listed& listed) {
    if (!listed.searched[place.module])
        return false;
    const CodeFile& file = *listed.files[place.module].file;
    const auto lies_at = [&](uint64_t address, uint64_t offset) {
        return file.offset_of_address(address) == offset && file.is_code(offset);
    };
    return file.is_code(place.file_offset) &&
           lies_at(place.entry.address, place.entry.file_offset) &&
           (!place.argument_entry ||
            lies_at(place.argument_entry->address, place.argument_entry->file_offset)) &&
           std::ranges::all_of(place.exits, [&](const ExitPlace& exit) {
               return lies_at(exit.code.address, exit.file_offset);
           });
}

// From positions in the request to those that the caller knows.
void translate(ProbeMatches& matches, const Listed& listed) {
    const auto translate_callee = [&](CallSite::Callee& callee) {
        callee.module = listed.positions[callee.module];
    };
    for (PlaceMatch& place : matches.places) {
        place.module = listed.positions[place.module];
        if (!place.site)
            continue;
        if (place.site->callee)
            translate_callee(*place.site->callee);
        if (place.site->pointer)
            std::ranges::for_each(place.site->pointer->callees, translate_callee);
    }
    for (SkippedPlace& skipped : matches.skipped)
        skipped.module = listed.positions[skipped.module];
}

void append(ProbeMatches& all, ProbeMatches more) {
    std::ranges::move(more.places, std::back_inserter(all.places));
    std::ranges::move(more.skipped, std::back_inserter(all.skipped));
    for (std::string& note : more.notes)
        if (std::ranges::find(all.notes, note) == all.notes.end())
            all.notes.push_back(std::move(note));
}

bool is_in_main_program(const ProbeMatches& matches, std::span<const SearchedFile> files) {
    const auto in_main = [&](const auto& place) { return files[place.module].main_program; };
    return std::ranges::any_of(matches.places, in_main) ||
           std::ranges::any_of(matches.skipped, in_main);
}

void drop_libraries(ProbeMatches& matches, std::span<const SearchedFile> files) {
    const auto in_library = [&](const auto& place) { return !files[place.module].main_program; };
    std::erase_if(matches.places, in_library);
    std::erase_if(matches.skipped, in_library);
}

// A process may have been killed, again and again; or the file kills it, which takes its time.
class Attempts {
  public:
    // False: that was the last one. Pauses before the next.
    bool another() {
        constexpr int at_least = 3, at_most = 10;
        constexpr std::chrono::seconds patience{3};
        constexpr std::chrono::milliseconds pause{10};
        if (++made_ >= at_most || (made_ >= at_least && Clock::now() - began_ > patience))
            return false;
        std::this_thread::sleep_for(made_ * pause);
        return true;
    }

  private:
    int made_ = 0;
    const Clock::time_point began_ = Clock::now();
};

} // namespace

struct CodeReaders::State {
    State(std::shared_ptr<ConfinedProcesses> processes, GoOn asked, SwitchCache cache)
        : readers(std::move(processes)), go_on(std::move(asked)), switches(std::move(cache)) {
        if (auto root = open_folder("/"))
            own_root = *std::move(root);
    }

    struct Known {
        std::optional<CodeDescription> description;
        std::optional<UnwindFacts> facts;
        std::optional<GoPlaces> go;
    };

    Result<CodeProcess*> process_of(const Group& group);
    // It took too long, or answered nonsense.
    void give_up(const Group& group);
    Error nonsense(const Group& group);
    void note_interrupt(const CodeProcess& process) {
        interrupted = interrupted || process.interrupted();
        was_interrupted = was_interrupted || interrupted;
    }
    void forget_what_is_gone();
    // Has the file opened in the process of this group, and described by one of its owner's.
    Result<void> open_in(const Group& group, CodeProcess& process, const File& file);
    Result<const CodeDescription*> describe(const File& file);
    // An answer to what is asked of these files, with their numbers filled in.
    using Fill = std::function<Request(const CodeProcess& process)>;
    Result<std::string> ask(const Group& group, std::span<const SearchedFile> files,
                            const Fill& fill);
    // The same of all that is searched. One file that kills who reads it costs itself only: it is
    // taken from the list.
    Result<std::string> ask_all(const Group& group, Listed& listed, const Request& request,
                                std::string_view library);
    Result<std::string> ask_of(const File& file, Kind kind, std::string text = {});
    // What `understand` makes of the answer; it gives nothing for nonsense.
    template <typename Understand>
    auto told_of(const File& file, Kind kind, const Understand& understand)
        -> Result<typename decltype(understand(std::string_view()))::value_type> {
        const auto answer = ask_of(file, kind);
        if (!answer)
            return answer.error();
        auto told = understand(*answer);
        if (!told)
            return nonsense(Group::of(*file));
        return *std::move(told);
    }

    // By group, those with main programs first. `with_served`: with what others may call.
    std::vector<std::pair<Group, Listed>> list(std::span<const SearchedFile> files,
                                               bool with_served);
    struct Found {
        Result<ProbeMatches> matches;
        bool absent = false; // see find_places()
    };
    Found find_in(const Group& group, Listed& listed, const ProbePattern& pattern,
                  const MatchOptions& options);

    const std::shared_ptr<ConfinedProcesses> readers;
    const GoOn go_on;
    SwitchCache switches;
    UniqueFd own_root;
    std::map<Group, CodeProcess> processes;
    std::map<FileUser, int> given_up; // processes; those of trusted files are not counted
    std::map<std::weak_ptr<const CodeFile>, Known, std::owner_less<>> known;
    std::map<const CodeFile*, std::string> unread; // of those listed last: why they are left out
    bool interrupted = false, was_interrupted = false; // this time; since somebody asked
    bool died = false; // what was asked last has no answer, because processes died of it
};

Result<CodeProcess*> CodeReaders::State::process_of(const Group& group) {
    const auto there = processes.find(group);
    if (there != processes.end() && there->second.usable())
        return &there->second;
    processes.erase(group);
    if (!group.trusted() && given_up[group.owner.user] >= most_given_up)
        return Error{"read code",
                     {},
                     "other files of its owner took too long, or their reader answered nonsense",
                     {},
                     Error::Kind::unsupported};
    if (processes.size() >= most_processes)
        processes.erase(processes.begin()->first.trusted() ? std::next(processes.begin())
                                                           : processes.begin());
    auto made = readers->make(code_service);
    if (!made)
        return made.error();
    return &processes.emplace(group, CodeProcess(*std::move(made), go_on)).first->second;
}

void CodeReaders::State::give_up(const Group& group) {
    processes.erase(group);
    if (!group.trusted())
        given_up[group.owner.user]++;
}

Error CodeReaders::State::nonsense(const Group& group) {
    give_up(group);
    return {"read code", {}, "its reader answers nonsense", {}};
}

void CodeReaders::State::forget_what_is_gone() {
    std::erase_if(known, [](const auto& entry) { return entry.first.expired(); });
    std::set<Group> used;
    for (const auto& [file, what] : known)
        if (const auto there = file.lock())
            used.insert(Group::of(*there));
    std::erase_if(processes, [&](const auto& entry) { return !used.contains(entry.first); });
    for (auto& [group, process] : processes)
        process.close_forgotten();
}

Result<const CodeDescription*> CodeReaders::State::describe(const File& file) {
    Known& what = known[file];
    if (what.description)
        return &*what.description;
    const Group group = Group::of(*file);
    for (Attempts attempts;;) {
        auto process = process_of(group);
        if (!process)
            return process.error();
        auto description = (*process)->describe(file, own_root.get());
        if (description) {
            what.description = *std::move(description);
            return &*what.description;
        }
        note_interrupt(**process);
        if (interrupted)
            return description.error();
        const bool too_long = (*process)->given_up();
        if (too_long)
            give_up(group);
        if (too_long || !attempts.another()) {
            // It is not tried again whenever something is looked for.
            what.description = CodeDescription{description.error().cause, {}, {}, {}};
            return &*what.description;
        }
    }
}

Result<void> CodeReaders::State::open_in(const Group& group, CodeProcess& process,
                                         const File& file) {
    if (process.number_of(file) != 0)
        return {};
    const auto description = describe(file);
    if (!description)
        return description.error();
    if (!(*description)->problem.empty())
        return Error{
            "read code", file->path(), (*description)->problem, {}, Error::Kind::unsupported};
    // Describing it has opened it in its owner's process.
    if (!process.usable() || (Group::of(*file) == group && process.number_of(file) != 0))
        return {};
    return process.open(file, **description);
}

Result<std::string> CodeReaders::State::ask(const Group& group, std::span<const SearchedFile> files,
                                            const Fill& fill) {
    died = false;
    for (Attempts attempts;;) {
        // What describes files may have to start their owner's process anew.
        for (const SearchedFile& searched : files)
            if (const auto described = describe(searched.file); !described)
                return described.error();
        auto process = process_of(group);
        if (!process)
            return process.error();
        Result<std::string> answer = std::string();
        for (const SearchedFile& searched : files)
            if (const auto open = open_in(group, **process, searched.file); !open) {
                answer = open.error();
                break;
            }
        if (answer && (*process)->usable())
            answer = (*process)->ask(fill(**process));
        if ((answer && (*process)->usable()) ||
            (!answer && answer.error().kind == Error::Kind::unsupported))
            return answer;
        if (answer) // it has died of what it was told
            answer = Error{"read code", {}, "its reader has died of it", {}};
        note_interrupt(**process);
        if ((*process)->given_up())
            give_up(group);
        else if (!interrupted && attempts.another())
            continue;
        else
            died = !interrupted;
        return answer;
    }
}

Result<std::string> CodeReaders::State::ask_of(const File& file, Kind kind, std::string text) {
    interrupted = false;
    const SearchedFile searched{file, false};
    return ask(Group::of(*file), {&searched, 1}, [&](const CodeProcess& process) {
        Request request;
        request.kind = kind;
        request.number = process.number_of(file);
        request.text = text;
        return request;
    });
}

std::vector<std::pair<Group, Listed>> CodeReaders::State::list(std::span<const SearchedFile> files,
                                                               bool with_served) {
    forget_what_is_gone();
    unread.clear();
    interrupted = false;
    std::map<Group, size_t> places;
    std::map<uid_t, size_t> of_user, unshared;
    std::vector<std::pair<Group, Listed>> groups;
    for (const SearchedFile& searched : files) {
        const CodeFile& file = *searched.file;
        const Group group = Group::of(file);
        const uid_t user = group.owner.user.uid;
        const bool too_many = !group.trusted() && !places.contains(group) &&
                              (++of_user[user] > most_groups ||
                               (!group.owner.shares() && ++unshared[user] > most_unshared));
        if (too_many) {
            unread[&file] = "too many files of its owner that others may write";
            continue;
        }
        const auto description = describe(searched.file);
        const std::string why = description ? (*description)->problem : description.error().cause;
        if (!why.empty())
            unread[&file] = why;
        else if (places.try_emplace(group, groups.size()).second)
            groups.emplace_back(group, Listed{});
        if (interrupted)
            break;
    }
    for (auto& [group, listed] : groups)
        for (size_t i = 0; i < files.size(); i++) {
            const Group own = Group::of(*files[i].file);
            if (unread.contains(files[i].file.get()) || !places.contains(own) ||
                !(own == group || (with_served && own.serves(group))))
                continue;
            listed.files.push_back(files[i]);
            listed.positions.push_back(i);
            listed.searched.push_back(own == group);
            listed.has_main_program |= own == group && files[i].main_program;
        }
    std::ranges::stable_partition(groups,
                                  [](const auto& entry) { return entry.second.has_main_program; });
    return groups;
}

Result<std::string> CodeReaders::State::ask_all(const Group& group, Listed& listed,
                                                const Request& request, std::string_view library) {
    const auto ask_these = [&](const Listed& these) {
        const auto fill = [&](const CodeProcess& process) {
            Request filled = request;
            for (size_t i = 0; i < these.files.size(); i++)
                filled.modules.push_back({process.number_of(these.files[i].file),
                                          these.files[i].main_program, these.searched[i],
                                          leads_to(library, these.files[i].file->fd())});
            return filled;
        };
        return ask(group, these.files, fill);
    };
    auto answer = ask_these(listed);
    if (answer || !died || interrupted || std::ranges::count(listed.searched, true) == 1)
        return answer;
    Listed harmless;
    for (size_t wanted = 0; wanted < listed.files.size(); wanted++) {
        if (!listed.searched[wanted]) {
            harmless.add(listed, wanted);
            continue;
        }
        Listed alone;
        for (size_t i = 0; i < listed.files.size(); i++)
            if (!listed.searched[i] || i == wanted)
                alone.add(listed, i);
        processes.erase(group);
        const auto of_it = ask_these(alone);
        if (interrupted)
            return answer;
        if (!of_it) {
            const File& file = listed.files[wanted].file;
            known[file].description = CodeDescription{of_it.error().cause, {}, {}, {}};
            unread[file.get()] = of_it.error().cause;
        } else {
            harmless.add(listed, wanted);
        }
    }
    processes.erase(group);
    const bool any = std::ranges::count(harmless.searched, true) > 0;
    if (harmless.files.size() == listed.files.size() || !any)
        return answer;
    listed = std::move(harmless);
    return ask_these(listed);
}

// Whether it is of the kind that was asked for, by which others know what there is to it.
bool is_asked_for(const PlaceMatch& place, const ProbePattern& pattern) {
    if (pattern.call_site)
        return place.kind == PlaceKind::call_site;
    if (pattern.line != 0)
        return place.kind == PlaceKind::line;
    return place.kind == PlaceKind::function || place.kind == PlaceKind::instruction;
}

CodeReaders::State::Found CodeReaders::State::find_in(const Group& group, Listed& listed,
                                                      const ProbePattern& pattern,
                                                      const MatchOptions& options) {
    Request request;
    request.kind = Kind::find;
    request.text = pattern.text;
    request.limit = options.limit;
    request.explain = options.explain;
    const auto answer = ask_all(group, listed, request, pattern.library);
    if (!answer)
        return {answer.error()};
    auto found = code_messages::places(*answer, listed.files.size());
    const auto is_sound = [&](const PlaceMatch& place) {
        return is_asked_for(place, pattern) && may_be(place, listed);
    };
    if (!found || (found->matches && (found->matches->places.size() > options.limit ||
                                      !std::ranges::all_of(found->matches->places, is_sound))))
        return {nonsense(group)};
    if (found->matches)
        translate(*found->matches, listed);
    return {std::move(found->matches), found->absent};
}

CodeReaders::CodeReaders(std::shared_ptr<ConfinedProcesses> readers, GoOn go_on,
                         SwitchCache switches)
    : state_(std::make_unique<State>(std::move(readers), std::move(go_on), std::move(switches))) {}

CodeReaders::~CodeReaders() = default;

Result<ProbeMatches> CodeReaders::find(const ProbePattern& pattern,
                                       std::span<const SearchedFile> files,
                                       const MatchOptions& options) {
    const bool is_function = !pattern.call_site && pattern.line == 0;
    // What is called may be anybody's, as what may have been meant.
    auto groups = state_->list(files, !is_function || options.explain);
    const auto failed = [&](std::string cause) {
        return Error{"find function", pattern.text, std::move(cause), {}};
    };
    if (state_->interrupted)
        return failed("interrupted");
    const auto is_wanted = [&](const SearchedFile& searched) {
        return pattern.library.empty() || module_matches(pattern.library, searched.file->path()) ||
               leads_to(pattern.library, searched.file->fd());
    };
    // A library that is named is looked into beside main programs.
    const bool hides = pattern.library.empty() || !is_function;
    // What would have been looked into, and was not.
    const auto unread = [&] {
        std::vector<std::string> all;
        for (const SearchedFile& searched : files) {
            const auto why = state_->unread.find(searched.file.get());
            if (why != state_->unread.end() &&
                (is_function && !pattern.library.empty() ? is_wanted(searched)
                                                         : searched.main_program))
                all.push_back(fmt::format("{} could not be read: {}",
                                          module_base_name(searched.file->path()), why->second));
        }
        return all;
    };
    if (groups.empty() && !unread().empty())
        return failed(fmt::format("{}", fmt::join(unread(), "; ")));
    if (groups.empty())
        return failed("no file of the target is known");
    if (is_function && !pattern.library.empty()) {
        const auto lacks_it = [&](const auto& group) {
            const Listed& listed = group.second;
            for (size_t i = 0; i < listed.files.size(); i++)
                if (listed.searched[i] && is_wanted(listed.files[i]))
                    return false;
            return true;
        };
        // Where nobody has it, the colon may be the name's own.
        if (!std::ranges::all_of(groups, lacks_it))
            std::erase_if(groups, lacks_it);
    }
    const auto has_main = [](const auto& entry) { return entry.second.has_main_program; };
    MatchOptions quick = options;
    quick.explain = options.explain && groups.size() == 1;
    ProbeMatches all;
    std::optional<Error> error;
    bool in_main = false;
    for (auto& [group, listed] : groups) {
        if (in_main && hides && !listed.has_main_program)
            break;
        // A library's function of that name is not what was meant.
        if (hides && std::ranges::none_of(groups, has_main) && !unread().empty())
            return failed(fmt::format("{}", fmt::join(unread(), "; ")));
        auto found = state_->find_in(group, listed, pattern, quick);
        if (state_->interrupted)
            return failed("interrupted");
        if (!found.matches && !found.absent)
            return found.matches.error();
        if (!found.matches) {
            if (!error)
                error = found.matches.error();
            continue;
        }
        in_main = in_main || is_in_main_program(*found.matches, files);
        append(all, *std::move(found.matches));
    }
    if (in_main && hides)
        drop_libraries(all, files);
    if (all.places.empty() && all.skipped.empty()) {
        if (options.explain != quick.explain)
            if (auto explained =
                    state_->find_in(groups.front().first, groups.front().second, pattern, options);
                !explained.matches)
                error = explained.matches.error();
        for (const std::string& why : unread())
            error->hint += (error->hint.empty() ? "" : "; ") + why;
        return *error;
    }
    if (all.places.empty())
        return nothing_to_probe(all.skipped);
    if (all.places.size() > options.limit)
        return Error{"find function", pattern.text,
                     fmt::format("matches {} places, more than the limit of {}", all.places.size(),
                                 options.limit),
                     "write a narrower pattern"};
    std::ranges::stable_sort(all.places, {}, &PlaceMatch::module);
    std::ranges::move(unread(), std::back_inserter(all.notes));
    return all;
}

bool CodeReaders::take_interrupted() {
    return std::exchange(state_->was_interrupted, false);
}

std::vector<std::string> CodeReaders::complete(std::string_view text,
                                               std::span<const SearchedFile> files, size_t limit) {
    std::set<std::string> names;
    for (const auto& [group, listed] : state_->list(files, false)) {
        if (state_->interrupted)
            break;
        Listed own;
        for (size_t i = 0; i < listed.files.size(); i++)
            if (listed.searched[i])
                own.add(listed, i);
        Request request;
        request.kind = Kind::complete;
        request.text = text;
        request.limit = limit;
        const auto answer = state_->ask_all(group, own, request, text.substr(0, text.find(':')));
        const auto found = answer ? code_messages::texts(*answer) : std::nullopt;
        if (found)
            names.insert(found->begin(), found->end());
    }
    std::vector<std::string> all(names.begin(), names.end());
    if (all.size() > limit)
        all.resize(limit);
    return all;
}

Result<std::vector<std::string>> CodeReaders::needed(const File& file) {
    return state_->told_of(file, Kind::needed,
                           [](std::string_view answer) { return code_messages::texts(answer); });
}

Result<GoPlaces> CodeReaders::go_places(const File& file) {
    std::optional<GoPlaces>& known = state_->known[file].go;
    if (known)
        return *known;
    auto places = state_->told_of(file, Kind::go, [&](std::string_view answer) {
        auto places = code_messages::go(answer);
        const bool is_sound =
            places && (!places->goroutine_end || file->is_code(*places->goroutine_end));
        return is_sound ? places : std::nullopt;
    });
    if (places)
        known = *places;
    return places;
}

Result<ThreadLocalBlock> CodeReaders::thread_local_block(const File& file) {
    auto block = state_->told_of(
        file, Kind::block, [](std::string_view answer) { return code_messages::block(answer); });
    if (block)
        block->segments = file->segments();
    return block;
}

Result<UnwindFacts> CodeReaders::facts_of(const File& file) {
    std::optional<UnwindFacts>& known = state_->known[file].facts;
    if (known)
        return *known;
    auto facts = state_->told_of(
        file, Kind::facts, [](std::string_view answer) { return code_messages::facts(answer); });
    if (facts)
        known = *facts;
    return facts;
}

Result<std::string> CodeReaders::switches_in(const File& file) {
    return state_->switches.switches_in(
        file, [&](std::span<const std::byte> record) -> Result<SwitchCache::Read> {
            const auto answer = state_->ask_of(
                file, Kind::switches,
                std::string(reinterpret_cast<const char*>(record.data()), record.size()));
            if (!answer)
                return answer.error();
            const auto read = code_messages::switches(*answer);
            if (!read)
                return state_->nonsense(Group::of(*file));
            const auto fresh = std::as_bytes(std::span(read->record));
            return SwitchCache::Read{read->objection, {fresh.begin(), fresh.end()}};
        });
}

Result<std::optional<CallProgram>> CodeReaders::compile(const ProgramRequest& program,
                                                        const CalledFunction& function,
                                                        const Result<int32_t>& error_number) {
    std::vector<SearchedFile> files;
    if (function.file)
        files.push_back({function.file, false});
    // Of no file: what only root can have written.
    const Group group = function.file ? Group::of(*function.file) : Group{};
    state_->interrupted = false;
    const auto answer = state_->ask(group, files, [&](const CodeProcess& process) {
        Request request;
        request.kind = Kind::compile;
        request.number = function.file ? process.number_of(function.file) : 0;
        request.text = function.name;
        request.program = program;
        request.address = function.address;
        if (error_number)
            request.error_number = *error_number;
        else
            request.no_error_number = error_number.error();
        return request;
    });
    if (!answer)
        return answer.error();
    auto compiled = code_messages::program(*answer);
    if (!compiled)
        return state_->nonsense(group);
    return *std::move(compiled);
}

void CodeReaders::forget_debug_information() {
    Request request;
    request.kind = Kind::forget;
    for (auto& [group, process] : state_->processes)
        process.tell(request);
}

ProgramCompiler::~ProgramCompiler() {
    if (asked_)
        readers_.forget_debug_information();
}

Result<std::optional<CallProgram>> ProgramCompiler::compile(const CalledFunction& function) {
    if (asks_nothing(request_)) // nor is debug information read
        return std::optional<CallProgram>();
    asked_ = true;
    if (!error_number_ && may_ask_for_errno(request_))
        error_number_ = errno_offset(
            function.pids,
            [&](pid_t pid, UniqueFd fd, const std::string& path) -> Result<ThreadLocalBlock> {
                const auto root = roots_.of(pid);
                const auto file = CodeFile::open(std::move(fd), path, root.value_or(nullptr), root);
                if (!file)
                    return Error{{}, {}, path + " is no ELF file of this machine", {}};
                return readers_.thread_local_block(file);
            });
    return readers_.compile(request_, function,
                            error_number_.value_or(Error{{}, {}, "its place is not known", {}}));
}

} // namespace auger
