// SPDX-License-Identifier: GPL-3.0-or-later
// CPython's frames in samples, held against a program that knows its own chain of calls. Debian's
// Python always; others: AUGER_PYTHONS=/path/to/python3.14:/path/to/python3.15.
#include "bpf/unwind_table.h"
#include "bpf/wire/python.h"
#include "loader/kernel/named_room.h"
#include "loader/kernel/python_names.h"
#include "tests/kernel/program.h"
#include "tests/kernel/python_chains.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

namespace auger::test {
namespace {

using std::chrono::seconds;

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/python_chains.py";

class PythonFrames : public KernelTest, public testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(GetParam()))
            GTEST_SKIP() << GetParam() << " is not installed";
    }
    // Until a table is there, stacks through its module are cut, and Python's frames are not known.
    static void await_tables(Session& session) {
        ASSERT_TRUE(
            session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    }
};

// Up to 3.10 each call of Python's has native frames of its own, and sleeps by select().
bool is_before_311(const std::string& python) {
    return std::system(
               (python + " -c 'import sys; sys.exit(sys.version_info < (3, 11))'").c_str()) != 0;
}

TEST_P(PythonFrames, AreTheProgramsOwnChains) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    // What a child executes is another Python where there is one.
    const std::string other = GetParam() == pythons().front() ? pythons().back() : GetParam();
    Program program(GetParam(), {program_source, path, other});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    must(session.backend().set_sampling({.rate_hz = 999, .wall = true}));
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".executes"); }));
    // Until all is delivered: what executes another program takes its names with it.
    ASSERT_TRUE(session.pump_until([&, before = size_t{0}]() mutable {
        return session.log.samples.size() == std::exchange(before, session.log.samples.size());
    }));
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    must(session.backend().set_sampling({}));
    must(session.backend().refresh()); // names go with the process
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));

    std::vector<std::string> wrong;
    const auto stretches = read_python_stretches(path);
    const auto phases = count_phases(session, stretches, wrong);
    EXPECT_EQ(phases.size(), 37u);
    PhaseCounts total;
    for (const auto& [phase, counts] : phases) {
        fmt::print("{}: {} equal, {} lacking, {} wrong\n", phase, counts.equal, counts.lacking,
                   counts.wrong);
        EXPECT_GE(counts.all(), 20u) << phase;
        EXPECT_EQ(counts.wrong, 0u) << phase;
        // Another Python's file is read first, and its samples until then say so. What is deeper
        // than can be kept does, too.
        if ((phase == "exec" && other != GetParam()) || phase == "deep recursion")
            continue;
        total.equal += counts.equal;
        total.lacking += counts.lacking;
        total.wrong += counts.wrong;
    }
    EXPECT_GE(total.equal * 100, total.all() * 99) << total.lacking << " lack frames";
    EXPECT_EQ(wrong.size(), 0u) << fmt::format("{}", fmt::join(wrong, "\n"));

    const auto deep = std::ranges::find(stretches, "deep recursion", &PythonStretch::phase);
    ASSERT_NE(deep, stretches.end());
    // A stack has 1,024 words: two of them for each call, and then those of at most four native
    // frames.
    const size_t kept = is_before_311(GetParam()) ? 1024 / 6 : 450;
    for (const SampleEvent& sample : session.log.samples) {
        if (session.model().symbols().thread(sample.thread).tid != deep->tid ||
            sample.time_ns < deep->begin_ns || sample.time_ns > deep->end_ns)
            continue;
        const PythonStack seen = look_at_python(session, sample.stack);
        EXPECT_TRUE(seen.cut && seen.chain.size() > kept && is_innermost_part(seen, *deep))
            << seen.chain.size() << "\n"
            << seen.text;
    }
}

