// SPDX-License-Identifier: GPL-3.0-or-later
// Debug information from servers, which are on the loopback here.
#include "tests/support/debuginfod_server.h"
#include "tests/support/temporary_folder.h"

#include "loader/process/safe_open.h"
#include "loader/reader/names/elf_questions.h"
#include "loader/symbols/debuginfod.h"
#include "loader/symbols/module_table.h"
#include "loader/symbols/symbolizer.h"
#include "tests/unit/mapping_of.h"

#include <gtest/gtest.h>

namespace auger {
namespace {

using test::DebuginfodServer;

const std::string stripped = AUGER_SYMBOLS_DIR "/symbols_stripped";
const std::string debug = stripped + ".debug";

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    return *ElfFile::open(std::move(*open_regular(path)), path);
}

uint64_t leaf_address() {
    const auto file = open_elf(debug);
    for (const ElfFunction& function : file->functions())
        if (function.name == "fixture_leaf")
            return function.address;
    return 0;
}

class DebuginfodClient : public testing::Test {
  protected:
    // A cache of its own; nothing of the tester's surroundings.
    void SetUp() override {
        for (const char* name : {"DEBUGINFOD_URLS", "DEBUGINFOD_PROGRESS", "DEBUGINFOD_VERBOSE",
                                 "DEBUGINFOD_MAXSIZE", "DEBUGINFOD_MAXTIME", "http_proxy"})
            unsetenv(name);
        setenv("DEBUGINFOD_CACHE_PATH", folder.path("cache").c_str(), 1);
        setenv("DEBUGINFOD_TIMEOUT", "60", 1);
        setenv("DEBUGINFOD_RETRY_LIMIT", "1", 1);
    }
    static std::shared_ptr<ConfinedProcesses> readers() {
        return *ConfinedProcesses::start(networked_reader_program());
    }
    void serve(DebuginfodServer::Reply reply) {
        server.emplace(std::move(reply));
        setenv("DEBUGINFOD_URLS", server->url().c_str(), 1);
    }
    Result<DebugFile> fetch(const DebuginfodLimits& limits = {}) {
        auto client = Debuginfod::open(readers(), limits);
        if (!client)
            return client.error();
        return (*client)->fetch(id, progress);
    }

    const std::string id = open_elf(stripped)->build_id();
    test::TemporaryFolder folder;
    std::optional<DebuginfodServer> server;
    WorkProgress progress;
};

TEST_F(DebuginfodClient, WithoutServersSaysSo) {
    const auto client = Debuginfod::open(readers());
    ASSERT_FALSE(client);
    EXPECT_NE(client.error().cause.find("DEBUGINFOD_URLS"), std::string::npos);
    EXPECT_EQ(client.error().kind, Error::Kind::usage);
}

TEST_F(DebuginfodClient, FetchesByBuildIdAndKeepsIt) {
    std::string asked;
    serve([&](const std::string& path) {
        asked = path;
        return DebuginfodServer::content(*read_file(debug));
    });
    for (int time = 0; time < 2; time++) {
        const auto file = fetch();
        ASSERT_TRUE(file) << file.error().message();
        const auto elf = open_elf(*file);
        ASSERT_TRUE(elf);
        EXPECT_EQ(elf->build_id(), id);
        EXPECT_TRUE(elf->has_section(".debug_info"));
    }
    EXPECT_EQ(asked, "/buildid/" + id + "/debuginfo");
    EXPECT_EQ(server->requests(), 1);
}

TEST_F(DebuginfodClient, AnAbsentFile) {
    serve([](const std::string&) { return DebuginfodServer::absent(); });
    EXPECT_EQ(fetch().error().cause, "no server has it");
}

TEST_F(DebuginfodClient, TimeAndSizeAreBounded) {
    serve([](const std::string&) { return std::string(); });
    DebuginfodLimits limits;
    limits.time = std::chrono::seconds(0);
    EXPECT_EQ(fetch(limits).error().cause, "it takes too long");
    // The library remembers for a while what was not to be had.
    setenv("DEBUGINFOD_CACHE_PATH", folder.path("other").c_str(), 1);
    limits = {};
    limits.bytes = 1000;
    serve([](const std::string&) { return DebuginfodServer::content(*read_file(debug)); });
    EXPECT_EQ(fetch(limits).error().cause, "the file is too large");
}

TEST_F(DebuginfodClient, EndsWhenStopped) {
    serve([](const std::string&) { return std::string(); });
    std::atomic<bool> stop{true};
    progress.stop = &stop;
    EXPECT_EQ(fetch().error().cause, "stopped");
}

class DebuginfodNames : public DebuginfodClient {
  protected:
    Location leaf(const std::string& path) {
        return {modules.file_module(getpid(), test::mapping_of(path)), leaf_address()};
    }
    std::unique_ptr<Symbolizer> symbolizer(bool fetch) {
        SymbolizerOptions options;
        options.debug_folder = folder.path("nothing");
        if (fetch)
            options.debuginfod = std::move(*Debuginfod::open(readers()));
        client = options.debuginfod;
        return std::make_unique<Symbolizer>(modules, options);
    }
    static auto soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }

