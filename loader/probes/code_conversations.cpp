// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_conversations.h"

#include "loader/probes/module_name.h"
#include "loader/process/safe_open.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace auger {
namespace {

using code_messages::Kind;

constexpr int most_given_up = 3; // processes, of one user's files
constexpr size_t most_processes = 64;
// Of one user, in containers too: anybody may map any number of files of any kind.
constexpr size_t most_groups = 256;
constexpr size_t most_unshared = 8; // of one file each
// Answers that were not waited for are kept for who asks again.
constexpr std::chrono::seconds answers_kept{60};
constexpr size_t most_answers = 4096;
constexpr size_t most_answer_bytes = 64 << 20;

// How often is asked whether to go on.
constexpr std::chrono::milliseconds look_interval{100};

Error unsupported(const std::string& cause) {
    return {"read code", {}, cause, {}, Error::Kind::unsupported};
}

Error interruption() {
    return {"read code", {}, "interrupted", {}};
}

} // namespace

CodeConversations::CodeConversations(std::shared_ptr<ConfinedProcesses> processes, GoOn go_on)
    : readers_(std::move(processes)), go_on_(std::move(go_on)) {
    if (auto root = open_folder("/"))
        own_root_ = *std::move(root);
}

CodeConversations::~CodeConversations() {
    for (auto& [group, entry] : entries_) // before one of them is waited for
        entry.thread->end();
}

void CodeConversations::begin() {
    interrupted_ = false;
    for (auto& [key, asked] : asked_)
        take_in(key.group, asked);
    forget_answers();
    std::erase_if(ending_, [](const auto& thread) { return thread->has_ended(); });
}

void CodeConversations::take_in(const FileGroup& group, Asked& asked) {
    const CodeOutcome* outcome = asked.answer->outcome();
    if (!outcome || std::exchange(asked.taken_in, true))
        return;
    asked.there_since = Clock::now();
    if (!group.trusted())
        given_up_[group.owner.user] += outcome->given_up;
}

// All that was asked for one thing is kept until nothing of it is outstanding: who comes back for
// the last answer asks for the others again.
void CodeConversations::forget_answers() {
    const auto now = Clock::now();
    std::erase_if(asked_, [&](const auto& entry) {
        const Asked& asked = entry.second;
        return std::ranges::any_of(asked.files, &std::weak_ptr<const CodeFile>::expired) ||
               (asked.taken_in && (asked.answer->outcome()->ended ||
                                   (asked.left && now - asked.there_since > answers_kept)));
    });
    const bool outstanding =
        std::ranges::any_of(asked_, [](const auto& entry) { return entry.second.left; });
    size_t bytes = 0, answers = 0;
    std::erase_if(asked_, [&](const auto& entry) {
        if (!entry.second.taken_in)
            return false;
        const auto& answer = entry.second.answer->outcome()->answer;
        bytes += answer ? answer->size() : 0;
        return !outstanding || ++answers > most_answers || bytes > most_answer_bytes;
    });
}

void CodeConversations::end(std::map<FileGroup, Entry>::iterator entry) {
    std::erase_if(asked_, [&](const auto& asked) { return asked.first.group == entry->first; });
    entry->second.thread->end();
    ending_.push_back(std::move(entry->second.thread));
    entries_.erase(entry);
}

// The one that was asked longest ago goes; not that of files that only root can have written, whom
// all others need. When it is at work still it has taken too long.
void CodeConversations::make_room() {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& entry) {
        return std::pair(entry.first.trusted(), entry.second.used);
    });
    if (oldest->second.hangs() && !oldest->first.trusted())
        given_up_[oldest->first.owner.user]++;
    end(oldest);
}

