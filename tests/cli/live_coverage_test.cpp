// SPDX-License-Identifier: GPL-3.0-or-later
// Every command, option and export stands in a live test: what the program itself lists is looked
// for in what the tests type.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

namespace auger::test {
namespace {

// What cannot be typed at a script, and the test that does it otherwise.
const std::map<std::string, std::string> elsewhere = {
    {"view", "tests/tui/view_test.cpp"},       {"--prompt", "tests/tui/prompt_test.cpp"},
    {"--help", "tests/cli/usage_test.cpp"},    {"--tree", "tests/cli/target_test.cpp"},
    {"--version", "tests/cli/usage_test.cpp"},
};

std::string source_of(const std::string& path) {
    return text_of(std::string(AUGER_SOURCE_DIR) + "/" + path);
}

// The literals at the beginning of arguments, from `at` to the end of the call; or of the first
// argument alone. What stands in further brackets is another call's, or a key.
std::vector<std::string> literals_from(const std::string& text, size_t at, bool first_alone) {
    static const std::regex token(R"re(R"\(([\s\S]*?)\)"|"((?:[^"\\]|\\.)*)"|\S)re");
    std::vector<std::string> literals;
    int depth = 1;
    char last = 0;
    for (std::sregex_iterator it(text.begin() + static_cast<ptrdiff_t>(at), text.end(), token), end;
         it != end && depth > 0; ++it) {
        const bool is_literal = (*it)[1].matched || (*it)[2].matched;
        const char c = is_literal ? '"' : it->str()[0];
        const std::string inside = (*it)[1].str() + (*it)[2].str();
        if (c == '(' || c == '[')
            depth++;
        if (c == ')' || c == ']')
            depth--;
        if (depth == 1 && first_alone && (c == ',' || c == '}'))
            break;
        if (is_literal && depth == 1 && last == '"')
            literals.back() += inside;
        else if (is_literal && depth == 1 && last != '+')
            literals.push_back(inside);
        else if (is_literal)
            continue; // goes on what was begun before
        last = c;
    }
    return literals;
}

// What live tests type: first words of commands, options, extensions of files that are saved.
std::set<std::string> words_of_live_tests() {
    std::set<std::string> words;
    const auto type = [&](const std::vector<std::string>& typed) {
        for (std::string line : typed) {
            std::ranges::replace(line, ';', '\n');
            std::istringstream lines(line);
            for (std::string command, word; std::getline(lines, command);)
                if (std::istringstream(command) >> word)
                    words.insert(word);
        }
    };
    const auto each = [](const std::string& text, const char* expression, const auto& take) {
        const std::regex searched(expression);
        for (std::sregex_iterator at(text.begin(), text.end(), searched), end; at != end; ++at)
            take(*at);
    };
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(AUGER_SOURCE_DIR) + "/tests/cli")) {
        if (!entry.path().filename().string().starts_with("live_") ||
            entry.path().filename() == "live_coverage_test.cpp")
            continue;
        const std::string text = text_of(entry.path());
        const auto from = [&](const std::smatch& match, bool first_alone) {
            type(literals_from(text, static_cast<size_t>(match.position() + match.length()),
                               first_alone));
        };
        each(text, R"re(\.(?:run|ask|all|error)\()re",
             [&](const auto& call) { from(call, false); });
        each(text, R"re("-e",)re", [&](const auto& option) { from(option, true); });
        each(text, R"re([{,]\s*"(--?[a-z-]+)"(?=\s*[,}]))re",
             [&](const auto& option) { words.insert(option[1]); });
        each(text, R"re(\bsave\("\w+(\.[a-z.]+)"\))re",
             [&](const auto& file) { words.insert(file[1]); });
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
        EXPECT_NE(source_of(other->second).find('"' + what + '"'), std::string::npos)
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
