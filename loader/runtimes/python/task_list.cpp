// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/task_list.h"

namespace auger {
namespace {

constexpr uint64_t weakref_object = 16; // in all versions known

} // namespace

TaskList::TaskList(TaskReader& reader, const TaskSource& source) : source_(source) {
    const uint64_t interpreter =
        reader.objects().word(source.runtime + source.layout.frames.runtime_interpreters);
    if (interpreter && source.asyncio.task_node)
        list_threads(reader.objects(), interpreter);
    else if (interpreter)
        list_references(reader, interpreter);
}

void TaskList::list_references(TaskReader& reader, uint64_t interpreter) {
    // A WeakSet.
    const char* const name =
        source_.layout.frames.version == 0x030b ? "_all_tasks" : "_scheduled_tasks";
    ObjectReader& objects = reader.objects();
    const uint64_t all = reader.find_in_asyncio(interpreter, name);
    const uint64_t data = all ? objects.attribute(all, "data") : 0;
    if (data)
        places_ = objects.elements(data, most);
}

void TaskList::list_threads(ObjectReader& objects, uint64_t interpreter) {
    const wire_python_layout& at = source_.layout.frames;
    uint64_t thread = objects.word(interpreter + at.interpreter_threads);
    for (size_t i = 0; i < WIRE_PYTHON_THREADS && thread && !objects.failed(); i++) {
        follow(objects, thread + source_.asyncio.thread_tasks);
        thread = objects.word(thread + at.thread_next);
    }
    follow(objects, interpreter + source_.asyncio.interpreter_tasks);
}

// A ring of nodes that begin with the next one's address, the list's own among them.
void TaskList::follow(ObjectReader& objects, uint64_t head) {
    uint64_t node = objects.word(head);
    while (node && node != head && places_.size() < most && !objects.failed()) {
        places_.push_back(node - source_.asyncio.task_node);
        node = objects.word(node);
    }
}

uint64_t TaskList::task(size_t index, TaskReader& reader) const {
    const uint64_t place = places_[index];
    const uint64_t task =
        source_.asyncio.task_node || !place ? place : reader.objects().word(place + weakref_object);
    return task && reader.is_task(task) ? task : 0;
}

} // namespace auger
