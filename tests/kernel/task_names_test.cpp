// SPDX-License-Identifier: GPL-3.0-or-later
// How stacks name the tasks of CPython's event loops.
#include "bpf/unwind_table.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/task_names.h"
#include "tests/support/kernel_test.h"
#include "views/model/model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace auger::test {
namespace {

// The words of a stack, of a function of 3.11 in our own memory.
class TaskNames : public KernelTest {
  protected:
    struct alignas(16) Object {
        char bytes[256] = {};
        void put(uint32_t offset, uint64_t word) {
            std::memcpy(bytes + offset, &word, sizeof word);
        }
        uint64_t address() const { return reinterpret_cast<uint64_t>(bytes); }
    };
    void SetUp() override {
        KernelTest::SetUp();
        const auto layout = python_layout(0x030b07f0, {});
        ASSERT_TRUE(layout.ok());
        text_.put(layout->objects.text_length, 6);
        text_.put(layout->objects.text_state, 1u << 2 | 1u << 5 | 1u << 6);
        std::strcpy(text_.bytes + layout->objects.text_ascii, "handle");
        lines_.put(layout->objects.bytes_length, 0);
        code_.put(layout->frames.code_line, 7);
        code_.put(layout->frames.code_file, text_.address());
        code_.put(layout->frames.code_name, text_.address());
        code_.put(layout->frames.code_lines, lines_.address());
        names_.python().set_layout(getpid(), 0,
                                   PythonProcess{std::make_shared<const PythonLayout>(*layout), 0});
    }
    // Of the stack in which this task runs, what its frames are called, leaf first.
    std::vector<std::string> stack_with(uint64_t task, uint32_t cookie) {
        const std::vector<uint64_t> words = {
            WIRE_FRAME_PYTHON | code_.address(),
            uint64_t{cookie},
            WIRE_FRAME_PYTHON | code_.address(),
            uint64_t{WIRE_PYTHON_TASK_FUNCTION} << 32 | cookie,
            WIRE_FRAME_PYTHON | task,
            uint64_t{WIRE_PYTHON_TASK_ADDRESS} << 32,
        };
        std::vector<std::string> frames;
        const StackId stack = names_.stack(getpid(), 1, {}, words);
        for (const LocationId location : model_.symbols().stack(stack))
            frames.emplace_back(
                model_.symbols().name(model_.symbols().frames(location).front().function));
        return frames;
    }
    uint32_t cookie() const {
        return wire_python_cookie(7, text_.address(), text_.address(), lines_.address(), 0);
    }

