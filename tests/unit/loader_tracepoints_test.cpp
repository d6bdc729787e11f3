// SPDX-License-Identifier: GPL-3.0-or-later
// Tracepoints: their format files, from a pattern to those that there are, and from expressions to
// what is read of a record.
#include "bpf/wire.h"
#include "loader/probes/probe_pattern.h"
#include "loader/reader/values/compile_program.h"
#include "loader/tracepoints/event_format.h"
#include "loader/tracepoints/find_tracepoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* of_openat = R"(name: sys_enter_openat
ID: 782
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:int dfd;	offset:16;	size:8;	signed:0;
	field:const char * filename;	offset:24;	size:8;	signed:0;
	field:int flags;	offset:32;	size:8;	signed:0;
	field:umode_t mode;	offset:40;	size:8;	signed:0;

print fmt: "dfd: 0x%08lx", ((unsigned long)(REC->dfd))
)";

constexpr const char* of_request = R"(name: block_rq_issue
ID: 2104
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:dev_t dev;	offset:8;	size:4;	signed:0;
	field:sector_t sector;	offset:16;	size:8;	signed:0;
	field:unsigned short ioprio;	offset:32;	size:2;	signed:0;
	field:char rwbs[10];	offset:34;	size:10;	signed:0;
	field:char comm[TASK_COMM_LEN];	offset:44;	size:16;	signed:0;
	field:__data_loc char[] cmd;	offset:60;	size:4;	signed:0;
	field:__rel_loc char[] odd;	offset:64;	size:4;	signed:0;
	field:unsigned long args[6];	offset:72;	size:48;	signed:0;
	field:void * skbaddr;	offset:120;	size:8;	signed:0;
	field:s64 delta;	offset:128;	size:8;	signed:1;
	field:struct pair pair;	offset:136;	size:16;	signed:0;
)";

EventFormat format_of(const char* text) {
    auto format = parse_event_format(text);
    EXPECT_TRUE(format.ok()) << (format ? "" : format.error().message());
    return format ? *format : EventFormat();
}

TEST(EventFormat, HasTheFieldsThatAreATracepointsOwn) {
    const EventFormat format = format_of(of_openat);
    EXPECT_EQ(format.name, "sys_enter_openat");
    EXPECT_EQ(format.id, 782u);
    EXPECT_EQ(field_names(format), "__syscall_nr, dfd, filename, flags, mode");
    const EventField& filename = format.fields.at(2);
    EXPECT_EQ(filename.type, "const char *");
    EXPECT_TRUE(filename.is_pointer());
    EXPECT_EQ(filename.offset, 24u);
    EXPECT_EQ(filename.size, 8u);
    EXPECT_TRUE(format.fields.at(0).is_signed);
}

TEST(EventFormat, ArraysAreOfKnownLengthOrNot) {
    const EventFormat format = format_of(of_request);
    ASSERT_THAT(format.fields, SizeIs(11));
    const EventField& rwbs = format.fields.at(3);
    EXPECT_EQ(rwbs.type, "char");
    EXPECT_TRUE(rwbs.is_array);
    EXPECT_EQ(rwbs.elements, 10u);
    const EventField& comm = format.fields.at(4); // its length is a name
    EXPECT_TRUE(comm.is_array);
    EXPECT_EQ(comm.elements, 0u);
    EXPECT_EQ(comm.size, 16u);
    const EventField& cmd = format.fields.at(5);
    EXPECT_TRUE(cmd.dynamic);
    EXPECT_EQ(cmd.type, "char");
    EXPECT_EQ(cmd.name, "cmd");
    EXPECT_TRUE(format.fields.at(6).relative);
    EXPECT_EQ(format.fields.at(7).elements, 6u);
}

TEST(EventFormat, WhatIsNotUnderstoodIsSaidByItsLine) {
    const auto fault = [](const std::string& text) {
        const auto format = parse_event_format(text);
        return format ? "understood" : format.error().message();
    };
    const std::string head = "name: x\nID: 1\nformat:\n";
    EXPECT_EQ(fault(head), "understood");
    EXPECT_THAT(fault(head + "\tfield:int a;\toffset:x;\tsize:4;\tsigned:1;\n"),
                HasSubstr("line 4"));
    EXPECT_THAT(fault(head + "\tfield:int a;\tsize:4;\tsigned:1;\n"), HasSubstr("line 4"));
    EXPECT_THAT(fault(head + "\tfield:a;\toffset:0;\tsize:4;\tsigned:1;\n"), HasSubstr("line 4"));
    EXPECT_THAT(fault(head + "\tfield:int a;\toffset:70000;\tsize:4;\tsigned:1;\n"),
                HasSubstr("line 4"));
    EXPECT_THAT(fault(head + "\tfield:__data_loc char[] a;\toffset:0;\tsize:8;\tsigned:1;\n"),
                HasSubstr("line 4"));
    EXPECT_THAT(fault(head + "nonsense\n"), HasSubstr("line 4"));
    EXPECT_THAT(fault("name: x\nformat:\n"), HasSubstr("no name and number"));
    EXPECT_THAT(fault("ID: 18446744073709551616\nname: x\nformat:\n"), HasSubstr("no name"));
}