// Interpreters have their newest threads first, and one walk looks through 512 of them.
TEST_P(PythonFrames, OfTheOldestOfManyThreadsAreFound) {
    constexpr int threads = 1'200;
    Program program(GetParam(), {AUGER_SOURCE_DIR "/tests/programs/python_threads.py",
                                 std::to_string(threads)});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    must(session.backend().set_sampling({.rate_hz = 999}));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));
    size_t known = 0, unknown = 0;
    for (const SampleEvent& sample : session.log.samples) {
        if (session.model().symbols().thread(sample.thread).tid !=
            static_cast<uint32_t>(program.pid()))
            continue;
        const PythonStack seen = look_at_python(session, sample.stack);
        // It begins in readline(), and ends in the interpreter's end, which is no function's.
        if (std::ranges::find(seen.chain, "work", &PythonFrame::function) != seen.chain.end()) {
            known++;
        } else if (known == 0 && seen.chain.empty()) {
            EXPECT_TRUE(seen.cut) << seen.text;
            unknown++;
        }
    }
    EXPECT_GE(known, 1'000u);
    EXPECT_GE(unknown, threads / WIRE_PYTHON_THREADS - 1u);
    EXPECT_LE(unknown, threads / WIRE_PYTHON_THREADS + 0u);
}

// What Python calls in C is timed, and its callers are Python's functions.
TEST_P(PythonFrames, AreTheCallersOfSlowCalls) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    Program program(GetParam(), {program_source, path});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    session.time(is_before_311(GetParam()) ? "libc:select" : "libc:clock_nanosleep",
                 {Threshold::Kind::fixed, 1, 0});
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));

    const auto stretches = read_python_stretches(path);
    std::map<std::string, PhaseCounts> phases;
    for (const SlowCall& call : session.model().slow_calls()) {
        const ThreadInfo& thread = session.model().symbols().thread(call.end.thread);
        const auto stretch = std::ranges::find_if(stretches, [&](const PythonStretch& one) {
            return one.tid == thread.tid && one.begin_ns <= call.end.call.start_ns &&
                   call.end.time_ns <= one.end_ns;
        });
        if (stretch == stretches.end())
            continue;
        PhaseCounts& counts = phases[stretch->phase];
        const PythonStack seen = look_at_python(session, call.stack);
        const Agreement agreement = compare(seen, *stretch);
        counts.equal += agreement == Agreement::equal;
        counts.lacking += agreement == Agreement::lacking;
        EXPECT_NE(agreement, Agreement::wrong) << stretch->phase << "\n" << seen.text;
    }
    // The thread that feeds another one sleeps in no stretch.
    for (const auto& [phase, calls] : std::map<std::string, uint64_t>{
             {"sleep", 40}, {"thread sleeps", 40}, {"short thread", 200}}) {
        EXPECT_EQ(phases[phase].all(), calls) << phase;
        EXPECT_GE(phases[phase].equal * 100, calls * 99) << phase;
    }
    for (const char* cause :
         {"unreadable", "gone before it was read", "memory that could not be read in time"})
        EXPECT_EQ(session.lost(fmt::format("Python frames without a name: {}", cause)), 0u);
}

// Code objects of 3.11 in our own memory, with a table of lines of a megabyte for all of them.
class PythonNamesTest : public testing::Test {
  protected:
    struct alignas(16) Object {
        char bytes[256] = {};
        void put(uint32_t offset, uint64_t word) {
            std::memcpy(bytes + offset, &word, sizeof word);
        }
        uint64_t address() const { return reinterpret_cast<uint64_t>(bytes); }
    };

