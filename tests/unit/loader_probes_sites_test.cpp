// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites and lines of one program in the forms that compilers, linkers and distributions give
// it; what each line calls is known from the source.
#include "loader/process/safe_open.h"
#include "loader/reader/code/decoder.h"
#include "loader/reader/matching/probe_match.h"
#include "tests/unit/loader_matching_debug.h"
#include "tests/unit/loader_sites_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>

namespace auger {
namespace {

using test::marked_line;
using test::sites_program;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class Sites : public testing::Test {
  protected:
    void add(const std::string& path, bool main_program) {
        auto elf = ElfFile::open(std::move(*open_regular(path)), path);
        ASSERT_TRUE(elf.ok()) << path;
        auto debug = test::debug_of(*elf, path);
        modules_.push_back({std::make_shared<FunctionIndex>(*elf, debug->debug_file()), path,
                            main_program, debug});
    }
    Result<ProbeMatches> match(const std::string& text) {
        ParsedProbe probe = parse_probe(text);
        EXPECT_TRUE(probe.pattern) << text;
        return match_probe(*probe.pattern, modules_);
    }
    Result<ProbeMatches> calls(const std::string& function, const std::string& mark,
                               const std::string& file = "main.cc") {
        return match(at(function + "@" + file, mark, file));
    }
    static std::string at(const std::string& start, const std::string& mark,
                          const std::string& file = "main.cc") {
        const uint32_t line = marked_line(file, mark);
        EXPECT_NE(line, 0u) << mark;
        return start + ":" + std::to_string(line);
    }
    static std::vector<std::string> callers(const Result<ProbeMatches>& found) {
        std::vector<std::string> names;
        if (!found.ok())
            return {found.error().message()};
        for (const PlaceMatch& place : found->places)
            names.push_back(place.site->caller.substr(0, place.site->caller.find('(')));
        std::sort(names.begin(), names.end());
        return names;
    }
    static std::string failure(const Result<ProbeMatches>& found) {
        return found.ok() ? "matched" : found.error().message();
    }

    std::vector<ProbeModule> modules_;
};

using Names = std::vector<std::string>;

class SiteForms : public Sites, public testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        add(sites_program(GetParam()), true);
        if (GetParam() != "sites_static")
            add("/usr/lib/x86_64-linux-gnu/libc.so.6", false);
    }
};

TEST_P(SiteForms, CallsOfALine) {
    EXPECT_EQ(callers(calls("callee", "one")), Names{"one_site"});
    EXPECT_EQ(callers(calls("callee", "macro")), (Names{"macro", "macro"}));
    EXPECT_EQ(callers(calls("callee", "inlined")), (Names{"copies_a", "copies_b", "copies_b"}));
    EXPECT_EQ(callers(calls("callee", "template")), (Names{"templated<double>", "templated<int>"}));
    EXPECT_EQ(callers(calls("shop::Basket::add", "member")), Names{"member"});
    EXPECT_EQ(callers(calls("Basket::add(int)", "member")), Names{"member"});
    EXPECT_EQ(callers(calls("callee", "header", "header.h")),
              (Names{"first_use", "main", "second_use"}));
    EXPECT_EQ(callers(calls("callee", "first", "first/same.cc")), Names{"first_use"});
}

TEST_P(SiteForms, ImportedFunctions) {
    EXPECT_EQ(callers(calls("recv", "library")), Names{"library"});
    EXPECT_EQ(callers(calls("strlen", "ifunc")), Names{"chosen"});
    EXPECT_EQ(callers(calls("memcpy", "ifunc")), Names{"chosen"});
    if (GetParam() != "sites_static") {
        EXPECT_EQ(callers(calls("libc:recv", "library")), Names{"library"});
        // Where its code is.
        auto found = calls("recv", "library");
        ASSERT_TRUE(found.ok());
        ASSERT_TRUE(found->places[0].site->callee);
        EXPECT_EQ(found->places[0].site->callee->module, 1u);
    }
    EXPECT_THAT(failure(calls("libm:recv", "library")), HasSubstr("no call of recv"));
}

