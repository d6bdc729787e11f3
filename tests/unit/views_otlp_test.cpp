// SPDX-License-Identifier: GPL-3.0-or-later
// OpenTelemetry's profiles: what receivers find in them is what the model says.
#include "tests/support/otlp_reader.h"
#include "tests/unit/views_exports_fixture.h"
#include "views/escape.h"
#include "views/exports/otlp.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using test::OtlpReader;
using test::ReadAttributes;
using test::ReadProfile;
using test::ReadResource;
using test::ReadSample;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

using Lines = std::vector<std::string>;

OtlpReader read_otlp(const Model& model, const ExportQuery& query = {}) {
    StringSink sink;
    EXPECT_TRUE(write_otlp(model, query, sink));
    return OtlpReader(sink.text);
}

// Sums of values by an attribute.
std::map<std::string, double> sums_by(const std::string& key, const ReadProfile& profile) {
    std::map<std::string, double> sums;
    for (const ReadSample& sample : profile.samples) {
        const auto found = sample.attributes.find(key);
        sums[found == sample.attributes.end() ? "" : found->second] +=
            static_cast<double>(sample.value);
    }
    return sums;
}

TEST_F(Exports, OtlpHasClassesAndWeights) {
    const OtlpReader read(write("otlp"));
    EXPECT_EQ(written, model.samples().size());
    ASSERT_EQ(read.resources.size(), 1u);
    ASSERT_EQ(read.resources[0].profiles.size(), 2u); // there are no waits
    EXPECT_EQ(read.resources[0].profiles[0].type, "samples/count");
    const ReadProfile& cpu = read.resources[0].profile("cpu/nanoseconds");
    const ReadProfile& samples = read.resources[0].profile("samples/count");
    std::map<std::string, double> expected;
    for (const CallClass one : all_call_classes)
        if (const double ns = expected_ns(one))
            expected[std::string(to_string(one))] = ns;
    EXPECT_EQ(expected.size(), 3u);
    EXPECT_EQ(sums_by("class", cpu), expected);
    // What a store makes of the other one.
    EXPECT_EQ(samples.period_type, "cpu/nanoseconds");
    for (auto& [name, ns] : expected)
        ns /= static_cast<double>(samples.period);
    EXPECT_EQ(sums_by("class", samples), expected);
    EXPECT_THAT(sums_by("probe", samples), UnorderedElementsAre(Pair("", 5), Pair("handle", 44)));
    EXPECT_EQ(samples.comments, export_notes(model));
    EXPECT_EQ(cpu.comments, export_notes(model));
    EXPECT_THAT(samples.comments, Contains("lost: 3 (samples: event ring full)"));
}

TEST_F(Exports, OtlpHasStacksFromTheLeafAndNamesThatAreText) {
    const OtlpReader read(write("otlp"));
    std::set<Lines> found;
    for (const ReadSample& sample : read.resources.at(0).profile("cpu/nanoseconds").samples) {
        Lines functions;
        for (const Lines& lines : sample.stack) {
            ASSERT_EQ(lines.size(), 1u);
            functions.push_back(lines[0].substr(0, lines[0].rfind(" /src/main.cc:")));
        }
        EXPECT_TRUE(found.insert(functions).second) << "of one thread, and twice";
    }
    EXPECT_THAT(found, Contains(ElementsAre("idle", "_start")));
    EXPECT_THAT(found, Contains(ElementsAre(long_name, "handle", "_start")));
    EXPECT_THAT(found, Contains(ElementsAre("bad\\xff\\xfe", "handle", "_start")));
    EXPECT_THAT(found, Contains(ElementsAre("esc\\x1b[2J\\x0anext", "handle", "_start")));
    EXPECT_THAT(found, Contains(ElementsAre("{anonymous}::f(int)", "handle", "_start")));
    EXPECT_EQ(found.size(), 9u);
    for (const std::string& text : read.strings)
        EXPECT_EQ(text, escape_untrusted(text));
    ASSERT_EQ(read.mappings.size(), 3u);
    std::map<std::string, ReadAttributes> mappings;
    for (size_t i = 1; i < read.mappings.size(); i++)
        mappings[read.file_of(read.mappings[i])] = read.attributes(read.mappings[i], 5);
    EXPECT_EQ(mappings["/usr/bin/service"],
              (ReadAttributes{{"process.executable.build_id.gnu", "abcd"}}));
    EXPECT_THAT(mappings["[kernel]"], IsEmpty());
}

