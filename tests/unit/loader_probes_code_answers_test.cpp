// SPDX-License-Identifier: GPL-3.0-or-later
// Who asks what is in files does not wait for ever: what is not answered in time is answered later,
// to who asks again, and nobody else is held up by it.
#include "tests/support/readers_of_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"
#include "tests/unit/code_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/stat.h>

#include <functional>
#include <optional>

namespace auger {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::string functions = AUGER_FIXTURES_DIR "/fixture_functions";
const std::string libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";

class CodeAnswers : public testing::Test {
  protected:
    // A copy that others may write, so that it is read apart; or one that is ours.
    std::string add(const std::string& name, mode_t mode = 0775) {
        const std::string path = folder_.file(name, *read_file(functions) + name);
        EXPECT_EQ(chmod(path.c_str(), mode), 0);
        files_.push_back({test::code_file(path), true});
        return path;
    }
    Result<ProbeMatches> find(const std::string& text) {
        return readers_.find(*parse_probe(text).pattern, files_);
    }
    // Generous: only what never comes takes so long.
    bool answer_comes() {
        pollfd answers{readers_.answers_fd(), POLLIN, 0};
        return poll(&answers, 1, 60'000) == 1 && readers_.take_answers();
    }

    test::TemporaryFolder folder_;
    int asked_ = 0; // whether to go on
    std::function<void()> on_asked_ = [] {};
    test::Readers readers_{reader_program(), [this] {
                               asked_++;
                               on_asked_();
                               return true;
                           }};
    std::vector<SearchedFile> files_;
};

TEST_F(CodeAnswers, WhatTakesLongerIsAnsweredLater) {
    const std::string slow = add("slow");
    add("good", 0755);
    ASSERT_EQ(find("plain_function")->places.size(), 2u); // both have their readers
    std::optional<test::HangingReader> hanging(std::in_place, getpid(), slow);
    readers_.set_time(AnswerTime::of_terminal());
    const auto found = find("plain_*");
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_THAT(found->being_read, ElementsAre(0));
    EXPECT_FALSE(found->places.empty());
    for (const PlaceMatch& place : found->places)
        EXPECT_EQ(place.module, 1u);
    EXPECT_FALSE(readers_.take_answers());
    EXPECT_FALSE(readers_.facts_of(files_[0].file));
    EXPECT_TRUE(readers_.not_yet());
    EXPECT_TRUE(readers_.facts_of(files_[1].file));
    hanging.reset();
    // Those that were begun before are answered first.
    readers_.set_time(AnswerTime::of_loop());
    auto later = find("plain_*");
    while (later && !later->being_read.empty() && answer_comes())
        later = find("plain_*");
    ASSERT_TRUE(later) << later.error().message();
    EXPECT_THAT(later->being_read, IsEmpty());
    EXPECT_THAT(later->places, SizeIs(2 * found->places.size()));
}

TEST_F(CodeAnswers, AMainProgramThatIsBeingReadHidesLibraries) {
    const std::string slow = add("slow");
    files_.push_back({test::code_file(libc), false});
    ASSERT_TRUE(find("plain_function"));
    const test::HangingReader hanging(getpid(), slow);
    readers_.set_time(AnswerTime::of_terminal());
    const auto found = find("recvmsg");
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_THAT(found->places, IsEmpty());
    EXPECT_THAT(found->being_read, ElementsAre(0));
    // One that is named is looked into.
    EXPECT_THAT(find("libc:recvmsg")->places, SizeIs(1));
    EXPECT_THAT(find("libc:recvmsg")->being_read, IsEmpty());
}

TEST_F(CodeAnswers, NobodyWhoComesBackWaitsTwice) {
    const std::string slow = add("slow");
    add("good", 0755);
    ASSERT_TRUE(find("plain_function"));
    const test::HangingReader hanging(getpid(), slow);
    // On a busy machine the other one's answer comes later, too, and is kept.
    ASSERT_TRUE(test::wait_until([&] {
        readers_.set_time(AnswerTime::of_loop());
        return find("plain_*")->being_read == std::vector<size_t>{0};
    }));
    asked_ = 0;
    readers_.set_time(AnswerTime::of_loop());
    EXPECT_THAT(find("plain_f*")->being_read, Contains(0));
    EXPECT_THAT(find("plain_*")->being_read, ElementsAre(0));
    EXPECT_LE(asked_, 2); // for those that answer
}

TEST_F(CodeAnswers, ThatWillNeverComeLeaveTimeForOthers) {
    // Of any number of them.
    const AnswerTime time = AnswerTime::of_terminal();
    const auto begin = AnswerTime::Clock::now();
    for (int i = 0; i < 100; i++) {
        const auto until = time.until(false);
        ASSERT_TRUE(until);
        EXPECT_LT(*until - begin, std::chrono::seconds(1));
        EXPECT_FALSE(time.until(true));
    }
    EXPECT_FALSE(AnswerTime::endless().until(false));
    EXPECT_TRUE(AnswerTime::of_loop().until(true));
}

TEST_F(CodeAnswers, AScriptWaits) {
    const std::string slow = add("slow");
    ASSERT_TRUE(find("plain_function"));
    const test::HangingReader hanging(getpid(), slow);
    constexpr int long_enough = 15; // longer than anybody waits at a terminal
    asked_ = 0;
    on_asked_ = [&] {
        if (asked_ == long_enough)
            hanging.go_on();
    };
    const auto found = find("plain_*");
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_THAT(found->being_read, IsEmpty());
    EXPECT_FALSE(found->places.empty());
    EXPECT_GE(asked_, long_enough);
}

} // namespace
} // namespace auger