// The probes sit on the call and on an instruction that follows it in a straight line.
TEST_P(SiteForms, Places) {
    auto found = calls("callee", "one");
    ASSERT_TRUE(found.ok()) << failure(found);
    const PlaceMatch& site = found->places.at(0);
    EXPECT_EQ(site.kind, PlaceKind::call_site);
    EXPECT_EQ(site.entry.cost, ProbeCost::emulated);
    const std::vector<std::byte> bytes =
        modules_[0].index->file().read_code(site.address, site.size);
    const auto call = decode(bytes, site.address);
    ASSERT_TRUE(call);
    EXPECT_EQ(call->flow, Instruction::Flow::call);
    EXPECT_EQ(site.site->length, call->length);
    ASSERT_EQ(site.exits.size(), 1u);
    EXPECT_GE(site.exits[0].code.address, site.address + call->length);
    EXPECT_LT(site.exits[0].code.address, site.address + call->length + 32);
    EXPECT_EQ(site.name,
              "callee@main.cc:" + std::to_string(marked_line("main.cc", "one")) + " in one_site");
}

// A tail call has no place to come back to here, but its caller has.
TEST_P(SiteForms, TailCalls) {
    auto found = calls("callee", "tail");
    ASSERT_TRUE(found.ok()) << failure(found);
    const PlaceMatch& site = found->places.at(0);
    EXPECT_TRUE(site.site->jump);
    EXPECT_THAT(site.exits, IsEmpty());
    const auto* caller = modules_[0].index->containing(site.address);
    ASSERT_TRUE(caller);
    EXPECT_EQ(site.site->caller_address, caller->address);
    const auto jump =
        decode(modules_[0].index->file().read_code(site.address, site.size), site.address);
    ASSERT_TRUE(jump);
    EXPECT_EQ(jump->flow, Instruction::Flow::jump);
}

TEST_P(SiteForms, WhatCannotBeTimedSaysWhy) {
    EXPECT_THAT(failure(calls("nobody", "indirect")),
                HasSubstr("through a pointer (a function pointer or virtual function), and no "
                          "function nobody"));
    EXPECT_THAT(failure(calls("callee", "none")), HasSubstr("no call of callee"));
    EXPECT_THAT(failure(calls("recv", "one")),
                HasSubstr("it is called on line " +
                          std::to_string(marked_line("main.cc", "library")) + "; line " +
                          std::to_string(marked_line("main.cc", "one")) + " calls callee"));
}

// Whom it calls is decided in the kernel.
TEST_P(SiteForms, CallsThroughPointers) {
    auto found = calls("callee", "indirect");
    EXPECT_EQ(callers(found), Names{"indirect"});
    ASSERT_TRUE(found.ok());
    const PlaceMatch& place = found->places[0];
    EXPECT_EQ(place.site->function, "callee");
    ASSERT_TRUE(place.site->pointer);
    EXPECT_FALSE(place.site->pointer->operand.memory);
    ASSERT_EQ(place.site->pointer->callees.size(), 1u);
    auto direct = calls("callee", "one");
    ASSERT_TRUE(direct.ok());
    EXPECT_FALSE(direct->places[0].site->pointer);
    EXPECT_EQ(place.site->pointer->callees[0].address, direct->places[0].site->callee->address);
    EXPECT_EQ(place.site->callee->address, direct->places[0].site->callee->address);
    // One that its name fits is as good as another; their types differ.
    found = calls("co*", "indirect");
    ASSERT_TRUE(found.ok()) << failure(found);
    EXPECT_GE(found->places[0].site->pointer->callees.size(), 2u);
    EXPECT_FALSE(found->places[0].site->callee);
    EXPECT_THAT(found->places[0].notes, Contains(HasSubstr("calls of any of")));
    // `everywhere` goes on naming what the code says.
    found = match("callee@*");
    ASSERT_TRUE(found.ok());
    for (const PlaceMatch& site : found->places)
        EXPECT_FALSE(site.site->pointer) << site.name;
}

TEST_P(SiteForms, AFileNameMayStandForSeveral) {
    auto found = calls("callee", "first", "first/same.cc");
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(found->notes.empty());
    found = match(at("callee@same.cc", "first", "first/same.cc"));
    EXPECT_EQ(callers(found), (Names{"first_use", "second_use"}));
    ASSERT_TRUE(found.ok());
    EXPECT_THAT(found->notes, Contains(HasSubstr("first/same.cc")));
}