TEST_F(Exports, OtlpTellsThreadsApartIfAsked) {
    ExportQuery query;
    for (const bool threads : {true, false}) {
        query.threads = threads;
        size_t idle = 0;
        // The other thread does the same.
        stream.sample(900 * ms, 101, stream.stack({"_start", "idle"}), {}, ms);
        const OtlpReader read = read_otlp(model, query);
        for (const ReadSample& sample : read.resources.at(0).profile("samples/count").samples) {
            const bool named = sample.attributes.contains("thread.name");
            EXPECT_EQ(named, threads);
            EXPECT_EQ(sample.attributes.contains("thread.id"), threads);
            EXPECT_EQ(sample.attributes.at("process"), "service");
            idle += sample.stack[0][0].starts_with("idle ");
        }
        EXPECT_EQ(idle, threads ? 2u : 1u);
    }
}

TEST(Otlp, WaitsAreAProfileOfTheirOwn) {
    Model model;
    SyntheticStream stream(model);
    const StackId stack = stream.stack({"main", "s:read"});
    stream.sample(1 * ms, 1, stream.stack({"main"}), {}, 2 * ms);
    stream.sample(2 * ms, 1, stream.stack({"main"}), {}, 4 * ms);
    stream.sample(9 * ms, 1, stack, {}, 5 * ms, SampleKind::blocked);
    stream.sample(10 * ms, 1, stack, {}, 1 * ms, SampleKind::runnable);
    stream.sample(20 * ms, 1, stack, {}, 6 * ms, SampleKind::blocked);
    StringSink sink;
    EXPECT_EQ(*write_otlp(model, {}, sink), 5u);
    const OtlpReader read(sink.text);
    ASSERT_EQ(read.resources.size(), 1u);
    const ReadResource& resource = read.resources[0];
    EXPECT_EQ(resource.profiles.size(), 3u);
    const ReadProfile& waits = resource.profile("off_cpu/nanoseconds");
    EXPECT_EQ(sums_by("wait", waits),
              (std::map<std::string, double>{{"blocked", 11.0 * ms}, {"runnable", 1.0 * ms}}));
    EXPECT_EQ(waits.samples.size(), 2u);
    EXPECT_EQ(waits.samples[0].stack,
              (std::vector<Lines>{{"read /src/main.cc:10"}, {"main /src/main.cc:11"}}));
    EXPECT_EQ(waits.period_type, "/");
    EXPECT_EQ(waits.period, 0u);
    // Rates differ: the sum is right.
    EXPECT_EQ(resource.profile("samples/count").period, 3 * ms);
    EXPECT_EQ(sums_by("", resource.profile("samples/count")),
              (std::map<std::string, double>{{"", 2}}));
    EXPECT_EQ(sums_by("", resource.profile("cpu/nanoseconds")),
              (std::map<std::string, double>{{"", 6.0 * ms}}));
}

TEST(Otlp, InlinedFunctionsAreLinesOfOneLocation) {
    Model model;
    SyntheticStream stream(model);
    const LocationId outer = stream.location("outer"), inner = stream.location("inner");
    const Frame of_inner[] = {
        {"leaf", "a.h", 1, true}, {"middle", "a.h", 2, true}, {"inner", "a.cc", 3, false}};
    const Frame of_outer[] = {{"inlined", "a.h", 4, true}, {"main", "a.cc", 0, false}};
    model.on_frames(inner, of_inner);
    model.on_frames(outer, of_outer);
    stream.sample(1, 1, stream.stack({"outer", "inner"}));
    const OtlpReader read = read_otlp(model);
    EXPECT_EQ(read.resources.at(0).profile("samples/count").samples.at(0).stack,
              (std::vector<Lines>{{"leaf a.h:1", "middle a.h:2", "inner a.cc:3"},
                                  {"inlined a.h:4", "main a.cc:0"}}));
}

