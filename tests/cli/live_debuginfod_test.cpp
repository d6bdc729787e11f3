// SPDX-License-Identifier: GPL-3.0-or-later
// Names of a stripped program whose debug file only a server has, which is the test's own.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/support/debuginfod_server.h"
#include "tests/support/run.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <regex>

namespace auger::test {
namespace {

class LiveDebuginfod : public LiveTest {
  protected:
    // Its debug file is not beside it.
    LiveDebuginfod() {
        std::filesystem::copy_file(stripped_, program_);
        setenv("DEBUGINFOD_URLS", server_.url().c_str(), 1);
        setenv("DEBUGINFOD_CACHE_PATH", folder_.path("cache").c_str(), 1);
    }
    ~LiveDebuginfod() override {
        unsetenv("DEBUGINFOD_URLS");
        unsetenv("DEBUGINFOD_CACHE_PATH");
    }
    static std::string build_id_of(const std::string& path) {
        const Outcome notes = run({"/usr/bin/readelf", "-n", path});
        std::smatch match;
        EXPECT_TRUE(std::regex_search(notes.out, match, std::regex("Build ID: ([0-9a-f]+)")));
        return match[1];
    }
    static double samples_in(const json& flame, const std::regex& function) {
        double sum = 0;
        for (const json& entry : flame["stacks"])
            if (std::ranges::any_of(entry["stack"], [&](const json& name) {
                    return std::regex_match(name.get<std::string>(), function);
                }))
                sum += entry["samples"].get<double>();
        return sum;
    }

    const std::string stripped_ = program_path("demo_service_stripped");
    const std::string program_ = folder_.path("service");
    const std::string asked_ = "/buildid/" + build_id_of(stripped_) + "/debuginfo";
    DebuginfodServer server_{[this](const std::string& path) {
        return path == asked_ ? DebuginfodServer::content(text_of(stripped_ + ".debug"))
                              : DebuginfodServer::absent();
    }};
    const std::regex named_{R"(handle_request(\(.*)?)"}, unnamed_{R"(service\+0x[0-9a-f]+)"};
};

TEST_F(LiveDebuginfod, NamesComeFromItForWhoAsksForThem) {
    Program demo(program_, {"--seconds", "300"});
    demo.wait_ready();
    {
        LiveAuger auger({"-p", std::to_string(demo.pid())});
        auger.run({"sample 999", "wait until samples >= 200 for 60s", "sample off"});
        EXPECT_TRUE(wait_until([&] { return auger.ask("status")["symbols_pending"] == 0; }));
        const json flame = auger.ask("flame");
        EXPECT_GT(samples_in(flame, unnamed_), 0);
        EXPECT_EQ(samples_in(flame, named_), 0);
        EXPECT_EQ(server_.requests(), 0);
    }
    LiveAuger auger({"-p", std::to_string(demo.pid()), "--debuginfod"});
    auger.run({"sample 999", "wait until samples >= 200 for 60s", "sample off"});
    json flame;
    EXPECT_TRUE(wait_until([&] {
        auger.run({"wait 100ms"});
        flame = auger.ask("flame");
        return samples_in(flame, named_) > 0;
    })) << flame;
    EXPECT_GT(server_.requests(), 0);
    demo.signal(SIGTERM);
    EXPECT_EQ(demo.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