    Object text_, lines_, code_;
    Model model_;
    LiveNames names_{model_};
};

TEST_F(TaskNames, AreOfTheFunctionAndTheAddress) {
    EXPECT_THAT(stack_with(0x7f0010, cookie()),
                testing::ElementsAre("handle", "[task handle 0x7f0010]"));
    EXPECT_THAT(stack_with(0x7f0020, cookie()),
                testing::ElementsAre("handle", "[task handle 0x7f0020]"));
    // Another function is there by now.
    EXPECT_THAT(stack_with(0x7f0010, cookie() + 1),
                testing::ElementsAre("[python: gone before its name was read]", "[task 0x7f0010]"));
}

TEST_F(TaskNames, AreBounded) {
    for (uint64_t i = 1; i <= 10'000; i++)
        EXPECT_EQ(stack_with(i * 16, cookie()).back(), fmt::format("[task handle {:#x}]", i * 16));
    // Of further ones it is still told what they run.
    EXPECT_EQ(stack_with(10'001 * 16, cookie()).back(), "[task handle (others)]");
    EXPECT_EQ(stack_with(10'002 * 16, cookie()).back(), "[task handle (others)]");
    EXPECT_EQ(stack_with(10'003 * 16, cookie() + 1).back(), "[task (others)]");
    EXPECT_EQ(stack_with(16, cookie()).back(), "[task handle 0x10]");
}

// A task of 3.11 in our own memory, that waits for a future.
class NamesOfTasks : public KernelTest {
  protected:
    struct alignas(16) Object {
        char bytes[512] = {};
        void put(uint32_t offset, uint64_t word) {
            std::memcpy(bytes + offset, &word, sizeof word);
        }
        uint64_t address() const { return reinterpret_cast<uint64_t>(bytes); }
    };
    void SetUp() override {
        KernelTest::SetUp();
        const auto layout = python_layout(0x030b07f0, {});
        ASSERT_TRUE(layout.ok());
        source_.layout = *layout;
        source_.asyncio = layout->awaits.asyncio;
        const std::pair<Object*, const char*> classes[] = {
            {&coroutine_class_, "coroutine"},
            {&future_class_, "_asyncio.Future"},
            {&task_class_, "_asyncio.Task"},
            {&iterator_class_, "_asyncio.FutureIter"},
            {&text_class_, "str"},
            {&number_class_, "int"},
            {&code_class_, "code"},
            {&method_class_, "builtin_function_or_method"}};
        for (const auto& [type, name] : classes)
            type->put(24, reinterpret_cast<uint64_t>(name));
        coroutine_.put(8, coroutine_class_.address());
        coroutine_.put(72, uint64_t{0xff} << 24); // the state: it is suspended
        const uint32_t frame = layout->frames.generator_frame;
        coroutine_.put(frame + layout->frames.frame_code, code_.address());
        coroutine_.put(frame + layout->frames.frame_instruction, code_.address() + 192);
        code_.put(8, code_class_.address());
        code_.put(192, uint64_t{3} << 24); // RESUME, after an await
        coroutine_.put(frame + layout->awaits.frame_stack, 1);
        coroutine_.put(frame + layout->awaits.frame_locals, iterator_.address());
        iterator_.put(8, iterator_class_.address());
        iterator_.put(16, future_.address());
        future_.put(8, future_class_.address());
        future_.put(24, method_.address());
        method_.put(8, method_class_.address());
        method_.put(24, task_.address());
        task_.put(8, task_class_.address());
        task_.put(source_.asyncio.task_coroutine, coroutine_.address());
        put_name("worker");
        source_.runtime = runtime_.address();
        runtime_.put(layout->frames.runtime_interpreters, interpreter_.address());
        names_.set(getpid(), 0, source_);
    }
    void put_name(const char* name) {
        name_ = Object();
        name_.put(8, text_class_.address());
        name_.put(source_.layout.objects.text_length, std::strlen(name));
        name_.put(source_.layout.objects.text_state, 1u << 2 | 1u << 5 | 1u << 6);
        std::strcpy(name_.bytes + source_.layout.objects.text_ascii, name);
        task_.put(source_.asyncio.task_name, name_.address());
    }
    // As nobody has asked for its name.
    void put_number(uint32_t number) {
        name_ = Object();
        name_.put(8, number_class_.address());
        name_.put(16, 1 << 3); // digits
        name_.put(24, number);
        task_.put(source_.asyncio.task_name, name_.address());
    }
    // The task is another one, of which another coroutine is waiting.
    void put_other_coroutine() {
        other_ = coroutine_;
        task_.put(source_.asyncio.task_coroutine, other_.address());
    }
    std::string name_at(uint64_t time_ns) {
        return names_.name(getpid(), coroutine_.address(), time_ns);
    }
    std::string other_name_at(uint64_t time_ns) {
        return names_.name(getpid(), other_.address(), time_ns);
    }

    Object coroutine_class_, future_class_, task_class_, iterator_class_, text_class_,
        method_class_;
    Object number_class_, code_class_, runtime_, interpreter_, other_;
    Object coroutine_, code_, iterator_, future_, method_, task_, name_;
    TaskSource source_;
    auger::TaskNames names_{{1, INT64_MAX / 4}, {1, INT64_MAX / 4}};
};

// What was sampled before the task was first seen may have been another's.
TEST_F(NamesOfTasks, AreOfTheTimeBetweenTwoLooks) {
    const uint64_t before = clock_ns();
    EXPECT_EQ(name_at(before), "");
    const uint64_t between = clock_ns();
    EXPECT_EQ(name_at(between), "worker");
    EXPECT_EQ(name_at(before), "");
    EXPECT_EQ(name_at(between), "worker");
}

TEST_F(NamesOfTasks, AreNeverThoseOfTheNext) {
    EXPECT_EQ(name_at(clock_ns()), "");
    const uint64_t of_worker = clock_ns();
    EXPECT_EQ(name_at(of_worker), "worker");
    // It ends, and all it has becomes another's.
    const uint64_t of_nobody = clock_ns();
    put_name("neighbour");
    EXPECT_EQ(name_at(of_nobody), "");
    EXPECT_EQ(name_at(of_nobody), "");
    EXPECT_EQ(name_at(of_worker), "");
    EXPECT_EQ(name_at(clock_ns()), "neighbour");
    // Its coroutine is another one.
    task_.put(source_.asyncio.task_coroutine, code_.address());
    EXPECT_EQ(name_at(clock_ns()), "");
}

// A later one had been seen before, so it was there already.
TEST_F(NamesOfTasks, AreKnownAtOnceWhereTheirNumbersTell) {
    const uint64_t at_first = clock_ns();
    put_number(20);
    EXPECT_EQ(name_at(at_first), "");
    const uint64_t now = clock_ns();
    put_other_coroutine();
    put_number(17);
    EXPECT_EQ(other_name_at(at_first), "");
    EXPECT_EQ(other_name_at(now), "Task-17");
}

TEST_F(NamesOfTasks, AreNotKnownAtOnceOfLaterOnes) {
    put_number(20);
    EXPECT_EQ(name_at(clock_ns()), "");
    put_other_coroutine();
    put_number(21);
    EXPECT_EQ(other_name_at(clock_ns()), "");
    EXPECT_EQ(other_name_at(clock_ns()), "Task-21");
    // Somebody has asked for its name, so it is a text.
    put_name("Task-21");
    EXPECT_EQ(other_name_at(clock_ns()), "Task-21");
}

TEST_F(NamesOfTasks, AreCountedByEachInterpreter) {
    interpreter_.put(0, interpreter_.address()); // there is another one
    put_number(20);
    EXPECT_EQ(name_at(clock_ns()), "");
    put_other_coroutine();
    put_number(17);
    EXPECT_EQ(other_name_at(clock_ns()), "");
    EXPECT_EQ(other_name_at(clock_ns()), "Task-17");
}

TEST_F(NamesOfTasks, AreThoseThatTheyHaveBeenGiven) {
    EXPECT_EQ(name_at(clock_ns()), "");
    EXPECT_EQ(name_at(clock_ns()), "worker");
    put_name("renamed");
    EXPECT_EQ(name_at(clock_ns()), "");
    EXPECT_EQ(name_at(clock_ns()), "renamed");
}

TEST_F(NamesOfTasks, AreOfTheProgramThatRuns) {
    EXPECT_EQ(name_at(clock_ns()), "");
    names_.set(getpid(), 0, source_); // nothing new
    EXPECT_EQ(name_at(clock_ns()), "worker");
    names_.set(getpid(), 1, source_); // it has executed another
    EXPECT_EQ(name_at(clock_ns()), "");
    EXPECT_EQ(name_at(clock_ns()), "worker");
    const uint64_t known = clock_ns();
    EXPECT_EQ(name_at(known), "worker");
    names_.end(getpid());
    EXPECT_EQ(name_at(known), "worker");
    EXPECT_EQ(name_at(clock_ns()), "");
}

TEST_F(NamesOfTasks, CostNoMoreThanTheyMay) {
    auger::TaskNames sparing({1'000'000'000'000'000, 1}, {1, INT64_MAX / 4});
    sparing.set(getpid(), 0, source_);
    // The first look is more than there is.
    EXPECT_EQ(sparing.name(getpid(), coroutine_.address(), clock_ns()), "");
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(sparing.name(getpid(), coroutine_.address(), clock_ns()), "");
}

} // namespace
} // namespace auger::test
