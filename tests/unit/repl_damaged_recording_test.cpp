// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings with bytes changed, below their checksums: whatever passes for one is looked at in
// every way there is. Nothing ends, nothing goes on for ever, and no file has anything in it that
// its readers would take for something else.
#include "loader/recording/format.h"
#include "loader/recording/record_encoder.h"
#include "loader/recording/replay_backend.h"
#include "tests/support/otlp_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/repl_fake_backend.h"
#include "views/escape.h"
#include "views/screen/screen.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <random>

namespace auger {
namespace {

uint32_t checksum(std::string_view bytes) {
    return static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// A recording whose one block holds these records.
std::string recording_of(std::string_view records) {
    std::string file(recording::magic);
    ByteWriter(file).fixed32(recording::version);
    ByteWriter(file).fixed32(checksum(file));
    std::string block;
    ByteWriter(block).fixed32(static_cast<uint32_t>(records.size()));
    ByteWriter(block).fixed32(static_cast<uint32_t>(records.size()));
    block += records;
    ByteWriter(file).fixed32(checksum(block));
    return file + block;
}

// A little of everything: a request of which some calls are slow, waits, marks, values, rules of
// loss, names of several kinds.
std::string sound_records() {
    constexpr uint64_t ms = 1'000'000;
    RecordEncoder encoder;
    encoder.on_machine(MachineId{}, {"host", 1'700'000'000'000'000'000});
    SyntheticStream stream(encoder);
    const SpecId handle = stream.add_spec(1, "handle"), send = stream.add_spec(2, "send");
    encoder.on_probe({ProbeId{1},
                      "handle",
                      {handle},
                      stream.fixed(5 * ms),
                      false,
                      {"arg1 > 1", "ret < 0", {"arg1", "str(arg2)"}}});
    stream.edit_probe(2, "send", {send}, {});
    SplitInfo split{true, ProbeId{1}, stream.fixed(5 * ms), false};
    split.branch = Branch::at_line("main.cc:12");
    split.label = "arg1";
    encoder.on_split(split);
    const StackId fast = stream.stack({"_start", "main", "handle", "parse(int, char)"});
    const StackId slow = stream.stack({"_start", "main", "handle", "send", "k:tcp_sendmsg"});
    for (uint64_t i = 1; i <= 12; i++) {
        const bool is_slow = i % 4 == 0;
        const uint64_t start = 1000 * ms + i * 20 * ms, duration = is_slow ? 9 * ms : ms;
        const CallKey outer = stream.call(handle, start), inner = stream.call(send, start + 1000);
        const uint32_t tid = 100 + i % 3;
        stream.sample(start + ms / 2, tid, is_slow ? slow : fast, {outer, inner}, ms,
                      is_slow ? SampleKind::blocked : SampleKind::cpu);
        stream.end(tid, inner, duration - 2000, i == 5);
        stream.end(tid, outer, duration, false, i % 2, stream.label(i % 2 ? "GET" : "PUT"));
        if (is_slow) {
            SlowCallEvent event;
            event.end = {start + duration,      duration, stream.thread(tid), outer, 1, false,
                         CallWaits{4 * ms, ms}, 1,        stream.label("PUT")};
            event.threshold_ns = 5 * ms;
            event.stack = slow;
            event.longest_wait = {4 * ms, "futex"};
            event.values = {{"arg1", "17 (tcp)", true}, {"str(arg2)", "page not present", false}};
            encoder.on_slow_call(event);
        }
        if (i % 6 == 0) {
            stream.stats(start + 10 * ms, handle, {ms, ms, 9 * ms}, 1, 1, 0, {{0, 1, 2}}, 2);
            stream.stats(start + 10 * ms, send, {ms, ms});
            stream.ledger(start + 10 * ms, 1, 3);
            encoder.on_notice(start + 10 * ms, "a process exited");
            encoder.on_time(start + 11 * ms);
        }
    }
    return encoder.bytes();
}

// Bytes that break what is built of text, beside any other.
std::string mutated(std::string records, std::mt19937& random) {
    constexpr std::string_view hostile("\xff\xc3\n\r\t\0\x1b\"\\<;,=\x7f\x80", 15);
    for (unsigned i = 1 + random() % 8; i > 0; i--) {
        char& byte = records[random() % records.size()];
        byte = random() % 2 ? hostile[random() % hostile.size()] : static_cast<char>(random());
    }
    return records;
}

class CountedInterrupts final : public Interrupts {
  public:
    int wake_fd() const override { return -1; }
    bool take_interrupt() override { return false; }
    bool stopping() const override {
        looks++;
        return false;
    }
    mutable size_t looks = 0; // asked between two steps
};

void expect_harmless(const std::string& text, const std::string& what, bool crlf = false) {
    for (size_t at = 0; at < text.size();) {
        const size_t before = at;
        const uint32_t c = decode_utf8(text, at);
        const bool white = c == '\n' || c == '\t' || (crlf && c == '\r');
        ASSERT_TRUE(c != UINT32_MAX && (white || (c >= 0x20 && (c < 0x7f || c >= 0xa0))))
            << what << " at " << before << ": "
            << escape_untrusted(text.substr(before < 200 ? 0 : before - 200, 300));
    }
}

void expect_sound(const ExportFormat& format, const std::string& text) {
    const std::string name(format.name);
    if (name == "pprof")
        return; // of bytes
    if (name == "otlp") {
        for (const std::string& one : test::OtlpReader(text).strings)
            expect_harmless(one, name);
        return;
    }
    expect_harmless(text, name, name.ends_with("csv"));
    if (name.ends_with("json") || name == "speedscope" || name == "chrome-trace") {
        EXPECT_TRUE(nlohmann::json::accept(text)) << name << "\n" << text;
        return;
    }
    // Every line of these is of one kind.
    std::string_view rest = text;
    for (; !rest.empty(); rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()))) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        if (line.starts_with("# ") || line.empty())
            continue;
        const bool number = line.back() >= '0' && line.back() <= '9';
        const bool frame = line.starts_with('\t') && line.ends_with(')');
        const bool right = name == "collapsed"     ? number && line.find(' ') != line.npos
                           : name == "prometheus"  ? line.starts_with("auger_")
                           : name.ends_with("csv") ? line.find(',') != line.npos
                           : name == "perf-script" ? frame || line.ends_with(':')
                                                   : true;
        ASSERT_TRUE(right) << name << ": " << line;
    }
}

