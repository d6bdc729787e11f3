// SPDX-License-Identifier: GPL-3.0-or-later
// Calls that are open, of programs in other languages than C: with the functions that they stand
// in.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace auger::test {
namespace {

struct Language {
    const char* name;
    const char* interpreter;
    const char* file;
};

void PrintTo(const Language& language, std::ostream* out) {
    *out << language.name;
}

class LiveOpenLanguages : public LiveTest, public testing::WithParamInterface<Language> {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!std::filesystem::exists(GetParam().interpreter))
            GTEST_SKIP() << GetParam().interpreter << " is not installed";
    }
    std::string path() const {
        return std::string(AUGER_SOURCE_DIR "/tests/programs/waits/") + GetParam().file;
    }
    // The line that ends with this comment.
    int line_of(const std::string& comment) const {
        std::ifstream lines(path());
        int number = 0;
        for (std::string line; std::getline(lines, line);) {
            number++;
            if (line.ends_with("// " + comment) || line.ends_with("# " + comment))
                return number;
        }
        ADD_FAILURE() << comment;
        return 0;
    }
};

// The innermost first: "leaf:7".
std::vector<std::string> functions_of(const json& call) {
    std::vector<std::string> functions;
    for (size_t i = 0; i < call["stack"].size(); i++) {
        const std::string name = call["stack"][i];
        const json& source = call["source"][i];
        for (const std::string function : {"leaf", "middle", "outer"}) {
            if (!name.ends_with(function) || !source.is_string())
                continue;
            const std::string place = source;
            functions.push_back(function + place.substr(place.rfind(':')));
        }
    }
    return functions;
}

TEST_P(LiveOpenLanguages, CallsStandInFunctions) {
    Program program(GetParam().interpreter, {path()});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    auger.run({"time libc:read"});
    // The read that it waits in began before.
    program.say("x");
    std::vector<std::string> expected;
    for (const std::string function : {"leaf", "middle", "outer"})
        expected.push_back(function + ":" + std::to_string(line_of(function)));
    std::vector<std::string> seen;
    json all;
    EXPECT_TRUE(wait_until([&] {
        all = auger.all("open libc:read");
        for (const json& call : all)
            if (call["tid"] == program.pid() || !functions_of(call).empty())
                seen = functions_of(call);
        return seen == expected;
    })) << all;
    EXPECT_EQ(seen, expected);
    for (const json& call : all)
        EXPECT_EQ(call["stack"].dump().find("[stack cut"), std::string::npos) << call;
}

INSTANTIATE_TEST_SUITE_P(
    Languages, LiveOpenLanguages,
    testing::Values(Language{"Java", "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", "Waits.java"},
                    Language{"Node", "/usr/bin/node", "waits.js"},
                    Language{"Php", "/usr/bin/php8.2", "waits.php"},
                    Language{"Ruby", "/usr/bin/ruby", "waits.rb"},
                    Language{"Perl", "/usr/bin/perl", "waits.pl"}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace auger::test