Result<CodeConversations::Entry*> CodeConversations::entry_of(const FileGroup& group) {
    if (!group.trusted() && given_up_[group.owner.user] >= most_given_up)
        return unsupported(
            "other files of its owner took too long, or their reader answered nonsense");
    auto there = entries_.find(group);
    if (there == entries_.end()) {
        if (entries_.size() >= most_processes)
            make_room();
        there =
            entries_
                .emplace(group,
                         Entry{std::make_unique<CodeThread>(readers_, own_root_.get(), answers_)})
                .first;
    }
    there->second.used = ++uses_;
    return &there->second;
}

// False: it is not there yet, or nobody waits for anything any more.
bool CodeConversations::wait(Entry& entry, Asked& asked, bool trusted) {
    if (asked.answer->outcome())
        return true;
    const auto until = entry.hangs() && !time_.waits_again() ? Clock::now() : time_.until(trusted);
    while (!interrupted_) {
        const auto now = Clock::now();
        if (until && now >= *until)
            break;
        interrupted_ = go_on_ && !go_on_();
        if (interrupted_)
            break;
        if (answers_->wait(*asked.answer,
                           std::min(now + look_interval, until.value_or(now + look_interval))))
            return true;
    }
    was_interrupted_ = was_interrupted_ || interrupted_;
    asked.left = true;
    entry.left = asked.answer;
    answers_->leave(*asked.answer);
    return asked.answer->outcome() != nullptr; // it may have come just then
}

Error CodeConversations::left() {
    not_yet_ = true;
    return {"read code", {}, "it is still being read", "try again later"};
}

Result<const CodeOutcome*> CodeConversations::outcome(const FileGroup& group,
                                                      const std::vector<File>& files,
                                                      std::string request,
                                                      const CodeThread::Work& work) {
    not_yet_ = false;
    if (interrupted_)
        return interruption();
    Key key{group, {}, std::move(request)};
    for (const File& file : files)
        key.files.push_back(file.get());
    const auto there = asked_.find(key);
    if (there != asked_.end() && there->second.answer->outcome()) {
        take_in(group, there->second);
        return there->second.answer->outcome();
    }
    const auto entry = entry_of(group);
    if (!entry)
        return entry.error();
    Asked& asked = asked_[std::move(key)];
    if (!asked.answer) {
        asked.answer = (*entry)->thread->begin(work);
        asked.files.assign(files.begin(), files.end());
    }
    if (!wait(**entry, asked, group.trusted()))
        return interrupted_ ? interruption() : left();
    take_in(group, asked);
    return asked.answer->outcome();
}

void CodeConversations::forget_what_is_gone() {
    std::erase_if(described_, [](const auto& entry) { return entry.first.expired(); });
    std::set<FileGroup> used;
    for (const auto& [file, what] : described_)
        if (const auto there = file.lock())
            used.insert(FileGroup::of(*there));
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const auto here = entry++;
        if (!used.contains(here->first) && !here->second.hangs())
            end(here);
    }
}

Result<std::shared_ptr<const CodeDescription>> CodeConversations::describe(const File& file) {
    if (const auto known = described_.find(file); known != described_.end())
        return known->second;
    const auto what =
        outcome(FileGroup::of(*file), {file}, "describe",
                [file](CodeConversation& conversation) { return conversation.describe(file); });
    if (!what)
        return what.error();
    if (!(*what)->answer)
        return (*what)->answer.error();
    if ((*what)->ended)
        return left();
    return described_.emplace(file, (*what)->description).first->second;
}

Result<DescribedFile> CodeConversations::described(const File& file) {
    not_yet_ = false;
    const auto description = describe(file);
    if (!description)
        return description.error();
    if (!(*description)->problem.empty()) {
        Error error = unsupported((*description)->problem);
        error.subject = file->path();
        return error;
    }
    return DescribedFile{file, *description};
}

