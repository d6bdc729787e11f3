// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/code_conversation.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

namespace auger {
namespace {

using Clock = std::chrono::steady_clock;
using code_messages::Request;

constexpr int most_given_up_at_once = 3; // processes, for one answer

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

std::shared_ptr<const CodeDescription> unreadable(const Error& why) {
    return std::make_shared<CodeDescription>(CodeDescription{why.cause, {}, {}, {}});
}

// Those that the request is about, where it does not say which.
std::vector<size_t> all_files(const CodeQuestion& question) {
    std::vector<size_t> all(question.files.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
}

} // namespace

Result<CodeProcess*> CodeConversation::process() {
    if (process_ && process_->usable())
        return &*process_;
    process_.reset();
    auto made = readers_->make(code_service);
    if (!made)
        return made.error();
    return &process_.emplace(*std::move(made), go_on_);
}

CodeOutcome CodeConversation::describe(const File& file) {
    CodeOutcome outcome;
    for (Attempts attempts;;) {
        const auto process = this->process();
        if (!process) {
            outcome.answer = process.error();
            return outcome;
        }
        (*process)->close_forgotten();
        auto description = (*process)->describe(file, own_root_);
        if (description) {
            outcome.description = std::make_shared<CodeDescription>(*std::move(description));
            return outcome;
        }
        outcome.ended = (*process)->interrupted();
        outcome.given_up += (*process)->given_up();
        // It is not tried again whenever something is looked for.
        if (outcome.ended || outcome.given_up > 0 || !attempts.another()) {
            outcome.description = unreadable(description.error());
            return outcome;
        }
    }
}

Result<void> CodeConversation::open_all(const CodeQuestion& question, CodeProcess& process) {
    for (const DescribedFile& described : question.files)
        if (process.number_of(described.file) == 0)
            if (auto opened = process.open(described.file, *described.description); !opened)
                return opened;
    return {};
}

Result<std::string> CodeConversation::ask_once(const CodeQuestion& question,
                                               const std::vector<size_t>& files,
                                               CodeOutcome& outcome) {
    CodeQuestion part{{}, question.request};
    part.request.modules.clear();
    for (const size_t i : files) {
        part.files.push_back(question.files[i]);
        if (!question.request.modules.empty())
            part.request.modules.push_back(question.request.modules[i]);
    }
    died_ = false;
    for (Attempts attempts;;) {
        const auto process = this->process();
        if (!process)
            return process.error();
        (*process)->close_forgotten();
        Result<std::string> answer = std::string();
        if (const auto opened = open_all(part, **process); !opened) {
            answer = opened.error();
        } else {
            Request request = part.request;
            const auto number = [&](uint32_t at) {
                return at == 0 ? 0 : (*process)->number_of(question.files[at - 1].file);
            };
            request.number = number(request.number);
            for (code_messages::Module& module : request.modules)
                module.number = number(module.number);
            answer = (*process)->ask(request);
        }
        if (answer)
            return answer;
        outcome.ended = (*process)->interrupted();
        outcome.given_up += (*process)->given_up();
        if (outcome.ended || (*process)->given_up())
            return answer;
        if (!attempts.another()) {
            died_ = true;
            return answer;
        }
    }
}

// Finds the files that kill who reads them. False: that is not what it is.
bool CodeConversation::ask_each(const CodeQuestion& question, CodeOutcome& outcome) {
    const auto& modules = question.request.modules;
    for (size_t wanted = 0; wanted < modules.size(); wanted++) {
        if (!modules[wanted].searched) {
            outcome.asked.push_back(wanted);
            continue;
        }
        std::vector<size_t> alone;
        for (size_t i = 0; i < modules.size(); i++)
            if (!modules[i].searched || i == wanted)
                alone.push_back(i);
        process_.reset();
        const auto of_it = ask_once(question, alone, outcome);
        if (outcome.ended || outcome.given_up >= most_given_up_at_once)
            return false;
        if (of_it)
            outcome.asked.push_back(wanted);
        else
            outcome.left_out.emplace_back(wanted, of_it.error().cause);
    }
    process_.reset();
    const bool any =
        std::ranges::any_of(outcome.asked, [&](size_t i) { return modules[i].searched; });
    return any && !outcome.left_out.empty();
}

CodeOutcome CodeConversation::ask(const CodeQuestion& question) {
    CodeOutcome outcome;
    const std::vector<size_t> all = all_files(question);
    outcome.answer = ask_once(question, all, outcome);
    const bool several =
        std::ranges::count_if(question.request.modules, &code_messages::Module::searched) > 1;
    if (!outcome.answer && died_ && several && ask_each(question, outcome))
        outcome.answer = ask_once(question, outcome.asked, outcome);
    else
        outcome.asked = all;
    return outcome;
}

void CodeConversation::forget_debug_information() {
    Request request;
    request.kind = code_messages::Kind::forget;
    if (process_)
        process_->tell(request);
}

} // namespace auger
