// SPDX-License-Identifier: GPL-3.0-or-later
// Patterns against a real program built for it, and the proof that nothing unwinds against modules
// of this machine.
#include "loader/probes/unwind_proof.h"
#include "loader/process/safe_open.h"
#include "loader/reader/matching/probe_match.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/code_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace auger {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    auto file = ElfFile::open(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    EXPECT_TRUE(file.ok()) << path;
    return file.ok() ? *file : nullptr;
}

class ProbeMatch : public testing::Test {
  protected:
    void SetUp() override {
        add(std::string(AUGER_FIXTURES_DIR) + "/fixture_functions", true);
        add("/usr/lib/x86_64-linux-gnu/libc.so.6", false);
    }
    void add(const std::string& path, bool main_program) {
        modules_.push_back({std::make_shared<FunctionIndex>(open_elf(path)), path, main_program});
    }
    Result<ProbeMatches> match(std::string_view text, size_t limit = 1000) {
        ParsedProbe probe = parse_probe(text);
        EXPECT_TRUE(probe.pattern) << text;
        return match_probe(*probe.pattern, modules_, {limit});
    }
    PlaceMatch one(std::string_view text) {
        Result<ProbeMatches> found = match(text);
        EXPECT_TRUE(found.ok()) << text << ": " << (found.ok() ? "" : found.error().message());
        if (!found.ok())
            return {};
        EXPECT_EQ(found->places.size(), 1u) << text;
        return found->places.at(0);
    }
    std::vector<std::string> names(std::string_view text) {
        Result<ProbeMatches> found = match(text);
        std::vector<std::string> all;
        if (found.ok())
            for (const PlaceMatch& function : found->places)
                all.push_back(function.name);
        std::sort(all.begin(), all.end());
        return all;
    }
    std::string failure(std::string_view text, size_t limit = 1000) {
        Result<ProbeMatches> found = match(text, limit);
        return found.ok() ? "matched" : found.error().message();
    }

    std::vector<ProbeModule> modules_;
};

using Names = std::vector<std::string>;

TEST_F(ProbeMatch, OverloadsAndQualifiedNames) {
    EXPECT_EQ(names("shop::Basket::add"),
              (Names{"shop::Basket::add(char const*)", "shop::Basket::add(int)"}));
    EXPECT_EQ(names("Basket::add(int)"), Names{"shop::Basket::add(int)"});
    EXPECT_EQ(names("add(const char *)"), Names{"shop::Basket::add(char const*)"});
    EXPECT_EQ(names("shop::hidden").size(), 0u); // lies in an unnamed namespace within
    EXPECT_EQ(names("hidden").size(), 1u);
    EXPECT_EQ(names("largest").size(), 1u);
    EXPECT_EQ(names("Basket::operator<"),
              Names{"shop::Basket::operator<(shop::Basket const&) const"});
    EXPECT_EQ(names("Basket::operator()"), Names{"shop::Basket::operator()(int) const"});
    EXPECT_EQ(names("Basket::*").size(), 4u);
}

TEST_F(ProbeMatch, AliasesAreOneMatch) {
    PlaceMatch function = one("plain_function");
    EXPECT_EQ(function.mangled, "plain_function");
    EXPECT_THAT(function.notes, Contains(HasSubstr("also named same_function")));
    EXPECT_EQ(one("same_function").address, function.address);
    EXPECT_EQ(names("*_function").size(), 2u); // plain (with its alias) and other
}

TEST_F(ProbeMatch, PlacesLieInTheFile) {
    PlaceMatch function = one("plain_function");
    const ElfFile& file = modules_[0].index->file();
    EXPECT_EQ(function.kind, PlaceKind::function);
    EXPECT_EQ(file.address_of_offset(function.entry.file_offset), function.entry.address);
    ASSERT_FALSE(function.exits.empty());
    for (const ExitPlace& exit : function.exits) {
        EXPECT_EQ(file.read_code(exit.code.address, 1).at(0), std::byte{0xc3});
        EXPECT_EQ(file.address_of_offset(exit.file_offset), exit.code.address);
    }
}

TEST_F(ProbeMatch, TailCallsAndSwitches) {
    PlaceMatch tail = one("tail_caller");
    ASSERT_EQ(tail.exits.size(), 1u);
    EXPECT_EQ(tail.exits[0].code.kind, ExitKind::jump);
    EXPECT_EQ(tail.exits[0].code.target, one("other_function").address);
    EXPECT_THAT(tail.notes, Contains(HasSubstr("1 of 1 exits are tail calls")));
    for (const ExitPlace& exit : one("with_switch").exits)
        EXPECT_FALSE(exit.code.indirect); // the jump table is no exit
}