// The reader looks for what is in a table twice.
TEST(Otlp, WhatIsTheSameIsOneEntry) {
    Model model;
    SyntheticStream stream(model);
    // Names that are one when they are written, a file that was mapped twice, stacks that rules
    // make the same, an address that was both returned to and sampled.
    model.on_module(ModuleId{2}, {ModuleKind::file, "/usr/bin/service", "abcd"});
    model.on_location(LocationId{0}, {ModuleId{0}, 0x10, false});
    model.on_location(LocationId{1}, {ModuleId{0}, 0x10, true});
    model.on_location(LocationId{2}, {ModuleId{2}, 0x10, false});
    for (const auto& [id, name] : {std::pair{0, "f;"}, {1, "f:"}, {2, "f:"}}) {
        const Frame frame{name, "a.cc", 1, false};
        model.on_frames(LocationId{uint32_t(id)}, {&frame, 1});
        const LocationId location{uint32_t(id)};
        model.on_stack(StackId{uint32_t(id)}, {&location, 1});
        stream.sample(1 + uint64_t(id), 1, StackId{uint32_t(id)}, {}, ms);
    }
    const OtlpReader read = read_otlp(model);
    const ReadProfile& cpu = read.resources.at(0).profile("cpu/nanoseconds");
    ASSERT_EQ(cpu.samples.size(), 1u);
    EXPECT_EQ(cpu.samples[0].value, 3 * int64_t{ms});
}

// Paths, too; the .proto files demand UTF-8.
TEST(Otlp, TextFromATargetIsEscaped) {
    Model model;
    SyntheticStream stream(model);
    const LocationId location = stream.location("f");
    const Frame frame{"f\xfe", "a\xfd.cc", 1, false};
    model.on_module(ModuleId{0}, {ModuleKind::file, "/lib\xff\x1b.so", "ab\n"});
    model.on_frames(location, {&frame, 1});
    model.on_thread(stream.thread(1), {1, 1, "t\x80"});
    stream.sample(ms, 1, stream.stack({"f"}), {stream.call(stream.probe(1, "p\xfc"), 0)}, ms);
    const OtlpReader read = read_otlp(model);
    const ReadSample& sample = read.resources.at(0).profile("cpu/nanoseconds").samples.at(0);
    EXPECT_EQ(sample.stack, (std::vector<Lines>{{"f\\xfe a\\xfd.cc:1"}}));
    EXPECT_EQ(sample.attributes, (ReadAttributes{{"process", "t\\x80"},
                                                 {"thread.name", "t\\x80"},
                                                 {"thread.id", "1"},
                                                 {"probe", "p\\xfc"}}));
    EXPECT_EQ(read.file_of(read.mappings.at(1)), "/lib\\xff\\x1b.so");
    EXPECT_EQ(read.attributes(read.mappings.at(1), 5),
              (ReadAttributes{{"process.executable.build_id.gnu", "ab\\x0a"}}));
}

std::vector<ReadAttributes> resource_attributes(const Model& model, const ExportQuery& query = {}) {
    std::vector<ReadAttributes> all;
    for (const ReadResource& one : read_otlp(model, query).resources)
        all.push_back(one.attributes);
    return all;
}

