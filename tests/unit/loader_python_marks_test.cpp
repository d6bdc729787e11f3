// SPDX-License-Identifier: GPL-3.0-or-later
// The libraries that include/python/auger.py writes, as auger reads them: no linker has seen them.
#include "loader/process/safe_open.h"
#include "loader/reader/elf/symbol_address.h"
#include "loader/reader/matching/probe_match.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "loader/reader/values/compile_program.h"
#include "tests/support/run.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

namespace auger {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class PythonMarks : public testing::Test {
  protected:
    void SetUp() override {
        constexpr const char* python = "/usr/bin/python3";
        if (access(python, X_OK) != 0)
            GTEST_SKIP() << python << " is not installed";
        const auto written =
            test::run({python, "-B", "-c",
                       "import sys; sys.path.insert(0, sys.argv[1]); import auger; "
                       "auger._folders = lambda: iter(sys.argv[2:]); "
                       "auger.Span('checkout'); auger.Mark('touch', int, int, str, bytes); "
                       "auger.Mark('plain'); sys.exit(auger.problem)",
                       AUGER_SOURCE_DIR "/include/python", folder_.path("marks")});
        ASSERT_EQ(written.code, 0) << written.err;
        for (const char* name :
             {"span-checkout-p.so", "mark-touch-nnpp.so", "mark-plain-nnnnnn.so"}) {
            const std::string path = folder_.path("marks/") + name;
            auto opened = open_regular(path);
            ASSERT_TRUE(opened) << path;
            auto file = ElfFile::open(std::move(*opened), path);
            ASSERT_TRUE(file) << file.error().message();
            files_.push_back(*file);
            modules_.push_back({std::make_shared<FunctionIndex>(*file), path, false});
        }
    }
    Result<ProbeMatches> match(std::string_view text) {
        bool absent = false;
        return find_places(*parse_probe(text).pattern, modules_, {}, absent);
    }
    const ElfFile& file_of(const PlaceMatch& place) const { return *files_[place.module]; }
    wire_fetch fetch(const PlaceMatch& place, const std::string& expression) {
        ValueScope scope{"usdt:auger:" + place.usdt->name};
        scope.file = files_[place.module];
        scope.address = place.address;
        scope.usdt_arguments = place.usdt->arguments;
        ProgramRequest request;
        request.split_by = expression;
        auto program = compile_program(request, scope);
        if (!program) {
            ADD_FAILURE() << expression << ": " << program.error().message();
            return {};
        }
        return (*program)->wire.fetch[(*program)->wire.label];
    }

    test::TemporaryFolder folder_;
    std::vector<std::shared_ptr<const ElfFile>> files_;
    std::vector<ProbeModule> modules_;
};

TEST_F(PythonMarks, AreSitesWithSemaphores) {
    const auto found = match("usdt:auger:*");
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_THAT(found->places, SizeIs(6));
    EXPECT_THAT(found->skipped, IsEmpty());
    std::set<std::pair<size_t, uint64_t>> semaphores;
    for (const PlaceMatch& place : found->places) {
        const ElfFile& file = file_of(place);
        const std::string function = "auger_" + place.usdt->name;
        EXPECT_EQ(place.name, "usdt:auger:" + place.usdt->name + " in " + function);
        EXPECT_EQ(place.entry.cost, ProbeCost::emulated);
        EXPECT_EQ(place.usdt->semaphore,
                  file.offset_of_address(*symbol_address(file, function + "_semaphore")));
        semaphores.emplace(place.module, place.usdt->semaphore);
        // The stack is known there: it is told of spans that were slow.
        const auto tables = compile_unwind_tables(file);
        ASSERT_TRUE(tables);
        EXPECT_TRUE(tables->find(place.address)) << function;
    }
    EXPECT_THAT(semaphores, SizeIs(6));
}

TEST_F(PythonMarks, HaveTheirArguments) {
    const auto begin = match("usdt:auger:checkout__begin"), touch = match("usdt:auger:touch"),
               plain = match("usdt:auger:plain");
    ASSERT_TRUE(begin && touch && plain);
    const wire_fetch id = fetch(begin->places.at(0), "arg0");
    EXPECT_EQ(id.size, 8);
    EXPECT_EQ(id.flags, 0);
    const PlaceMatch& place = plain->places.at(0);
    std::set<uint64_t> numbers;
    for (const char* argument : {"arg0", "arg1", "arg2", "arg3", "arg4", "arg5"}) {
        EXPECT_EQ(fetch(place, argument).size, 8);
        EXPECT_EQ(fetch(place, argument).flags, WIRE_FETCH_SIGNED);
        numbers.insert(fetch(place, argument).number);
    }
    EXPECT_THAT(numbers, SizeIs(6)); // a register each
    EXPECT_EQ(numbers.count(id.number), 1u);
    EXPECT_TRUE(fetch(place, "str((char *)arg2)").flags & WIRE_FETCH_STRING);
    // What is said to be text is a pointer, and a number has a sign.
    const PlaceMatch& kinds = touch->places.at(0);
    EXPECT_EQ(fetch(kinds, "arg1").flags, WIRE_FETCH_SIGNED);
    EXPECT_TRUE(fetch(kinds, "str(arg2)").flags & WIRE_FETCH_STRING);
    EXPECT_TRUE(fetch(kinds, "str(arg3)").flags & WIRE_FETCH_STRING);
}

} // namespace
} // namespace auger
