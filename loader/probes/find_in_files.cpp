// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/find_in_files.h"

#include "loader/probes/module_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace auger {
namespace {

using code_messages::Kind;
using Groups = std::vector<std::pair<FileGroup, ListedFiles>>;

// A place must lie where the process that was asked may know of: in code of a file of its owner's.
bool may_be(const PlaceMatch& place, const ListedFiles& listed) {
    if (!listed.searched[place.module])
        return false;
    const CodeFile& file = *listed.files[place.module].file;
    // The kernel counts in it, in memory of the processes that map the file.
    const auto may_count = [&](const UsdtSite& usdt) {
        return usdt.semaphore == 0 ||
               (usdt.semaphore % sizeof(uint16_t) == 0 && usdt.semaphore < file.size() &&
                !file.is_code(usdt.semaphore));
    };
    const auto lies_at = [&](uint64_t address, uint64_t offset) {
        return file.offset_of_address(address) == offset && file.is_code(offset);
    };
    const auto exit_lies_there = [&](const ExitPlace& exit) {
        return lies_at(exit.code.address, exit.file_offset);
    };
    return file.is_code(place.file_offset) && (!place.usdt || may_count(*place.usdt)) &&
           lies_at(place.entry.address, place.entry.file_offset) &&
           (!place.argument_entry ||
            lies_at(place.argument_entry->address, place.argument_entry->file_offset)) &&
           std::ranges::all_of(place.exits, exit_lies_there) &&
           std::ranges::all_of(place.cheap_exits, exit_lies_there) &&
           std::ranges::all_of(place.tail_ends, exit_lies_there);
}

// From positions in the request to those that the caller knows.
void translate(ProbeMatches& matches, const ListedFiles& listed) {
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

// Whether it is of the kind that was asked for, by which others know what there is to it.
bool is_asked_for(const PlaceMatch& place, const ProbePattern& pattern) {
    if (pattern.usdt())
        return place.kind == PlaceKind::usdt;
    if (pattern.call_site)
        return place.kind == PlaceKind::call_site;
    if (pattern.line != 0)
        return place.kind == PlaceKind::line;
    return place.kind == PlaceKind::function || place.kind == PlaceKind::instruction;
}

class Search {
  public:
    Search(CodeConversations& conversations, const ProbePattern& pattern,
           std::span<const SearchedFile> files, const MatchOptions& options)
        : conversations_(conversations), pattern_(pattern), files_(files), options_(options),
          in_library_(is_function() && (!pattern.library.empty() || pattern.usdt())) {}

    Result<ProbeMatches> run();

  private:
    struct Found {
        Result<ProbeMatches> matches;
        bool absent = false; // see find_places()
        bool unread = false; // there is no answer
    };
    Found find_in(const FileGroup& group, ListedFiles& listed, const MatchOptions& options);
    Result<ProbeMatches> find_in_all(Groups& groups);
    Result<ProbeMatches> finish(ProbeMatches all) const;
    Error explain(Groups& groups, Error error);

    bool is_function() const { return !pattern_.call_site && pattern_.line == 0; }
    bool is_wanted(const SearchedFile& searched) const {
        return pattern_.library.empty() ||
               module_matches(pattern_.library, searched.file->path()) ||
               leads_to(pattern_.library, searched.file->fd());
    }
    // Whether such a file, unread, would have been looked into.
    bool is_missed(const SearchedFile& searched) const {
        return in_library_ ? is_wanted(searched) : searched.main_program;
    }
    bool is_unread(const SearchedFile& searched) const {
        return conversations_.unread().contains(searched.file.get());
    }
    std::vector<std::string> unread() const;
    std::vector<size_t> being_read() const;
    // Where something is still being read that is no failure yet.
    Result<ProbeMatches> fail(Error error) const;
    Error unreadable() const {
        return not_found(pattern_, fmt::format("{}", fmt::join(unread(), "; ")));
    }
    void leave_out_who_lacks_the_library(Groups& groups) const;

    CodeConversations& conversations_;
    const ProbePattern& pattern_;
    const std::span<const SearchedFile> files_;
    const MatchOptions options_;
    // A library that is named is looked into beside main programs, which hide others. USDT probes
    // are looked for everywhere.
    const bool in_library_;
    bool in_main_ = false; // it was found in a main program
};

// What would have been looked into, and cannot be.
std::vector<std::string> Search::unread() const {
    std::vector<std::string> all;
    for (const SearchedFile& searched : files_) {
        const auto why = conversations_.unread().find(searched.file.get());
        if (why != conversations_.unread().end() && !why->second.not_yet && is_missed(searched))
            all.push_back(fmt::format("{} could not be read: {}",
                                      module_base_name(searched.file->path()), why->second.cause));
    }
    return all;
}

// What will be looked into: libraries, too, where no main program hides them.
std::vector<size_t> Search::being_read() const {
    std::vector<size_t> all;
    for (size_t i = 0; i < files_.size(); i++) {
        const auto why = conversations_.unread().find(files_[i].file.get());
        if (why != conversations_.unread().end() && why->second.not_yet &&
            (is_missed(files_[i]) || (!in_library_ && !in_main_)))
            all.push_back(i);
    }
    return all;
}

Result<ProbeMatches> Search::fail(Error error) const {
    ProbeMatches none;
    none.being_read = being_read();
    if (none.being_read.empty() || conversations_.interrupted())
        return error;
    return none;
}

// Where nobody has it, the colon may be the name's own.
void Search::leave_out_who_lacks_the_library(Groups& groups) const {
    const auto lacks_it = [&](const auto& group) {
        const ListedFiles& listed = group.second;
        for (size_t i = 0; i < listed.files.size(); i++)
            if (listed.searched[i] && is_wanted(listed.files[i]))
                return false;
        return true;
    };
    if (!std::ranges::all_of(groups, lacks_it))
        std::erase_if(groups, lacks_it);
}

Search::Found Search::find_in(const FileGroup& group, ListedFiles& listed,
                              const MatchOptions& options) {
    code_messages::Request request;
    request.kind = Kind::find;
    request.text = pattern_.text;
    request.limit = options.limit;
    request.explain = options.explain;
    const auto answer = conversations_.ask(group, listed, request, pattern_.library);
    const auto no_answer = [&](const Error& why, bool not_yet = false) {
        conversations_.leave_out(listed, {why.cause, not_yet});
        return Found{why, false, true};
    };
    if (!answer)
        return no_answer(answer.error(), conversations_.not_yet());
    auto found = code_messages::places(*answer, listed.files.size());
    const auto is_sound = [&](const PlaceMatch& place) {
        return is_asked_for(place, pattern_) && may_be(place, listed);
    };
    if (!found || (found->matches && (found->matches->places.size() > options.limit ||
                                      !std::ranges::all_of(found->matches->places, is_sound))))
        return no_answer(conversations_.nonsense(group));
    if (found->matches)
        translate(*found->matches, listed);
    return {std::move(found->matches), found->absent};
}

// What may have been meant is told by the first group's process, of all that it has.
Error Search::explain(Groups& groups, Error error) {
    if (options_.explain && groups.size() > 1)
        if (auto explained = find_in(groups.front().first, groups.front().second, options_);
            !explained.matches)
            error = explained.matches.error();
    for (const std::string& why : unread())
        error.hint += (error.hint.empty() ? "" : "; ") + why;
    return error;
}

Result<ProbeMatches> Search::find_in_all(Groups& groups) {
    const auto has_main = [](const auto& entry) { return entry.second.has_main_program; };
    const auto is_unread_program = [&](const SearchedFile& searched) {
        return searched.main_program && is_unread(searched);
    };
    MatchOptions quick = options_;
    quick.explain = options_.explain && groups.size() == 1;
    ProbeMatches all;
    std::optional<Error> absent;
    for (auto& [group, listed] : groups) {
        if (in_main_ && !in_library_ && !listed.has_main_program)
            break;
        // A library's function of that name is not what was meant.
        if (!in_library_ && std::ranges::none_of(groups, has_main) &&
            std::ranges::any_of(files_, is_unread_program))
            return fail(unreadable());
        auto found = find_in(group, listed, quick);
        if (conversations_.interrupted())
            return not_found(pattern_, "interrupted");
        if (found.unread) {
            listed.has_main_program = false;
            continue;
        }
        if (!found.matches && !found.absent)
            return found.matches.error();
        if (!found.matches) {
            if (!absent)
                absent = found.matches.error();
            continue;
        }
        in_main_ = in_main_ || is_in_main_program(*found.matches, files_);
        append(all, *std::move(found.matches));
    }
    if (in_main_ && !in_library_)
        drop_libraries(all, files_);
    if (!all.places.empty() || !all.skipped.empty())
        return all;
    if (!being_read().empty())
        return fail({});
    return absent ? explain(groups, *absent) : unreadable();
}

Result<ProbeMatches> Search::finish(ProbeMatches all) const {
    if (all.places.empty())
        return fail(nothing_to_probe(all.skipped));
    if (all.places.size() > options_.limit)
        return not_found(pattern_,
                         fmt::format("matches {} places, more than the limit of {}",
                                     all.places.size(), options_.limit),
                         "write a narrower pattern");
    std::ranges::stable_sort(all.places, {}, &PlaceMatch::module);
    std::ranges::move(unread(), std::back_inserter(all.notes));
    all.being_read = being_read();
    return all;
}

Result<ProbeMatches> Search::run() {
    // What is called may be anybody's, as what may have been meant.
    Groups groups = conversations_.list(files_, !is_function() || options_.explain);
    if (conversations_.interrupted())
        return not_found(pattern_, "interrupted");
    if (groups.empty())
        return fail(unread().empty() ? not_found(pattern_, "no file of the target is known")
                                     : unreadable());
    if (in_library_)
        leave_out_who_lacks_the_library(groups);
    auto all = find_in_all(groups);
    const bool any = all && (!all->places.empty() || !all->skipped.empty());
    return any ? finish(*std::move(all)) : all;
}

} // namespace

Result<ProbeMatches> find_in_files(CodeConversations& conversations, const ProbePattern& pattern,
                                   std::span<const SearchedFile> files,
                                   const MatchOptions& options) {
    return Search(conversations, pattern, files, options).run();
}

} // namespace auger
