// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks and what they await, as processes claim them that mean harm, or that go on meanwhile. What
// a real CPython has is in loader_python_awaits_truth_test.cpp.
#include "loader/runtimes/python/await_chain.h"
#include "tests/unit/python_awaits.h"

#include <gmock/gmock.h>

#include <string>
#include <variant>
#include <vector>

namespace auger {
namespace {

using testing::ElementsAre;
using End = CoroutineWalk::End;

class PythonAwaits : public WaitingPython {};

TEST_P(PythonAwaits, ATaskIsFoundByWhatItWaitsFor) {
    const Waiting one = waiting(image.text("worker")), other = waiting(image.integer(17));
    EXPECT_EQ(name_of(one.outer), "worker");
    EXPECT_EQ(name_of(other.outer), "Task-17");
    EXPECT_EQ(std::get<PythonTask>(find(one.outer)),
              (PythonTask{one.task, one.outer, "worker", 0}));
    EXPECT_EQ(name_of(one.inner), "(none)"); // it is no task's
    const Waiting large = waiting(image.integer(uint64_t{5'000'000'000}));
    EXPECT_EQ(name_of(large.outer), "Task-5000000000");
}

// Its number tells something only where one interpreter counts.
TEST_P(PythonAwaits, ANumberIsOfOneInterpreter) {
    const Waiting one = waiting(image.integer(17)), named = waiting(image.text("Task-18"));
    const auto number_of = [&](uint64_t coroutine) {
        return std::get<PythonTask>(find(coroutine)).number;
    };
    EXPECT_EQ(number_of(one.outer), 0u); // nothing is known of interpreters
    image.put_running({});
    EXPECT_EQ(number_of(one.outer), 17u);
    EXPECT_EQ(number_of(named.outer), 0u);
    uint64_t interpreter = 0;
    image.memory.get(source.runtime + source.layout.frames.runtime_interpreters, &interpreter,
                     sizeof interpreter);
    image.memory.put(interpreter + source.layout.frames.interpreter_next, interpreter);
    EXPECT_EQ(number_of(one.outer), 0u);
}

TEST_P(PythonAwaits, OthersMayBeCalledBefore) {
    const Waiting one = waiting(image.text("worker"));
    const uint64_t function = image.object(image.class_named("function"));
    image.put_callbacks(one.future, {function, function, image.method(image.text("of a str")),
                                     image.method(one.task)});
    EXPECT_EQ(name_of(one.outer), "worker");
    image.put_callbacks(one.future, {function, function});
    EXPECT_EQ(name_of(one.outer), "(none)");
}

TEST_P(PythonAwaits, ATaskThatRunsIsKnownToTheLoop) {
    const Waiting one = waiting(image.text("worker")), other = waiting(image.text("other"));
    image.put_state(one.inner, test::PythonImage::runs);
    image.put_state(one.outer, test::PythonImage::runs);
    EXPECT_EQ(name_of(one.outer), "(none)");
    image.put_running({other.task, one.task});
    EXPECT_EQ(name_of(one.outer), "worker");
    EXPECT_EQ(name_of(one.outer), "worker");
    EXPECT_EQ(known.current_tasks == 0, source.asyncio.thread_running != 0);
    EXPECT_EQ(chain(one.outer).end, End::runs);
    EXPECT_THAT(links(one.outer), ElementsAre("worker: 1 frames, others 0"));
}

// It gave way to others, and nobody is called when it is its turn.
TEST_P(PythonAwaits, ATaskThatWaitsForItsTurnIsAmongAll) {
    const Waiting one = waiting(image.text("worker")), other = waiting(image.text("other"));
    image.put_state(one.outer, test::PythonImage::gave_way);
    if (GetParam() < 2) {
        uint64_t instruction = 0;
        image.memory.get(one.outer + source.layout.frames.generator_frame +
                             source.layout.frames.frame_instruction,
                         &instruction, sizeof instruction);
        image.memory.put(instruction + 3, uint8_t{1});
    }
    image.put_running({});
    EXPECT_EQ(name_of(one.outer), "(none)");
    image.put_running({}, {other.task, image.text("no task"), one.task});
    EXPECT_EQ(name_of(one.outer), "worker");
    known = {}; // the set stays where it is, as long as its process runs
    image.put_running({}, {other.task});
    EXPECT_EQ(name_of(one.outer), "(none)");
}

TEST_P(PythonAwaits, ATaskWhoseFutureIsDoneIsReady) {
    const Waiting one = waiting(image.text("worker"));
    EXPECT_FALSE(chain(one.outer).is_ready);
    image.put_done(one.future);
    EXPECT_TRUE(chain(one.outer).is_ready);
}

// What was once found there is looked for anew when it is there no more.
TEST_P(PythonAwaits, WhereTheLoopKnowsItIsFoundAgain) {
    const Waiting one = waiting(image.text("worker"));
    image.put_state(one.outer, test::PythonImage::runs);
    image.put_running({one.task});
    known.current_tasks = 0x10;
    if (!source.asyncio.thread_running) {
        EXPECT_EQ(name_of(one.outer), "(none)");
    }
    EXPECT_EQ(name_of(one.outer), "worker");
}

TEST_P(PythonAwaits, NamesAreBounded) {
    const std::string longest(TaskReader::name_limit, 'x');
    EXPECT_EQ(name_of(waiting(image.text(longest)).outer), longest);
    EXPECT_EQ(name_of(waiting(image.text(longest + "y")).outer), longest + "...");
    EXPECT_EQ(name_of(waiting(0).outer), "");
    EXPECT_EQ(name_of(waiting(image.list({})).outer), "");
    const uint64_t negative = image.integer(5);
    image.memory.put(negative + 16, uint64_t{1 << 3 | 2});
    EXPECT_EQ(name_of(waiting(negative).outer), "");
    image.memory.put(negative + 16, UINT64_MAX & ~uint64_t{3});
    EXPECT_EQ(name_of(waiting(negative).outer), "");
}

// The task may end at any moment, and another one be where it was.
TEST_P(PythonAwaits, ATaskThatChangesWhileItIsReadIsNone) {
    const Waiting one = waiting(image.text("worker"));
    const uint64_t other_name = image.text("neighbour");
    (void)find(one.outer);
    const size_t reads = image.memory.reads;
    ASSERT_GT(reads, 4u);
    for (const bool changes_name : {true, false}) {
        for (size_t at = 0; at < reads; at++) {
            const uint64_t name = image.text("worker");
            image.memory.put(one.task + source.asyncio.task_name, name);
            image.memory.put(one.task + source.asyncio.task_coroutine, one.outer);
            image.memory.reads = 0;
            image.memory.before = [&](size_t now) {
                if (now != at)
                    return;
                image.memory.put(one.task + source.asyncio.task_name, other_name);
                if (!changes_name)
                    image.memory.put(one.task + source.asyncio.task_coroutine, one.inner);
            };
            const auto found = find(one.outer);
            // Of one whose coroutine is another never the name; a name that it has been given
            // only whole.
            if (const auto* const task = std::get_if<PythonTask>(&found)) {
                EXPECT_EQ(task->coroutine, one.outer) << at;
                EXPECT_TRUE(task->name == "worker" || (changes_name && task->name == "neighbour"))
                    << at << task->name;
            }
        }
    }
}

// A name that is being replaced: its memory is another text's before the task has the next one.
TEST_P(PythonAwaits, ANameIsOfOneMoment) {
    const Waiting one = waiting(image.text("worker"));
    const uint64_t next = image.text("worker 2");
    bool was_read = true; // up to there
    for (size_t at = 0; was_read; at++) {
        (void)image.room(test::FakePages::page_bytes); // the name has a page of its own
        const uint64_t name = image.text("worker");
        image.memory.put(one.task + source.asyncio.task_name, name);
        image.memory.reads = 0;
        was_read = false;
        image.memory.before = [&](size_t now) {
            if (now != at)
                return;
            was_read = true;
            image.memory.put_text(name + source.layout.objects.text_ascii, "others");
            image.memory.put(one.task + source.asyncio.task_name, next);
        };
        EXPECT_THAT(name_of(one.outer), testing::AnyOf("worker", "worker 2", "(none)")) << at;
    }
}

TEST_P(PythonAwaits, WhatATaskWaitsIn) {
    const Waiting one = waiting(image.text("worker"));
    const AwaitChain found = chain(one.outer);
    EXPECT_EQ(found.end, End::future);
    ASSERT_EQ(found.tasks.size(), 1u);
    ASSERT_EQ(found.tasks[0].frames.size(), 2u);
    EXPECT_EQ(found.tasks[0].frames[0].second >> 32, 10u);
    EXPECT_EQ(found.tasks[0].task.address, one.task);
}

TEST_P(PythonAwaits, StatesOfCoroutines) {
    image.put_running({});
    const Waiting one = waiting(image.text("worker"));
    image.put_state(one.inner, test::PythonImage::created);
    EXPECT_EQ(chain(one.outer).end, End::begins);
    image.put_state(one.inner, test::PythonImage::over);
    EXPECT_EQ(chain(one.outer).end, End::over);
    image.put_state(one.inner, test::PythonImage::runs);
    EXPECT_EQ(chain(one.outer).end, End::runs);
    // It gave way by a yield.
    image.put_state(one.inner, test::PythonImage::gave_way);
    if (GetParam() < 2) {
        uint64_t instruction = 0;
        image.memory.get(one.inner + source.layout.frames.generator_frame +
                             source.layout.frames.frame_instruction,
                         &instruction, sizeof instruction);
        image.memory.put(instruction + 3, uint8_t{1});
    }
    EXPECT_EQ(chain(one.outer).end, End::nothing);
}

TEST_P(PythonAwaits, WhatIsAwaitedMayBeHiddenInOthers) {
    const Waiting one = waiting(image.text("worker"));
    uint64_t at = one.inner;
    for (const char* wrapper : {"coroutine_wrapper", "async_generator_asend", "anext_awaitable"}) {
        const uint64_t around = image.object(image.class_named(wrapper), 64);
        image.memory.put(around + 16, at);
        at = around;
    }
    const uint64_t outer = image.coroutine(image.code("generator"), at, {}, "async_generator");
    const uint64_t coroutine = image.coroutine(image.code("outermost"), outer);
    EXPECT_EQ(chain(coroutine).tasks.at(0).frames.size(), 3u);
    EXPECT_EQ(chain(coroutine).end, End::future);
    const uint64_t odd =
        image.coroutine(image.code("f"), image.object(image.class_named("Deferred")));
    EXPECT_EQ(chain(odd).end, End::object);
    EXPECT_EQ(chain(odd).awaited, "Deferred");
}

// As Cython's, which are laid out in another way.
TEST_P(PythonAwaits, OthersCoroutinesAreNotRead) {
    const Waiting one = waiting(image.text("worker"));
    const wire_python_layout& at = source.layout.frames;
    image.memory.put(one.inner + at.generator_frame + at.frame_code, image.text("no code"));
    EXPECT_EQ(chain(one.outer).end, End::unreadable);
    EXPECT_EQ(chain(one.outer).tasks.at(0).frames.size(), 1u);
    EXPECT_EQ(name_of(one.outer), "(none)");
}

TEST_P(PythonAwaits, TasksThatAwaitTasks) {
    const Waiting last = waiting(image.text("last"));
    const uint64_t middle = waits_for(last.task);
    const uint64_t task = image.task(middle, image.text("middle"), "MyTask");
    image.put_callbacks(last.task, {image.method(task)});
    const uint64_t first = waits_for(task);
    image.put_callbacks(task, {image.method(image.task(first, image.integer(3)))});
    EXPECT_THAT(links(first),
                ElementsAre("Task-3: 1 frames, others 0", "middle: 1 frames, others 0",
                            "last: 2 frames, others 0"));
    image.put_done(last.task);
    EXPECT_THAT(links(first),
                ElementsAre("Task-3: 1 frames, others 0", "middle: 1 frames, others 0"));
}

TEST_P(PythonAwaits, SeveralTasksAtOnce) {
    const Waiting a = waiting(image.integer(10)), b = waiting(image.integer(9)),
                  c = waiting(image.integer(8));
    image.put_done(c.task);
    const uint64_t gathering = image.future("_GatheringFuture");
    image.put_attributes(gathering, {{image.text("_cancelled"), image.text("x")},
                                     {image.text("_children"),
                                      image.list({a.task, b.task, c.task, image.future()})}});
    EXPECT_THAT(links(waits_for(gathering)),
                ElementsAre(": 1 frames, others 0", "Task-9: 2 frames, others 1"));

    const char* const tasks = "/usr/lib/python3.14/asyncio/tasks.py";
    const uint64_t waiter = image.iterator(image.future());
    EXPECT_THAT(links(image.coroutine(image.code("_wait", tasks), waiter,
                                      {image.set({a.task, b.task, c.task})})),
                ElementsAre(": 1 frames, others 0", "Task-9: 2 frames, others 1"));
    EXPECT_THAT(links(image.coroutine(image.code("wait_for", tasks), waiter, {a.task})),
                ElementsAre(": 1 frames, others 0", "Task-10: 2 frames, others 0"));

    const uint64_t group = image.object(image.class_named("TaskGroup"));
    image.put_attributes(group, {{image.text("_tasks"), image.set({b.task, a.task})}});
    EXPECT_THAT(links(image.coroutine(
                    image.code("TaskGroup._aexit", "/usr/lib/python3.14/asyncio/taskgroups.py"),
                    waiter, {group})),
                ElementsAre(": 1 frames, others 0", "Task-9: 2 frames, others 1"));

    // Others may have functions of these names, and any variables.
    EXPECT_THAT(links(image.coroutine(image.code("wait_for"), waiter, {a.task})),
                ElementsAre(": 1 frames, others 0"));
    EXPECT_THAT(links(image.coroutine(image.code("shield", tasks), waiter, {a.task})),
                ElementsAre(": 1 frames, others 0"));
}

TEST_P(PythonAwaits, AttributesMayBeInADictionary) {
    const Waiting a = waiting(image.integer(10));
    const uint64_t gathering = image.future("_GatheringFuture");
    const uint64_t children = image.list({a.task});
    const std::vector<std::pair<uint64_t, uint64_t>> all = {
        {image.text("_cancelled"), image.text("x")}, {image.text("_children"), children}};
    const auto expect = [&] {
        EXPECT_THAT(links(waits_for(gathering)),
                    ElementsAre(": 1 frames, others 0", "Task-10: 2 frames, others 0"));
    };
    for (const uint8_t kind : {0, 1, 2}) {
        image.memory.put(gathering - 24, image.dict(kind, all));
        expect();
    }
    // In the object, as classes of C have it.
    image.memory.put(gathering - 24, uint64_t{0});
    image.memory.put(image.class_named("_GatheringFuture") + 288, uint64_t{104});
    image.memory.put(gathering + 104, image.dict(1, all));
    expect();
}

// Whatever leads back ends.
TEST_P(PythonAwaits, CirclesEnd) {
    // A coroutine that awaits itself.
    const Waiting one = waiting(image.text("worker"));
    const uint64_t stack =
        one.outer + source.layout.frames.generator_frame + source.layout.awaits.frame_locals;
    image.memory.put(stack, one.outer);
    const AwaitChain deep = chain(one.outer);
    EXPECT_EQ(deep.end, End::too_deep);
    EXPECT_EQ(deep.tasks.at(0).frames.size(), CoroutineWalk::most_frames);
    // Wrappers around each other have no frames.
    const uint64_t wrapper = image.object(image.class_named("coroutine_wrapper"), 64);
    image.memory.put(wrapper + 16, wrapper);
    image.memory.put(stack, wrapper);
    EXPECT_EQ(chain(one.outer).end, End::too_deep);
    // Tasks that await each other.
    const uint64_t first_task = image.task(0, image.text("first"));
    const uint64_t second = waits_for(first_task);
    const uint64_t second_task = image.task(second, image.text("second"));
    const uint64_t first = waits_for(second_task);
    image.memory.put(first_task + source.asyncio.task_coroutine, first);
    EXPECT_EQ(chain(first).tasks.size(), 2u);
    // A class that is its own base.
    const uint64_t odd = image.class_named("odd");
    image.memory.put(odd + 256, odd);
    EXPECT_EQ(chain(waits_for(image.object(odd))).end, End::future);
    // Threads, and interpreters.
    image.put_state(one.outer, test::PythonImage::runs);
    image.put_running({one.task});
    uint64_t interpreter = 0;
    image.memory.get(source.runtime + source.layout.frames.runtime_interpreters, &interpreter,
                     sizeof interpreter);
    image.memory.put(interpreter + source.layout.frames.interpreter_next, interpreter);
    const Waiting other = waiting(image.text("other"));
    image.put_state(other.outer, test::PythonImage::runs);
    EXPECT_EQ(name_of(other.outer), "(none)");
}

TEST_P(PythonAwaits, ManyTasksInARowAreCut) {
    uint64_t task = waiting(image.text("last")).task, coroutine = 0;
    for (size_t i = 0; i < 2 * AwaitChain::most_tasks; i++) {
        coroutine = waits_for(task);
        task = image.task(coroutine, image.integer(i + 1));
    }
    EXPECT_EQ(chain(coroutine).tasks.size(), AwaitChain::most_tasks);
}

// Numbers of elements may be anything: what is read is bounded.
TEST_P(PythonAwaits, NumbersOfElementsAreBounded) {
    const Waiting one = waiting(image.text("worker"));
    const char* const tasks = "/usr/lib/python3.14/asyncio/tasks.py";
    const uint64_t waiter = image.iterator(image.future());
    for (const uint64_t number : {uint64_t{1} << 20, UINT64_MAX, UINT64_MAX - 1}) {
        const uint64_t list = image.list({one.task}), set = image.set({one.task});
        image.memory.put(list + 16, number);
        image.memory.put(set + 32, number);
        for (const uint64_t all : {list, set}) {
            image.memory.reads = 0;
            (void)read(image.coroutine(image.code("_wait", tasks), waiter, {all}));
            EXPECT_LE(image.memory.reads, 8 * BoundedMemory::most_pages);
        }
        const uint64_t gathering = image.future("_GatheringFuture");
        const uint64_t dict = image.dict(1, {{image.text("_children"), list}});
        uint64_t keys = 0;
        image.memory.get(dict + 32, &keys, sizeof keys);
        image.memory.put(keys + 24, number);
        image.memory.put(keys + 9, uint8_t{0xff});
        image.memory.put(gathering - 24, dict);
        image.memory.reads = 0;
        (void)read(waits_for(gathering));
        EXPECT_LE(image.memory.reads, 8 * BoundedMemory::most_pages);
    }
}

TEST_P(PythonAwaits, WhatGoesOnMeanwhileIsSaidToDoSo) {
    const Waiting one = waiting(image.text("worker"));
    const uint64_t instruction =
        one.inner + source.layout.frames.generator_frame + source.layout.frames.frame_instruction;
    uint64_t first = 0;
    image.memory.get(instruction, &first, sizeof first);
    // At each look it is somewhere else.
    image.memory.before = [&](size_t now) {
        image.memory.put(instruction, first + 2 * (now % 50));
        image.memory.put(first + 2 * (now % 50) + 3, uint8_t{3});
    };
    EXPECT_EQ(problem(one.outer), FunctionProblem::gone);
    image.memory.before = [](size_t) {};
    EXPECT_EQ(chain(one.outer).tasks.size(), 1u);
}

TEST_P(PythonAwaits, WhatCannotBeReadSaysWhy) {
    const Waiting one = waiting(image.text("worker"));
    EXPECT_EQ(problem(0x10), FunctionProblem::unreadable);
    EXPECT_EQ(problem(one.task), FunctionProblem::unreadable);
    image.memory.put(one.inner + 8, uint64_t{0x10}); // where nothing is
    EXPECT_EQ(problem(one.outer), FunctionProblem::unreadable);
    EXPECT_EQ(std::get<FunctionProblem>(find(one.outer)), FunctionProblem::unreadable);
    image.memory.answer = MemoryRead::late;
    image.memory.reads = 0;
    EXPECT_EQ(problem(one.outer), FunctionProblem::late);
    EXPECT_EQ(std::get<FunctionProblem>(find(one.outer)), FunctionProblem::late);
    EXPECT_EQ(std::get<FunctionProblem>(read_task(image.memory.reader(), source, 0x10)),
              FunctionProblem::late);
}

INSTANTIATE_TEST_SUITE_P(Versions, PythonAwaits, testing::Range(0, 5));

} // namespace
} // namespace auger
