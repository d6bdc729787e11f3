// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/task_list.h"

namespace auger {
namespace {

constexpr uint64_t weakref_object = 16; // in all versions known

} // namespace

TaskList::TaskList(const ReadMemory& read, const TaskSource& source, AsyncioObjects& known)
    : read_(read), source_(source) {
    if (source.asyncio.task_node)
        list_threads();
    else
        list_references(known);
}

uint64_t TaskList::interpreter(ObjectReader& objects) const {
    return objects.word(source_.runtime + source_.layout.frames.runtime_interpreters);
}

void TaskList::note_failure(const ObjectReader& objects) {
    if (objects.failed())
        problem_ = objects.late() ? FunctionProblem::late : FunctionProblem::unreadable;
}

void TaskList::list_references(AsyncioObjects& known) {
    TaskReader reader(read_, source_);
    ObjectReader& objects = reader.objects();
    // A WeakSet.
    const char* const name =
        source_.layout.frames.version == 0x030b ? "_all_tasks" : "_scheduled_tasks";
    if (const uint64_t first = known.all_tasks ? 0 : interpreter(objects))
        known.all_tasks = reader.find_in_asyncio(first, name);
    const uint64_t data = known.all_tasks ? objects.attribute(known.all_tasks, "data") : 0;
    if (data)
        places_ = objects.elements(data, most);
    note_failure(objects);
    if (problem_ || !data)
        known.all_tasks = 0; // what it was may be gone
}

void TaskList::list_threads() {
    const wire_python_layout& at = source_.layout.frames;
    ObjectReader objects(read_, source_.layout);
    const uint64_t first = interpreter(objects);
    uint64_t thread = first ? objects.word(first + at.interpreter_threads) : 0;
    for (size_t i = 0; i < WIRE_PYTHON_THREADS && thread && !objects.failed() && !problem_; i++) {
        follow(thread + source_.asyncio.thread_tasks);
        thread = objects.word(thread + at.thread_next);
    }
    note_failure(objects);
    if (first && !problem_)
        follow(first + source_.asyncio.interpreter_tasks);
}

// A ring of nodes that begin with the next one's address, the list's own among them.
void TaskList::follow(uint64_t head) {
    uint64_t node = ObjectReader(read_, source_.layout).word(head);
    while (node && node != head && places_.size() < most && !problem_) {
        ObjectReader objects(read_, source_.layout);
        for (size_t i = 0; i < most_of_reader && node && node != head && places_.size() < most;
             i++) {
            places_.push_back(node - source_.asyncio.task_node);
            node = objects.word(node);
        }
        note_failure(objects);
    }
}

uint64_t TaskList::task(size_t index, TaskReader& reader) const {
    const uint64_t place = places_[index];
    const uint64_t task =
        source_.asyncio.task_node || !place ? place : reader.objects().word(place + weakref_object);
    return task && reader.is_task(task) ? task : 0;
}

} // namespace auger
