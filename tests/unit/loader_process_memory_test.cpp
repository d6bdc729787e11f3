// SPDX-License-Identifier: GPL-3.0-or-later
// Words of another process's memory: at any address, whether it can be read or not.
#include "loader/process/paged_memory.h"
#include "loader/process/process_memory.h"

#include "loader/base/fd.h"
#include "loader/process/proc_info.h"
#include "loader/process/run_in_time.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace auger {
namespace {

constexpr size_t page = 4096;

// Two pages of numbers, each word its index, and a third that cannot be read.
class Words : public testing::Test {
  protected:
    Words()
        : memory_(
              mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        for (uint64_t i = 0; i < 2 * page / sizeof(uint64_t); i++)
            words()[i] = i;
        mprotect(static_cast<char*>(memory_) + 2 * page, page, PROT_NONE);
    }
    ~Words() override { munmap(memory_, 3 * page); }
    uint64_t* words() const { return static_cast<uint64_t*>(memory_); }
    uint64_t at(size_t offset) const { return reinterpret_cast<uint64_t>(memory_) + offset; }

    void* memory_;
};

TEST_F(Words, AreReadPageByPage) {
    PagedMemory memory(getpid());
    uint64_t word = 0, crossing = 0;
    std::memcpy(&crossing, static_cast<char*>(memory_) + page - 3, sizeof crossing);
    EXPECT_TRUE(memory.read(at(page - 3), &word, sizeof word));
    EXPECT_EQ(word, crossing);
    // All or nothing, and as it was when it was first asked for.
    EXPECT_FALSE(memory.read(at(2 * page - 3), &word, sizeof word));
    mprotect(static_cast<char*>(memory_) + 2 * page, page, PROT_READ);
    EXPECT_FALSE(memory.read(at(2 * page), &word, sizeof word));
    words()[0] = 77;
    EXPECT_TRUE(memory.read(at(0), &word, sizeof word));
    EXPECT_EQ(word, 0u);
    EXPECT_FALSE(memory.late());
}

TEST_F(Words, AreReadForAsLongAsIsAllowed) {
    PagedMemory memory(getpid());
    uint64_t word = 0;
    memory.allow(60'000'000'000);
    EXPECT_TRUE(memory.read(at(8), &word, sizeof word));
    memory.allow(0);
    usleep(1);
    EXPECT_FALSE(memory.read(at(page), &word, sizeof word));
    EXPECT_TRUE(memory.late());
    EXPECT_TRUE(memory.read(at(8), &word, sizeof word)); // it is here
    EXPECT_EQ(word, 1u);
}

TEST_F(Words, AreReadUpwardsDownwardsAndAnywhere) {
    ProcessMemory memory(getpid());
    constexpr size_t count = 2 * page / sizeof(uint64_t);
    for (size_t i = 0; i < count; i++)
        ASSERT_EQ(memory.word(at(i * sizeof(uint64_t))), i);
    for (size_t i = count; i-- > 0;)
        ASSERT_EQ(memory.word(at(i * sizeof(uint64_t))), i);
    for (size_t i = 0; i < count; i++)
        ASSERT_EQ(memory.word(at(i * 37 % count * sizeof(uint64_t))), i * 37 % count);
    uint64_t crossing;
    std::memcpy(&crossing, reinterpret_cast<char*>(memory_) + page - 3, sizeof(crossing));
    EXPECT_EQ(memory.word(at(page - 3)), crossing);
}

TEST_F(Words, OfSeveralRangesAreReadTogetherOrNotAtAll) {
    uint64_t first = 0, last = 0;
    std::array<uint64_t, 3> inner = {};
    const auto bytes = [](auto& of) { return std::as_writable_bytes(std::span(&of, 1)); };
    const auto read = [&](uint64_t inner_at) {
        const MemoryRange ranges[] = {{at(16), bytes(first)},
                                      {inner_at, std::as_writable_bytes(std::span(inner))},
                                      {at(8), bytes(last)}};
        return read_process_memory(getpid(), ranges);
    };
    EXPECT_EQ(read(at(page - 8)), MemoryRead::whole);
    EXPECT_EQ(first, 2u);
    EXPECT_EQ(inner, (std::array<uint64_t, 3>{511, 512, 513}));
    EXPECT_EQ(last, 1u);
    first = 0;
    EXPECT_EQ(read(at(2 * page - 8)), MemoryRead::unreadable);
    EXPECT_EQ(first, 0u);
}

TEST_F(Words, EndWhereMemoryCannotBeRead) {
    ProcessMemory memory(getpid());
    EXPECT_EQ(memory.word(at(2 * page - 8)), 2 * page / 8 - 1);
    EXPECT_EQ(memory.word(at(2 * page)), std::nullopt);
    EXPECT_EQ(memory.word(at(2 * page - 4)), std::nullopt);
    EXPECT_EQ(memory.word(at(2 * page - 8)), 2 * page / 8 - 1);
    for (const uint64_t address : {uint64_t{0}, uint64_t{8}, uint64_t{1} << 63, ~uint64_t{7},
                                   ~uint64_t{0}, ~uint64_t{1023}, ~uint64_t{4095}})
        EXPECT_EQ(memory.word(address), std::nullopt) << address;
}

TEST_F(Words, AreThoseOfNowToANewReader) {
    ProcessMemory memory(getpid());
    EXPECT_EQ(memory.word(at(8)), 1u);
    words()[1] = 77;
    EXPECT_EQ(ProcessMemory(getpid()).word(at(8)), 77u);
}

TEST(ProcessMemory, OfAProcessThatIsGoneCannotBeRead) {
    static const uint64_t here = 5;
    EXPECT_EQ(ProcessMemory(getpid()).word(reinterpret_cast<uint64_t>(&here)), 5u);
    EXPECT_EQ(ProcessMemory(0x7ffffff0).word(reinterpret_cast<uint64_t>(&here)), std::nullopt);
}

TEST(ProcessMemory, IsThereWhenTheFirstThreadHasEnded) {
    static uint64_t word = 5;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        word = 6;
        std::thread([pipe = ends[1]] {
            (void)!write(pipe, "x", 1);
            pause();
        }).detach();
        syscall(SYS_exit, 0);
    }
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    for (int i = 0; i < 10'000 && living_thread(pid) == pid; i++)
        usleep(1000);
    EXPECT_EQ(ProcessMemory(pid).word(reinterpret_cast<uint64_t>(&word)), 6u);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
}

// Of so many pages, those that are one process's alone: proc_pid_pagemap(5).
size_t pages_of_its_own(pid_t pid, const void* from, size_t pages) {
    constexpr uint64_t is_exclusive = uint64_t{1} << 56;
    const UniqueFd file(open(("/proc/" + std::to_string(pid) + "/pagemap").c_str(), O_RDONLY));
    std::vector<uint64_t> entries(pages);
    const auto bytes = static_cast<ssize_t>(pages * sizeof(uint64_t));
    EXPECT_EQ(pread(file.get(), entries.data(), static_cast<size_t>(bytes),
                    static_cast<off_t>(reinterpret_cast<uint64_t>(from) / page * sizeof(uint64_t))),
              bytes);
    return static_cast<size_t>(
        std::ranges::count_if(entries, [](uint64_t entry) { return entry & is_exclusive; }));
}

// Each worker of a server would otherwise have a copy of all that is read in it.
TEST(ProcessMemory, ThatForkedProcessesShareTheyStillShareWhenItWasRead) {
    constexpr size_t pages = 64, words = pages * page / sizeof(uint64_t);
    auto* const memory = static_cast<uint64_t*>(
        mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (size_t i = 0; i < words; i++)
        memory[i] = i;
    EXPECT_EQ(pages_of_its_own(getpid(), memory, pages), pages);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    std::vector<uint64_t> read(words);
    EXPECT_EQ(
        read_process_memory(child, reinterpret_cast<uint64_t>(memory), read.data(), pages * page),
        MemoryRead::whole);
    EXPECT_TRUE(std::ranges::equal(read, std::span(memory, words)));
    EXPECT_EQ(pages_of_its_own(child, memory, pages), 0u);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    munmap(memory, pages * page);
}

// A page that userfaultfd(2) fills, when somebody wants to.
class ServedPage {
  public:
    ServedPage() : faults_(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC))) {
        uffdio_api api{};
        api.api = UFFD_API;
        void* page =
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        address_ = reinterpret_cast<uint64_t>(page);
        uffdio_register range{};
        range.range = {address_, size_};
        range.mode = UFFDIO_REGISTER_MODE_MISSING;
        usable_ = faults_ && page != MAP_FAILED && ioctl(faults_.get(), UFFDIO_API, &api) == 0 &&
                  ioctl(faults_.get(), UFFDIO_REGISTER, &range) == 0;
    }
    ~ServedPage() { munmap(reinterpret_cast<void*>(address_), size_); }
    bool usable() const { return usable_; }
    uint64_t address() const { return address_; }
    void fill() {
        uffdio_zeropage zero{};
        zero.range = {address_, size_};
        ioctl(faults_.get(), UFFDIO_ZEROPAGE, &zero);
    }

  private:
    static constexpr size_t size_ = 4096;
    UniqueFd faults_;
    uint64_t address_ = 0;
    bool usable_ = false;
};

TEST(ProcessMemory, ThatItsOwnerKeepsBackHoldsNobodyUp) {
    ServedPage served;
    if (!served.usable())
        GTEST_SKIP() << "userfaultfd is for root here";
    ProcessMemory memory(getpid());
    const uint64_t other = 5, at = reinterpret_cast<uint64_t>(&other);
    EXPECT_EQ(memory.word(served.address()), std::nullopt);
    EXPECT_TRUE(memory.late());
    EXPECT_EQ(memory.word(at), std::nullopt); // it is not asked again
    ProcessMemory again(getpid());
    EXPECT_EQ(again.word(at), 5u);
    EXPECT_FALSE(again.late());
    // Filled at last, it is read by who has waited all the time, and by who comes.
    served.fill();
    EXPECT_EQ(ProcessMemory(getpid()).word(served.address()), 0u);
}

// What wants for nothing but a CPU is no owner's doing: it is waited for, however short CPUs are.
TEST(RunInTime, WaitsForWhatWaitsForACpuAlone) {
    EXPECT_TRUE(run_in_time(getpid(), [] {
        const auto cpu_ns = [] {
            timespec now{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
            return now.tv_sec * 1'000'000'000 + now.tv_nsec;
        };
        while (cpu_ns() < 300'000'000) // thrice as long as anything else is waited for
            ;
    }));
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_FALSE(run_in_time(getpid(), [end = ends[0]] {
        char byte = 0;
        (void)!read(end, &byte, 1);
    }));
    EXPECT_EQ(write(ends[1], "", 1), 1); // the thread ends
}

// Processes that wait to be killed.
class Sleepers {
  public:
    ~Sleepers() {
        for (const pid_t pid : pids_) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
    }
    pid_t start(uid_t user) {
        int ready[2];
        if (pipe(ready) != 0)
            return -1;
        const pid_t pid = fork();
        if (pid == 0) {
            if (user != getuid() && setuid(user) != 0)
                _exit(1);
            (void)!write(ready[1], "", 1);
            close_range(3, ~0u, 0); // they are the test's to close
            for (;;)
                pause();
        }
        char byte = 0;
        (void)!read(ready[0], &byte, 1);
        close(ready[0]);
        close(ready[1]);
        pids_.push_back(pid);
        return pid;
    }

  private:
    std::vector<pid_t> pids_;
};

// A user who lets all wait takes it from nobody else.
TEST(RunInTime, IsNotTakenFromOthersByOneUser) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const auto wait = [end = ends[0]] {
        char byte = 0;
        (void)!read(end, &byte, 1);
    };
    Sleepers sleepers;
    pid_t last = 0;
    for (int process = 0; process < most_out_of_user / most_out_of_process; process++) {
        last = sleepers.start(getuid());
        for (int i = 0; i < most_out_of_process; i++)
            EXPECT_FALSE(run_in_time(last, wait));
        EXPECT_FALSE(run_in_time(last, [] {})) << "it has had its share";
    }
    EXPECT_FALSE(run_in_time(sleepers.start(getuid()), [] {})) << "the user has";
    constexpr uid_t nobody = 65534;
    EXPECT_TRUE(run_in_time(getuid() == 0 ? sleepers.start(nobody) : 1, [] {}));
    // They end, and all is as it was.
    close(ends[1]);
    const auto threads = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
    };
    while (!run_in_time(last, [] {}))
        std::this_thread::yield();
    const auto idle = threads();
    for (int i = 0; i < 100; i++)
        EXPECT_TRUE(run_in_time(last, [] {}));
    EXPECT_LE(threads(), idle);
    close(ends[0]);
}