    // Its debug file is not beside it.
    const std::string alone = folder.file("alone", *read_file(stripped));
    ModuleTable modules;
    std::weak_ptr<Debuginfod> client; // of the last symbolizer
};

TEST_F(DebuginfodNames, AreAskedForOnlyWhenTheUserWants) {
    serve([](const std::string&) { return DebuginfodServer::content(*read_file(debug)); });
    const Location at = leaf(alone);
    const auto without = symbolizer(false);
    without->request(at);
    ASSERT_TRUE(without->wait_idle(soon()));
    EXPECT_EQ(without->known(at).frames->size(), 1u);
    EXPECT_EQ(server->requests(), 0);

    const auto with = symbolizer(true);
    with->request(at);
    ASSERT_TRUE(with->wait_idle(soon()));
    const auto frames = with->known(at).frames;
    ASSERT_EQ(frames->size(), 3u);
    EXPECT_EQ(frames->front().function, "innermost");
    EXPECT_EQ(frames->back().function, "fixture_leaf");
    EXPECT_EQ(with->reports()[0].debug_file, "debuginfod:" + id);
    // A file that is complete is nobody's business.
    with->request(leaf(AUGER_SYMBOLS_DIR "/symbols_dwarf5"));
    ASSERT_TRUE(with->wait_idle(soon()));
    EXPECT_EQ(server->requests(), 1);
}

TEST_F(DebuginfodNames, AnotherFileAndNoneAreRefused) {
    for (const std::string& content :
         {*read_file(AUGER_SYMBOLS_DIR "/symbols_dwarf4"), std::string("no ELF file")}) {
        setenv("DEBUGINFOD_CACHE_PATH", folder.path(std::to_string(content.size())).c_str(), 1);
        serve([&](const std::string&) { return DebuginfodServer::content(content); });
        const auto names = symbolizer(true);
        const Location at = leaf(alone);
        names->request(at);
        ASSERT_TRUE(names->wait_idle(soon()));
        EXPECT_EQ(names->known(at).frames->size(), 1u);
        EXPECT_EQ(names->reports()[0].debug_file, "");
        EXPECT_EQ(names->reports()[0].note, "read debuginfod:" + id + ": it has another build id");
    }
}

// While one server keeps silent, others' names come.
TEST_F(DebuginfodNames, ASilentServerDelaysNobodyElse) {
    serve([](const std::string&) { return std::string(); });
    auto names = symbolizer(true);
    const Location waiting = leaf(alone), other = leaf(AUGER_SYMBOLS_DIR "/symbols_dwarf5");
    names->request(waiting);
    names->request(other);
    const auto end = soon();
    while (names->waiting() > 1 && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    EXPECT_EQ(names->waiting(), 1u);
    EXPECT_EQ(names->known(other).detail, Detail::full);
    EXPECT_EQ(names->known(waiting).detail, Detail::offset);
    names.reset(); // returns at once
    // The thread that waited ends by itself; the test should not end before.
    while (!client.expired() && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    EXPECT_TRUE(client.expired());
}

} // namespace
} // namespace auger
