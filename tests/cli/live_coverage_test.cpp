// SPDX-License-Identifier: GPL-3.0-or-later
// Every command, each word of its usage, every option and export stands in a live test: what the
// program itself lists is looked for in what the tests type. What a test expects to be refused is
// not counted (`error`); of all else a mistake fails the test, since its script ends with 1.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

namespace auger::test {
namespace {

// What cannot be typed at a script, or is another test's whole subject, and where it is typed.
const std::map<std::string, std::string> elsewhere = {
    {"view", "tests/tui/view_test.cpp"},
    {"--prompt", "tests/tui/prompt_test.cpp"},
    {"--help", "tests/cli/usage_test.cpp"},
    {"--tree", "tests/cli/target_test.cpp"},
    {"--version", "tests/cli/usage_test.cpp"},
    {"serve token", "tests/cli/services_test.cpp"},
    {"ship as", "tests/cli/live_ship_test.cpp"},
    {"ship ca", "tests/unit/repl_shipping_settings_test.cpp"},
    {"ship headers", "tests/cli/live_ship_test.cpp"},
    {"ship keep", "tests/unit/repl_shipping_settings_test.cpp"},
    {"ship size", "tests/unit/repl_shipping_settings_test.cpp"},
    {"ship threads", "tests/unit/repl_shipping_settings_test.cpp"},
};

std::string source_of(const std::string& path) {
    return text_of(std::string(AUGER_SOURCE_DIR) + "/" + path);
}

template <typename Take>
void each_match(const std::string& text, const char* expression, const Take& take) {
    const std::regex searched(expression);
    for (std::sregex_iterator at(text.begin(), text.end(), searched), end; at != end; ++at)
        take(*at);
}

// What live tests type.
class TypedByTests {
  public:
    TypedByTests() {
        for (const auto& entry :
             std::filesystem::directory_iterator(std::string(AUGER_SOURCE_DIR) + "/tests/cli"))
            if (entry.path().filename().string().starts_with("live_") &&
                entry.path().filename() != "live_coverage_test.cpp")
                read(text_of(entry.path()));
    }

    std::map<std::string, std::set<std::string>> commands; // and the words behind each
    std::set<std::string> options;
    std::set<std::string> extensions; // of files that are saved