TEST_F(ProbeMatch, ColdPartsBelongToTheirFunction) {
    PlaceMatch function = one("throws_when_cold");
    for (const ExitPlace& exit : function.exits)
        EXPECT_EQ(exit.code.kind, ExitKind::ret);
    EXPECT_EQ(names("throws_when_cold*").size(), 1u);
}

TEST_F(ProbeMatch, OffsetsOnBoundariesOnly) {
    // Every offset of the function is either an instruction or refused with its neighbours.
    PlaceMatch function = one("plain_function");
    size_t boundaries = 0;
    for (uint64_t offset = 1; offset < function.size; ++offset) {
        Result<ProbeMatches> found = match("plain_function+" + std::to_string(offset));
        if (found.ok()) {
            ++boundaries;
            EXPECT_EQ(found->places[0].kind, PlaceKind::instruction);
            EXPECT_EQ(found->places[0].entry.address, function.address + offset);
        } else {
            EXPECT_THAT(found.error().cause, HasSubstr("in the middle of an instruction; the "
                                                       "nearest ones begin at +0x"));
        }
    }
    EXPECT_GE(boundaries, 1u);
    EXPECT_LT(boundaries, function.size - 1);
    EXPECT_THAT(failure("plain_function+0x1000"), HasSubstr("behind its end"));
}

TEST_F(ProbeMatch, Addresses) {
    PlaceMatch function = one("plain_function");
    char text[32];
    std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(function.address));
    EXPECT_EQ(one(text).address, function.address);
    EXPECT_EQ(one(text).kind, PlaceKind::function);
    EXPECT_THAT(failure("0x1"), HasSubstr("no known function"));
}

TEST_F(ProbeMatch, LibrariesAreSearchedWhenTheProgramHasNone) {
    Result<ProbeMatches> found = match("recv");
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->places[0].module, 1u);
    EXPECT_THAT(found->notes, Contains("found in libc.so.6"));
    EXPECT_EQ(one("libc:recv").module, 1u);
    EXPECT_EQ(one("libc.so.6:recv").module, 1u);
    EXPECT_EQ(one("/usr/lib/x86_64-linux-gnu/libc.so.6:recv").module, 1u);
    EXPECT_EQ(one("fixture_functions:main").module, 0u);
    EXPECT_EQ(one("main").module, 0u);
    EXPECT_THAT(failure("libz:main"), HasSubstr("no mapped file is named libz"));
    EXPECT_THAT(failure("libc:plain_function"),
                HasSubstr("no such function, as far as libc.so.6 has names: it is stripped"));
}

TEST_F(ProbeMatch, TheStandardLibraryIsAskedForByName) {
    add("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", false);
    EXPECT_THAT(failure("get"),
                testing::AllOf(HasSubstr("no such function"), HasSubstr("libstdc++.so.6 has "),
                               HasSubstr("write libstdc++:get for them")));
    EXPECT_FALSE(names("libstdc++:get").empty());
    EXPECT_FALSE(names("std::istream::get").empty());
    EXPECT_EQ(names("__cxa_throw").size(), 1u) << "in none of its namespaces";
}

TEST_F(ProbeMatch, RefusalsAndNearMatches) {
    EXPECT_THAT(failure("chosen"), HasSubstr("ifunc"));
    EXPECT_THAT(failure("libc:strlen"), HasSubstr("ifunc"));
    EXPECT_THAT(failure("plain_funtcion"), HasSubstr("did you mean plain_function"));
    EXPECT_THAT(failure("Basket::ad"), HasSubstr("shop::Basket::add"));
    EXPECT_THAT(failure("only_inlined"), HasSubstr("exists only inlined (2 copies)"));
    EXPECT_THAT(failure("*", 10), HasSubstr("more than the limit of 10"));
    // A part of a name is no typing mistake, but as good a hint.
    EXPECT_THAT(failure("plain_fun"), HasSubstr("did you mean plain_function"));
    EXPECT_THAT(failure("Larg"), HasSubstr("did you mean shop::largest"));
    EXPECT_EQ(failure("zzzzzzzzzzzzzzzz").find("did you mean"), std::string::npos);
}

