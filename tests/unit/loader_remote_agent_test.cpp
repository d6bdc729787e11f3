// SPDX-License-Identifier: GPL-3.0-or-later
// The agent's end: it does what a console may ask for, and nothing else, whatever is said to it; it
// ends with its pipe.
#include "tests/unit/observed_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace auger::remote {
namespace {

using testing::HasSubstr;

class AgentTest : public testing::Test {
  protected:
    AgentTest() {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        ours.reset(ends[0]);
        theirs.reset(ends[1]);
        ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
        output = std::make_unique<AgentOutput>(theirs.get());
        agent = std::make_unique<Agent>(
            "auger test",
            [this](const OpenRequest&, EventSink& sink) -> Result<std::unique_ptr<Backend>> {
                opened++;
                return std::unique_ptr<Backend>(
                    std::make_unique<test::KnownMachine>(0, mishap, sink));
            },
            *output);
    }
    ~AgentTest() override {
        agent.reset();
        output.reset();
    }

    bool say(const std::string& bytes) { return agent->take(bytes); }
    bool say(FrameKind kind, const std::string& body) {
        std::string bytes;
        put_frame(bytes, kind, body);
        return say(bytes);
    }
    void open() {
        ASSERT_TRUE(say(std::string(preamble)));
        ASSERT_TRUE(say(FrameKind::hello, encoded(own_hello("auger console"))));
        ASSERT_TRUE(say(FrameKind::open, encoded(OpenRequest{})));
        EXPECT_EQ(opened, 1);
    }
    // What it has said since, of a kind.
    std::vector<std::string> heard(FrameKind kind) {
        EXPECT_TRUE(output->flush());
        std::array<char, 1 << 16> buffer;
        for (ssize_t got; (got = ::read(ours.get(), buffer.data(), buffer.size())) > 0;)
            frames.add({buffer.data(), static_cast<size_t>(got)});
        std::vector<std::string> bodies;
        for (auto next = frames.next(); next && *next; next = frames.next())
            if ((*next)->kind == static_cast<uint64_t>(kind))
                bodies.push_back((*next)->body);
        return bodies;
    }
    Result<std::string> answer(const Request& request) {
        EXPECT_TRUE(say(FrameKind::request, encoded_request(++number, request)));
        const auto answers = heard(FrameKind::answer);
        EXPECT_FALSE(answers.empty());
        const auto frame = decoded_answer(answers.back());
        EXPECT_EQ(frame->number, number);
        return frame->error ? Result<std::string>(*frame->error) : Result(frame->body);
    }