    void SetUp() override {
        const auto layout = python_layout(0x030b07f0, {});
        ASSERT_TRUE(layout.ok());
        layout_ = std::make_shared<const PythonLayout>(*layout);
        text_.put(layout->objects.text_length, 4);
        text_.put(layout->objects.text_state, 1u << 2 | 1u << 5 | 1u << 6);
        std::strcpy(text_.bytes + layout->objects.text_ascii, "name");
        lines_[layout->objects.bytes_length / sizeof(uint64_t)] = 1 << 20;
        for (uint32_t i = 0; i < codes_.size(); i++) {
            codes_[i].put(layout->frames.code_line, i + 1);
            codes_[i].put(layout->frames.code_file, text_.address());
            codes_[i].put(layout->frames.code_name, text_.address());
            codes_[i].put(layout->frames.code_lines, reinterpret_cast<uint64_t>(lines_.data()));
        }
        names_.set_layout(getpid(), 0, PythonProcess{layout_, 0});
    }
    // Of a function that begins at line i + 1.
    const Frame& frame(uint32_t i) {
        const uint32_t cookie = wire_python_cookie(i + 1, text_.address(), text_.address(),
                                                   reinterpret_cast<uint64_t>(lines_.data()), 0);
        return names_
            .name(getpid(), {WIRE_FRAME_PYTHON | codes_[i].address(),
                             uint64_t{WIRE_PYTHON_NO_OFFSET} << 32 | cookie})
            .frame;
    }

    std::shared_ptr<const PythonLayout> layout_;
    Object text_;
    std::vector<uint64_t> lines_ = std::vector<uint64_t>((1 << 20) / sizeof(uint64_t) + 64);
    std::vector<Object> codes_ = std::vector<Object>(100);
    PythonNames names_;
};

TEST_F(PythonNamesTest, OfOneProcessAreBounded) {
    for (uint32_t i = 0; i < codes_.size(); i++) {
        EXPECT_EQ(frame(i).function, "name");
        EXPECT_EQ(frame(i).line, i + 1);
        EXPECT_LT(names_.memory_bytes(), PythonNames::most_bytes_of_process + (2 << 20));
    }
    EXPECT_GT(names_.memory_bytes(), size_t{1} << 20);
    EXPECT_THAT(names_.missing(), testing::Each(0u));
}

// Its end is known before its last records are taken in.
TEST_F(PythonNamesTest, OfAProcessThatHasEndedAreKnown) {
    EXPECT_EQ(frame(0).line, 1u);
    names_.end(getpid());
    EXPECT_EQ(frame(0).line, 1u);
    EXPECT_THAT(names_.missing(), testing::Each(0u));
    // Another one has its number now.
    codes_[0].put(layout_->frames.code_line, 2);
    names_.set_layout(getpid(), 0, PythonProcess{layout_, 0});
    EXPECT_EQ(frame(0).function, "[python: gone before its name was read]");
    EXPECT_EQ(names_.missing()[static_cast<size_t>(FunctionProblem::gone)], 1u);
}

TEST(NamedRoom, IsAUsersOwn) {
    NamedRoom room(100);
    EXPECT_TRUE(room.take(getpid(), 60));
    EXPECT_FALSE(room.take(getpid(), 41));
    EXPECT_TRUE(room.take(getpid(), 40));
    EXPECT_FALSE(room.take(getpid(), 1));
    EXPECT_TRUE(room.take(INT32_MAX, 60)) << "of a process that is gone";
    EXPECT_EQ(room.refused(), 2u);
}

// A stack of fake_python's without what looks like Python's frames, outermost first.
std::vector<std::string> native_names(Session& session, StackId stack) {
    const SymbolTables& symbols = session.model().symbols();
    std::vector<std::string> names;
    for (const LocationId location : symbols.stack(stack)) {
        const auto kind = symbols.module(symbols.location(location).module).kind;
        if (kind == ModuleKind::file || kind == ModuleKind::cut)
            for (const FrameEntry& frame : symbols.found_frames(location))
                names.emplace_back(symbols.name(frame.function));
    }
    std::ranges::reverse(names);
    return names;
}

class FalsePython : public KernelTest {
  protected:
    // Of fake_python's threads, those whose outermost frame points to what cannot be read.
    static bool has_unreadable_frames(std::string_view thread) {
        return thread == "cframes" || thread == "kernel" || thread == "unmapped";
    }
    // Whether a stack that lacks frames of Python says so, and why. That of a thread whose chain
    // changes under the walk may lack them either way, or none.
    static bool is_cut_as_it_should(const std::string& outermost, std::string_view thread) {
        const bool changes = thread == "changes";
        return (outermost == "[stack cut: deeper than can be kept]" &&
                (changes || thread == "circle")) ||
               (outermost == "[stack cut: unreadable stack]" &&
                (changes || has_unreadable_frames(thread)));
    }
};