TEST(TracepointPattern, HasACategoryAndAName) {
    const ParsedProbe parsed = parse_probe("tracepoint:block:block_rq_*");
    ASSERT_TRUE(parsed.pattern);
    EXPECT_TRUE(parsed.pattern->tracepoint());
    EXPECT_EQ(parsed.pattern->category, "block");
    EXPECT_EQ(parsed.pattern->function, "block_rq_*");
    EXPECT_TRUE(parsed.pattern->function_is_glob);
    EXPECT_TRUE(is_place(*parsed.pattern));
    EXPECT_FALSE(parse_probe("kernel:tcp_sendmsg").pattern->tracepoint());
    EXPECT_TRUE(parse_probe("kernel:tcp_sendmsg").pattern->kernel_function());
}

TEST(TracepointPattern, ErrorsPointAtTheByte) {
    const auto position = [](std::string_view text) {
        const ParsedProbe parsed = parse_probe(text);
        return parsed.error ? static_cast<int>(parsed.error->position) : -1;
    };
    EXPECT_EQ(position("tracepoint:block"), 16);
    EXPECT_EQ(position("tracepoint::x"), 11);
    EXPECT_EQ(position("tracepoint:x:"), 13);
    EXPECT_EQ(position("tracepoint:a:b:c"), 14);
    EXPECT_EQ(position("tracepoint:../a:b"), 13);
}

// A folder like tracefs' events.
class TracefsFolder : public testing::Test {
  protected:
    TracefsFolder() {
        for (const char* path :
             {"syscalls/sys_enter_read", "syscalls/sys_exit_read", "syscalls/sys_enter_openat",
              "syscalls/sys_exit_openat", "syscalls/sys_enter_exit", "block/block_rq_issue",
              "block/block_rq_complete", "ext4/ext4_write_begin", "ext4/ext4_write_end",
              "raw_syscalls/sys_enter", "raw_syscalls/sys_exit", "ftrace/function"})
            std::filesystem::create_directories(folder_ / path);
        std::ofstream(folder_ / "block/block_rq_issue/format") << of_request << "\nprint fmt: x\n";
        std::ofstream(folder_ / "block/enable") << "0\n"; // no tracepoint
    }
    ~TracefsFolder() override { std::filesystem::remove_all(folder_); }

    std::string found(const std::string& text, size_t limit = 10) const {
        const auto names = find_tracepoints(tracefs(), *parse_probe(text).pattern, limit);
        if (!names)
            return names.error().message();
        std::string all;
        for (const TracepointName& name : *names)
            all += name.category + ":" + name.name + " ";
        return all;
    }
    const Tracefs& tracefs() const {
        if (!tracefs_.available())
            tracefs_ = Tracefs::at(folder_);
        return tracefs_;
    }

    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("auger_tracefs_" + std::to_string(getpid()));
    mutable Tracefs tracefs_;
};

TEST_F(TracefsFolder, NamesAndGlobsAreFound) {
    EXPECT_EQ(found("tracepoint:block:block_rq_issue"), "block:block_rq_issue ");
    EXPECT_EQ(found("tracepoint:*:*_read"), "syscalls:sys_enter_read syscalls:sys_exit_read ");
    EXPECT_EQ(found("tracepoint:raw*:*"), "raw_syscalls:sys_enter raw_syscalls:sys_exit ");
    EXPECT_THAT(found("tracepoint:*:*", 3), HasSubstr("matches 11 tracepoints; the limit is 3"));
    EXPECT_THAT(tracefs().categories(), ElementsAre("block", "ext4", "raw_syscalls", "syscalls"));
}

TEST_F(TracefsFolder, WhatMayHaveBeenMeantIsSaid) {
    EXPECT_THAT(found("tracepoint:block:block_rq_isue"), HasSubstr("block_rq_issue"));
    EXPECT_THAT(found("tracepoint:syscalls:openat"), HasSubstr("sys_enter_openat"));
    EXPECT_THAT(found("tracepoint:blok:block_rq_isue"), HasSubstr("did you mean block?"));
    EXPECT_THAT(found("tracepoint:syscall:sys_exit_read"),
                HasSubstr("tracepoint:syscalls:sys_exit_read"));
    EXPECT_THAT(found("tracepoint:block:nothing_like_it"), HasSubstr("probes tracepoint"));
}