    test::Mishap mishap;
    UniqueFd ours, theirs;
    std::unique_ptr<AgentOutput> output;
    std::unique_ptr<Agent> agent;
    FrameReader frames;
    uint64_t number = 0;
    int opened = 0;
};

TEST_F(AgentTest, DoesWhatItIsAsked) {
    open();
    const auto added = answer(AddProbe{{ProbeId{3}, "handle", {}, {}, {}}});
    ASSERT_TRUE(added);
    EXPECT_EQ(decoded<ProbeReport>(*added)->places.front().function, "handle");
    EXPECT_TRUE(answer(Refresh{}));
    EXPECT_FALSE(answer(AddProbe{{ProbeId{3}, "handle", {}, {}, {}}}));
    const auto names = answer(CompleteFunction{"", 10});
    EXPECT_THAT(decoded<std::vector<std::string>>(*names)->front(), HasSubstr("probe 3=handle"));
}

// All threads are told, and as many stacks as one answer has room for.
TEST_F(AgentTest, TellsStacksAsFarAsThereIsRoom) {
    mishap.threads = 1'000;
    mishap.stack_depth = 200;
    open();
    const auto answered = answer(ListThreads{});
    ASSERT_TRUE(answered);
    const auto threads = decoded<std::vector<ThreadNow>>(*answered);
    ASSERT_TRUE(threads);
    EXPECT_EQ(threads->size(), 1'000u);
    EXPECT_EQ(threads->front().stack.size(), 200u);
    EXPECT_EQ(threads->front().wait, "futex");
    EXPECT_TRUE(threads->back().stack.empty());
    EXPECT_THAT(threads->back().wait, HasSubstr("others take all the room"));
}

TEST_F(AgentTest, StartsNoCommand) {
    open();
    TargetSpec target;
    target.kind = TargetSpec::Kind::command;
    target.command = {"/bin/rm", "-rf", "/"};
    const auto refused = answer(SetTarget{target});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("does not do that for a console"));
}

TEST_F(AgentTest, AnswersWhatItDoesNotKnow) {
    open();
    std::string body;
    FieldWriter writer(body);
    writer(uint64_t{77}, uint64_t{std::variant_size_v<Request>});
    EXPECT_TRUE(say(FrameKind::request, body));
    const auto answers = heard(FrameKind::answer);
    const auto frame = decoded_answer(answers.back());
    EXPECT_EQ(frame->number, 77u);
    EXPECT_THAT(frame->error->cause, HasSubstr("does not know"));
    EXPECT_TRUE(say(FrameKind{150}, "of a newer console"));
}

TEST_F(AgentTest, IsNotOpenedByWhoDoesNotSayWhoItIs) {
    ASSERT_TRUE(say(std::string(preamble)));
    EXPECT_FALSE(say(FrameKind::open, encoded(OpenRequest{})));
    EXPECT_EQ(opened, 0);
}

TEST_F(AgentTest, DoesNothingBeforeItIsOpened) {
    ASSERT_TRUE(say(std::string(preamble)));
    ASSERT_TRUE(say(FrameKind::hello, encoded(own_hello("auger console"))));
    EXPECT_FALSE(say(FrameKind::request, encoded_request(1, Refresh{})));
    EXPECT_THAT(decoded<Error>(heard(FrameKind::end).back())->message(),
                HasSubstr("cannot be understood"));
}

TEST_F(AgentTest, SaysWhyAnotherVersionWillNotDo) {
    Hello newer = own_hello("auger 9");
    newer.oldest_version = newer.version = version + 1;
    ASSERT_TRUE(say(std::string(preamble)));
    EXPECT_FALSE(say(FrameKind::hello, encoded(newer)));
    EXPECT_THAT(decoded<Error>(heard(FrameKind::end).back())->message(), HasSubstr("too old"));
}

// Sound requests of which bytes were changed: each is answered, or ends the conversation.
TEST_F(AgentTest, HoldsOutWhateverIsSaid) {
    open();
    std::mt19937 random(7);
    const std::vector<Request> requests{
        SetOnly{
            {"in f", {{{GateTerm::Kind::call, ProbeId{1}, {}, 0, ""}}, {{{0}, {}}}}, {}, {}, {}}},
        SetFilter{{{1}, {2}, {"c"}, {"g"}}}, SetSampling{{99, true, 0, {}, false, 9}},
        RemoveProbe{ProbeId{1}}, SettleSymbols{}};
    size_t ended = 0;
    for (int i = 0; i < 3000; i++) {
        std::string body = encoded_request(1, requests[random() % requests.size()]);
        for (int n = 0; n < 2; n++)
            body[random() % body.size()] = static_cast<char>(random());
        ended += !say(FrameKind::request, body); // the test goes on all the same
        (void)heard(FrameKind::answer);
    }
    EXPECT_LT(ended, 3000u);
}

TEST(ServeAgent, EndsWithItsPipe) {
    for (const bool after_hello : {false, true}) {
        test::ForkedPeer peer;
        test::ObservedHost host(0);
        auto pipe = host.connect()();
        ASSERT_TRUE(pipe);
        if (after_hello) {
            pollfd said{pipe->from.get(), POLLIN, 0};
            ASSERT_EQ(::poll(&said, 1, -1), 1);
        }
        pipe->to.reset();
        pipe->from.reset();
        int status = 0;
        ASSERT_EQ(::waitpid(host.peer.pid, &status, 0), host.peer.pid);
        host.peer.pid = 0;
        EXPECT_TRUE(WIFEXITED(status)) << status;
    }
}

// Its console's machine has lost power: nothing is closed, and nothing comes.
TEST(ServeAgent, EndsWhenItsConsoleIsSilent) {
    test::ForkedPeer peer;
    auto pipe = peer.start([](int socket) {
        (void)serve_agent(
            "auger test",
            [](const OpenRequest&, EventSink& sink) -> Result<std::unique_ptr<Backend>> {
                return std::unique_ptr<Backend>(
                    std::make_unique<test::KnownMachine>(0, test::Mishap{}, sink));
            },
            socket, socket, false, std::chrono::milliseconds(100));
    });
    ASSERT_TRUE(pipe);
    std::string bytes(preamble);
    put_frame(bytes, FrameKind::hello, encoded(own_hello("auger console")));
    put_frame(bytes, FrameKind::open, encoded(OpenRequest{}));
    ASSERT_EQ(::write(pipe->to.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
    // It is read all the while, until the agent has closed its end.
    std::array<char, 1 << 16> buffer;
    ssize_t got = 1;
    while (got != 0) {
        pollfd said{pipe->from.get(), POLLIN, 0};
        ASSERT_EQ(::poll(&said, 1, -1), 1);
        got = ::read(pipe->from.get(), buffer.data(), buffer.size());
    }
    int status = 0;
    ASSERT_EQ(::waitpid(peer.pid, &status, 0), peer.pid);
    peer.pid = 0;
    EXPECT_TRUE(WIFEXITED(status)) << status;
}

TEST(ServeAgent, NeedsAPipe) {
    const UniqueFd file(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const UniqueFd regular(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const auto served = serve_agent("auger", {}, regular.get(), file.get());
    ASSERT_FALSE(served);
    EXPECT_THAT(served.error().message(), HasSubstr("auger -H HOST"));
}

} // namespace
} // namespace auger::remote
