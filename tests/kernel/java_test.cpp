// SPDX-License-Identifier: GPL-3.0-or-later
// HotSpot's frames in samples, held against a program that knows its own chain of calls: in the
// interpreter, in code of either compiler, and as it comes. Debian's Java 17 always; others:
// AUGER_JAVAS=/path/to/java:/path/to/java; with other collectors: AUGER_JAVA_OPTIONS=-XX:+UseZGC.
#include "bpf/unwind_table.h"
#include "loader/kernel/clock.h"
#include "loader/kernel/hotspot_names.h"
#include "loader/kernel/hotspot_processes.h"
#include "tests/kernel/java_chains.h"
#include "tests/kernel/program.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace auger::test {
namespace {

using std::chrono::seconds;

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/JavaChains.java";

// What parks asks first, since Java 21, whether its thread is a virtual one.
bool is_asked_by_park(const std::vector<PythonFrame>& chain, size_t at) {
    return chain[at - 1].function == "java.util.concurrent.locks.LockSupport.parkNanos" &&
           (chain[at].function == "java.lang.Thread.currentThread" ||
            chain[at].function == "java.lang.Thread.isVirtual");
}

Agreement compare_java(const PythonStack& seen, const PythonStretch& truth) {
    const auto lacks = seen.cut ? Agreement::lacking : Agreement::wrong;
    const size_t depth = truth.chain.size();
    if (seen.chain.size() < depth || seen.chain.size() > depth + truth.inner.size() ||
        !std::equal(truth.chain.begin(), truth.chain.end() - 1, seen.chain.begin()))
        return lacks;
    const PythonFrame &innermost = seen.chain[depth - 1], &known = truth.chain.back();
    if (innermost.function != known.function || innermost.file != known.file ||
        innermost.line < truth.first_line || innermost.line > truth.last_line)
        return lacks;
    // In each phase it looks at the clock.
    const bool reads_clock =
        seen.chain.size() == depth + 1 && seen.chain.back().function == "java.lang.System.nanoTime";
    for (size_t i = depth; i < seen.chain.size() && !reads_clock; i++)
        if (seen.chain[i].function != truth.inner[i - depth] && !is_asked_by_park(seen.chain, i))
            return lacks;
    return seen.cut ? Agreement::lacking : Agreement::equal;
}

class JavaFrames : public KernelTest, public testing::WithParamInterface<JavaMode> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(GetParam().java))
            GTEST_SKIP() << GetParam().java << " is not installed";
    }
};

TEST_P(JavaFrames, AreTheProgramsOwnChains) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    std::vector<std::string> arguments = java_options(GetParam());
    arguments.insert(arguments.end(), {program_source, path});
    Program program(GetParam().java, arguments);
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    must(session.backend().set_sampling({.rate_hz = 999, .wall = true}));
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    must(session.backend().set_sampling({}));
    // Until all is delivered: its names go with it.
    ASSERT_TRUE(session.pump_until([&, before = size_t{0}]() mutable {
        return session.log.samples.size() == std::exchange(before, session.log.samples.size());
    }));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));

    std::vector<std::string> wrong;
    std::map<std::string, PhaseCounts> phases;
    const auto stretches = read_python_stretches(path);
    EXPECT_GE(stretches.size(), 20u);
    for (const SampleEvent& sample : session.log.samples) {
        const ThreadInfo& thread = session.model().symbols().thread(sample.thread);
        if (thread.comm != "chains")
            continue;
        const auto stretch = std::ranges::find_if(stretches, [&](const PythonStretch& one) {
            return one.begin_ns <= sample.time_ns && sample.time_ns <= one.end_ns;
        });
        if (stretch == stretches.end())
            continue;
        PhaseCounts& counts = phases[stretch->phase];
        const PythonStack seen = look_at_java(session, sample.stack);
        const Agreement agreement = compare_java(seen, *stretch);
        counts.equal += agreement == Agreement::equal;
        counts.lacking += agreement == Agreement::lacking;
        counts.wrong += agreement == Agreement::wrong;
        if (agreement == Agreement::equal || wrong.size() >= 8)
            continue;
        std::string chain;
        for (const PythonFrame& frame : stretch->chain)
            chain += fmt::format("  {} {}:{}\n", frame.function, frame.file, frame.line);
        wrong.push_back(
            fmt::format("{}{}: {} ms after its begin, kind {}:\n{}but the chain was\n{}",
                        stretch->phase, agreement == Agreement::wrong ? "" : " (lacking)",
                        (sample.time_ns - stretch->begin_ns) / 1e6, static_cast<int>(sample.kind),
                        seen.text, chain));
    }
    PhaseCounts total;
    EXPECT_EQ(phases.size(), 20u);
    for (const auto& [phase, counts] : phases) {
        fmt::print("{}: {} equal, {} lacking, {} wrong\n", phase, counts.equal, counts.lacking,
                   counts.wrong);
        EXPECT_GE(counts.all(), 10u) << phase;
        EXPECT_EQ(counts.wrong, 0u) << phase;
        total.equal += counts.equal;
        total.lacking += counts.lacking;
        total.wrong += counts.wrong;
    }
    EXPECT_GE(total.equal * 100, total.all() * 99) << total.lacking << " lack frames";
    if (HasFailure())
        fmt::print("{}\n", fmt::join(wrong, "\n"));
    for (const char* cause : {"unreadable", "memory that could not be read in time"})
        EXPECT_EQ(session.lost(fmt::format("Java frames without a name: {}", cause)), 0u) << cause;
}