TEST(Otlp, AResourceIsAServiceOnAHostInAContainer) {
    Model model;
    SyntheticStream stream(model);
    const std::string id(64, 'a');
    model.on_machine(MachineId{0}, {"web-1", 0});
    model.on_machine(MachineId{1}, {"web-2", 0});
    const auto thread = [&](uint32_t pid, const std::string& comm, const std::string& cgroup,
                            uint32_t machine) {
        model.on_thread(stream.thread(pid), {pid, pid, comm, cgroup, MachineId{machine}});
        stream.sample(pid, pid, stream.stack({"main"}), {}, ms);
    };
    thread(10, "nginx", "/system.slice/nginx.service", 0);
    thread(11, "nginx", "/system.slice/nginx.service", 0);
    thread(12, "php", "/system.slice/docker-" + id + ".scope", 0);
    thread(13, "esc\x1b\xff", "/system.slice/nginx.service", 1);
    EXPECT_THAT(resource_attributes(model),
                UnorderedElementsAre(ReadAttributes{{"service.name", "nginx"},
                                                    {"host.name", "web-1"},
                                                    {"process.executable.name", "nginx"}},
                                     ReadAttributes{{"service.name", "php"},
                                                    {"host.name", "web-1"},
                                                    {"container.id", id},
                                                    {"process.pid", "12"},
                                                    {"process.executable.name", "php"}},
                                     ReadAttributes{{"service.name", "esc\\x1b\\xff"},
                                                    {"host.name", "web-2"},
                                                    {"process.pid", "13"},
                                                    {"process.executable.name", "esc\\x1b\\xff"}}));
    ExportQuery query;
    query.service = "shop";
    query.host = "rack-7";
    EXPECT_THAT(
        resource_attributes(model, query),
        UnorderedElementsAre(ReadAttributes{{"service.name", "shop"}, {"host.name", "rack-7"}},
                             ReadAttributes{{"service.name", "shop"},
                                            {"host.name", "rack-7"},
                                            {"container.id", id},
                                            {"process.pid", "12"},
                                            {"process.executable.name", "php"}}));
}

TEST(Otlp, NamesOfContainersAndPodsAreTold) {
    Model model;
    SyntheticStream stream(model);
    const std::string id(64, 'a'), uid = "01234567-89ab-cdef-0123-456789abcdef";
    const auto thread = [&](uint32_t pid, const std::string& cgroup, const ContainerNames& names) {
        model.on_thread(stream.thread(pid), {pid, pid, "app", cgroup, MachineId{0}, names});
        stream.sample(pid, pid, stream.stack({"main"}), {}, ms);
    };
    model.on_machine(MachineId{0}, {"node", 0});
    thread(10, "/kubepods/burstable/pod" + uid + "/" + id, {"cart", "shop-7f", "default"});
    thread(11, "/docker/" + id, {"web", "", ""});
    EXPECT_THAT(resource_attributes(model),
                UnorderedElementsAre(ReadAttributes{{"service.name", "app"},
                                                    {"host.name", "node"},
                                                    {"container.id", id},
                                                    {"k8s.container.name", "cart"},
                                                    {"k8s.pod.uid", uid},
                                                    {"k8s.pod.name", "shop-7f"},
                                                    {"k8s.namespace.name", "default"},
                                                    {"process.pid", "10"},
                                                    {"process.executable.name", "app"}},
                                     ReadAttributes{{"service.name", "app"},
                                                    {"host.name", "node"},
                                                    {"container.id", id},
                                                    {"container.name", "web"},
                                                    {"process.pid", "11"},
                                                    {"process.executable.name", "app"}}));
}

// There are hundreds, which come and go. Names tell nothing: anybody may have one of theirs.
TEST(Otlp, TheKernelsOwnThreadsAreOneService) {
    Model model;
    SyntheticStream stream(model);
    const auto thread = [&](uint32_t pid, const std::string& comm, bool kernel) {
        model.on_thread(stream.thread(pid), {pid, pid, comm, "/", MachineId{0}, {}, kernel});
        stream.sample(pid, pid, stream.stack({"k:work"}), {}, ms);
    };
    thread(10, "kworker/3:1", true);
    thread(11, "ksoftirqd/0", true);
    thread(12, "kworker/3:1", false);
    EXPECT_THAT(resource_attributes(model),
                UnorderedElementsAre(ReadAttributes{{"service.name", "kernel"}},
                                     ReadAttributes{{"service.name", "kworker/3:1"},
                                                    {"process.pid", "12"},
                                                    {"process.executable.name", "kworker/3:1"}}));
    // Stores make a series of each process, too.
    for (const bool threads : {true, false}) {
        ExportQuery query;
        query.threads = threads;
        for (const ReadResource& resource : read_otlp(model, query).resources)
            if (resource.attributes.at("service.name") == "kernel") {
                EXPECT_EQ(sums_by("process", resource.profile("samples/count")),
                          threads ? (std::map<std::string, double>{{"kworker/3:1", 1},
                                                                   {"ksoftirqd/0", 1}})
                                  : (std::map<std::string, double>{{"kernel", 2}}));
            }
    }
    ExportQuery query;
    query.service = "shop";
    EXPECT_THAT(resource_attributes(model, query),
                ElementsAre(Contains(Pair("service.name", "shop"))));
}