TEST_F(FalsePython, CostsItsOwnFramesOnly) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    Program fake("fake_python", {});
    fake.wait_ready();
    Program real(pythons().front(), {program_source, path});
    real.wait_ready();
    Session session;
    session.observe(std::vector{fake.pid(), real.pid()});
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    must(session.backend().set_sampling({.rate_hz = 999, .wall = true, .tasks = true}));
    real.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    must(session.backend().set_sampling({}));
    must(session.backend().refresh()); // names go with the processes
    fake.go();
    real.go();
    session.pump_to_end();
    const nlohmann::json account = fake.account();
    EXPECT_GT(account["least"].get<uint64_t>(), 0u);
    EXPECT_EQ(fake.wait_exit(), 0);
    EXPECT_EQ(real.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));
    EXPECT_EQ(session.lost("records: malformed"), 0u);

    std::map<std::string, PhaseCounts> workers; // equal: native stacks are whole
    std::map<std::string, uint64_t> frames;     // the most that look like Python's
    for (const SampleEvent& sample : session.log.samples) {
        const ThreadInfo& thread = session.model().symbols().thread(sample.thread);
        auto names = native_names(session, sample.stack);
        if (thread.pid != static_cast<uint32_t>(fake.pid()) ||
            std::ranges::find(names, "work") == names.end())
            continue;
        const PythonStack seen = look_at_python(session, sample.stack);
        frames[thread.comm] = std::max<uint64_t>(frames[thread.comm], seen.chain.size());
        PhaseCounts& counts = workers[thread.comm];
        if (is_cut_as_it_should(names.front(), thread.comm)) {
            counts.lacking++; // of Python's only
            names.erase(names.begin());
        }
        if (names.size() >= 4 && names[1] == "start_thread" && names[2] == "run" &&
            names[3] == "work") {
            counts.equal++;
        } else {
            ADD_FAILURE() << thread.comm << "\n" << seen.text;
        }
        const bool has_task = seen.text.find("[task fake.fake 0x") != std::string::npos;
        EXPECT_EQ(has_task, thread.comm == "tasks") << seen.text;
        if (thread.comm == "deep" || thread.comm == "tasks") {
            EXPECT_TRUE(seen.placed);
            EXPECT_EQ(seen.chain, std::vector(64, PythonFrame{"fake", "fake.py", 7}));
        }
    }
    EXPECT_EQ(workers.size(), 10u);
    for (const auto& [name, counts] : workers) {
        fmt::print("{}: {} whole, {} cut; at most {} frames\n", name, counts.equal, counts.lacking,
                   frames[name]);
        EXPECT_GE(counts.equal, 20u) << name;
        if (name != "changes") {
            const bool always = name == "circle" || has_unreadable_frames(name);
            EXPECT_EQ(counts.lacking, always ? counts.equal : 0) << name;
        }
    }

    std::vector<std::string> wrong;
    PhaseCounts total;
    for (const auto& [phase, counts] : count_phases(session, read_python_stretches(path), wrong)) {
        EXPECT_GE(counts.all(), 20u) << phase;
        if (phase == "deep recursion")
            continue;
        total.equal += counts.equal;
        total.lacking += counts.lacking;
        for (const auto& [cause, count] : counts.causes)
            total.causes[cause] += count;
    }
    EXPECT_GE(total.equal * 100, total.all() * 99) << testing::PrintToString(total.causes);
    EXPECT_EQ(wrong.size(), 0u) << fmt::format("{}", fmt::join(wrong, "\n"));
}

INSTANTIATE_TEST_SUITE_P(Interpreters, PythonFrames, testing::ValuesIn(pythons()),
                         [](const auto& info) {
                             std::string name = info.param.substr(info.param.rfind('/') + 1);
                             for (char& letter : name)
                                 letter = std::isalnum(letter) ? letter : '_';
                             return name;
                         });

} // namespace
} // namespace auger::test
