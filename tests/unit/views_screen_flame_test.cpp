// SPDX-License-Identifier: GPL-3.0-or-later
// The flame's boxes add up, and its cursor stays on its frame whatever streams in.
#include "tests/unit/screen_fixture.h"
#include "views/model/flame_stream.h"
#include "views/screen/flame_boxes.h"
#include "views/screen/flame_cursor.h"
#include "views/screen/flame_search.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace auger {
namespace {

// A tree of a few thousand frames, wide and narrow, some names shared.
class FlameOfManyFrames : public testing::Test {
  protected:
    void grow(int stacks) {
        for (int i = 0; i < stacks; i++) {
            std::vector<std::string> path = {"main"};
            const size_t depth = 1 + random() % 12;
            for (size_t d = 0; d < depth; d++)
                path.push_back("f" + std::to_string(d) + "_" +
                               std::to_string(random() % (random() % 4 ? 4 : 40)));
            stream.sample(++now * 1'000'000, 100 + random() % 3, stream.stack(path), {},
                          1'000'000 + random() % 5'000'000,
                          random() % 3 ? SampleKind::cpu : SampleKind::blocked);
        }
    }
    FlameTree tree() const { return fold(model, {}); }

    Model model{100'000};
    SyntheticStream stream{model};
    std::mt19937 random{7};
    uint64_t now = 0;
};

TEST_F(FlameOfManyFrames, BoxesLieWithinTheirParentsAndAddUp) {
    grow(4000);
    const FlameTree flame = tree();
    for (uint32_t width : {1u, 2u, 3u, 40u, 80u, 397u}) {
        for (Weight weight : {Weight::time, Weight::samples}) {
            const FlameBoxes layout = lay_out_boxes(model, flame, 0, width, weight);
            ASSERT_FALSE(layout.boxes.empty());
            EXPECT_EQ(layout.boxes[0].width, width);
            std::vector<uint32_t> filled(layout.boxes.size()), children(layout.boxes.size());
            std::vector<SampleSum> below(layout.boxes.size());
            for (size_t i = 1; i < layout.boxes.size(); i++) {
                const FlameCells& box = layout.boxes[i];
                const FlameCells& parent = layout.boxes[box.parent];
                EXPECT_GT(box.width, 0u);
                EXPECT_EQ(box.row, parent.row + 1);
                EXPECT_GE(box.x, parent.x);
                EXPECT_LE(box.x + box.width, parent.x + parent.width);
                if (layout.boxes[i - 1].row == box.row) {
                    EXPECT_GE(box.x, layout.boxes[i - 1].x + layout.boxes[i - 1].width);
                }
                filled[box.parent] += box.width;
                below[box.parent] += box.sum;
                children[box.parent]++;
                // A width is the share of the parent's, but for rounding.
                EXPECT_NEAR(box.width,
                            parent.width * weight_of(box.sum, weight) /
                                weight_of(parent.sum, weight),
                            1.0001);
            }
            for (size_t i = 0; i < layout.boxes.size(); i++) {
                const FlameCells& box = layout.boxes[i];
                EXPECT_LE(filled[i], box.width);
                if (box.node == no_node || (children[i] == 0 && box.narrow == 0))
                    continue;
                // Nothing is dropped: self, the children's boxes, and what no box shows.
                SampleSum narrow;
                std::set<uint32_t> drawn;
                for (size_t c = i + 1; c < layout.boxes.size(); c++)
                    if (layout.boxes[c].parent == i && layout.boxes[c].node != no_node)
                        drawn.insert(layout.boxes[c].node);
                const FlameNode& node = flame.nodes[box.node];
                uint32_t undrawn = 0, merged = 0;
                for (uint32_t c = node.first_child; c; c = flame.nodes[c].next_sibling)
                    if (!drawn.count(c)) {
                        undrawn++;
                        narrow += flame.total(c);
                    }
                for (size_t c = i + 1; c < layout.boxes.size(); c++)
                    if (layout.boxes[c].parent == i)
                        merged += layout.boxes[c].merged;
                EXPECT_EQ(undrawn, merged + box.narrow);
                SampleSum sum = flame.self(box.node);
                sum += below[i];
                if (box.narrow)
                    sum += narrow;
                EXPECT_NEAR(sum.weight_ns, flame.total(box.node).weight_ns, 1e-6 * sum.weight_ns);
                EXPECT_NEAR(sum.samples, flame.total(box.node).samples, 1e-6 * sum.samples);
            }
        }
    }
}

TEST_F(FlameOfManyFrames, SiblingsKeepTheirOrderWhenSumsChange) {
    grow(500);
    const FlameTree before = tree();
    const FlameBoxes first = lay_out_boxes(model, before, 0, 200, Weight::time);
    std::vector<std::string> names;
    for (const FlameCells& box : first.boxes)
        if (box.row == 3 && box.node != no_node)
            names.emplace_back(node_name(model, before, before.nodes[box.node]));
    grow(2000);
    const FlameTree after = tree();
    std::vector<std::string> later;
    for (const FlameCells& box : lay_out_boxes(model, after, 0, 200, Weight::time).boxes)
        if (box.row == 3 && box.node != no_node)
            later.emplace_back(node_name(model, after, after.nodes[box.node]));
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    EXPECT_TRUE(std::is_sorted(later.begin(), later.end()));
    EXPECT_FALSE(names.empty());
}

std::vector<std::string> path_of(const Model& model, const FlameTree& tree, uint32_t node) {
    std::vector<std::string> path;
    for (; node; node = tree.nodes[node].parent)
        path.emplace_back(node_name(model, tree, tree.nodes[node]));
    return path;
}

TEST_F(FlameOfManyFrames, TheCursorFollowsItsFrameThroughAnySequenceOfUpdates) {
    grow(300);
    FlameTree flame = tree();
    FlameCursor cursor;
    for (int round = 0; round < 60; round++) {
        const auto node = static_cast<uint32_t>(random() % flame.nodes.size());
        cursor.move_to(flame, model.symbols(), node);
        const std::vector<std::string> path = path_of(model, flame, node);
        for (int update = 0; update < 3; update++) {
            grow(40);
            flame = tree(); // numbers its nodes anew
            cursor.resolve(flame, model.symbols());
            ASSERT_TRUE(cursor.present());
            ASSERT_EQ(path_of(model, flame, cursor.node()), path);
        }
    }
}

TEST_F(FlameOfManyFrames, WhereTheFrameIsGoneTheNearestAroundItStandsForIt) {
    const StackId kept = stream.stack({"main", "a"}), gone = stream.stack({"main", "a", "b", "c"});
    stream.sample(1'000'000'000, 101, gone);
    stream.sample(1'000'000'000, 101, kept);
    FlameTree flame = tree();
    FlameCursor cursor;
    uint32_t leaf = 0;
    for (uint32_t i = 0; i < flame.nodes.size(); i++)
        if (flame.nodes[i].depth > flame.nodes[leaf].depth)
            leaf = i;
    cursor.move_to(flame, model.symbols(), leaf);
    stream.sample(10'000'000'000, 101, kept);
    const FlameTree recent = fold(model, {Window::Kind::last, 1'000'000'000});
    cursor.resolve(recent, model.symbols());
    EXPECT_FALSE(cursor.present());
    EXPECT_EQ(path_of(model, recent, cursor.node()),
              (std::vector<std::string>{"a", "main", "service"}));
    EXPECT_EQ(cursor.name(model), "c"); // it is told what was selected
    flame = tree();
    cursor.resolve(flame, model.symbols());
    EXPECT_TRUE(cursor.present());
    EXPECT_EQ(cursor.node(), leaf);
}

// Names come after addresses, and inlined frames after names; whoever looks at a frame keeps it.
TEST(FlameCursorAndNames, TheCursorAndTheZoomStayOnAFrameThatGetsItsName) {
    Model model;
    const auto name = [&](uint32_t location, std::vector<std::string> innermost_first) {
        std::vector<Frame> frames;
        for (const std::string& function : innermost_first)
            frames.push_back({function, "", 0, function != innermost_first.back()});
        model.on_frames(LocationId{location}, frames);
    };
    model.on_module(ModuleId{0}, {ModuleKind::file, "/usr/lib/libservice.so", ""});
    for (uint32_t i = 0; i < 6; i++)
        model.on_location(LocationId{i}, {ModuleId{0}, i * 16, i > 0});
    name(5, {"main"});
    // Leaf first: two stacks that part at the third frame from the root.
    const LocationId deep[] = {LocationId{0}, LocationId{1}, LocationId{2}, LocationId{4},
                               LocationId{5}};
    const LocationId other[] = {LocationId{3}, LocationId{4}, LocationId{5}};
    model.on_stack(StackId{0}, deep);
    model.on_stack(StackId{1}, other);
    model.on_thread(ThreadId{0}, {1, 1, "service"});
    FlameStream stream;
    uint64_t now = 1'000'000'000;
    const auto refresh = [&] {
        for (uint32_t stack : {0, 1}) {
            SampleEvent sample;
            sample.time_ns = now += 1'000'000;
            sample.weight_ns = 1'000'000;
            sample.thread = ThreadId{0};
            sample.stack = StackId{stack};
            model.on_sample(sample);
        }
        while (stream.refresh(model, {}))
            ;
    };
    refresh();
    const FlameTree& flame = stream.tree();
    FlameCursor cursor;
    const auto path = [&] {
        EXPECT_TRUE(cursor.present());
        return path_of(model, flame, cursor.node());
    };
    const auto down = [&](const std::string& to) {
        for (uint32_t i = 1; i < flame.nodes.size(); i++)
            if (flame.nodes[i].held && node_name(model, flame, flame.nodes[i]) == to)
                return cursor.move_to(flame, model.symbols(), i);
        ADD_FAILURE() << to;
    };
    down("libservice.so+0x20");
    cursor.zoom_in();
    down("libservice.so+0x10");
    using Path = std::vector<std::string>;
    EXPECT_EQ(path(), (Path{"libservice.so+0x10", "libservice.so+0x20", "libservice.so+0x40",
                            "main", "service"}));
    // First the frame itself, then those around it, then what was inlined into them.
    name(1, {"read"});
    refresh();
    cursor.resolve(flame, model.symbols());
    EXPECT_EQ(path()[0], "read");
    name(2, {"handle"});
    name(4, {"run"});
    refresh();
    cursor.resolve(flame, model.symbols());
    EXPECT_EQ(path(), (Path{"read", "handle", "run", "main", "service"}));
    EXPECT_EQ(cursor.zoom_names(model), Path{"handle"});
    name(4, {"loop", "run"});
    name(1, {"copy", "read"});
    refresh();
    cursor.resolve(flame, model.symbols());
    EXPECT_EQ(path(), (Path{"read", "handle", "loop", "run", "main", "service"}));
    EXPECT_EQ(cursor.zoom_names(model), Path{"handle"});
    EXPECT_EQ(node_name(model, flame, flame.nodes[cursor.zoom_node()]), "handle");
    // A function that calls itself is one frame once that is known.
    name(2, {"run"});
    name(4, {"run"});
    refresh();
    cursor.resolve(flame, model.symbols());
    EXPECT_EQ(path(), (Path{"read", "run", "main", "service"}));
    EXPECT_EQ(cursor.zoom_names(model), Path{"run"});
}

TEST_F(FlameOfManyFrames, ASearchCountsEachSampleOnce) {
    const auto sample = [&](std::vector<std::string> path, uint64_t ms) {
        stream.sample(++now * 1'000'000, 101, stream.stack(path), {}, ms * 1'000'000);
    };
    sample({"main", "find_a", "find_b"}, 20); // one inside the other
    sample({"main", "find_a"}, 10);
    sample({"main", "other", "Find_c"}, 30);
    sample({"main", "other"}, 40);
    const FlameTree flame = tree();
    // However few frames are looked at at once.
    for (size_t looks : {1, 7, 1000}) {
        FlameSearch search;
        using Jump = FlameSearch::Jump;
        uint32_t at = 0;
        size_t steps = 0;
        const auto jump = [&](Jump to) {
            search.jump(to);
            for (steps = 1; search.work({model, flame, 1, 0, Weight::time, at}, looks); steps++)
                EXPECT_EQ(search.text(), "searching");
            const auto arrived = search.arrived();
            at = arrived.value_or(at);
            return arrived.has_value();
        };
        EXPECT_EQ(search.start("find"), "");
        EXPECT_FALSE(jump(Jump::none));
        EXPECT_GE(steps * looks, flame.nodes.size());
        EXPECT_EQ(search.text(), "3 fit, 60.0 %"); // without capitals, case does not matter
        EXPECT_TRUE(jump(Jump::best));
        EXPECT_EQ(node_name(model, flame, flame.nodes[at]), "find_a");
        EXPECT_EQ(search.text(), "1 of 3, 60.0 %");
        at = 0;
        std::vector<uint32_t> seen;
        for (int i = 0; i < 3; i++) {
            EXPECT_TRUE(jump(Jump::next));
            seen.push_back(at);
        }
        EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 3u);
        EXPECT_EQ(search.text(), "3 of 3, 60.0 %");
        jump(Jump::next);
        EXPECT_EQ(at, seen.front()); // and round again
        jump(Jump::previous);
        EXPECT_EQ(at, seen.back());
        EXPECT_EQ(search.start("Find"), "");
        EXPECT_EQ(search.text(), "searching");
        jump(Jump::none);
        EXPECT_EQ(search.text(), "1 fit, 30.0 %");
    }
    FlameSearch search;
    EXPECT_NE(search.start("(("), "");
    EXPECT_FALSE(search.active());
}

TEST_F(FlameOfManyFrames, UnderAFrameAreOnlyItsSamplesWithoutItsCallers) {
    const auto sample = [&](std::vector<std::string> path) {
        stream.sample(++now * 1'000'000, 101, stream.stack(path));
    };
    sample({"main", "a", "work(int)", "read"});
    sample({"main", "b", "work(int)"});
    sample({"main", "b", "work(int)", "again", "work(int)"});
    sample({"main", "b"});
    for (const char* name : {"work", "work(int)"}) {
        const FlameTree flame = fold(model, {}, {}, GroupBy::process, name);
        EXPECT_EQ(flame.total().samples, 3);
        const auto& label = flame.nodes[flame.root().first_child];
        const auto& work = flame.nodes[label.first_child];
        EXPECT_EQ(node_name(model, flame, work), "work(int)");
        EXPECT_EQ(work.next_sibling, 0u);
        EXPECT_EQ(flame.total(label.first_child).samples, 3);
        EXPECT_EQ(flame.self(label.first_child).samples, 1);
    }
    EXPECT_EQ(fold(model, {}, {}, GroupBy::process, "service").total().samples, 4);
    EXPECT_EQ(fold(model, {}, {}, GroupBy::process, "wor").total().samples, 0);
}

TEST(SearchPattern, TakesHostileExpressionsAndTextsInBoundedTime) {
    auto nested = Pattern::compile("(a*)*b");
    ASSERT_TRUE(nested);
    EXPECT_FALSE(nested->matches(std::string(1'000'000, 'a')));
    EXPECT_FALSE(Pattern::compile(std::string(100'000, '(')));
    EXPECT_FALSE(Pattern::compile("((a{1000}){1000}){1000}"));
    auto any = Pattern::compile(".");
    ASSERT_TRUE(any);
    EXPECT_TRUE(any->matches("\xff\x1b[2J"));
    EXPECT_FALSE(any->matches(""));
}

} // namespace
} // namespace auger