TEST_F(ProbeMatch, Completion) {
    EXPECT_EQ(complete_function("plain_", modules_, 10), Names{"plain_function"});
    EXPECT_EQ(complete_function("shop::Basket::a", modules_, 10), Names{"shop::Basket::add"});
    EXPECT_THAT(complete_function("libc:recvm", modules_, 10), Contains("libc:recvmsg"));
    EXPECT_EQ(complete_function("", modules_, 3).size(), 3u);
}

class UnwindProofTest : public testing::Test {
  protected:
    static MappedModule module(const std::string& path, bool main_program = false) {
        return {test::code_file(path), path, main_program};
    }
    UnwindProof prove(const std::vector<MappedModule>& modules) {
        return prove_no_unwinding(modules, readers);
    }

    test::Readers readers;
    std::string lib = "/usr/lib/x86_64-linux-gnu/";
    MappedModule libc = module(lib + "libc.so.6");
    MappedModule ld = module(lib + "ld-linux-x86-64.so.2");
    std::vector<MappedModule> plain_c{module("/bin/cat", true), libc, ld};
};

TEST_F(UnwindProofTest, CppAndUnknownModulesSpeakAgainstIt) {
    EXPECT_TRUE(prove(plain_c).proven) << prove(plain_c).reason;

    std::vector<MappedModule> cpp{
        module(std::string(AUGER_FIXTURES_DIR) + "/fixture_functions", true), libc, ld};
    EXPECT_FALSE(prove(cpp).proven);
    EXPECT_THAT(prove(cpp).reason, HasSubstr("fixture_functions"));

    // The C library loads it by itself to cancel a thread or to take a backtrace.
    std::vector<MappedModule> loaded_libgcc = plain_c;
    loaded_libgcc.push_back(module(lib + "libgcc_s.so.1"));
    EXPECT_THAT(prove(loaded_libgcc).reason, HasSubstr("libgcc_s.so.1"));

    std::vector<MappedModule> unreadable = plain_c;
    unreadable.push_back({nullptr, "/x/secret.so", false});
    EXPECT_EQ(prove(unreadable).reason, "secret.so could not be read");

    std::vector<MappedModule> with_cpp_library = plain_c;
    with_cpp_library.push_back(module(lib + "libstdc++.so.6"));
    EXPECT_FALSE(prove(with_cpp_library).proven);

    EXPECT_FALSE(prove({}).proven);
    std::vector<MappedModule> no_main{libc, ld};
    EXPECT_FALSE(prove(no_main).proven);
    std::vector<MappedModule> no_c_library{plain_c[0]};
    EXPECT_THAT(prove(no_c_library).reason, HasSubstr("no C library"));
    // dash uses longjmp for its errors.
    std::vector<MappedModule> shell{module("/bin/dash", true), libc, ld};
    EXPECT_THAT(prove(shell).reason, HasSubstr("dash uses"));
    // It only ignores one, but what it does with others is not known.
    std::vector<MappedModule> catches{module("/usr/bin/nohup", true), libc, ld};
    EXPECT_EQ(prove(catches).reason, "nohup uses signal: a handler may change what it interrupts");
}

TEST_F(UnwindProofTest, TellsWhatStartsOtherPrograms) {
    EXPECT_EQ(prove(plain_c).other_programs, "");
    const std::vector<MappedModule> starts{module("/usr/bin/nice", true), libc, ld};
    EXPECT_TRUE(prove(starts).proven) << prove(starts).reason;
    EXPECT_EQ(prove(starts).other_programs, "nice uses execvp");
}

TEST_F(UnwindProofTest, TheCLibraryIsKnownByItsBytes) {
    const test::TemporaryFolder folder;
    const auto with = [&](const std::string& name, const std::string& content) {
        std::vector<MappedModule> modules = plain_c;
        modules[1] = module(folder.file(name, content));
        return prove(modules);
    };
    std::string content = *read_file(lib + "libc.so.6");
    EXPECT_TRUE(with("libc.so.6", content).proven);
    EXPECT_TRUE(with("renamed.so", content).proven);
    // One other byte, in a place that nobody runs: it is another library.
    content.back() ^= 1;
    EXPECT_THAT(with("libc.so.6", content).reason, HasSubstr("libc.so.6 is not the C library"));
    EXPECT_FALSE(with("other.so", content).proven);
    // Another library under its name, beside the real one.
    std::vector<MappedModule> beside = plain_c;
    beside.push_back(module(folder.file("libc.so", *read_file(lib + "libgcc_s.so.1"))));
    EXPECT_FALSE(prove(beside).proven);
}

} // namespace
} // namespace auger
