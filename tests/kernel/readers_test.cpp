// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that read files for auger are killed at any moment: nothing that was counted is lost,
// and names and stacks come all the same.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/children.h"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <thread>

namespace auger::test {
namespace {

using std::chrono::milliseconds;

class Readers : public KernelTest {};

bool is_called(pid_t pid, std::string_view name) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string comm;
    return std::getline(file, comm) && comm == name;
}

// Kills a launcher's children, and now and then the launcher.
class Killer {
  public:
    explicit Killer(unsigned seed) : random_(seed), thread_([this] { run(); }) {}
    ~Killer() {
        stop_ = true;
        thread_.join();
    }
    static inline std::atomic<unsigned> killed{0};

  private:
    void run() {
        for (int round = 0; !stop_ && round < 15; round++) {
            std::this_thread::sleep_for(milliseconds(random_() % 25));
            for (const pid_t launcher : children_of(getpid())) {
                if (!is_called(launcher, "auger-readers"))
                    continue;
                for (const pid_t reader : children_of(launcher))
                    killed += kill(reader, SIGKILL) == 0;
                if (random_() % 4 == 0)
                    killed += kill(launcher, SIGKILL) == 0;
            }
        }
    }
    std::mt19937 random_;
    std::atomic<bool> stop_{false};
    std::thread thread_; // last: it uses the others
};

TEST_F(Readers, ThatAreKilledCostNeitherCallsNorSamplesNorNames) {
    // How many a round kills depends on how long readers live; how many were killed is what
    // matters.
    Killer::killed = 0;
    for (unsigned rounds = 0; Killer::killed < 50; rounds++) {
        Program program("spinner", {"--threads", "2", "--seconds", "0.3", "--wait"});
        program.wait_ready();
        Session session;
        ProbeId probe{};
        {
            const Killer killer(rounds);
            session.observe(program.pid());
            probe = session.time("hot");
            session.sample(999);
            program.go();
            session.pump_to_end();
        }
        const nlohmann::json truth = program.account();
        EXPECT_EQ(program.wait_exit(), 0);
        uint64_t hot = 0;
        for (const auto& thread : truth["threads"])
            hot += thread["hot"]["calls"].get<uint64_t>();
        EXPECT_EQ(session.calls(probe).returns, hot);
        EXPECT_EQ(session.calls(probe).entries, hot);
        session.expect_samples_add_up();
        session.backend().settle_symbols(std::chrono::seconds(60));
        EXPECT_EQ(session.backend().symbol_progress().pending, 0u);
        // All names are there; a stack was cut only where its sample came while there was no table.
        const SampleStore& store = session.model().samples();
        ASSERT_GT(store.size(), 0u);
        size_t named = 0;
        for (size_t i = 0; i < store.size(); i++) {
            const auto names = session.stack_names(store.stacks()[i]);
            named += std::ranges::any_of(names, [](const std::string& name) {
                return name == "spin_slice" || name == "hot" || name == "main" ||
                       name.starts_with("[stack cut");
            });
        }
        EXPECT_GT(named, 0.9 * static_cast<double>(store.size()));
    }
}

} // namespace
} // namespace auger::test
