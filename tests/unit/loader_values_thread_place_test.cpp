// SPDX-License-Identifier: GPL-3.0-or-later
// Where threads keep a variable: of libraries that are loaded into this process, compared with
// where they say that it is, and by what a dynamic linker may have noted.
#include "loader/probes/code_messages.h"
#include "loader/process/proc_maps.h"
#include "loader/process/safe_open.h"
#include "loader/reader/values/read_thread_variable.h"
#include "loader/values/thread_local_block.h"
#include "loader/values/thread_place.h"
#include "tests/unit/loader_values_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <unistd.h>

#include <map>
#include <string>
#include <thread>

namespace auger {
namespace {

using Slot = ThreadVariable::Slot;
using testing::HasSubstr;

std::optional<uint64_t> own_word(uint64_t address) {
    uint64_t word = 0;
    return test::read_own_memory(address, &word, sizeof word) ? std::optional(word) : std::nullopt;
}

uint64_t thread_word(uint64_t offset) {
    return *reinterpret_cast<const uint64_t*>(static_cast<const char*>(__builtin_thread_pointer()) +
                                              offset);
}

// Of the current thread, as the kernel's side finds it (bpf/thread_context.bpf.c); 0: it has none.
uint64_t address_of(const wire_thread_place& place) {
    const auto thread = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
    if (place.way == WIRE_THREAD_STATIC)
        return thread + static_cast<uint64_t>(place.offset);
    const uint64_t vector = thread_word(8);
    if (place.module > own_word(vector - 16).value_or(0))
        return 0;
    const uint64_t block = own_word(vector + 16 * uint64_t{place.module}).value_or(0);
    return block == 0 || block == UINT64_MAX ? 0 : block + static_cast<uint64_t>(place.offset);
}

// A library that is loaded, and what it says itself.
struct Library {
    std::string path;
    void* handle;
    std::shared_ptr<const ElfFile> file;