TEST_F(TracefsFolder, PairsAreKnownByTheirNames) {
    const auto end = [&](const char* category, const char* name) {
        const auto other = end_of_pair(tracefs(), {category, name});
        return other ? other->name : "";
    };
    EXPECT_EQ(end("syscalls", "sys_enter_read"), "sys_exit_read");
    EXPECT_EQ(end("syscalls", "sys_enter_exit"), ""); // which does not come back
    EXPECT_EQ(end("raw_syscalls", "sys_enter"), "sys_exit");
    EXPECT_EQ(end("ext4", "ext4_write_begin"), "ext4_write_end");
    EXPECT_EQ(end("block", "block_rq_issue"), "block_rq_complete");
    EXPECT_EQ(end("block", "block_rq_complete"), "");
}

TEST_F(TracefsFolder, CompletionGoesByCategoryAndName) {
    const auto complete = [&](std::string_view text) {
        return complete_tracepoints(tracefs(), text, 10);
    };
    EXPECT_THAT(complete("tracepoint:"),
                ElementsAre("tracepoint:block:", "tracepoint:ext4:", "tracepoint:raw_syscalls:",
                            "tracepoint:syscalls:"));
    EXPECT_THAT(complete("tracepoint:b"), ElementsAre("tracepoint:block:block_rq_complete",
                                                      "tracepoint:block:block_rq_issue"));
    EXPECT_THAT(complete("tracepoint:block:block_rq_i"),
                ElementsAre("tracepoint:block:block_rq_issue"));
    EXPECT_THAT(complete("syscall:o"), ElementsAre("syscall:openat"));
    EXPECT_THAT(complete("recv"), IsEmpty());
}

TEST_F(TracefsFolder, FormatsAreReadWithoutHowTheyArePrinted) {
    const auto text = tracefs().format_text("block", "block_rq_issue");
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(text->find("print fmt"), std::string::npos);
    EXPECT_TRUE(parse_event_format(*text).ok());
    EXPECT_FALSE(tracefs().format_text("block", "../block/block_rq_issue").ok());
    const auto missing = tracefs().format("syscalls", "sys_enter_read");
    ASSERT_FALSE(missing.ok());
    EXPECT_THAT(missing.error().message(), HasSubstr("No such file"));
}

TEST(TracepointsOfNoKernel, SayThatTracefsIsMissing) {
    const Tracefs none = Tracefs::at("/nonexistent");
    const auto names = find_tracepoints(none, *parse_probe("tracepoint:block:x").pattern, 1);
    ASSERT_FALSE(names.ok());
    EXPECT_THAT(names.error().message(), HasSubstr("mount -t tracefs"));
}

Result<std::optional<CallProgram>> compiled(const char* format, const std::string& name,
                                            const std::string& predicate,
                                            const std::string& key = "") {
    ProgramRequest request;
    request.conditions.only_if = predicate;
    request.split_by = key;
    ValueScope scope{name};
    scope.tracepoint = format;
    return compile_program(request, scope);
}

wire_fetch fetch_of(const char* format, const std::string& name, const std::string& predicate) {
    auto program = compiled(format, name, predicate);
    EXPECT_TRUE(program.ok()) << (program ? "" : program.error().message());
    if (!program || !*program)
        return {};
    EXPECT_EQ((*program)->wire.fetches, 1);
    return (*program)->wire.fetch[0];
}

TEST(TracepointValues, AreFieldsOfTheRecord) {
    const wire_fetch dev = fetch_of(of_request, "tracepoint:block:x", "args.dev == 3");
    EXPECT_EQ(dev.base, WIRE_BASE_RECORD);
    EXPECT_EQ(dev.offset[0], 8);
    EXPECT_EQ(dev.size, 4);
    EXPECT_EQ(dev.flags, WIRE_FETCH_IN_MEMORY);
    const wire_fetch delta = fetch_of(of_request, "tracepoint:block:x", "args.delta < 0");
    EXPECT_EQ(delta.flags, WIRE_FETCH_IN_MEMORY | WIRE_FETCH_SIGNED);
    const wire_fetch old = fetch_of(of_request, "tracepoint:block:x", "args->delta < 0");
    EXPECT_EQ(old.offset[0], 128);
    const wire_fetch element = fetch_of(of_request, "tracepoint:block:x", "args.args[2] == 1");
    EXPECT_EQ(element.offset[0], 72 + 16);
    EXPECT_EQ(element.size, 8);
}

