// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/await_chain.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace auger {
namespace {

constexpr size_t most_awaited = 256; // tasks at once
constexpr size_t function_limit = 64, file_limit = 1024;
// That each look at a chain is like the one before.
constexpr size_t most_looks = 4;

class Chain {
  public:
    Chain(const ReadMemory& read, const TaskSource& source, AsyncioObjects& known)
        : tasks_(read, source), source_(source), known_(known) {}

    std::variant<AwaitChain, FunctionProblem> from(uint64_t coroutine) {
        if (tasks_.objects().class_of(coroutine) != "coroutine")
            return tasks_.objects().late() ? FunctionProblem::late : FunctionProblem::unreadable;
        PythonTask task;
        task.coroutine = coroutine;
        size_t others = 0;
        while (chain_.tasks.size() < AwaitChain::most_tasks && !is_in_chain(task.coroutine)) {
            const CoroutineWalk walk = walk_coroutine(tasks_.objects(), task.coroutine);
            if (!task.address)
                task = find(walk, task.coroutine);
            chain_.tasks.push_back({task, walk.frames, others});
            chain_.end = walk.end;
            chain_.awaited = walk.awaited;
            chain_.is_ready = is_ready(walk);
            if (walk.end != CoroutineWalk::End::future)
                break;
            const std::vector<PythonTask> awaited = awaited_tasks(walk);
            if (awaited.empty())
                break;
            task = *std::ranges::min_element(awaited, comes_before);
            others = awaited.size() - 1;
        }
        if (tasks_.objects().failed())
            return tasks_.objects().late() ? FunctionProblem::late : FunctionProblem::gone;
        return std::move(chain_);
    }

  private:
    // Names with numbers in the order of these.
    static bool comes_before(const PythonTask& one, const PythonTask& other) {
        return std::pair(one.name.size(), std::string_view(one.name)) <
               std::pair(other.name.size(), std::string_view(other.name));
    }

    bool is_in_chain(uint64_t coroutine) const {
        return std::ranges::any_of(chain_.tasks, [&](const AwaitChain::Link& link) {
            return link.task.coroutine == coroutine;
        });
    }

    bool is_ready(const CoroutineWalk& walk) {
        using End = CoroutineWalk::End;
        return walk.end == End::nothing || walk.end == End::begins ||
               (walk.end == End::future && !tasks_.is_pending(walk.future));
    }

    PythonTask find(const CoroutineWalk& walk, uint64_t coroutine) {
        PythonTask none;
        none.coroutine = coroutine;
        uint64_t task = 0;
        if (walk.end == CoroutineWalk::End::future)
            task = tasks_.waiter(walk.future, coroutine);
        else if (walk.end == CoroutineWalk::End::runs)
            task = tasks_.running(coroutine, known_);
        return task ? tasks_.task(task) : none;
    }

    // Those that are not done.
    std::vector<PythonTask> awaited_tasks(const CoroutineWalk& walk) {
        std::vector<PythonTask> awaited;
        for (const uint64_t object : awaited_objects(walk)) {
            if (!object || !tasks_.is_task(object) || !tasks_.is_pending(object))
                continue;
            const PythonTask task = tasks_.task(object);
            // A task that has ended may have none.
            if (task.coroutine && tasks_.objects().class_of(task.coroutine) == "coroutine")
                awaited.push_back(task);
        }
        return awaited;
    }

    std::vector<uint64_t> awaited_objects(const CoroutineWalk& walk) {
        ObjectReader& objects = tasks_.objects();
        if (walk.frames.empty())
            return {};
        if (tasks_.is_task(walk.future))
            return {walk.future};
        if (objects.is_a(walk.future, "_GatheringFuture"))
            return elements(objects.attribute(walk.future, "_children"));
        // A future of a function of asyncio's, which knows what it is made of: its first variable.
        const uint64_t first =
            objects.word(walk.innermost + source_.layout.awaits.frame_locals) & ~uint64_t{7};
        const std::string function = asyncio_function(walk.frames.back().code);
        if (!first || function.empty())
            return {};
        if (function == "wait_for")
            return {first};
        if (function == "_wait")
            return elements(first);
        if (function.starts_with("TaskGroup."))
            return elements(objects.attribute(first, "_tasks"));
        return {};
    }

    std::vector<uint64_t> elements(uint64_t object) {
        return object ? tasks_.objects().elements(object, most_awaited) : std::vector<uint64_t>();
    }

    // Empty: it is of somebody else.
    std::string asyncio_function(uint64_t code) {
        ObjectReader& objects = tasks_.objects();
        const wire_python_layout& at = source_.layout.frames;
        const auto file = objects.text(objects.word(code + at.code_file), file_limit);
        if (!file ||
            (!file->ends_with("/asyncio/tasks.py") && !file->ends_with("/asyncio/taskgroups.py")))
            return {};
        return objects.text(objects.word(code + at.code_name), function_limit).value_or("");
    }

    TaskReader tasks_;
    const TaskSource& source_;
    AsyncioObjects& known_;
    AwaitChain chain_;
};

} // namespace

std::variant<AwaitChain, FunctionProblem> read_await_chain(const ReadMemory& read,
                                                           const TaskSource& source,
                                                           uint64_t coroutine,
                                                           AsyncioObjects& known) {
    auto before = Chain(read, source, known).from(coroutine);
    bool is_whole_once = std::holds_alternative<AwaitChain>(before);
    for (size_t i = 1; i < most_looks; i++) {
        auto now = Chain(read, source, known).from(coroutine);
        const auto* const problem = std::get_if<FunctionProblem>(&now);
        const bool is_torn = problem && *problem == FunctionProblem::gone;
        if (now == before && !is_torn)
            return now;
        is_whole_once |= !problem;
        before = std::move(now);
    }
    return is_whole_once ? FunctionProblem::gone : FunctionProblem::unreadable;
}

} // namespace auger
