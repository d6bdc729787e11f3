// SPDX-License-Identifier: GPL-3.0-or-later
// What README.md and docs tell people to type is in the console's language.
// (tests/cli/docs_test.cpp runs what can be run; tests/check_pages looks at shell commands and
// links.)
#include "repl/language/script.h"
#include "tests/support/markdown.h"
#include "tests/unit/command_lines.h"

#include <algorithm>
#include <set>

namespace auger {
namespace {

const std::filesystem::path root = AUGER_SOURCE_DIR;

TEST(Docs, EachBlockSaysWhatItIs) {
    const std::set<std::string> tags = {
        "auger",        // commands, which are run on the demo service
        "auger-syntax", // commands for a program that may not be here
        "sh", "text"};
    for (const auto& page : test::document_pages(root))
        for (const test::MarkdownBlock& block : test::blocks_of(page))
            EXPECT_TRUE(tags.contains(block.tag)) << page << ":" << block.line << ": " << block.tag;
}

TEST(Docs, CommandsAreInTheLanguage) {
    size_t commands = 0;
    for (const auto& page : test::document_pages(root)) {
        for (const test::MarkdownBlock& block : test::blocks_of(page)) {
            if (!block.tag.starts_with("auger"))
                continue;
            for (const ScriptLine& line : script_lines(page.string(), block.text)) {
                const auto texts = lex(line.text);
                ASSERT_TRUE(texts) << page << ":" << block.line << ": " << line.text;
                for (const CommandText& text : *texts) {
                    const auto parsed = command_table().parse(text, line.text);
                    EXPECT_TRUE(parsed) << page << ":" << block.line << ": " << line.text << ": "
                                        << parsed.complaint().message;
                    commands++;
                }
            }
        }
    }
    EXPECT_GT(commands, 150u); // the reference alone has some for each command
}

} // namespace
} // namespace auger
