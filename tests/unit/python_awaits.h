// SPDX-License-Identifier: GPL-3.0-or-later
// A CPython that is made up, whose tasks wait.
#pragma once

#include "loader/runtimes/python/await_chain.h"
#include "tests/unit/python_image.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace auger {

// 0: 3.11, 1: 3.12; 2 to 4 as 3.13 to 3.15 differ from that.
inline TaskSource python_source_of(int version) {
    TaskSource source;
    source.layout = *python_layout(version == 0 ? 0x030b02f0 : 0x030c01f0, {});
    source.asyncio = source.layout.awaits.asyncio;
    source.runtime = 0x7e0000000000;
    if (version >= 2) {
        source.layout.awaits.states = python_states_signed;
        source.layout.awaits.attributes = python_attributes_inline;
    }
    if (version == 4)
        source.layout.awaits.states = python_states_counted;
    if (version >= 3) {
        source.layout.awaits.stack_is_address = 1;
        source.layout.awaits.frame_locals = 80;
        source.layout.awaits.tuple_items = 32;
        source.asyncio = {.task_coroutine = 128,
                          .task_name = 136,
                          .future_state = 104,
                          .thread_running = 872,
                          .task_node = 152,
                          .thread_tasks = 880,
                          .interpreter_tasks = 4096};
    }
    return source;
}

class WaitingPython : public testing::TestWithParam<int> {
  protected:
    // A task that waits for a future in two functions.
    struct Waiting {
        uint64_t future, inner, outer, task;
    };
    Waiting waiting(uint64_t name) {
        Waiting made{};
        made.future = image.future();
        made.inner = image.coroutine(image.code("inner"), image.iterator(made.future), {5, 6});
        made.outer = image.coroutine(image.code("outer"), made.inner);
        made.task = image.task(made.outer, name);
        image.put_callbacks(made.future, {image.method(made.task)});
        return made;
    }
    uint64_t waits_for(uint64_t future) {
        return image.coroutine(image.code("waits"), image.iterator(future));
    }

    std::variant<PythonTask, FunctionProblem> find(uint64_t coroutine) {
        return find_task(image.memory.reader(), source, coroutine, known);
    }
    std::string name_of(uint64_t coroutine) {
        const auto found = find(coroutine);
        const auto* const task = std::get_if<PythonTask>(&found);
        return task ? task->name : "(none)";
    }
    std::variant<AwaitChain, FunctionProblem> read(uint64_t coroutine) {
        return read_await_chain(image.memory.reader(), source, coroutine, known);
    }
    AwaitChain chain(uint64_t coroutine) {
        const auto answer = read(coroutine);
        EXPECT_TRUE(std::holds_alternative<AwaitChain>(answer));
        return std::holds_alternative<AwaitChain>(answer) ? std::get<AwaitChain>(answer)
                                                          : AwaitChain();
    }
    FunctionProblem problem(uint64_t coroutine) {
        const auto answer = read(coroutine);
        EXPECT_TRUE(std::holds_alternative<FunctionProblem>(answer));
        return std::get<FunctionProblem>(answer);
    }
    // "Task-17: 2 frames, others 1"
    std::vector<std::string> links(uint64_t coroutine) {
        std::vector<std::string> texts;
        for (const AwaitChain::Link& link : chain(coroutine).tasks)
            texts.push_back(link.task.name + ": " + std::to_string(link.frames.size()) +
                            " frames, others " + std::to_string(link.others));
        return texts;
    }

    TaskSource source = python_source_of(GetParam());
    test::PythonImage image{source};
    AsyncioObjects known;
};

} // namespace auger
