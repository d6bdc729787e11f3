// SPDX-License-Identifier: GPL-3.0-or-later
// pprof profiles: what their locations, labels and sample types say is what the model says.
#include "loader/recording/recording_writer.h"
#include "loader/recording/replay_backend.h"
#include "tests/support/gunzip.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/views_exports_fixture.h"

#include <gmock/gmock.h>
#include <protozero/pbf_reader.hpp>

#include <map>
#include <set>

namespace auger {
namespace {

// Read by the numbers of profile.proto.
TEST_F(Exports, PprofHasClassesAndWeights) {
    const std::string bytes = test::gunzip(write("pprof"));
    std::vector<std::string> strings;
    for (protozero::pbf_reader reader(bytes); reader.next();) {
        if (reader.tag() == 6)
            strings.push_back(reader.get_string());
        else
            reader.skip();
    }
    ASSERT_FALSE(strings.empty());
    EXPECT_EQ(strings[0], "");
    std::map<std::string, double> cpu;
    std::set<uint64_t> locations, functions, used_locations, used_functions;
    int64_t samples = 0;
    for (protozero::pbf_reader reader(bytes); reader.next();) {
        if (reader.tag() == 2) {
            protozero::pbf_reader sample = reader.get_message();
            std::vector<int64_t> values;
            std::string call_class;
            while (sample.next()) {
                if (sample.tag() == 1) {
                    for (const uint64_t id : sample.get_packed_uint64())
                        used_locations.insert(id);
                } else if (sample.tag() == 2) {
                    for (const int64_t value : sample.get_packed_int64())
                        values.push_back(value);
                } else if (sample.tag() == 3) {
                    protozero::pbf_reader label = sample.get_message();
                    int64_t key = 0, text = 0;
                    while (label.next()) {
                        if (label.tag() == 1)
                            key = label.get_int64();
                        else if (label.tag() == 2)
                            text = label.get_int64();
                        else
                            label.skip();
                    }
                    if (strings.at(static_cast<size_t>(key)) == "class")
                        call_class = strings.at(static_cast<size_t>(text));
                } else {
                    sample.skip();
                }
            }
            ASSERT_EQ(values.size(), 4u);
            samples += values[0];
            cpu[call_class] += static_cast<double>(values[1]);
        } else if (reader.tag() == 4) {
            protozero::pbf_reader location = reader.get_message();
            while (location.next()) {
                if (location.tag() == 1) {
                    locations.insert(location.get_uint64());
                } else if (location.tag() == 4) {
                    protozero::pbf_reader line = location.get_message();
                    while (line.next()) {
                        if (line.tag() == 1)
                            used_functions.insert(line.get_uint64());
                        else
                            line.skip();
                    }
                } else {
                    location.skip();
                }
            }
        } else if (reader.tag() == 5) {
            protozero::pbf_reader function = reader.get_message();
            while (function.next()) {
                if (function.tag() == 1)
                    functions.insert(function.get_uint64());
                else
                    function.skip();
            }
        } else {
            reader.skip();
        }
    }
    EXPECT_EQ(static_cast<size_t>(samples), model.samples().size());
    EXPECT_EQ(written, model.samples().size());
    for (const CallClass one : all_call_classes)
        EXPECT_EQ(cpu[std::string(to_string(one))], expected_ns(one)) << to_string(one);
    EXPECT_EQ(locations, used_locations);
    EXPECT_EQ(functions, used_functions);
    EXPECT_THAT(strings, testing::Contains(long_name));
    EXPECT_THAT(strings, testing::Contains("bad\\xff\\xfe"));
    EXPECT_THAT(strings, testing::Contains(export_losses(model).front()));
}

// Address, and the names of its lines, innermost first.
std::multimap<uint64_t, std::vector<std::string>> pprof_locations(const std::string& bytes) {
    std::vector<std::string> strings;
    std::map<uint64_t, size_t> names; // by function
    std::multimap<uint64_t, std::vector<uint64_t>> found;
    for (protozero::pbf_reader reader(bytes); reader.next();) {
        if (reader.tag() == 6) {
            strings.push_back(reader.get_string());
        } else if (reader.tag() == 5) {
            uint64_t id = 0;
            for (protozero::pbf_reader function = reader.get_message(); function.next();) {
                if (function.tag() == 1)
                    id = function.get_uint64();
                else if (function.tag() == 2)
                    names[id] = static_cast<size_t>(function.get_int64());
                else
                    function.skip();
            }
        } else if (reader.tag() == 4) {
            uint64_t address = 0;
            std::vector<uint64_t> functions;
            for (protozero::pbf_reader location = reader.get_message(); location.next();) {
                if (location.tag() == 3) {
                    address = location.get_uint64();
                } else if (location.tag() == 4) {
                    for (protozero::pbf_reader line = location.get_message(); line.next();) {
                        if (line.tag() == 1)
                            functions.push_back(line.get_uint64());
                        else
                            line.skip();
                    }
                } else {
                    location.skip();
                }
            }
            found.emplace(address, functions);
        } else {
            reader.skip();
        }
    }
    std::multimap<uint64_t, std::vector<std::string>> locations;
    for (const auto& [address, functions] : found) {
        std::vector<std::string> lines;
        for (const uint64_t function : functions)
            lines.push_back(strings.at(names.at(function)));
        locations.emplace(address, lines);
    }
    return locations;
}

TEST(PprofRules, KeepLocationsTrueWhereFramesAreDropped) {
    Model model;
    SyntheticStream stream{model};
    const LocationId outer = stream.location("outer"), inner = stream.location("inner");
    const uint64_t at_outer = model.symbols().location(outer).address,
                   at_inner = model.symbols().location(inner).address;
    const Frame of_inner[3] = {
        {"f", "a.cc", 1, true}, {"f", "a.cc", 2, true}, {"glue", "a.cc", 3, false}};
    const Frame of_outer[2] = {{"f", "a.cc", 4, true}, {"main", "a.cc", 5, false}};
    model.on_frames(inner, of_inner);
    model.on_frames(outer, of_outer);
    stream.sample(1, 1, stream.stack({"outer", "outer"})); // it called itself from one place
    stream.sample(2, 1, stream.stack({"outer", "inner"}));
    stream.sample(3, 1, stream.stack({"outer"}));
    const auto locations = [&](std::vector<Rule> rules) {
        model.set_rules(*Rules::compile(std::move(rules)));
        StringSink sink;
        EXPECT_TRUE(find_export_format("pprof")->write(model, {}, sink));
        return pprof_locations(test::gunzip(sink.text));
    };
    using Locations = std::multimap<uint64_t, std::vector<std::string>>;
    const Rule no_glue{Rule::Kind::drop_frame, "glue", {}},
        fold{Rule::Kind::fold_recursion, {}, {}};
    EXPECT_EQ(locations({}),
              (Locations{{at_inner, {"f", "f", "glue"}}, {at_outer, {"f", "main"}}}));
    EXPECT_EQ(locations({no_glue}), (Locations{{at_inner, {"f", "f"}}, {at_outer, {"f", "main"}}}));
    // One address has other lines where recursion goes on further in.
    EXPECT_EQ(locations({fold, no_glue}),
              (Locations{{at_inner, {"f"}}, {at_outer, {"f", "main"}}, {at_outer, {"main"}}}));
    EXPECT_EQ(locations({{Rule::Kind::drop_frame, "f|glue", {}}}),
              (Locations{{at_outer, {"main"}}}));
}

// Labels that are text: of each sample, by key.
std::multiset<std::map<std::string, std::string>> pprof_labels(const std::string& bytes) {
    std::vector<std::string> strings;
    for (protozero::pbf_reader reader(bytes); reader.next();) {
        if (reader.tag() == 6)
            strings.push_back(reader.get_string());
        else
            reader.skip();
    }
    std::multiset<std::map<std::string, std::string>> all;
    for (protozero::pbf_reader reader(bytes); reader.next(2);) {
        protozero::pbf_reader sample = reader.get_message();
        std::map<std::string, std::string> labels;
        while (sample.next(3)) {
            protozero::pbf_reader label = sample.get_message();
            size_t key = 0, text = 0;
            while (label.next()) {
                if (label.tag() == 1)
                    key = static_cast<size_t>(label.get_int64());
                else if (label.tag() == 2)
                    text = static_cast<size_t>(label.get_int64());
                else
                    label.skip();
            }
            if (text)
                labels[strings.at(key)] = strings.at(text);
        }
        all.insert(std::move(labels));
    }
    return all;
}

// As Go's own profiles have them.
TEST(PprofLabels, AreThoseOfGoroutines) {
    Model model;
    SyntheticStream stream{model};
    stream.sample(1, 1, stream.stack({"g:[golabel route=/quote=1]", "main"}));
    stream.sample(2, 1, stream.stack({"g:[golabel route=/order]", "main"}));
    stream.sample(3, 1, stream.stack({"g:[golabel route unreadable]", "main"}));
    stream.sample(4, 1, stream.stack({"main"}));
    StringSink sink;
    EXPECT_TRUE(find_export_format("pprof")->write(model, {}, sink));
    std::multiset<std::string> routes;
    for (const auto& labels : pprof_labels(test::gunzip(sink.text)))
        routes.insert(labels.contains("route") ? labels.at("route") : "none");
    EXPECT_EQ(routes, (std::multiset<std::string>{"/quote=1", "/order", "none", "none"}));
}

// ns since 1970 of its beginning, or nothing; and how long it is.
std::pair<std::optional<int64_t>, int64_t> pprof_time(const Model& model,
                                                      const ExportQuery& query = {}) {
    StringSink sink;
    EXPECT_TRUE(find_export_format("pprof")->write(model, query, sink));
    const std::string bytes = test::gunzip(sink.text);
    std::pair<std::optional<int64_t>, int64_t> found{};
    for (protozero::pbf_reader reader(bytes); reader.next();) {
        if (reader.tag() == 9)
            found.first = reader.get_int64();
        else if (reader.tag() == 10)
            found.second = reader.get_int64();
        else
            reader.skip();
    }
    return found;
}

constexpr uint64_t in_2001 = 1'000'000'000'000'000'000; // ns since 1970

using TimeAndLength = std::pair<std::optional<int64_t>, int64_t>;

TEST(PprofTime, IsTheWallClocksAtTheBeginningOfTheWindow) {
    Model model(4);
    SyntheticStream stream{model};
    for (uint64_t second = 20; second <= 23; second++)
        stream.sample(second * 1000 * ms, 1, stream.stack({"main"}));
    model.on_time(25'000 * ms);
    // Nobody has said when that was.
    EXPECT_EQ(pprof_time(model), TimeAndLength(std::nullopt, 5'000 * ms));
    model.on_machine(MachineId{}, {"web-1", in_2001});
    EXPECT_EQ(pprof_time(model), TimeAndLength(in_2001 + 20'000 * ms, 5'000 * ms));
    EXPECT_EQ(pprof_time(model, {{}, {Window::Kind::last, 2'000 * ms, 0}}),
              TimeAndLength(in_2001 + 23'000 * ms, 2'000 * ms));
    EXPECT_EQ(pprof_time(model, {{}, {Window::Kind::last, 2'000 * ms, 24'000 * ms}}),
              TimeAndLength(in_2001 + 22'000 * ms, 2'000 * ms));
    // There are four samples at most: without the first it begins with the second.
    stream.sample(24'000 * ms, 1, stream.stack({"main"}));
    EXPECT_EQ(pprof_time(model), TimeAndLength(in_2001 + 21'000 * ms, 4'000 * ms));
}

TEST(PprofTime, IsLeftOutWhereItMakesNoSense) {
    const auto at = [](uint64_t boot_ns, uint64_t time_ns) {
        Model model;
        SyntheticStream stream{model};
        model.on_machine(MachineId{}, {"m", boot_ns});
        stream.sample(time_ns, 1, stream.stack({"main"}));
        return pprof_time(model).first;
    };
    EXPECT_EQ(at(1, 2), 3);
    EXPECT_EQ(at(0, 2), std::nullopt);
    EXPECT_EQ(at(UINT64_MAX, 2), std::nullopt);
    EXPECT_EQ(at(in_2001, UINT64_MAX - 1), std::nullopt);
    Model nothing;
    nothing.on_machine(MachineId{}, {"m", in_2001});
    EXPECT_EQ(pprof_time(nothing).first, std::nullopt);
}

// Whenever it is replayed; times of several machines are those of the one that was booted first.
TEST(PprofTime, OfARecordingIsThatOfItsDay) {
    test::TemporaryFolder folder;
    std::vector<std::string> paths;
    const auto record = [&](const std::string& name, uint64_t boot_ns, uint64_t first_ns) {
        paths.push_back(folder.path(name));
        auto writer = RecordingWriter::create(paths.back());
        ASSERT_TRUE(writer);
        (*writer)->on_machine(MachineId{}, {name, boot_ns});
        SyntheticStream stream{**writer};
        for (uint64_t i = 0; i <= 10; i++)
            stream.sample(first_ns + i * ms, 1, stream.stack({"main"}));
        ASSERT_TRUE((*writer)->finish());
    };
    const auto replayed = [](const std::vector<std::string>& from) {
        Model model;
        auto backend = open_replay(from, model);
        EXPECT_TRUE(backend);
        while (*(*backend)->poll(std::chrono::milliseconds(37), -1)) {
        }
        return pprof_time(model);
    };
    record("web-1", in_2001, 50 * ms);
    record("web-2", in_2001 - 20 * ms, 60 * ms);
    EXPECT_EQ(replayed({paths[0]}), TimeAndLength(in_2001 + 50 * ms, 10 * ms));
    EXPECT_EQ(replayed({paths[1]}), TimeAndLength(in_2001 + 40 * ms, 10 * ms));
    EXPECT_EQ(replayed(paths), TimeAndLength(in_2001 + 40 * ms, 20 * ms));
}

} // namespace
} // namespace auger