TEST_P(SiteForms, Lines) {
    auto found = match(at("main.cc", "one"));
    ASSERT_TRUE(found.ok()) << failure(found);
    EXPECT_EQ(found->places.at(0).kind, PlaceKind::line);
    EXPECT_THAT(found->places.at(0).name, HasSubstr("in one_site(int)"));
    found = match(at("main.cc", "inlined"));
    ASSERT_TRUE(found.ok()) << failure(found);
    EXPECT_GE(found->places.size(), 3u);
    EXPECT_THAT(found->notes, Contains(HasSubstr("copies of its code")));
    const uint32_t one = marked_line("main.cc", "one");
    EXPECT_THAT(failure(match("main.cc:" + std::to_string(one + 2))), // a closing brace
                HasSubstr("no code begins on line " + std::to_string(one + 2) +
                          " (the nearest lines with code: " + std::to_string(one + 1) + ", " +
                          std::to_string(one + 3)));
    EXPECT_THAT(failure(match("recv@main.cc:1")), HasSubstr("no code begins on line 1 "));
    EXPECT_THAT(failure(match("mian.cc:12")), HasSubstr("did you mean main.cc?"));
    EXPECT_THAT(failure(match("elsewhere/main.cc:12")), HasSubstr("main.cc in another folder"));
}

INSTANTIATE_TEST_SUITE_P(Forms, SiteForms,
                         testing::Values("sites_pie", "sites_plain", "sites_protected", "sites_now",
                                         "sites_static", "sites_dwarf4", "sites_compressed",
                                         "sites_stripped"),
                         [](const auto& info) { return info.param; });

TEST_F(Sites, ThroughTheGlobalOffsetTable) {
    add(sites_program("sites_no_plt"), true);
    auto found = calls("recv", "library");
    EXPECT_EQ(callers(found), Names{"library"});
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->places[0].entry.cost, ProbeCost::single_stepped);
    EXPECT_EQ(found->places[0].site->length, 6);
    EXPECT_EQ(callers(calls("strlen", "ifunc")), Names{"chosen"});
}

TEST_F(Sites, WithoutDebugInformation) {
    add(sites_program("sites_bare"), true);
    EXPECT_THAT(failure(match("recv@main.cc:12")), HasSubstr("no debug information"));
    // Every call is found nevertheless, by its place in the caller.
    auto found = match("recv@*");
    EXPECT_EQ(callers(found), Names{"library"});
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->places[0].site->line, 0u);
    EXPECT_THAT(found->places[0].name, HasSubstr("recv@library+0x"));
}

// Bytes anywhere in the file are overwritten at random: whatever is found, it ends.
TEST_F(Sites, DamagedFiles) {
    std::ifstream file(sites_program("sites_pie"), std::ios::binary);
    const std::string original((std::istreambuf_iterator<char>(file)), {});
    std::mt19937_64 random(3);
    size_t matched = 0;
    for (int round = 0; round < 100; ++round) {
        std::string damaged = original;
        for (int i = 0; i < 1 << (round % 12); ++i)
            damaged[64 + random() % (damaged.size() - 64)] = static_cast<char>(random());
        UniqueFd fd(memfd_create("damaged", MFD_CLOEXEC));
        ASSERT_EQ(write(fd.get(), damaged.data(), damaged.size()),
                  static_cast<ssize_t>(damaged.size()));
        auto elf = ElfFile::open(std::move(fd), "damaged");
        if (!elf)
            continue;
        modules_ = {{std::make_shared<FunctionIndex>(*elf), "damaged", true,
                     test::debug_of(*elf, "damaged")}};
        matched += match("callee@*").ok();
        matched += calls("callee", "inlined").ok();
        matched += calls("recv", "library").ok();
        matched += match(at("main.cc", "one")).ok();
    }
    EXPECT_GT(matched, 50u); // or the damage left nothing to look at
}

// How often a disassembly of the program calls the function.
size_t calls_in_disassembly(const std::string& program, const std::string& target) {
    const std::string command =
        "objdump -d --no-show-raw-insn '" + program + "' | grep -cE '\\scall.*<" + target + ">$'";
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    size_t count = 0;
    return std::fscanf(pipe.get(), "%zu", &count) == 1 ? count : 0;
}

TEST_F(Sites, EveryCallSite) {
    add(sites_program("sites_pie"), true);
    auto found = match("callee@*");
    ASSERT_TRUE(found.ok()) << failure(found);
    EXPECT_EQ(found->places.size(), calls_in_disassembly(sites_program("sites_pie"), "_Z6calleei"));
    EXPECT_TRUE(std::all_of(found->places.begin(), found->places.end(),
                            [](const PlaceMatch& place) { return place.site->line > 0; }));
    EXPECT_THAT(failure(match("nobody@*")), HasSubstr("nothing in the target calls nobody"));
}

} // namespace
} // namespace auger