// In our own memory, where a method and all that it leads to is one object.
TEST(HotspotNamesTest, FramesWithoutNamesAreCountedByCause) {
    HotspotNames names;
    const auto text = [&](uint64_t first, uint64_t second) {
        return names.name(getpid(), first, second).frames.at(0).function;
    };
    std::vector<uint64_t> object(64);
    const auto address = reinterpret_cast<uint64_t>(object.data());
    object[0] = address;
    const auto half = static_cast<uint16_t>(address);
    const uint32_t cookie = wire_hotspot_method_cookie(address, address, half, half);
    const uint64_t method = WIRE_FRAME_HOTSPOT_BYTECODE | address;
    EXPECT_EQ(text(method, cookie), "[java: unreadable]"); // of no process that is known
    names.set_layout(getpid(), 0, std::make_shared<const HotspotLayout>());
    EXPECT_EQ(text(method, cookie ^ 1), "[java: gone before its name was read]");
    EXPECT_EQ(text(WIRE_FRAME_HOTSPOT_BYTECODE | 8, cookie), "[java: unreadable]");
    EXPECT_EQ(text(WIRE_FRAME_HOTSPOT_BYTECODE, 0), "[interpreter]");
    EXPECT_THAT(names.missing(), testing::ElementsAre(2u, 1u, 0u, 1u));
    EXPECT_EQ(names.memory_bytes(), 0u);
    names.end(getpid());
    EXPECT_EQ(text(method, cookie ^ 1), "[java: gone before its name was read]");
}

// Methods that are alike may come to one address, one after the other.
TEST(HotspotNamesTest, OfInterpretedMethodsAreReadAgain) {
    HotspotLayout layout;
    const auto set = [&](HotspotField field, uint64_t offset) {
        layout.values.fields[static_cast<size_t>(field)] = offset;
    };
    set(HotspotField::const_constants, 8);
    set(HotspotField::const_name, 16);
    set(HotspotField::const_code_size, 18);
    set(HotspotField::const_flags, 20);
    set(HotspotField::const_size, 24);
    set(HotspotField::pool_holder, 32);
    set(HotspotField::class_name, 40);
    set(HotspotField::class_constants, 48);
    set(HotspotField::pool_source_file, 56);
    set(HotspotField::pool_length, 60);
    set(HotspotField::symbol_length, 64);
    set(HotspotField::symbol_body, 66);
    layout.values.sizes[static_cast<size_t>(HotspotType::pool)] = 128;
    // One object for all, of which both names are the same text.
    std::vector<std::byte> object(256);
    const auto address = reinterpret_cast<uint64_t>(object.data());
    const auto put = [&](size_t at, auto value) {
        std::memcpy(object.data() + at, &value, sizeof value);
    };
    constexpr uint16_t name_index = 1, code_size = 20, length = 4;
    for (const size_t at : {0, 8, 32, 40, 48, 128 + 8 * name_index})
        put(at, address);
    put(16, name_index);
    put(18, code_size);
    put(60, int32_t{name_index + 1});
    put(64, length);
    const uint64_t method = WIRE_FRAME_HOTSPOT_BYTECODE | address;
    const uint32_t cookie = wire_hotspot_method_cookie(address, address, name_index, code_size);
    HotspotNames patient, names(0);
    for (HotspotNames* const each : {&patient, &names})
        each->set_layout(getpid(), 0, std::make_shared<const HotspotLayout>(layout));
    const auto text = [&](HotspotNames& from) {
        return from.name(getpid(), method, cookie).frames.at(0).function;
    };
    std::memcpy(object.data() + 66, "Till", length);
    EXPECT_EQ(text(patient), "Till.Till");
    EXPECT_EQ(text(names), "Till.Till");
    const size_t bytes = names.memory_bytes();
    std::memcpy(object.data() + 66, "Bank", length);
    EXPECT_EQ(text(patient), "Till.Till");
    EXPECT_EQ(text(names), "Bank.Bank");
    EXPECT_EQ(names.memory_bytes(), bytes);
    names.end(getpid());
    std::memcpy(object.data() + 66, "Shop", length);
    EXPECT_EQ(text(names), "Bank.Bank");
    EXPECT_THAT(names.missing(), testing::Each(0u));
}