void look_at_everything(const std::string& path, bool json, bool& readable) {
    Model model(1000);
    auto backend = open_replay(std::vector{path}, model);
    readable = backend.ok();
    if (!readable)
        return;
    TestOutput output;
    CountedInterrupts interrupts;
    SessionOptions options;
    options.json = json;
    options.keep_going = options.batch = true;
    options = TestSession::fitted(options);
    Session session(**backend, model, output, interrupts, command_table(), options);
    std::vector<ScriptLine> lines;
    for (const char* line : {"flame",
                             "flame slow taken by thread",
                             "flame by cpu under handle",
                             "flame --folded",
                             "top",
                             "diff",
                             "diff taken not-taken",
                             "functions",
                             "functions 1 sort max",
                             "explain",
                             "explain 1 -n 3",
                             "hist 1",
                             "hist send",
                             "calls",
                             "calls 1 slow",
                             "callers send",
                             "callees handle slow",
                             "threads",
                             "probes",
                             "status",
                             "only in handle",
                             "window 100ms",
                             "top",
                             "ewma 1s",
                             "flame",
                             "split handle > p50",
                             "flame slow",
                             "undo",
                             "rewrite frame /a/ b",
                             "drop frame /x/",
                             "fold recursion",
                             "rules",
                             "flame",
                             "target",
                             "delete 1",
                             "probes",
                             "doctor"})
        lines.push_back({"", lines.size() + 1, line});
    session.run(lines);
    EXPECT_EQ((output.results + output.errors).find("this is a defect"), std::string::npos)
        << output.results << output.errors;
    expect_harmless(output.results, "results");
    expect_harmless(output.errors, "errors");
    expect_harmless(output.notices, "notices");
    // Once before each command, and a few times while it reads to the end.
    EXPECT_LT(interrupts.looks, 200u);

    for (const ExportFormat& format : export_formats()) {
        StringSink text;
        EXPECT_TRUE(format.write(model, ExportQuery{}, text));
        expect_sound(format, text.text);
    }
    Screen screen(model, {.unicode = true, .read_source = {}});
    for (const std::string_view pane : Screen::pane_names()) {
        screen.show(pane);
        size_t slices = 0;
        while (screen.refresh(session.screen_state(), TimeSlice::one_step()) && ++slices < 20'000) {
        }
        EXPECT_LT(slices, 20'000u) << pane;
        (void)screen.draw(100, 40);
    }
}

// By seed, so that several run at a time.
class DamagedRecording : public testing::TestWithParam<unsigned> {};

TEST_P(DamagedRecording, IsLookedAtWithoutHarm) {
    constexpr int each = 200;
    const test::TemporaryFolder folder;
    const std::string sound = sound_records();
    std::mt19937 random(GetParam());
    int readable = 0;
    for (int i = 0; i < each; i++) {
        const std::string path = folder.file("damaged.auger", recording_of(mutated(sound, random)));
        bool read = false;
        look_at_everything(path, i % 4 == 0, read);
        readable += read;
        if (HasFailure()) {
            ADD_FAILURE() << "mutation " << i << " of seed " << GetParam();
            return;
        }
    }
    EXPECT_GT(readable, each / 2) << "what cannot be read shows nothing";
}

INSTANTIATE_TEST_SUITE_P(Seeds, DamagedRecording, testing::Range(0u, 16u));

TEST(DamagedRecordings, TheSoundOneShowsSomethingEverywhere) {
    const test::TemporaryFolder folder;
    bool readable = false;
    look_at_everything(folder.file("sound.auger", recording_of(sound_records())), false, readable);
    EXPECT_TRUE(readable);
}

// A record may say any time; the views do not wait for all that lies before it.
TEST(DamagedRecordings, AnEventCenturiesLaterIsNotWaitedFor) {
    for (const uint64_t late : {recording::max_time_ns, recording::max_time_ns + 1, UINT64_MAX}) {
        RecordEncoder encoder;
        SyntheticStream stream(encoder);
        const StackId stack = stream.stack({"main", "work"});
        stream.sample(1'000'000'000, 1, stack);
        stream.sample(late, 1, stack);
        const test::TemporaryFolder folder;
        const std::string path = folder.file("late.auger", recording_of(encoder.bytes()));
        bool readable = false;
        look_at_everything(path, false, readable);
        EXPECT_TRUE(readable);
    }
}

} // namespace
} // namespace auger
