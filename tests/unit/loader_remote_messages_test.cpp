// SPDX-License-Identifier: GPL-3.0-or-later
// What console and agent say to each other: frames, plain data and blocks; and what becomes of
// bytes that are none.
#include "loader/remote/frames.h"
#include "loader/remote/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace auger::remote {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string greeted(std::string frames) {
    return std::string(preamble) + std::move(frames);
}

std::string frame(FrameKind kind, std::string_view body) {
    std::string bytes;
    put_frame(bytes, kind, body);
    return bytes;
}

TEST(RemoteFrames, AreTheSameHoweverTheyAreCut) {
    const std::string bytes = greeted(frame(FrameKind::ping, "one") + frame(FrameKind::end, "") +
                                      frame(FrameKind::block, std::string(100'000, 'x')));
    for (const size_t step : {size_t{1}, size_t{7}, size_t{4096}, bytes.size()}) {
        FrameReader reader;
        std::vector<std::pair<uint64_t, size_t>> frames;
        for (size_t at = 0; at < bytes.size(); at += step) {
            reader.add(std::string_view(bytes).substr(at, step));
            for (;;) {
                auto next = reader.next();
                ASSERT_TRUE(next);
                if (!*next)
                    break;
                frames.emplace_back((*next)->kind, (*next)->body.size());
            }
        }
        EXPECT_THAT(frames, ElementsAre(std::pair(7, 3), std::pair(10, 0), std::pair(6, 100'000)))
            << "cut every " << step;
        EXPECT_EQ(reader.bytes(), 0u);
    }
}

TEST(RemoteFrames, BeginBehindWhatAShellSays) {
    FrameReader reader;
    reader.add("Welcome to web1\n\x89"
               "auger");
    EXPECT_FALSE(*reader.next());
    EXPECT_FALSE(reader.greeted());
    reader.add(std::string(preamble).substr(6) + frame(FrameKind::ping, "x"));
    const auto next = reader.next();
    ASSERT_TRUE(next && *next);
    EXPECT_EQ((*next)->body, "x");
    EXPECT_EQ(reader.greeting(), "Welcome to web1\n");
}

TEST(RemoteFrames, OfAnythingElseAreAnErrorAtABoundedCost) {
    FrameReader endless;
    Result<std::optional<ReceivedFrame>> next = std::optional<ReceivedFrame>();
    size_t added = 0;
    for (; next.ok() && added < 100; added++) {
        endless.add(std::string(4096, 'y'));
        next = endless.next();
    }
    EXPECT_FALSE(next) << "a shell that speaks on and on was kept";
    EXPECT_LT(added, 20u);
    for (const std::string& size :
         {std::string("\0\0\0\0", 4), std::string("\xff\xff\xff\xff", 4)}) {
        FrameReader reader;
        reader.add(greeted(size + "x"));
        EXPECT_FALSE(reader.next());
    }
}

TEST(RemoteMessages, RequestsComeThroughAsTheyAre) {
    AddProbe add;
    add.probe = {ProbeId{7}, "libc:recv", {Threshold::Kind::percentile, 0, 99.5}, {}, {}};
    add.probe.conditions = {"len > 4096", "ret < 0", {"len", "fd"}, false};
    add.probe.span.points = {{SpanPoint::Role::from, "f", false, "arg0 > 1", "arg0", true, false},
                             {SpanPoint::Role::to, "g", true, "", "ret", false, true}};
    add.probe.span.text = "from f to g";
    OnlyInfo only;
    only.text = "in recv > p95";
    only.gate.terms = {{GateTerm::Kind::call, ProbeId{7}, {Threshold::Kind::fixed, 5, 0}, 0, ""},
                       {GateTerm::Kind::comm, {}, {}, 3, "worker"}};
    only.gate.clauses = {{{0}, {1}}, {{1}, {}}};
    only.lines = {"main.cc:9"};
    only.line_clauses = {{{}, {0}}};
    TargetSpec target;
    target.kind = TargetSpec::Kind::name;
    target.name = "nginx";
    target.pids = {1, -2, INT32_MAX};
    SplitInfo split{true, ProbeId{7}, {Threshold::Kind::percentile, 0, 95}, true};
    split.branch = Branch::at_line("main.cc:9");
    split.label = "len";
    const std::vector<Request> requests{add,
                                        SetOnly{only},
                                        SetTarget{target},
                                        SetSplit{split},
                                        SettleSymbols{std::chrono::milliseconds(-3)},
                                        SetSampling{{999, true, 0, only.gate, true, 9}},
                                        SetWayOut{WayOut::ret},
                                        Refresh{}};
    uint64_t number = 1;
    for (const Request& request : requests) {
        const std::string bytes = encoded_request(number, request);
        const auto back = decoded_request(bytes);
        ASSERT_TRUE(back && back->request) << request.index();
        EXPECT_EQ(back->number, number);
        EXPECT_EQ(back->request->index(), request.index());
        EXPECT_EQ(encoded_request(number, *back->request), bytes);
        // What stands behind the known fields is a newer version's.
        EXPECT_TRUE(decoded_request(bytes + "more")->request);
        number++;
    }
    EXPECT_EQ(
        std::get<AddProbe>(*decoded_request(encoded_request(1, add))->request).probe.conditions,
        add.probe.conditions);
    EXPECT_EQ(std::get<SetOnly>(*decoded_request(encoded_request(1, requests[1]))->request).only,
              only);
}

TEST(RemoteMessages, WhatNoConsoleWouldAskForIsRefused) {
    OnlyInfo only;
    only.gate.terms.resize(2);
    only.gate.clauses = {{{2}, {}}}; // a term that there is not
    EXPECT_FALSE(decoded_request(encoded_request(1, SetOnly{only}))->request);
    SplitInfo split{true, ProbeId{1}, {Threshold::Kind::percentile, 0, 100}, false};
    EXPECT_FALSE(decoded_request(encoded_request(1, SetSplit{split}))->request);
    AddProbe half;
    half.probe.span.points.resize(1); // from something to nothing
    EXPECT_FALSE(decoded_request(encoded_request(1, half))->request);
    std::string unknown;
    FieldWriter writer(unknown);
    writer(uint64_t{4}, uint64_t{1000});
    const auto request = decoded_request(unknown);
    ASSERT_TRUE(request) << "a newer console's request has a number to answer by";
    EXPECT_EQ(request->number, 4u);
    EXPECT_FALSE(request->request);
}

// A list's size is a claim: what is kept is bounded by what was sent, and by a limit of all lists.
TEST(RemoteMessages, ListsCostNoMoreThanTheyHave) {
    std::string claims;
    ByteWriter out(claims);
    out.varint(1);
    out.varint(SIZE_MAX);
    EXPECT_FALSE(decoded<CallSites>(claims));
    std::string many;
    ByteWriter(many).varint(most_elements + 1);
    many.append(8 * (most_elements + 1), '\0');
    EXPECT_FALSE(decoded<CallSites>(many));
}

TEST(RemoteMessages, TruncatedOrChangedBytesAreNothingOrSomethingSound) {
    HostState state;
    state.target.processes = {{4711, "nginx", "www-data", true, "", ""}};
    state.links = {1, 2, 3};
    state.symbols.modules = {"libc.so.6"};
    state.readers.services["names"] = {2, 1 << 20};
    const std::string bytes = encoded(state);
    for (size_t size = 0; size < bytes.size(); size++)
        EXPECT_FALSE(decoded<HostState>(std::string_view(bytes).substr(0, size))) << size;
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; i++) {
        std::string changed = bytes;
        for (int n = 0; n < 3; n++)
            changed[random() % changed.size()] = static_cast<char>(random());
        (void)decoded<HostState>(changed); // the sanitizers see to it
        (void)decoded_answer(changed);
        (void)decoded_request(changed);
    }
}

TEST(RemoteMessages, VersionsHaveToMeet) {
    Hello console = own_hello("auger 1.0.0"), agent = own_hello("auger 1.1.0");
    EXPECT_TRUE(agree(console, agent)->zlib);
    agent.features.clear();
    EXPECT_FALSE(agree(console, agent)->zlib);
    agent.version = version + 3; // and it still speaks ours
    EXPECT_EQ(agree(console, agent)->version, version);
    agent.oldest_version = version + 1;
    EXPECT_THAT(agree(console, agent).error().message(), HasSubstr("too new for auger 1.0.0"));
    agent = own_hello("auger 0.9.0");
    agent.format = console.oldest_format - 1;
    EXPECT_THAT(agree(console, agent).error().message(), HasSubstr("too old"));
    agent.format = console.format + 1;
    EXPECT_THAT(agree(console, agent).error().message(), HasSubstr("too new"));
}

TEST(RemoteMessages, BlocksAreTheSamePackedOrNot) {
    const Block block{4'000'000'000, std::string(5000, 'a') + "end"};
    for (const bool zlib : {false, true}) {
        const std::string body = encoded_block(block, zlib);
        EXPECT_EQ(body.size() < block.records.size(), zlib);
        const auto back = decoded_block(body);
        ASSERT_TRUE(back);
        EXPECT_EQ(back->until_ns, block.until_ns);
        EXPECT_EQ(back->records, block.records);
    }
    // Few bytes that claim to be many.
    std::string bomb;
    ByteWriter out(bomb);
    out.varint(1);
    out.varint(most_block);
    EXPECT_FALSE(decoded_block(bomb + "\x78\x9c"));
    out.varint(most_block + 1);
    EXPECT_FALSE(decoded_block(bomb));
}

} // namespace
} // namespace auger::remote
