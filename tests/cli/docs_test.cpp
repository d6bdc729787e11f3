// SPDX-License-Identifier: GPL-3.0-or-later
// What docs tell people to type does what they say it does: each page's commands, one after the
// other, on the demo service.
#include "tests/cli/invocation.h"
#include "tests/kernel/program.h"
#include "tests/support/kernel_test.h"
#include "tests/support/markdown.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace auger::test {
namespace {

class Docs : public KernelTest {};

TEST_F(Docs, CommandsWorkOnTheDemoService) {
    size_t pages = 0;
    for (const auto& page : document_pages(AUGER_SOURCE_DIR)) {
        std::string script;
        for (const MarkdownBlock& block : blocks_of(page))
            if (block.tag == "auger")
                script += block.text;
        if (script.empty())
            continue;
        SCOPED_TRACE(page);
        pages++;
        Program demo("demo_service", {"--seconds", "300"});
        demo.wait_ready();
        TemporaryFolder folder;
        const Outcome outcome = auger(
            {"--batch", "-p", std::to_string(demo.pid()), "-f", folder.file("page.aug", script)});
        EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
        if (page.filename() == "tutorial.md") {
            // What the text says of what is seen.
            EXPECT_THAT(outcome.out, testing::HasSubstr("next: time \"handle_request("));
            EXPECT_THAT(outcome.out, testing::HasSubstr("rebuild_index"));
            EXPECT_THAT(outcome.out, testing::HasSubstr("recv@quota.cpp:60"));
        }
        demo.signal(SIGTERM);
        EXPECT_EQ(demo.wait_exit(), 0);
    }
    EXPECT_GE(pages, 2u); // the tutorial and the one on CI
}

TEST(Reference, IsWhatTheProgramSaysOfItself) {
    const Outcome outcome = auger({"--reference"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::ifstream file(std::string(AUGER_SOURCE_DIR) + "/docs/reference.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(outcome.out == page)
        << "write it anew: build/release/auger --reference >docs/reference.md";
}

} // namespace
} // namespace auger::test