// By which collectors look the others up.
TEST(Otlp, AContainersPodIsToldByItsUid) {
    Model model;
    SyntheticStream stream(model);
    const std::string id(64, 'a'), uid = "01234567-89ab-cdef-0123-456789abcdef";
    const auto thread = [&](uint32_t pid, const std::string& cgroup) {
        model.on_thread(stream.thread(pid), {pid, pid, "app", cgroup, MachineId{0}});
        stream.sample(pid, pid, stream.stack({"main"}), {}, ms);
    };
    model.on_machine(MachineId{0}, {"node", 0});
    const std::string pod = "/kubepods/burstable/pod" + uid + "/" + id;
    thread(10, pod);
    thread(11, pod + "/workers");
    thread(12, "/lxc.payload.build/init.scope");
    EXPECT_THAT(resource_attributes(model),
                UnorderedElementsAre(ReadAttributes{{"service.name", "app"},
                                                    {"host.name", "node"},
                                                    {"container.id", id},
                                                    {"k8s.pod.uid", uid},
                                                    {"process.executable.name", "app"}},
                                     ReadAttributes{{"service.name", "app"},
                                                    {"host.name", "node"},
                                                    {"container.name", "build"},
                                                    {"process.pid", "12"},
                                                    {"process.executable.name", "app"}}));
}

TEST(Otlp, WhatWasLostIsToldEvenIfNothingElseIs) {
    Model model;
    SyntheticStream stream(model);
    model.on_machine(MachineId{0}, {"web-1", 0});
    stream.ledger(1 * ms, 0, 3);
    StringSink sink;
    EXPECT_EQ(*write_otlp(model, {}, sink), 0u);
    const OtlpReader read(sink.text);
    ASSERT_EQ(read.resources.size(), 1u);
    EXPECT_EQ(read.resources[0].attributes,
              (ReadAttributes{{"service.name", "unknown_service"}, {"host.name", "web-1"}}));
    EXPECT_EQ(read.resources[0].profiles.size(), 3u);
    for (const ReadProfile& one : read.resources[0].profiles) {
        EXPECT_THAT(one.samples, IsEmpty());
        EXPECT_THAT(one.comments, ElementsAre("lost: 3 (samples: event ring full)"));
    }
    EXPECT_EQ(read.mappings.size(), 1u);
}

// As pprof's, which has the tests of what that is.
TEST(Otlp, TimeIsTheWallClocks) {
    Model model;
    SyntheticStream stream(model);
    stream.sample(20 * ms, 1, stream.stack({"main"}));
    model.on_time(25 * ms);
    const auto time = [&](const ExportQuery& query = {}) {
        const ReadProfile profile = read_otlp(model, query).resources.at(0).profiles.at(0);
        return std::pair{profile.time, profile.duration};
    };
    EXPECT_EQ(time(), std::pair(uint64_t{0}, 5 * ms));
    model.on_machine(MachineId{}, {"web-1", 1'000'000 * ms});
    EXPECT_EQ(time(), std::pair(1'000'020 * ms, 5 * ms));
    EXPECT_EQ(time({{}, {Window::Kind::last, 2 * ms, 21 * ms}}), std::pair(1'000'020 * ms, 1 * ms));
}

} // namespace
} // namespace auger
