// SPDX-License-Identifier: GPL-3.0-or-later
// What the first level of a flame tells apart.
#include "tests/unit/synthetic_stream.h"
#include "views/model/fold.h"

#include <gtest/gtest.h>

#include <optional>

namespace auger {
namespace {

using Labels = std::map<std::string, double>; // samples by label

class Groups : public testing::Test {
  protected:
    Groups() {
        sink().on_thread(ThreadId{0}, {10, 10, "server", "/web.slice"});
        sink().on_thread(ThreadId{1}, {10, 11, "worker", "/web.slice"});
        sink().on_thread(ThreadId{2}, {10, 12, "worker", "/web.slice"});
        sink().on_thread(ThreadId{3}, {20, 20, "server", "/db.slice"});
        sink().on_thread(ThreadId{4}, {30, 30, "cron", ""});
        sample(0, 0);
        sample(1, 0);
        sample(2, 1);
        sample(3, 1);
        sample(4, 5);
        sample(4, 100'000);
        sample(9, 0); // a thread that a damaged stream never defined
    }
    EventSink& sink() { return model; }
    void sample(uint32_t thread, uint32_t cpu, std::optional<StackId> in = {}) {
        SampleEvent event;
        event.time_ns = ++time;
        event.weight_ns = 1;
        event.thread = ThreadId{thread};
        event.stack = in.value_or(stack);
        event.cpu = cpu;
        sink().on_sample(event);
    }
    Labels labels(GroupBy by) {
        const FlameTree tree = fold(model, {}, {}, by);
        Labels labels;
        for (uint32_t i = 0; i < tree.nodes.size(); i++) {
            if (tree.nodes[i].depth == 1)
                labels[std::string(node_name(model, tree, tree.nodes[i]))] = tree.total(i).samples;
        }
        EXPECT_EQ(tree.total().samples, static_cast<double>(time));
        return labels;
    }
    Model model;
    SyntheticStream stream{model};
    StackId stack = stream.stack({"main"});
    uint64_t time = 0;
};

TEST_F(Groups, ByProcess) {
    EXPECT_EQ(labels(GroupBy::process), (Labels{{"server", 4}, {"cron", 2}, {"?", 1}}));
}
TEST_F(Groups, ByThreadName) {
    EXPECT_EQ(labels(*GroupBy::named("comm")),
              (Labels{{"server", 2}, {"worker", 2}, {"cron", 2}, {"?", 1}}));
}
TEST_F(Groups, ByThread) {
    EXPECT_EQ(labels(*GroupBy::named("tid")), (Labels{{"server 10", 1},
                                                      {"worker 11", 1},
                                                      {"worker 12", 1},
                                                      {"server 20", 1},
                                                      {"cron 30", 2},
                                                      {"? 0", 1}}));
}
TEST_F(Groups, ByControlGroup) {
    EXPECT_EQ(labels(*GroupBy::named("cgroup")),
              (Labels{{"/web.slice", 3}, {"/db.slice", 1}, {"{unknown cgroup}", 3}}));
}
TEST_F(Groups, ByCpu) {
    EXPECT_EQ(labels(GroupBy::cpu),
              (Labels{{"cpu 0", 3}, {"cpu 1", 2}, {"cpu 5", 1}, {"cpu 65535", 1}}));
}
// Of a thread some samples are of one, some of another; processes' are told apart.
TEST_F(Groups, ByTask) {
    const StackId first = stream.stack({"main", "t:[task work 0x10]", "p:work"});
    const StackId same = stream.stack({"main", "t:[task work 0x10]", "p:work", "f"});
    const StackId second = stream.stack({"main", "t:[task work 0x20]", "p:work"});
    const StackId odd = stream.stack({"main", "t:odd", "p:work"});
    for (const StackId in : {first, same, second, odd})
        sample(0, 0, in);
    sample(1, 0, first);
    sample(3, 0, first);
    EXPECT_EQ(labels(GroupBy::task), (Labels{{"work 0x10 in 10", 3},
                                             {"work 0x20 in 10", 1},
                                             {"odd in 10", 1},
                                             {"work 0x10 in 20", 1},
                                             {"{no task}", 7}}));
    // Whatever stands behind a blank is the task's own.
    const StackId named = stream.stack({"main", "t:[task app.work Task-17]", "p:work"});
    const StackId many = stream.stack({"main", "t:[task work (others)]", "p:work"});
    const StackId unknown = stream.stack({"main", "t:[task 0x30]", "p:work"});
    const StackId others = stream.stack({"main", "t:[task (others)]", "p:work"});
    for (const StackId in : {named, many, unknown, others})
        sample(0, 0, in);
    EXPECT_EQ(labels(GroupBy::task)["app.work Task-17 in 10"], 1);
    EXPECT_EQ(labels(GroupBy::coroutine),
              (Labels{{"work", 6}, {"app.work", 1}, {"{unknown coroutine}", 3}, {"{no task}", 7}}));
    EXPECT_EQ(GroupBy::named("coroutine"), GroupBy::coroutine);
    EXPECT_FALSE(GroupBy::coroutine.is_by_thread());
    EXPECT_EQ(GroupBy::named("task"), GroupBy::task);
    EXPECT_FALSE(GroupBy::task.is_by_thread());
    EXPECT_TRUE(GroupBy::named("tid")->is_by_thread());
    // As an export of what lies under a group.
    EXPECT_EQ(fold(model, {}, {}, GroupBy::task, "work 0x20 in 10;main").total().samples, 1);
}
// Whatever process and thread it is.
TEST_F(Groups, ByGoLabel) {
    const StackId quote = stream.stack({"g:[golabel route=/quote]", "main", "f"});
    const StackId same = stream.stack({"g:[golabel route=/quote]", "main"});
    const StackId order = stream.stack({"g:[golabel route=/order = 1]", "main"});
    const StackId unreadable = stream.stack({"g:[golabel route unreadable]", "main"});
    const StackId odd = stream.stack({"g:odd", "main"});
    for (const StackId in : {quote, same, order, unreadable, odd})
        sample(0, 0, in);
    sample(3, 0, quote);
    EXPECT_EQ(labels(GroupBy::go_label), (Labels{{"route=/quote", 3},
                                                 {"route=/order = 1", 1},
                                                 {"route unreadable", 1},
                                                 {"odd", 1},
                                                 {"{no golabel}", 7}}));
    EXPECT_EQ(GroupBy::named("golabel"), GroupBy::go_label);
    EXPECT_EQ(GroupBy::go_label.name(), "golabel");
    EXPECT_FALSE(GroupBy::go_label.is_by_thread());
    EXPECT_EQ(fold(model, {}, {}, GroupBy::go_label, "route=/quote;[golabel route=/quote];main")
                  .total()
                  .samples,
              3);
}

} // namespace
} // namespace auger