  private:
    void read(const std::string& text) {
        texts_.clear();
        each_match(text, R"re(\b(\w+)(?:\[\])? =\s*((?:"(?:[^"\\]|\\.)*"\s*)+))re",
                   [&](const auto& constant) {
                       std::string& value = texts_[constant[1]];
                       each_match(constant[2], R"re("((?:[^"\\]|\\.)*)")re",
                                  [&](const auto& piece) { value += piece[1]; });
                   });
        const auto from = [&](const std::smatch& match, bool first_alone) {
            for (const std::string& line : texts_from(
                     text, static_cast<size_t>(match.position() + match.length()), first_alone))
                type(line);
        };
        each_match(text, R"re(\.(?:run|ask|all)\()re",
                   [&](const auto& call) { from(call, false); });
        each_match(text, R"re("-e",)re", [&](const auto& option) { from(option, true); });
        each_match(text, R"re([{,]\s*"(--?[a-z-]+)"(?=\s*[,}]))re",
                   [&](const auto& option) { options.insert(option[1]); });
        each_match(text, R"re(\bsave\("\w+(\.[a-z.]+)"\))re",
                   [&](const auto& file) { extensions.insert(file[1]); });
    }

    // Of the arguments, from `at` to the end of the call, or of the first one alone: each with all
    // that is added to it, formatted, or stands in constants.
    std::vector<std::string> texts_from(const std::string& text, size_t at, bool first_alone) {
        static const std::regex token(
            R"re(R"\(([\s\S]*?)\)"|"((?:[^"\\]|\\.)*)"|[A-Za-z_]\w*|\S)re");
        std::vector<std::string> found;
        std::vector<bool> counts = {true}; // of each bracket that is open, whether it is our text
        std::string last;
        for (std::sregex_iterator it(text.begin() + static_cast<ptrdiff_t>(at), text.end(), token),
             end;
             it != end; ++it) {
            std::string word = it->str();
            if (word == "(" || word == "[")
                counts.push_back(counts.back() && word == "(" && last == "format");
            if (word == ")" || word == "]")
                counts.pop_back();
            if (counts.empty() ||
                (counts.size() == 1 && first_alone && (word == "," || word == "}")))
                break;
            const bool is_literal = (*it)[1].matched || (*it)[2].matched;
            const auto constant = texts_.find(word);
            if ((is_literal || constant != texts_.end()) && counts.back()) {
                const std::string piece =
                    is_literal ? (*it)[1].str() + (*it)[2].str() : constant->second;
                if (last == "\"")
                    found.back() += piece;
                else if (last == "+" && !found.empty())
                    found.back() += " " + piece;
                else if (last != "+")
                    found.push_back(piece);
                word = "\"";
            }
            last = word;
        }
        return found;
    }

    void type(std::string line) {
        std::ranges::replace(line, ';', '\n');
        std::istringstream lines(line);
        for (std::string command; std::getline(lines, command);) {
            std::istringstream words(command);
            std::string name;
            if (!(words >> name))
                continue;
            std::set<std::string>& typed = commands[name];
            for (std::string word; words >> word;)
                typed.insert(word.substr(0, word.find('=')));
        }
    }

    std::map<std::string, std::string> texts_; // constants of the file
};

std::string told(const std::vector<std::string>& arguments) {
    const Outcome outcome = auger(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
}

std::vector<std::string> all_commands() {
    std::vector<std::string> commands;
    std::istringstream help(told({"--batch", "-e", "help"}));
    for (std::string line; std::getline(help, line);)
        if (std::smatch match; std::regex_match(line, match, std::regex(R"(  ([a-z]+)  +\S.*)")))
            commands.push_back(match[1]);
    EXPECT_GT(commands.size(), 35u);
    return commands;
}

// Of each command what is to be typed as it stands in its usage.
std::map<std::string, std::set<std::string>> words_of_usages() {
    const std::vector<std::string> commands = all_commands();
    std::string script;
    for (const std::string& command : commands)
        script += "help " + command + "; ";
    std::map<std::string, std::set<std::string>> words;
    auto command = commands.begin();
    const std::string help = told({"--batch", "-e", script});
    each_match(help, R"re((?:^|\n)usage: (.*))re", [&](const auto& line) {
        ASSERT_NE(command, commands.end());
        std::set<std::string>& of_command = words[*command];
        const std::string usage = std::regex_replace(line[1].str(), std::regex("   or   "), " | ");
        // Not the rest of a name or a place: NAME, unix:PATH, 127.0.0.1.
        each_match(usage, R"re((?:^|[^\w=/:.-])(--?[a-z][a-z-]*|[a-z][a-z-]*)(?![\w:/]))re",
                   [&](const auto& word) { of_command.insert(word[1]); });
        of_command.erase(*command++);
    });
    EXPECT_EQ(words.size(), commands.size());
    return words;
}

void expect_tested(const std::string& what, bool is_typed) {
    if (const auto other = elsewhere.find(what); other != elsewhere.end())
        EXPECT_NE(source_of(other->second).find(what.substr(what.find(' ') + 1)), std::string::npos)
            << what << " is not in " << other->second;
    else
        EXPECT_TRUE(is_typed) << "no live test has " << what;
}

TEST(LiveCoverage, EveryCommandHasALiveTest) {
    const TypedByTests typed;
    for (const std::string& command : all_commands())
        expect_tested(command, typed.commands.contains(command));
}

// A word that several commands have means the same in all of them.
TEST(LiveCoverage, EveryWordOfACommandHasALiveTest) {
    const TypedByTests typed;
    std::map<std::string, std::vector<std::string>> commands_of; // by word
    for (const auto& [command, words] : words_of_usages())
        if (!elsewhere.contains(command))
            for (const std::string& word : words)
                commands_of[word].push_back(command);
    EXPECT_GT(commands_of.size(), 60u);
    for (const auto& [word, commands] : commands_of) {
        const auto is_typed = [&](const std::string& command) {
            const auto found = typed.commands.find(command);
            return found != typed.commands.end() && found->second.contains(word);
        };
        if (word.starts_with('-') && commands.size() > 2)
            EXPECT_TRUE(std::ranges::any_of(commands, is_typed)) << "no live test has " << word;
        else
            for (const std::string& command : commands)
                expect_tested(command + " " + word, is_typed(command));
    }
}

TEST(LiveCoverage, EveryOptionHasALiveTest) {
    const TypedByTests typed;
    std::istringstream help(told({"--help"}));
    size_t options = 0;
    for (std::string line; std::getline(help, line);) {
        std::smatch match;
        if (!std::regex_match(line, match, std::regex(R"(  (?:(-\w),)?(--[a-z-]+)\b.*)")))
            continue;
        const std::string letter = match[1], name = match[2];
        if (!typed.options.contains(letter))
            expect_tested(name, typed.options.contains(name));
        options++;
    }
    EXPECT_GT(options, 18u);
}

TEST(LiveCoverage, EveryExportHasALiveTest) {
    const TypedByTests typed;
    const std::string help = told({"--batch", "-e", "help save"});
    size_t formats = 0;
    each_match(help, R"(\bFILE(\.[a-z.]+[a-z]))", [&](const auto& extension) {
        const std::string found = extension[1];
        if (found == ".aug")
            return;
        EXPECT_TRUE(typed.extensions.contains(found)) << "no live test saves " << found;
        formats++;
    });
    EXPECT_GE(formats, 12u) << help;
}

} // namespace
} // namespace auger::test
