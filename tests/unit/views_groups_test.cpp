// SPDX-License-Identifier: GPL-3.0-or-later
// What the first level of a flame tells apart.
#include "tests/unit/synthetic_stream.h"
#include "views/model/fold.h"

#include <gtest/gtest.h>

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
    void sample(uint32_t thread, uint32_t cpu) {
        SampleEvent event;
        event.time_ns = ++time;
        event.weight_ns = 1;
        event.thread = ThreadId{thread};
        event.stack = stack;
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
        EXPECT_EQ(tree.total().samples, 7);
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

} // namespace
} // namespace auger
