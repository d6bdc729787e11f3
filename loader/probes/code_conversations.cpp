// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_conversations.h"

#include "loader/probes/module_name.h"
#include "loader/process/safe_open.h"

#include <algorithm>
#include <set>
#include <thread>

namespace auger {
namespace {

using Clock = std::chrono::steady_clock;
using code_messages::Kind;

constexpr int most_given_up = 3; // processes, of one user's files
constexpr size_t most_processes = 64;
// Of one user, in containers too: anybody may map any number of files of any kind.
constexpr size_t most_groups = 256;
constexpr size_t most_unshared = 8; // of one file each

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

CodeConversations::CodeConversations(std::shared_ptr<ConfinedProcesses> processes, GoOn go_on)
    : readers_(std::move(processes)), go_on_(std::move(go_on)) {
    if (auto root = open_folder("/"))
        own_root_ = *std::move(root);
}

Result<CodeProcess*> CodeConversations::process_of(const FileGroup& group) {
    const auto there = processes_.find(group);
    if (there != processes_.end() && there->second.process.usable()) {
        there->second.used = ++uses_;
        return &there->second.process;
    }
    processes_.erase(group);
    if (!group.trusted() && given_up_[group.owner.user] >= most_given_up)
        return Error{"read code",
                     {},
                     "other files of its owner took too long, or their reader answered nonsense",
                     {},
                     Error::Kind::unsupported};
    if (processes_.size() >= most_processes)
        make_room();
    auto made = readers_->make(code_service);
    if (!made)
        return made.error();
    Entry entry{CodeProcess(*std::move(made), go_on_), ++uses_};
    return &processes_.emplace(group, std::move(entry)).first->second.process;
}

// The one that was asked longest ago goes; not that of files that only root can have written, whom
// all others need.
void CodeConversations::make_room() {
    processes_.erase(std::ranges::min_element(processes_, {}, [](const auto& entry) {
        return std::pair(entry.first.trusted(), entry.second.used);
    }));
}

void CodeConversations::give_up(const FileGroup& group) {
    processes_.erase(group);
    if (!group.trusted())
        given_up_[group.owner.user]++;
}

Error CodeConversations::nonsense(const FileGroup& group) {
    give_up(group);
    return {"read code", {}, "its reader sent an invalid answer", {}};
}

void CodeConversations::note_interrupt(const CodeProcess& process) {
    interrupted_ = interrupted_ || process.interrupted();
    was_interrupted_ = was_interrupted_ || interrupted_;
}

void CodeConversations::forget_what_is_gone() {
    std::erase_if(described_, [](const auto& entry) { return entry.first.expired(); });
    std::set<FileGroup> used;
    for (const auto& [file, what] : described_)
        if (const auto there = file.lock())
            used.insert(FileGroup::of(*there));
    std::erase_if(processes_, [&](const auto& entry) { return !used.contains(entry.first); });
    for (auto& [group, entry] : processes_)
        entry.process.close_forgotten();
}

Result<const CodeDescription*> CodeConversations::describe(const File& file) {
    if (const auto known = described_.find(file); known != described_.end())
        return &known->second;
    const FileGroup group = FileGroup::of(*file);
    for (Attempts attempts;;) {
        auto process = process_of(group);
        if (!process)
            return process.error();
        auto description = (*process)->describe(file, own_root_.get());
        if (description)
            return &described_.emplace(file, *std::move(description)).first->second;
        note_interrupt(**process);
        if (interrupted_)
            return description.error();
        const bool too_long = (*process)->given_up();
        if (too_long)
            give_up(group);
        if (too_long || !attempts.another()) {
            // It is not tried again whenever something is looked for.
            CodeDescription none{description.error().cause, {}, {}, {}};
            return &described_.emplace(file, std::move(none)).first->second;
        }
    }
}

Result<void> CodeConversations::open_in(const FileGroup& group, CodeProcess& process,
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
    if (!process.usable() || (FileGroup::of(*file) == group && process.number_of(file) != 0))
        return {};
    return process.open(file, **description);
}

Result<std::string> CodeConversations::ask(const FileGroup& group,
                                           std::span<const SearchedFile> files, const Fill& fill) {
    died_ = false;
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
            answer = Error{"read code", {}, "its reader crashed or was killed", {}};
        note_interrupt(**process);
        if ((*process)->given_up())
            give_up(group);
        else if (!interrupted_ && attempts.another())
            continue;
        else
            died_ = !interrupted_;
        return answer;
    }
}

Result<std::string> CodeConversations::ask_of(const File& file, Kind kind, std::string text) {
    begin();
    const SearchedFile searched{file, false};
    return ask(FileGroup::of(*file), {&searched, 1}, [&](const CodeProcess& process) {
        Request request;
        request.kind = kind;
        request.number = process.number_of(file);
        request.text = text;
        return request;
    });
}

void CodeConversations::tell(const Request& request) {
    for (auto& [group, entry] : processes_)
        entry.process.tell(request);
}

bool CodeConversations::is_one_too_many(const FileGroup& group) {
    const uid_t user = group.owner.user.uid;
    return !group.trusted() && (++of_user_[user] > most_groups ||
                                (!group.owner.shares() && ++unshared_[user] > most_unshared));
}

std::vector<std::pair<FileGroup, ListedFiles>>
CodeConversations::list(std::span<const SearchedFile> files, bool with_served) {
    forget_what_is_gone();
    unread_.clear();
    of_user_.clear();
    unshared_.clear();
    begin();
    std::set<FileGroup> known;
    std::vector<std::pair<FileGroup, ListedFiles>> groups;
    for (const SearchedFile& searched : files) {
        const CodeFile& file = *searched.file;
        const FileGroup group = FileGroup::of(file);
        if (!known.contains(group) && is_one_too_many(group)) {
            unread_[&file] = group.owner.shares()
                                 ? "too many of its owner's files are read already"
                                 : "too many files of its owner that others may write";
            continue;
        }
        const auto description = describe(searched.file);
        const std::string why = description ? (*description)->problem : description.error().cause;
        if (!why.empty())
            unread_[&file] = why;
        else if (known.insert(group).second)
            groups.emplace_back(group, ListedFiles{});
        if (interrupted_)
            break;
    }
    for (auto& [group, listed] : groups)
        for (size_t i = 0; i < files.size(); i++) {
            const FileGroup own = FileGroup::of(*files[i].file);
            if (!unread_.contains(files[i].file.get()) && known.contains(own) &&
                (own == group || (with_served && own.serves(group))))
                listed.add(files[i], i, own == group);
        }
    std::ranges::stable_partition(groups,
                                  [](const auto& entry) { return entry.second.has_main_program; });
    return groups;
}

Result<std::string> CodeConversations::ask_these(const FileGroup& group, const ListedFiles& these,
                                                 const Request& request, std::string_view library) {
    return ask(group, these.files, [&](const CodeProcess& process) {
        Request filled = request;
        for (size_t i = 0; i < these.files.size(); i++)
            filled.modules.push_back({process.number_of(these.files[i].file),
                                      these.files[i].main_program, these.searched[i],
                                      leads_to(library, these.files[i].file->fd())});
        return filled;
    });
}

void CodeConversations::leave_out(const File& file, const std::string& cause) {
    described_[file] = CodeDescription{cause, {}, {}, {}};
    unread_[file.get()] = cause;
}

Result<std::string> CodeConversations::ask_all(const FileGroup& group, ListedFiles& listed,
                                               const Request& request, std::string_view library) {
    auto answer = ask_these(group, listed, request, library);
    if (answer || !died_ || interrupted_ || std::ranges::count(listed.searched, true) == 1)
        return answer;
    ListedFiles harmless;
    for (size_t wanted = 0; wanted < listed.files.size(); wanted++) {
        if (!listed.searched[wanted]) {
            harmless.add(listed, wanted);
            continue;
        }
        ListedFiles alone;
        for (size_t i = 0; i < listed.files.size(); i++)
            if (!listed.searched[i] || i == wanted)
                alone.add(listed, i);
        processes_.erase(group);
        const auto of_it = ask_these(group, alone, request, library);
        if (interrupted_)
            return answer;
        if (of_it)
            harmless.add(listed, wanted);
        else
            leave_out(listed.files[wanted].file, of_it.error().cause);
    }
    processes_.erase(group);
    const bool any = std::ranges::count(harmless.searched, true) > 0;
    if (harmless.files.size() == listed.files.size() || !any)
        return answer;
    listed = std::move(harmless);
    return ask_these(group, listed, request, library);
}

} // namespace auger
