// SPDX-License-Identifier: GPL-3.0-or-later
// Every command, option and export stands in a live test: what the program itself lists is looked
// for in the tests' scripts.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

namespace auger::test {
namespace {

// What cannot be typed at a script, and the test that does it otherwise.
const std::map<std::string, std::string> elsewhere = {
    {"view", "tests/tui/view_test.cpp"},
    {"--prompt", "tests/tui/prompt_test.cpp"},
    {"--help", "tests/cli/usage_test.cpp"},
    {"--tree", "tests/cli/target_test.cpp"},
    {"--version", "tests/cli/usage_test.cpp"},
    {"--file", "tests/cli/script_test.cpp"},
    // Its server is the test's own.
    {"--debuginfod", "tests/unit/loader_symbols_debuginfod_test.cpp"},
};

std::string source_of(const std::string& path) {
    return text_of(std::string(AUGER_SOURCE_DIR) + "/" + path);
}

// The words that begin commands, the options and the files' extensions in literals of live tests.
std::set<std::string> words_of_live_tests() {
    std::set<std::string> words;
    const std::regex literal(R"re("((?:[^"\\]|\\.)*)")re");
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(AUGER_SOURCE_DIR) + "/tests/cli")) {
        if (!entry.path().filename().string().starts_with("live_") ||
            entry.path().filename() == "live_coverage_test.cpp")
            continue;
        const std::string text = text_of(entry.path());
        for (std::sregex_iterator at(text.begin(), text.end(), literal), end; at != end; ++at) {
            std::string whole = (*at)[1];
            if (const size_t dot = whole.find('.'); dot != whole.npos)
                words.insert(whole.substr(dot));
            std::ranges::replace(whole, ';', '\n');
            std::istringstream lines(whole);
            for (std::string line; std::getline(lines, line);) {
                std::istringstream first(line);
                std::string word;
                if (first >> word)
                    words.insert(word);
            }
        }
    }
    return words;
}

std::string told(const std::vector<std::string>& arguments) {
    const Outcome outcome = auger(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
}

void expect_tested(const std::string& what, const std::set<std::string>& words) {
    if (const auto other = elsewhere.find(what); other != elsewhere.end())
        EXPECT_NE(source_of(other->second).find(what.substr(what.find_first_not_of('-'))),
                  std::string::npos)
            << what << " is not in " << other->second;
    else
        EXPECT_TRUE(words.contains(what)) << "no live test has " << what;
}

TEST(LiveCoverage, EveryCommandHasALiveTest) {
    const std::set<std::string> words = words_of_live_tests();
    std::istringstream help(told({"--batch", "-e", "help"}));
    size_t commands = 0;
    for (std::string line; std::getline(help, line);) {
        std::smatch match;
        if (!std::regex_match(line, match, std::regex(R"(  ([a-z]+)  +\S.*)")))
            continue;
        expect_tested(match[1], words);
        commands++;
    }
    EXPECT_GT(commands, 35u);
}

TEST(LiveCoverage, EveryOptionHasALiveTest) {
    const std::set<std::string> words = words_of_live_tests();
    std::istringstream help(told({"--help"}));
    size_t options = 0;
    for (std::string line; std::getline(help, line);) {
        std::smatch match;
        if (!std::regex_match(line, match, std::regex(R"(  (?:(-\w),)?(--[a-z-]+)\b.*)")))
            continue;
        const std::string letter = match[1], name = match[2];
        if (!words.contains(letter))
            expect_tested(name, words);
        options++;
    }
    EXPECT_GT(options, 18u);
}

TEST(LiveCoverage, EveryExportHasALiveTest) {
    const std::set<std::string> words = words_of_live_tests();
    const std::string help = told({"--batch", "-e", "help save"});
    size_t formats = 0;
    const std::regex extension(R"(\bFILE(\.[a-z.]+[a-z]))");
    for (std::sregex_iterator at(help.begin(), help.end(), extension), end; at != end; ++at) {
        const std::string found = (*at)[1];
        if (found == ".aug")
            continue;
        EXPECT_TRUE(words.contains(found)) << "no live test saves " << found;
        formats++;
    }
    EXPECT_GE(formats, 12u) << help;
}

} // namespace
} // namespace auger::test