TEST(TracepointValues, ParametersOfSystemCallsAreAsLargeAsTheyAre) {
    const wire_fetch dfd = fetch_of(of_openat, "tracepoint:syscalls:x", "args.dfd == -100");
    EXPECT_EQ(dfd.size, 4);
    EXPECT_EQ(dfd.flags, WIRE_FETCH_IN_MEMORY | WIRE_FETCH_SIGNED);
    EXPECT_EQ(fetch_of(of_openat, "tracepoint:syscalls:x", "args.mode == 6").size, 2);
    // Elsewhere they are what the file says.
    EXPECT_EQ(fetch_of(of_openat, "tracepoint:other:x", "args.dfd == 1").size, 8);
    // Its pointers lead into the process.
    const wire_fetch name =
        fetch_of(of_openat, "tracepoint:syscalls:x", "str(args.filename) == \"a\"");
    EXPECT_EQ(name.flags, WIRE_FETCH_IN_MEMORY | WIRE_FETCH_STRING);
}

TEST(TracepointValues, TextLiesInTheRecord) {
    const wire_fetch comm = fetch_of(of_request, "tracepoint:block:x", "str(args.comm) == \"a\"");
    EXPECT_EQ(comm.base, WIRE_BASE_RECORD);
    EXPECT_EQ(comm.offset[0], 44);
    EXPECT_EQ(comm.flags, WIRE_FETCH_STRING);
    EXPECT_EQ(comm.size, 17); // with its NUL
    const wire_fetch cmd = fetch_of(of_request, "tracepoint:block:x", "str(args.cmd) == \"a\"");
    EXPECT_EQ(cmd.base, WIRE_BASE_DATA_LOC);
    EXPECT_EQ(cmd.constant, 60u);
    EXPECT_EQ(cmd.offset[0], 0);
}

TEST(TracepointValues, AllFieldsAreShownWhereNoneIsAskedFor) {
    ProgramRequest request;
    request.traces_slow = true;
    ValueScope scope{"tracepoint:syscalls:x"};
    scope.tracepoint = of_openat;
    const auto program = compile_program(request, scope);
    ASSERT_TRUE(program && *program);
    std::vector<std::string> names;
    for (const ShownValue& shown : (*program)->shown) {
        names.push_back(shown.name);
        const wire_fetch& fetch = (*program)->wire.fetch[shown.value];
        EXPECT_EQ((fetch.flags & WIRE_FETCH_STRING) != 0, shown.name == "args.filename");
        EXPECT_FALSE(fetch.flags & WIRE_FETCH_AT_END);
    }
    EXPECT_THAT(names, ElementsAre("args.dfd", "args.filename", "args.flags", "args.mode"));
}

TEST(TracepointValues, WhatIsNoneSaysWhyAndWhere) {
    const auto fault = [](const std::string& predicate) {
        auto program = compiled(of_request, "tracepoint:block:x", predicate);
        return program ? Error{{}, {}, "compiled", {}} : program.error();
    };
    const Error missing = fault("args.devi == 1");
    EXPECT_THAT(missing.cause, HasSubstr("no field \"devi\""));
    EXPECT_THAT(missing.hint, HasSubstr("dev"));
    ASSERT_TRUE(missing.at);
    EXPECT_EQ(missing.at->offset, 5u);
    EXPECT_EQ(missing.at->length, 4u);
    EXPECT_THAT(fault("arg0 == 1").hint, HasSubstr("args.FIELD"));
    EXPECT_THAT(fault("ret == 1").hint, HasSubstr("args.FIELD"));
    EXPECT_THAT(fault("errno == 1").hint, HasSubstr("args.FIELD"));
    EXPECT_THAT(fault("task == 1").hint, HasSubstr("args.FIELD"));
    EXPECT_THAT(fault("args == 1").hint, HasSubstr("args.FIELD"));
    EXPECT_THAT(fault("args.comm == 1").hint, HasSubstr("str(...)"));
    EXPECT_THAT(fault("args.pair == 1").cause, HasSubstr("16 bytes"));
    EXPECT_THAT(fault("str(args.odd) == \"a\"").cause, HasSubstr("__rel_loc"));
    EXPECT_THAT(fault("args.args[6] == 1").cause, HasSubstr("beyond"));
    EXPECT_THAT(fault("str(args.skbaddr) == \"a\"").cause, HasSubstr("not a pointer"));
    EXPECT_THAT(fault("str(args.comm + 70000) == \"a\"").cause, HasSubstr("outside"));
}

} // namespace
} // namespace auger
