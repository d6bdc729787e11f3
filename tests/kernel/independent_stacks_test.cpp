// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks beside those that another unwinder finds: programs are stopped wherever they happen to be,
// eu-stack (elfutils) says where every thread is, address by address, and auger's samples of that
// stop must say the same.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/run.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace auger::test {
namespace {

constexpr const char* eu_stack = "/usr/bin/eu-stack";

struct Subject {
    std::string name;
    std::string program; // of tests/programs, or a path
    std::vector<std::string> arguments;
};

void PrintTo(const Subject& subject, std::ostream* out) {
    *out << subject.name;
}

class IndependentStacks : public KernelTest, public testing::WithParamInterface<Subject> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        for (const std::string& path : {std::string(eu_stack), program()})
            if (!IsSkipped() && !std::filesystem::exists(path))
                GTEST_SKIP() << "not installed: " << path;
    }
    static std::string program() {
        const std::string& name = GetParam().program;
        return name.find('/') == std::string::npos ? program_path(name) : name;
    }
};

using Chain = std::vector<std::string>; // "file+0xaddress", innermost first

std::string place(const std::string& path, uint64_t address) {
    std::ostringstream text;
    text << std::filesystem::path(path).filename().string() << "+0x" << std::hex << address;
    return text.str();
}

// As linked: whether the file's addresses are those that it is mapped at.
bool mapped_as_linked(const std::string& path) {
    Elf64_Ehdr header = {};
    std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof(header));
    return header.e_type == ET_EXEC;
}

// By thread. Of a return address both name the byte before it.
std::map<uint32_t, Chain> by_eu_stack(pid_t pid) {
    const Outcome outcome = run({eu_stack, "-b", "-m", "-p", std::to_string(pid)});
    std::map<uint32_t, Chain> chains;
    Chain* chain = nullptr;
    std::string path;
    static const std::regex thread("TID (\\d+):"), frame("#\\d+ .* - (.+)"),
        address(" +\\[[0-9a-f]+\\]@0x([0-9a-f]+)\\+0x([0-9a-f]+)");
    std::istringstream lines(outcome.out);
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_match(line, match, thread))
            chain = &chains[static_cast<uint32_t>(std::stoul(match[1]))];
        else if (std::regex_match(line, match, frame))
            path = match[1];
        else if (std::regex_match(line, match, address) && chain)
            chain->push_back(
                place(path.starts_with("[vdso") ? "[vdso]" : path,
                      std::stoull(match[2], nullptr, 16) +
                          (mapped_as_linked(path) ? std::stoull(match[1], nullptr, 16) : 0)));
    }
    return chains;
}

// The native part of it: an interpreter's functions, which eu-stack does not know, are compared with
// what the interpreter says of itself elsewhere.
Chain by_auger(const Model& model, StackId stack) {
    Chain chain;
    for (const LocationId id : model.symbols().stack(stack)) {
        const Location location = model.symbols().location(id);
        const ModuleInfo& module = model.symbols().module(location.module);
        if (module.kind == ModuleKind::file || module.kind == ModuleKind::vdso)
            chain.push_back(place(module.path, location.address - location.is_return));
        else if (module.kind != ModuleKind::kernel && module.kind != ModuleKind::syscall &&
                 module.kind != ModuleKind::python)
            chain.push_back(module.path);
    }
    return chain;
}

bool stopped(pid_t pid) {
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        std::ifstream file(thread.path() / "stat");
        std::string text;
        std::getline(file, text);
        const size_t state = text.rfind(')') + 2;
        if (state >= text.size() || text[state] != 'T')
            return false;
    }
    return true;
}

TEST_P(IndependentStacks, AreThoseOfAuger) {
    Program program(GetParam().program, GetParam().arguments);
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    constexpr uint32_t rate_hz = 499;
    constexpr uint64_t period_ns = 1'000'000'000 / rate_hz;
    must(session.backend().set_sampling({rate_hz, true}));
    ASSERT_TRUE(session.pump_until([&] {
        return session.backend().unwind_status().pending.empty() &&
               session.model().samples().size() > 100;
    }));
    size_t compared = 0;
    std::set<uint32_t> seen;
    std::map<uint32_t, Chain> stopped_in;
    constexpr int stops = 12;
    for (int i = 0; i < stops; i++) {
        const size_t before = session.log.samples.size();
        program.signal(SIGSTOP);
        ASSERT_TRUE(session.pump_until([&] { return stopped(program.pid()); }));
        const uint64_t from = session.backend().now_ns();
        const std::map<uint32_t, Chain> truth = by_eu_stack(program.pid());
        ASSERT_GT(truth.size(), 0u);
        // It lets go of a stopped process with another SIGSTOP, which comes before any instruction.
        ASSERT_TRUE(session.pump_until([&] { return stopped(program.pid()); }));
        const uint64_t until = session.backend().now_ns();
        program.signal(SIGCONT);
        // A wait has as many periods as there were ticks in it, one at a random moment of each
        // period of the thread's clock: of n ticks the first may come at the end of its period and
        // the last at the begin of its own, n - 2 periods later, so it is shorter than it seems by
        // up to two. Those that began before the end of the stop and ended after it was complete
        // are of nothing else.
        const auto in_stop = [&](const SampleEvent& sample) {
            return sample.kind == SampleKind::blocked && sample.time_ns >= from &&
                   sample.time_ns - sample.weight_ns + 2 * period_ns <= until;
        };
        const auto thread_of = [&](const SampleEvent& sample) {
            return session.model().symbols().thread(sample.thread);
        };
        // What a thread waited in the stop is told when it runs again. One that is then kept off
        // the CPU for longer than the stop was has a sample that may as well be of later, and it
        // may have had no tick: in one stop or another each thread has one.
        ASSERT_TRUE(session.pump_until([&] {
            return std::ranges::any_of(session.log.samples, [&](const SampleEvent& sample) {
                return sample.time_ns >= until + 20 * period_ns;
            });
        }));
        for (const auto& [tid, chain] : truth)
            stopped_in.try_emplace(tid, chain);
        for (size_t at = before; at < session.log.samples.size(); at++) {
            const SampleEvent& sample = session.log.samples[at];
            const ThreadInfo thread = thread_of(sample);
            if (!in_stop(sample) || !truth.contains(thread.tid))
                continue;
            EXPECT_EQ(by_auger(session.model(), sample.stack), truth.at(thread.tid))
                << "thread " << thread.tid << ", " << thread.comm;
            seen.insert(thread.tid);
            compared++;
        }
        if (HasFailure())
            break;
    }
    EXPECT_GE(compared, size_t{stops});
    for (const auto& [tid, chain] : stopped_in)
        EXPECT_TRUE(seen.contains(tid))
            << "no sample of thread " << tid << ", in " << testing::PrintToString(chain);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, IndependentStacks,
    testing::Values(Subject{"demo_service_o2", "demo_service_o2", {"--seconds", "100"}},
                    Subject{"stuck", "stuck", {}},
                    Subject{"spinner", "spinner", {"--seconds", "100"}},
                    Subject{"python",
                            "/usr/bin/python3",
                            {"-c", "print('ready', flush=True)\n"
                                   "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\n"
                                   "while True: sorted([f(12), 1], key=lambda x: f(x % 9))\n"}}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
