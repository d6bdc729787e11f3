// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of unwind tables that were given back are nobody's for as long as a walk may be reading
// them, and a walk that takes longer is thrown away.
#include "bpf/unwind_table.h"
#include "loader/kernel/unwind_cells.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

namespace auger::test {
namespace {

// What is late, whatever the kernel's jiffies are (ten milliseconds at most), is so long before.
static_assert(WIRE_UNWIND_LATE_JIFFIES * 10'000'000ULL <= WIRE_UNWIND_REST_NS / 2);

// Maps of shards as the programs have, with nothing that reads them.
class Cells : public KernelTest {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped())
            return;
        LIBBPF_OPTS(bpf_map_create_opts, mappable, .map_flags = BPF_F_MMAPABLE);
        const UniqueFd inner(bpf_map_create(BPF_MAP_TYPE_ARRAY, "shard", sizeof(uint32_t),
                                            WIRE_UNWIND_BLOCK_CELLS * sizeof(uint64_t),
                                            WIRE_UNWIND_SHARD_BLOCKS, &mappable));
        ASSERT_TRUE(inner);
        LIBBPF_OPTS(bpf_map_create_opts, of_maps,
                    .inner_map_fd = static_cast<uint32_t>(inner.get()));
        shards_.reset(bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "shards", sizeof(uint32_t),
                                     sizeof(uint32_t), WIRE_UNWIND_SHARDS, &of_maps));
        ASSERT_TRUE(shards_);
        cells_.emplace(shards_.get(), whole);
    }
    bool is_full() { return !cells_->allocate(1); }

    static constexpr uint32_t whole = WIRE_UNWIND_SHARD_CELLS;
    UniqueFd shards_;
    std::optional<UnwindCells> cells_; // of one shard
};

TEST_F(Cells, RestBeforeTheyAreSomebodyElses) {
    constexpr uint64_t now = 5'000'000'000;
    const CellRange first = must(cells_->allocate(whole / 2)),
                    second = must(cells_->allocate(whole / 2));
    ASSERT_TRUE(is_full());
    cells_->release(first, now);
    cells_->release(second, now + 1);
    EXPECT_TRUE(cells_->any_rest());
    for (const uint64_t early : {now, uint64_t{now + WIRE_UNWIND_REST_NS - 1}}) {
        cells_->recycle(early);
        EXPECT_TRUE(is_full()) << early - now;
        EXPECT_EQ(cells_->used(), whole);
    }
    // The one has rested, the other has not.
    cells_->recycle(now + WIRE_UNWIND_REST_NS);
    EXPECT_EQ(cells_->used(), whole / 2);
    EXPECT_EQ(must(cells_->allocate(whole / 2)).first, first.first);
    EXPECT_TRUE(is_full());
    cells_->recycle(now + WIRE_UNWIND_REST_NS + 1);
    EXPECT_FALSE(cells_->any_rest());
    EXPECT_EQ(must(cells_->allocate(whole / 2)).first, second.first);
    EXPECT_TRUE(is_full());
}

TEST_F(Cells, KeepWhatIsInThemWhileTheyRest) {
    const CellRange given = must(cells_->allocate(WIRE_UNWIND_ALIGNMENT));
    std::vector<uint64_t> values(given.count);
    std::ranges::generate(values, [next = uint64_t{1}]() mutable { return next++; });
    cells_->write(given.first, values);
    cells_->release(given, 0);
    // All else goes to somebody who writes it.
    const CellRange other = must(cells_->allocate(whole - given.count));
    cells_->write(other.first, std::vector<uint64_t>(other.count, ~uint64_t{0}));
    cells_->recycle(WIRE_UNWIND_REST_NS - 1);
    ASSERT_TRUE(is_full());
    for (uint32_t i = 0; i < given.count; i++)
        EXPECT_EQ(cells_->read(given.first + i), values[i]);
}

// Each walk is late here. What it read may have been another table's, so nothing is told of it but
// where the thread was; and why.
TEST_F(KernelTest, AWalkThatTookTooLongTellsOneFrame) {
    Program program("spinner", {"--threads", "1", "--seconds", "60", "--wait"});
    program.wait_ready();
    LiveOptions options;
    options.late_walk_jiffies = 0;
    Session session(options);
    session.observe(program.pid());
    session.sample(999);
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return session.model().samples().size() >= 100; }));
    session.backend().settle_symbols(std::chrono::seconds(60));
    const SampleStore& samples = session.model().samples();
    const SymbolTables& symbols = session.model().symbols();
    for (size_t i = 0; i < samples.size(); i++) {
        const StackId stack = samples.stacks()[i];
        const auto names = session.stack_names(stack);
        const auto of_user = std::ranges::count_if(symbols.stack(stack), [&](LocationId location) {
            return !symbols.function(symbols.found_frames(location).front().function).kernel;
        });
        // The frame, and why there is no more.
        EXPECT_EQ(of_user, 2) << testing::PrintToString(names);
        EXPECT_EQ(names.back(), "[stack cut: held up too long]");
    }
}

// A frame of a runtime's takes several words of a stack.
TEST_F(KernelTest, AWalkThatTookTooLongTellsOneFrameOfARuntime) {
    if (access("/usr/bin/node", X_OK) != 0)
        GTEST_SKIP() << "node is not installed";
    Program program("/usr/bin/node",
                    {"-e", "function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7;"
                           " return s; }"
                           "console.log('ready');"
                           "require('fs').readSync(0, Buffer.alloc(1));"
                           "const end = process.hrtime.bigint() + 3000000000n;"
                           "while (process.hrtime.bigint() < end) spin(1000000);"});
    program.wait_ready();
    LiveOptions options;
    options.late_walk_jiffies = 0;
    Session session(options);
    session.observe(program.pid());
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    session.sample(999);
    program.go();
    session.pump_to_end();
    session.backend().settle_symbols(std::chrono::seconds(60));
    size_t known = 0;
    for (const SampleEvent& sample : session.log.samples) {
        if (session.model().symbols().thread(sample.thread).tid !=
            static_cast<uint32_t>(program.pid()))
            continue;
        const auto names = session.stack_names(sample.stack);
        ASSERT_FALSE(names.empty());
        // A sample that interrupts the kernel may have the kernel's frames only.
        EXPECT_EQ(names.back(), "[stack cut: held up too long]") << testing::PrintToString(names);
        known += names.front() == "spin";
    }
    EXPECT_GE(known, 100u);
}

} // namespace
} // namespace auger::test
