// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of the C library, of which something is known without debug information, and errno in
// real processes.
#include "tests/unit/loader_matching_debug.h"
#include "tests/unit/loader_values_program.h"
#include "tests/unit/loader_values_tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace auger {
namespace {

using test::Machine;
using test::ValuesProgram;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";

uint64_t thread_pointer() {
    uint64_t value;
    asm("mov %%fs:0, %0" : "=r"(value));
    return value;
}

// As if libc had no debug information: only its name is known.
ValueScope library_scope(const std::string& function, const std::vector<pid_t>& pids = {}) {
    const ValuesProgram library(libc);
    ValueScope scope{function};
    scope.file = library.file;
    scope.error_number = test::errno_of(pids);
    return scope;
}

CallProgram by_default(const ValueScope& scope) {
    ProgramRequest request;
    request.traces_slow = true;
    auto program = compile_program(request, scope);
    EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message());
    return program.ok() && *program ? **program : CallProgram();
}

std::vector<CallValue> texts(const CallProgram& program, const Machine& machine) {
    return format_values(program, machine.run(program.wire), [](uint64_t fd) {
        return fd == 17 ? std::string("tcp 10.0.0.1:80") : std::string();
    });
}

Machine call(std::vector<uint64_t> arguments, uint64_t result) {
    constexpr int registers[] = {5, 4, 1, 2, 8, 9};
    Machine machine;
    for (size_t i = 0; i < arguments.size(); ++i)
        machine.at_entry[registers[i]] = arguments[i];
    machine.at_end[0] = result;
    machine.thread = thread_pointer();
    machine.read = test::read_own_memory;
    return machine;
}

TEST(LibraryValues, ErrnoOnlyOfACallThatFailed) {
    const CallProgram program = by_default(library_scope("recv", {getpid()}));
    errno = EAGAIN;
    const auto failed = texts(program, call({17, 0x1000, 4096, 0}, UINT64_MAX));
    errno = EAGAIN;
    const auto done = texts(program, call({5, 0x1000, 4096, 0}, 12));
    errno = EAGAIN;
    const auto negative = texts(program, call({5, 0x1000, 4096, 0}, uint64_t(-2)));
    EXPECT_EQ(negative.back(), (CallValue{"ret", "-2"}));
    EXPECT_THAT(failed,
                ElementsAre(CallValue{"fd", "17 (tcp 10.0.0.1:80)"}, CallValue{"buf", "0x1000"},
                            CallValue{"len", "4096"}, CallValue{"flags", "0"},
                            CallValue{"ret", "-1"}, CallValue{"errno", "EAGAIN (11)"}));
    EXPECT_THAT(done, ElementsAre(CallValue{"fd", "5"}, CallValue{"buf", "0x1000"},
                                  CallValue{"len", "4096"}, CallValue{"flags", "0"},
                                  CallValue{"ret", "12"}));
}

TEST(LibraryValues, SizesStringsAndKinds) {
    const char path[] = "/etc/passwd";
    // Only the low half of a register is an int's.
    EXPECT_THAT(texts(by_default(library_scope("openat")),
                      call({0xabcdef00ffffff9c, reinterpret_cast<uint64_t>(path), 2, 0644}, 17)),
                ElementsAre(CallValue{"dirfd", "-100"}, CallValue{"path", "\"/etc/passwd\""},
                            CallValue{"flags", "2"}, CallValue{"mode", "420"},
                            CallValue{"ret", "17 (tcp 10.0.0.1:80)"}));
    EXPECT_THAT(texts(by_default(library_scope("malloc")), call({UINT64_MAX}, 0)),
                ElementsAre(CallValue{"size", "18446744073709551615"}, CallValue{"ret", "null"}));
    EXPECT_THAT(texts(by_default(library_scope("free")), call({0x7f0000001000}, 5)),
                ElementsAre(CallValue{"ptr", "0x7f0000001000"}));
    EXPECT_THAT(texts(by_default(library_scope("___pthread_mutex_timedlock")),
                      call({0x1000, 0x2000}, 0xdead00000000 + ETIMEDOUT)),
                ElementsAre(CallValue{"mutex", "0x1000"}, CallValue{"time", "0x2000"},
                            CallValue{"ret", "ETIMEDOUT (110)"}));
}

// A program's own function of that name is another one.
TEST(LibraryValues, OnlyOfTheLibrary) {
    ValueScope scope = library_scope("recv");
    scope.file = ValuesProgram("values_c_bare").file;
    EXPECT_EQ(by_default(scope).wire.fetches, 0);
    scope.function = "recvx";
    scope.file = nullptr;
    EXPECT_EQ(by_default(scope).wire.fetches, 0);
}

TEST(LibraryValues, ByNameAndPosition) {
    ProgramRequest request;
    request.conditions.only_if = "len > 4096 and ret < 0 and arg0 == -1 and fd < 3";
    auto program = compile_program(request, library_scope("recv"));
    ASSERT_TRUE(program.ok()) << program.error().message();
    EXPECT_EQ((*program)->wire.fetches, 3);
    const Machine machine = call({0xffffffff, 0, 5000, 0}, uint64_t(-1));
    EXPECT_EQ(Machine::holds((*program)->wire, machine.run((*program)->wire), WIRE_PREDICATE_ONLY),
              true);
}

TEST(Errno, OfEveryThread) {
    ProgramRequest request;
    request.conditions.only_if = "errno == EWOULDBLOCK and errno != ENOENT";
    auto program = compile_program(request, library_scope("recv", {getpid(), getpid()}));
    ASSERT_TRUE(program.ok()) << program.error().message();
    EXPECT_EQ((*program)->wire.predicate[WIRE_PREDICATE_ONLY].at_end, 1);
    std::thread([&] {
        Machine machine = call({}, 0);
        machine.thread = thread_pointer();
        errno = EAGAIN;
        EXPECT_EQ(machine.run((*program)->wire).value[0], uint64_t{EAGAIN});
        errno = EINTR;
        EXPECT_EQ(machine.run((*program)->wire).value[0], uint64_t{EINTR});
    }).join();
}

std::string complaint(const std::vector<pid_t>& pids) {
    ProgramRequest request;
    request.conditions.only_if = "arg0 and errno == EAGAIN";
    auto program = compile_program(request, library_scope("recv", pids));
    if (program.ok())
        return "compiled";
    EXPECT_EQ(program.error().at, (Error::Range{9, 5}));
    return program.error().cause;
}

TEST(Errno, Complaints) {
    EXPECT_THAT(complaint({}), HasSubstr("no process of the target runs"));
    const pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    waitpid(gone, nullptr, 0);
    EXPECT_THAT(complaint({gone}), HasSubstr("process " + std::to_string(gone)));
    // Where it is differs between this program and a static one.
    const ValuesProgram other("values_c_static");
    std::string apart, begun;
    ASSERT_TRUE(test::trace(other.path, {other.address_of("fails")}, [&](const test::Stop& stop) {
        apart = complaint({getpid(), stop.pid});
    }));
    EXPECT_THAT(apart, HasSubstr("it is elsewhere in process"));
    ProgramRequest request;
    request.conditions.only_if = "arg0 == ENOENT";
    EXPECT_FALSE(compile_program(request, library_scope("nobody_knows")).ok());
}

} // namespace
} // namespace auger