Result<std::string> CodeConversations::ask_of(const FileGroup& group, const File& file,
                                              Request request) {
    begin();
    CodeQuestion question;
    std::vector<File> files;
    if (file) {
        auto described = this->described(file);
        if (!described)
            return described.error();
        question.files.push_back(*std::move(described));
        files.push_back(file);
        request.number = 1;
    }
    std::string said = code_messages::request(request);
    question.request = std::move(request);
    const auto what = outcome(group, files, std::move(said),
                              [question = std::move(question)](CodeConversation& conversation) {
                                  return conversation.ask(question);
                              });
    if (!what)
        return what.error();
    return (*what)->ended ? left() : (*what)->answer;
}

CodeConversations::File CodeConversations::known_as(const File& file) const {
    const auto identity = [](const CodeFile& of) {
        return std::tuple(of.device(), of.inode(), of.size(), of.root(), FileGroup::of(of));
    };
    for (const auto& [known, description] : described_)
        if (const File there = known.lock(); there && identity(*there) == identity(*file))
            return there;
    return file;
}

void CodeConversations::forget_debug_information() {
    for (auto& [group, entry] : entries_)
        entry.thread->forget_debug_information();
}

Error CodeConversations::nonsense(const FileGroup& group) {
    if (const auto there = entries_.find(group); there != entries_.end())
        end(there);
    if (!group.trusted())
        given_up_[group.owner.user]++;
    return {"read code", {}, "its reader sent an invalid answer", {}};
}

bool CodeConversations::is_one_too_many(const FileGroup& group) {
    const uid_t user = group.owner.user.uid;
    return !group.trusted() && (++of_user_[user] > most_groups ||
                                (!group.owner.shares() && ++unshared_[user] > most_unshared));
}

std::vector<std::pair<FileGroup, ListedFiles>>
CodeConversations::list(std::span<const SearchedFile> files, bool with_served) {
    begin();
    forget_what_is_gone();
    unread_.clear();
    of_user_.clear();
    unshared_.clear();
    std::set<FileGroup> known;
    std::vector<std::pair<FileGroup, ListedFiles>> groups;
    for (const SearchedFile& searched : files) {
        const CodeFile& file = *searched.file;
        const FileGroup group = FileGroup::of(file);
        if (!known.contains(group) && is_one_too_many(group)) {
            unread_[&file] = {group.owner.shares()
                                  ? "too many of its owner's files are read already"
                                  : "too many files of its owner that others may write"};
            continue;
        }
        if (const auto described = this->described(searched.file); !described)
            unread_[&file] = {described.error().cause, not_yet_};
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

void CodeConversations::leave_out(const ListedFiles& listed, const Unread& why) {
    for (size_t i = 0; i < listed.files.size(); i++)
        if (listed.searched[i])
            unread_[listed.files[i].file.get()] = why;
}

Result<std::string> CodeConversations::ask(const FileGroup& group, ListedFiles& listed,
                                           const Request& request, std::string_view library) {
    CodeQuestion question{{}, request};
    std::vector<File> files;
    for (size_t i = 0; i < listed.files.size(); i++) {
        const File& file = listed.files[i].file;
        auto described = this->described(file);
        if (!described)
            return described.error();
        files.push_back(file);
        question.files.push_back(*std::move(described));
        question.request.modules.push_back({static_cast<uint32_t>(i + 1),
                                            listed.files[i].main_program, listed.searched[i],
                                            leads_to(library, file->fd())});
    }
    std::string said = code_messages::request(question.request);
    const auto what = outcome(group, files, std::move(said),
                              [question = std::move(question)](CodeConversation& conversation) {
                                  return conversation.ask(question);
                              });
    if (!what)
        return what.error();
    if ((*what)->ended)
        return left();
    for (const auto& [at, cause] : (*what)->left_out) {
        described_[files[at]] =
            std::make_shared<CodeDescription>(CodeDescription{cause, {}, {}, {}});
        unread_[files[at].get()] = {cause};
    }
    if ((*what)->asked.size() < listed.files.size()) {
        ListedFiles kept;
        for (const size_t at : (*what)->asked)
            kept.add(listed, at);
        listed = std::move(kept);
    }
    return (*what)->answer;
}

} // namespace auger
