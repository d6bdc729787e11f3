// SPDX-License-Identifier: GPL-3.0-or-later
// Servers in PHP and Ruby under load, of which nothing is known but where they listen: what slow
// requests do is a function of the language's.
#include "tests/real/language_servers.h"
#include "tests/real/observed_servers.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace auger::test {
namespace {

using testing::HasSubstr;

template <typename S>
class LanguageServers : public KernelTest {};

using Servers = testing::Types<PhpFpm, Webrick>;

struct Names {
    template <typename S>
    static std::string GetName(int) {
        return std::is_same_v<S, PhpFpm> ? "PhpFpm" : "Webrick";
    }
};
TYPED_TEST_SUITE(LanguageServers, Servers, Names);

TYPED_TEST(LanguageServers, SlowRequestsAreExplainedByTheirOwnFunctions) {
    if (!is_installed<TypeParam>())
        GTEST_SKIP() << "install " << TypeParam::packages;
    TypeParam server;
    LiveAuger auger({"-p", std::to_string(server.pid()), "--tree"});
    auger.run({"overhead off", "sample 999"});
    // Exchanges are of ports, unless a path is given; who has none there is told.
    const json by_port = auger.ask("span tcp exchanges");
    EXPECT_EQ(by_port["notes"].dump().find("the target listens on /") != std::string::npos,
              server.listens().starts_with("unix"))
        << by_port;
    auger.run({"delete tcp", "span auto"});
    const uint64_t asked = server.load();
    auger.run({"wait until calls requests >= " + std::to_string(asked) + " for 60s"});
    const json hist = auger.ask("hist requests");
    EXPECT_THAT(hist["span"]["definition"].template get<std::string>(),
                HasSubstr("exchanges " + server.listens()));
    EXPECT_EQ(hist["count"], asked);
    for (const char* none : {"unwound", "open", "dropped", "filtered"})
        EXPECT_EQ(hist[none], 0u) << none;
    // 40 of 400 do it, and others wait behind one, which makes them as long, without a sample.
    auger.run({"split requests > p50"});
    const json flame = auger.ask("flame --language");
    const auto is_cause = [&](const std::string& function) { return function == server.cause(); };
    EXPECT_GE(share_of_class(flame, "slow", is_cause), 0.8);
    EXPECT_LE(share_of_class(flame, "fast", is_cause), 0.1);
    // Nothing that was sampled in a request lacks the language's functions.
    const auto is_any = [](const std::string&) { return true; };
    EXPECT_GE(share_of_class(flame, "slow", is_any), 0.95);
    // Of the language's own functions it is the first that tells slow requests from fast ones.
    const json diff = auger.ask("diff slow fast --language");
    const auto& functions = diff["functions"];
    const auto cause = std::ranges::find_if(
        functions, [&](const json& one) { return one["function"] == server.cause(); });
    ASSERT_NE(cause, functions.end());
    EXPECT_TRUE((*cause)["significant"]);
    server.expect_answer();
    EXPECT_EQ(server.stop(), 0);
}

} // namespace
} // namespace auger::test
