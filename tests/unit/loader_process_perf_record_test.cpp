// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/launch.h"
#include "loader/process/perf_record.h"
#include "loader/process/process_watch.h"

#include <gtest/gtest.h>

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <cstring>
#include <random>

namespace auger {
namespace {

class Record {
  public:
    Record(uint32_t type, uint16_t misc) { put(perf_event_header{type, misc, 0}); }
    template <typename T>
    Record& put(const T& value) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
        return *this;
    }
    Record& text(const char* text, size_t room) {
        for (size_t i = 0; i < room; i++)
            bytes_.push_back(static_cast<std::byte>(i < std::strlen(text) ? text[i] : 0));
        return *this;
    }
    std::vector<std::byte> done(uint64_t time) {
        put<uint32_t>(1).put<uint32_t>(2).put<uint64_t>(time);
        resize(bytes_);
        return bytes_;
    }
    static void resize(std::vector<std::byte>& bytes) {
        const auto size = static_cast<uint16_t>(bytes.size());
        if (bytes.size() >= sizeof(perf_event_header))
            std::memcpy(bytes.data() + offsetof(perf_event_header, size), &size, sizeof(size));
    }

  private:
    std::vector<std::byte> bytes_;
};

std::vector<std::byte> mmap_record(const char* path) {
    return Record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER)
        .put<uint32_t>(42)
        .put<uint32_t>(43)
        .put<uint64_t>(0x400000)
        .put<uint64_t>(0x2000)
        .put<uint64_t>(0x1000)
        .put<uint32_t>(8)
        .put<uint32_t>(1)
        .put<uint64_t>(77)
        .put<uint64_t>(0)
        .put<uint32_t>(5)
        .put<uint32_t>(2)
        .text(path, 16)
        .done(999);
}

TEST(PerfRecord, Mapping) {
    ProcessEvent event;
    ASSERT_EQ(decode_perf_record(mmap_record("/bin/x"), event), Decoded::event);
    EXPECT_EQ(event.kind, ProcessEvent::Kind::mmap);
    EXPECT_EQ(event.pid, 42u);
    EXPECT_EQ(event.tid, 43u);
    EXPECT_EQ(event.address, 0x400000u);
    EXPECT_EQ(event.length, 0x2000u);
    EXPECT_EQ(event.offset, 0x1000u);
    EXPECT_EQ(event.device, makedev(8, 1));
    EXPECT_EQ(event.inode, 77u);
    EXPECT_EQ(event.text, "/bin/x");
    EXPECT_EQ(event.time, 999u);
}

TEST(PerfRecord, NamesForksExitsAndLosses) {
    ProcessEvent event;
    const auto comm = [](uint16_t misc) {
        return Record(PERF_RECORD_COMM, misc)
            .put<uint32_t>(5)
            .put<uint32_t>(6)
            .text("sh", 8)
            .done(1);
    };
    ASSERT_EQ(decode_perf_record(comm(0), event), Decoded::event);
    EXPECT_EQ(event.kind, ProcessEvent::Kind::comm);
    EXPECT_EQ(event.text, "sh");
    ASSERT_EQ(decode_perf_record(comm(PERF_RECORD_MISC_COMM_EXEC), event), Decoded::event);
    EXPECT_EQ(event.kind, ProcessEvent::Kind::exec);

    const auto task = [](uint32_t type) {
        return Record(type, 0)
            .put<uint32_t>(10)
            .put<uint32_t>(20)
            .put<uint32_t>(11)
            .put<uint32_t>(21)
            .put<uint64_t>(3)
            .done(4);
    };
    ASSERT_EQ(decode_perf_record(task(PERF_RECORD_FORK), event), Decoded::event);
    EXPECT_EQ(event.kind, ProcessEvent::Kind::fork);
    EXPECT_EQ(event.pid, 10u);
    EXPECT_EQ(event.parent_pid, 20u);
    EXPECT_EQ(event.tid, 11u);
    EXPECT_EQ(event.parent_tid, 21u);
    EXPECT_TRUE(event.new_process());
    ASSERT_EQ(decode_perf_record(task(PERF_RECORD_EXIT), event), Decoded::event);
    EXPECT_EQ(event.kind, ProcessEvent::Kind::exit);
    EXPECT_FALSE(event.new_process());

    const auto lost = Record(PERF_RECORD_LOST, 0).put<uint64_t>(1).put<uint64_t>(17).done(5);
    ASSERT_EQ(decode_perf_record(lost, event), Decoded::event);
    EXPECT_EQ(event.kind, ProcessEvent::Kind::lost);
    EXPECT_EQ(event.lost, 17u);
}