// It is asked once HotSpot has started.
Result<std::optional<wire_thread_place>> no_search(bool&) {
    ADD_FAILURE();
    return std::optional<wire_thread_place>();
}

// Where HotSpot's tables would be there is nothing in this process, nor in its parent.
TEST(HotspotProcessesTest, ThatStartAreLookedAtAgain) {
    HotspotNames names;
    HotspotProcesses processes(-1, names);
    const std::array<uint64_t, 2> nothing{};
    const HotspotProcesses::Tables tables{reinterpret_cast<uint64_t>(&nothing[0]),
                                          reinterpret_cast<uint64_t>(&nothing[1])};
    const HotspotProcesses::Tables nowhere{8, 16};
    uint64_t now = clock_ns();
    const auto look = [&](pid_t pid) {
        now += 20 * second_ns;
        return processes.set(pid, 1, pid == getpid() ? tables : nowhere, now, no_search);
    };
    EXPECT_EQ(processes.starting(now), std::nullopt);
    ASSERT_TRUE(look(getpid()).ok());
    EXPECT_EQ(processes.starting(now), std::nullopt); // it was just looked at
    EXPECT_EQ(processes.starting(now + second_ns), getpid());
    ASSERT_TRUE(look(getpid()).ok());
    // One that was looked at less often goes first.
    ASSERT_TRUE(look(getppid()).ok());
    EXPECT_EQ(processes.starting(now + second_ns), getppid());
    processes.end(getppid(), now);
    // From 20 ms on, twice as long each time: from the tenth time on it is 10 s, and that is said.
    for (int looks = 3; looks < 10; looks++)
        EXPECT_TRUE(look(getpid()).ok()) << looks;
    const auto late = look(getpid());
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().cause, "they are not there yet");
    EXPECT_EQ(processes.starting(now + 20 * second_ns), getpid());
    EXPECT_EQ(processes.known(getpid()), nullptr);
    processes.end(getpid(), now);
    EXPECT_EQ(processes.starting(now + 20 * second_ns), std::nullopt);
}

// Tables that say so, and nothing else, in this process.
TEST(HotspotProcessesTest, OfAVersionThatIsNotKnownAreGivenUp) {
    struct StructEntry {
        const char *type, *field, *of;
        uint64_t is_static, offset;
        const void* address;
    };
    struct TypeEntry {
        const char *type, *super;
        uint64_t flags[2], size;
    };
    const int32_t version = 28;
    const std::array<StructEntry, 2> structs = {
        {{"Abstract_VM_Version", "_vm_major_version", "int", 1, 0, &version}, {}}};
    const TypeEntry types{};
    const auto* const structs_at = structs.data();
    const auto* const types_at = &types;
    HotspotNames names;
    HotspotProcesses processes(-1, names);
    const HotspotProcesses::Tables tables{reinterpret_cast<uint64_t>(&structs_at),
                                          reinterpret_cast<uint64_t>(&types_at)};
    for (int looks = 0; looks < 2; looks++) {
        const auto number = processes.set(getpid(), 1, tables, clock_ns(), no_search);
        ASSERT_FALSE(number.ok());
        EXPECT_EQ(number.error().subject, "of HotSpot 28");
    }
    EXPECT_EQ(processes.starting(clock_ns() + 20 * second_ns), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Modes, JavaFrames, testing::ValuesIn(java_modes()), name_of);

} // namespace
} // namespace auger::test