    explicit Library(const std::string& name)
        : path(std::string(AUGER_CONTEXT_DIR) + "/libcontext_" + name + ".so"),
          handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)),
          file(*ElfFile::open(std::move(*open_regular(path)), path)) {}
    ~Library() { dlclose(handle); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    uint64_t own_address() const {
        using Address = void* (*)();
        Address address = nullptr;
        *reinterpret_cast<void**>(&address) = dlsym(handle, "context_variable");
        return reinterpret_cast<uint64_t>(address());
    }
    Result<std::optional<wire_thread_place>> place(bool with_vectors = true) const {
        const auto variable = read_thread_variable(*file, thread_context_variable);
        if (!variable)
            return Error{{}, {}, "it exports none", {}};
        const auto maps = read_maps(getpid());
        for (const Mapping& mapping : *maps)
            if (mapping.path == path)
                return thread_place(
                    *variable, false, with_vectors,
                    mapping.start - *linked_address(file->segments(), mapping.offset), own_word);
        return Error{{}, {}, "it is not mapped", {}};
    }
};

class ThreadPlaces : public testing::TestWithParam<std::string> {};

TEST_P(ThreadPlaces, AreWhereTheLibraryHasIt) {
    const Library library(GetParam());
    ASSERT_NE(library.handle, nullptr) << dlerror();
    const auto place = library.place();
    ASSERT_TRUE(place.ok()) << place.error().cause;
    ASSERT_TRUE(*place);
    // Both ways are there.
    if (GetParam().find("padded") != std::string::npos) {
        EXPECT_EQ((**place).way, WIRE_THREAD_DYNAMIC);
    }
    if (GetParam().ends_with("ie")) {
        EXPECT_EQ((**place).way, WIRE_THREAD_STATIC);
    }
    const uint64_t own = library.own_address();
    EXPECT_EQ(address_of(**place), own);
    std::thread([&] {
        // One that has not used it yet may have no block.
        const uint64_t before = address_of(**place);
        const uint64_t there = library.own_address();
        EXPECT_NE(there, own);
        EXPECT_TRUE(before == 0 || before == there);
        EXPECT_EQ(before == 0, (**place).way == WIRE_THREAD_DYNAMIC);
        EXPECT_EQ(address_of(**place), there);
    }).join();
    // In blocks of their own, of which nothing is known of other C libraries.
    const auto elsewhere = library.place(false);
    EXPECT_EQ(elsewhere.ok(), (**place).way == WIRE_THREAD_STATIC);
}

INSTANTIATE_TEST_SUITE_P(Libraries, ThreadPlaces,
                         testing::Values("gnu", "gnu2", "ie", "padded_gnu", "padded_gnu2",
                                         "hidden_gnu", "hidden_gnu2", "hidden_ie",
                                         "hidden_padded_gnu", "hidden_padded_gnu2"),
                         [](const auto& info) { return info.param; });

TEST(ThreadVariables, WhatAFileSaysOfThem) {
    const auto read = [](const std::string& name) {
        return read_thread_variable(*Library(name).file, thread_context_variable);
    };
    const auto gnu = read("gnu"), gnu2 = read("gnu2"), ie = read("ie"), own = read("hidden_gnu");
    ASSERT_TRUE(gnu && gnu2 && ie && own);
    for (const auto& variable : {*gnu, *gnu2, *ie, *own}) {
        EXPECT_EQ(variable.offset, 8u); // behind the other one, which has a value
        EXPECT_GE(variable.block_size, variable.offset + 8);
        ASSERT_TRUE(variable.slot);
    }
    EXPECT_EQ(gnu->slot->kind, Slot::Kind::module_and_offset);
    EXPECT_EQ(gnu2->slot->kind, Slot::Kind::descriptor);
    EXPECT_EQ(ie->slot->kind, Slot::Kind::offset);
    EXPECT_EQ(own->slot->kind, Slot::Kind::module);
    // The same by the symbols that a file has for debuggers.
    for (const char* name : {"hidden_gnu", "hidden_gnu2", "hidden_ie"})
        EXPECT_EQ(read_hidden_thread_variable(*Library(name).file, thread_context_variable),
                  read(name));
    const Library library("gnu");
    EXPECT_FALSE(read_thread_variable(*library.file, "otel_thread_ctx"));
    EXPECT_FALSE(read_thread_variable(*library.file, "otel_thread_ctx_v10"));
    EXPECT_FALSE(read_thread_variable(*library.file, "context_variable")) << "it is a function";
}

// Of what is noted in the process, by address.
using Words = std::map<uint64_t, uint64_t>;

std::string outcome(const ThreadVariable& variable, const Words& words, bool is_program = false) {
    const auto place = thread_place(
        variable, is_program, true, 0x1000, [&](uint64_t address) -> std::optional<uint64_t> {
            const auto word = words.find(address);
            return word == words.end() ? std::nullopt : std::optional(word->second);
        });
    if (!place)
        return "error: " + place.error().cause;
    if (!*place)
        return "not yet";
    return std::to_string((**place).way) + " " + std::to_string((**place).module) + " " +
           std::to_string((**place).offset);
}

ThreadVariable variable_with(Slot::Kind kind, int64_t distance = 0) {
    return {.offset = 24, .block_size = 64, .slot = Slot{kind, 0x200, distance}};
}

TEST(ThreadPlace, OfAProgramIsBelowTheThreadPointer) {
    EXPECT_EQ(outcome({.offset = 24, .block_size = 64}, {}, true), "1 0 -40");
    EXPECT_EQ(outcome(variable_with(Slot::Kind::descriptor), {}, true), "1 0 -40");
}

TEST(ThreadPlace, IsWhatTheDynamicLinkerHasNoted) {
    constexpr uint64_t at = 0x1200;
    EXPECT_EQ(outcome(variable_with(Slot::Kind::offset, 24), {{at, uint64_t(-200)}}), "1 0 -176");
    EXPECT_EQ(outcome(variable_with(Slot::Kind::module), {{at, 3}}), "2 3 24");
    EXPECT_EQ(outcome(variable_with(Slot::Kind::module_and_offset), {{at, 3}, {at + 8, 48}}),
              "2 3 48");
    EXPECT_EQ(outcome(variable_with(Slot::Kind::descriptor), {{at, 1}, {at + 8, uint64_t(-96)}}),
              "1 0 -96");
    EXPECT_EQ(outcome(variable_with(Slot::Kind::descriptor, 16),
                      {{at, 1}, {at + 8, 0x5000}, {0x5000, 7}, {0x5008, 8}}),
              "2 7 24");
}

TEST(ThreadPlace, IsNotKnownBeforeTheDynamicLinkerHasBeenThere) {
    constexpr uint64_t at = 0x1200;
    const Words empty = {{at, 0}, {at + 8, 0}};
    for (const auto kind : {Slot::Kind::offset, Slot::Kind::module, Slot::Kind::module_and_offset,
                            Slot::Kind::descriptor})
        EXPECT_EQ(outcome(variable_with(kind), empty), "not yet");
    EXPECT_EQ(outcome(variable_with(Slot::Kind::descriptor), {{at, 1}, {at + 8, 0}}), "not yet");
    EXPECT_EQ(outcome(variable_with(Slot::Kind::offset), {}), "not yet");
    // It leads to its relocation.
    EXPECT_EQ(outcome(variable_with(Slot::Kind::descriptor),
                      {{at, 1}, {at + 8, 0x5000}, {0x5000, 0x3fd8}, {0x5008, 0x500000024}}),
              "not yet");
    EXPECT_EQ(outcome(variable_with(Slot::Kind::descriptor), {{at, 1}}), "not yet");
    EXPECT_EQ(outcome(variable_with(Slot::Kind::descriptor), {{at, 1}, {at + 8, 0x5000}}),
              "not yet");
}

TEST(ThreadPlace, NonsenseIsNone) {
    constexpr uint64_t at = 0x1200;
    const auto error = HasSubstr("error: ");
    EXPECT_THAT(outcome({.offset = 24, .block_size = 64}, {}), error);
    EXPECT_THAT(outcome(variable_with(Slot::Kind::offset), {{at, uint64_t(INT64_MIN)}}), error);
    EXPECT_THAT(outcome(variable_with(Slot::Kind::offset, -5), {{at, uint64_t(INT64_MIN)}}), error);
    EXPECT_THAT(outcome(variable_with(Slot::Kind::module), {{at, WIRE_THREAD_MODULES}}), error);
    EXPECT_THAT(
        outcome(variable_with(Slot::Kind::module_and_offset), {{at, 1}, {at + 8, 1u << 31}}),
        error);
    EXPECT_THAT(outcome(variable_with(Slot::Kind::module_and_offset, -50), {{at, 1}, {at + 8, 48}}),
                error);
}

// As a linker lays files out: a page of the file may be mapped twice, for the end of one segment
// and the beginning of the next.
TEST(ThreadPlace, OnlyTheRightMappingIsBelieved) {
    const ElfSegment segments[] = {{0, 0, 0x1000, 0x1000, false},
                                   {0x1000, 0x1000, 0x800, 0x800, true},
                                   {0x2000, 0x2000, 0xd00, 0xd00, false},
                                   {0x2de8, 0x3de8, 0x300, 0x400, false}};
    EXPECT_TRUE(is_linked_to(segments, 0x2000, 0xfc0, 0x3fc0));
    EXPECT_TRUE(is_linked_to(segments, 0x3000, 0x10, 0x4010)) << "behind what is read-only";
    EXPECT_FALSE(is_linked_to(segments, 0, 0x3fc0, 0x3fc0))
        << "as long as all of it is one mapping";
    EXPECT_FALSE(is_linked_to(segments, 0x1000, 0xfc0, 0x3fc0));
    EXPECT_FALSE(is_linked_to(segments, 0x4000, 0, 0x5000));
    EXPECT_FALSE(is_linked_to({}, 0, 0, 0));
}

TEST(ThreadVariables, GoThroughMessages) {
    const code_messages::Variable said = variable_with(Slot::Kind::descriptor, -8);
    const auto understood = code_messages::variable(code_messages::variable(said));
    ASSERT_TRUE(understood && *understood && (*understood)->slot);
    EXPECT_EQ((*understood)->offset, 24u);
    EXPECT_EQ((*understood)->block_size, 64u);
    EXPECT_EQ((*understood)->slot->kind, Slot::Kind::descriptor);
    EXPECT_EQ((*understood)->slot->address, 0x200u);
    EXPECT_EQ((*understood)->slot->distance, -8);
    const auto none = code_messages::variable(code_messages::variable(std::nullopt));
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    EXPECT_FALSE(code_messages::variable(
        code_messages::variable(variable_with(Slot::Kind::offset, INT64_MAX))));
}

} // namespace
} // namespace auger