TEST(PerfRecord, EveryTruncationIsRejected) {
    const auto whole = mmap_record("/bin/x");
    ProcessEvent event;
    // Without its last 8 bytes of padding a text still ends in a zero: those may pass, as text.
    const size_t shortest = sizeof(perf_event_header) + 64 + 7 + 16;
    for (size_t size = 0; size < shortest; size++) {
        auto cut = std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<long>(size));
        EXPECT_EQ(decode_perf_record(cut, event), Decoded::malformed) << size; // says another size
        Record::resize(cut);
        EXPECT_EQ(decode_perf_record(cut, event), Decoded::malformed) << size;
    }
}

TEST(PerfRecord, AHeaderThatLiesAboutTheSizeIsRejected) {
    auto record = mmap_record("/bin/x");
    ProcessEvent event;
    for (const int difference : {-8, 8}) {
        const auto size = static_cast<uint16_t>(static_cast<int>(record.size()) + difference);
        std::memcpy(record.data() + offsetof(perf_event_header, size), &size, sizeof(size));
        EXPECT_EQ(decode_perf_record(record, event), Decoded::malformed);
    }
}

TEST(PerfRecord, ATextWithoutItsEndIsRejected) {
    ProcessEvent event;
    EXPECT_EQ(decode_perf_record(mmap_record("sixteen bytes !!"), event), Decoded::malformed);
}

TEST(PerfRecord, OtherTypesAreIgnoredAndGarbageHarmsNothing) {
    ProcessEvent event;
    EXPECT_EQ(decode_perf_record(Record(PERF_RECORD_THROTTLE, 0).done(0), event), Decoded::ignored);
    std::mt19937 random(1);
    for (int round = 0; round < 20000; round++) {
        std::vector<std::byte> bytes(random() % 120);
        for (auto& byte : bytes)
            byte = static_cast<std::byte>(random());
        if (bytes.size() >= sizeof(perf_event_header)) {
            const uint32_t type = random() % 12;
            std::memcpy(bytes.data(), &type, sizeof(type));
            Record::resize(bytes);
        }
        decode_perf_record(bytes, event);
    }
}

// The real thing, where the privilege is there.
TEST(ProcessWatch, SeesBirthImageMappingsAndEnd) {
    auto watch = ProcessWatch::make();
    if (!watch)
        GTEST_SKIP() << watch.error().message();
    ASSERT_GE(watch->cpus(), 1u);
    auto process = LaunchedProcess::start({{"/bin/true"}, {}});
    ASSERT_TRUE(process);
    const auto pid = static_cast<uint32_t>(process->pid());
    ASSERT_TRUE(process->release());
    ASSERT_TRUE(*process->wait_exit(std::chrono::seconds(20)));

    std::string order;
    bool mapped_itself = false;
    uint64_t last = 0;
    const auto handler = [&](const ProcessEvent& event) {
        EXPECT_GE(event.time, last);
        last = event.time;
        if (event.pid != pid)
            return;
        if (event.kind == ProcessEvent::Kind::fork)
            order += 'f';
        if (event.kind == ProcessEvent::Kind::exec)
            order += 'x';
        if (event.kind == ProcessEvent::Kind::exit)
            order += 'e';
        mapped_itself = mapped_itself || (event.kind == ProcessEvent::Kind::mmap &&
                                          event.text.ends_with("bin/true"));
    };
    pollfd ready{watch->fd(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 20000), 1);
    watch->poll(handler);
    EXPECT_EQ(order, "fxe");
    EXPECT_TRUE(mapped_itself);
    EXPECT_EQ(watch->malformed(), 0u);
}

TEST(ProcessWatch, AFullRingIsSaidToHaveLost) {
    auto watch = ProcessWatch::make(1);
    if (!watch)
        GTEST_SKIP() << watch.error().message();
    for (int i = 0; i < 400; i++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        ASSERT_EQ(waitpid(child, nullptr, 0), child);
    }
    // The kernel writes the count of what it dropped with the next event that fits.
    watch->poll([](const ProcessEvent&) {});
    bool told = false;
    for (int i = 0; i < 2 * static_cast<int>(watch->cpus()) + 8 && !told; i++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        ASSERT_EQ(waitpid(child, nullptr, 0), child);
        watch->poll([&](const ProcessEvent& event) {
            told = told || event.kind == ProcessEvent::Kind::lost;
        });
    }
    EXPECT_TRUE(told);
    EXPECT_GT(watch->lost(), 0u);
}

} // namespace
} // namespace auger