TEST(RunInTime, MayBeCalledByWhatItRuns) {
    bool ran = false;
    EXPECT_TRUE(
        run_in_time(getpid(), [&] { EXPECT_TRUE(run_in_time(getpid(), [&] { ran = true; })); }));
    EXPECT_TRUE(ran);
}

// Who holds what is waited for may have no CPU: the more want one, the longer it takes.
TEST(RunInTime, WaitsLongerWhereCpusAreShort) {
    EXPECT_EQ(turns_of_patience("0.20 0.18 0.12 1/200 5000", 2), 1);
    EXPECT_EQ(turns_of_patience("0.20 0.18 0.12 2/200 5000", 2), 1);
    EXPECT_EQ(turns_of_patience("16.5 12.0 7.37 13/200 5000", 2), 7);
    EXPECT_EQ(turns_of_patience("16.5 12.0 7.37 13/200 5000", 64), 1);
    EXPECT_EQ(turns_of_patience("900 900 900 4000/5000 5000", 2), 20) << "two seconds at most";
    for (const char* unknown : {"", "0.20", "a b c d e", "0 0 0 -5/3 1"})
        EXPECT_EQ(turns_of_patience(unknown, 2), 1) << unknown;
    EXPECT_EQ(turns_of_patience("0 0 0 3/4 1", -1), 3) << "how many CPUs there are is not known";
}

} // namespace
} // namespace auger
