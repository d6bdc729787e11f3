// SPDX-License-Identifier: GPL-3.0-or-later
// PythonImage: the memory of a CPython that is made up, as a layout says where objects have what.
#pragma once

#include "loader/runtimes/python/task_reader.h"
#include "tests/unit/fake_pages.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace auger::test {

class PythonImage {
  public:
    // Of a generator (_framestate in CPython's headers, as each PythonStates has it).
    enum State : uint8_t { created, gave_way, awaits, runs, over };

    explicit PythonImage(const TaskSource& source) : source_(source) {}

    FakePages memory;

    uint64_t room(size_t bytes) {
        const uint64_t address = next_;
        for (uint64_t at = address; at < address + bytes; at += 8)
            memory.put(at, uint64_t{0});
        next_ += (bytes + 0x3f) & ~uint64_t{0x3f};
        return address;
    }
    uint64_t class_named(const std::string& name, uint64_t base = 0) {
        uint64_t& known = classes_[name];
        if (!known) {
            known = room(1024);
            const uint64_t text = room(name.size() + 1);
            memory.put_text(text, name);
            memory.put(known + 24, text);
            memory.put(known + 32, uint64_t{object_bytes});
            memory.put(known + 256, base);
        }
        return known;
    }
    // With what lies before it.
    uint64_t object(uint64_t type, size_t bytes = 512) {
        const uint64_t address = room(bytes + 64) + 64;
        memory.put(address + 8, type);
        return address;
    }
    uint64_t text(std::string_view characters) {
        const PythonObjects& at = source_.layout.objects;
        const uint64_t address = object(class_named("str"), at.text_wide + characters.size() + 8);
        memory.put(address + at.text_length, uint64_t{characters.size()});
        memory.put(address + at.text_state, uint32_t{1u << 2 | 1u << 5 | 1u << 6});
        memory.put_text(address + at.text_ascii, characters);
        return address;
    }
    uint64_t integer(uint64_t value) {
        const uint64_t address = object(class_named("int"), 64);
        memory.put(address + 16, uint64_t{(value >> 30 ? 2u : 1u) << 3});
        memory.put(address + 24, static_cast<uint32_t>(value & ((1u << 30) - 1)));
        memory.put(address + 28, static_cast<uint32_t>(value >> 30));
        return address;
    }
    uint64_t list(const std::vector<uint64_t>& elements) {
        const uint64_t address = object(class_named("list"), 64);
        const uint64_t items = words(elements);
        memory.put(address + 16, uint64_t{elements.size()});
        memory.put(address + 24, items);
        return address;
    }
    uint64_t tuple(const std::vector<uint64_t>& elements) {
        const uint64_t address = object(class_named("tuple"), 64 + 8 * elements.size());
        memory.put(address + 16, uint64_t{elements.size()});
        for (size_t i = 0; i < elements.size(); i++)
            memory.put(address + source_.layout.awaits.tuple_items + 8 * i, elements[i]);
        return address;
    }
    // Of eight places, of which one is of what was taken out: it is no element, whatever it says.
    uint64_t set(const std::vector<uint64_t>& elements) {
        const uint64_t address = object(class_named("set"), 128);
        std::vector<uint64_t> entries(16);
        entries[2] = elements.front();
        entries[3] = UINT64_MAX;
        for (size_t i = 0; i < elements.size(); i++) {
            entries[4 + 2 * i] = elements[i];
            entries[5 + 2 * i] = i;
        }
        memory.put(address + 32, uint64_t{7});
        memory.put(address + 40, words(entries));
        return address;
    }
    // `kind`: 0: any keys, 1: texts, 2: texts whose values are elsewhere.
    uint64_t keys(uint8_t kind, const std::vector<std::pair<uint64_t, uint64_t>>& entries) {
        const uint64_t address = room(32 + 8 + 24 * entries.size());
        memory.put(address + 8, uint8_t{3});
        memory.put(address + 9, uint8_t{3});
        memory.put(address + 10, kind);
        memory.put(address + 24, uint64_t{entries.size()});
        uint64_t at = address + 32 + 8;
        for (const auto& [key, value] : entries) {
            at += kind == 0 ? 8 : 0;
            memory.put(at, key);
            memory.put(at + 8, kind == 2 ? 0 : value);
            at += 16;
        }
        return address;
    }
    uint64_t dict(uint8_t kind, const std::vector<std::pair<uint64_t, uint64_t>>& entries) {
        const uint64_t address = object(class_named("dict"), 64);
        memory.put(address + 32, keys(kind, entries));
        if (kind == 2)
            memory.put(address + 40, values(entries));
        return address;
    }
    // Attributes of an object of Python's, by its class.
    void put_attributes(uint64_t object, const std::vector<std::pair<uint64_t, uint64_t>>& all) {
        const PythonAwaits& at = source_.layout.awaits;
        memory.put(type_of(object) + at.type_keys, keys(2, all));
        switch (at.attributes) {
        case python_attributes_behind:
            memory.put(object - 32, values(all));
            break;
        case python_attributes_tagged:
            memory.put(object - 24, values(all) - 1);
            break;
        default:
            for (size_t i = 0; i < all.size(); i++)
                memory.put(object + object_bytes + 8 + 8 * i, all[i].second);
        }
    }
    uint64_t code(std::string_view name, std::string_view file = "/srv/app.py") {
        const wire_python_layout& at = source_.layout.frames;
        const uint64_t address = object(class_named("code"), 512);
        memory.put(address + at.code_line, uint32_t{7});
        memory.put(address + at.code_name, text(name));
        memory.put(address + at.code_file, text(file));
        return address;
    }
    // That awaits `awaited`, in an instruction at offset 10; its variables are these.
    uint64_t coroutine(uint64_t code, uint64_t awaited, const std::vector<uint64_t>& variables = {},
                       const char* type = "coroutine") {
        const wire_python_layout& at = source_.layout.frames;
        const PythonAwaits& at_awaits = source_.layout.awaits;
        const uint64_t address = object(class_named(type));
        const uint64_t frame = address + at.generator_frame;
        memory.put(frame + at.frame_code, code);
        const uint64_t instruction = code + at.code_instructions + 10;
        memory.put(frame + at.frame_instruction, instruction);
        memory.put(instruction + 3, uint8_t{3}); // RESUME, after an await
        uint64_t place = frame + at_awaits.frame_locals;
        for (const uint64_t variable : variables) {
            memory.put(place, variable);
            place += 8;
        }
        memory.put(place, awaited);
        if (at_awaits.states == python_states_counted)
            memory.put(place += 8, uint64_t{1}); // PyStackRef_NULL
        if (at_awaits.stack_is_address)
            memory.put(frame + at_awaits.frame_stack, place + 8);
        else
            memory.put(frame + at_awaits.frame_stack, static_cast<int32_t>(variables.size() + 1));
        put_state(address, awaits);
        return address;
    }
    void put_state(uint64_t coroutine, State state) {
        constexpr int8_t numbers[][over + 1] = {
            {-2, -1, -1, 0, 1}, {-3, -2, -1, 0, 1}, {0, 1, 2, 4, 5}};
        memory.put(coroutine + source_.layout.awaits.generator_state,
                   numbers[source_.layout.awaits.states][state]);
    }
    uint64_t future(const char* type = "_asyncio.Future") {
        return object(class_named(type, class_named("_asyncio.Future")));
    }
    uint64_t task(uint64_t coroutine, uint64_t name, const char* type = "_asyncio.Task") {
        const uint64_t address = object(class_named(type, class_named("_asyncio.Task")));
        memory.put(address + source_.asyncio.task_coroutine, coroutine);
        memory.put(address + source_.asyncio.task_name, name);
        return address;
    }
    void put_done(uint64_t future) {
        memory.put(future + source_.asyncio.future_state, uint32_t{2});
    }
    uint64_t iterator(uint64_t future) {
        const uint64_t address = object(class_named("_asyncio.FutureIter"), 64);
        memory.put(address + 16, future);
        return address;
    }
    uint64_t method(uint64_t of) {
        const uint64_t address = object(class_named("builtin_function_or_method"), 64);
        memory.put(address + 24, of);
        return address;
    }
    // When the future is done, these are called in this order.
    void put_callbacks(uint64_t future, const std::vector<uint64_t>& callbacks) {
        memory.put(future + 24, callbacks.at(0));
        std::vector<uint64_t> pairs;
        for (size_t i = 1; i < callbacks.size(); i++)
            pairs.push_back(tuple({callbacks[i], uint64_t{0}}));
        memory.put(future + 40, pairs.empty() ? 0 : list(pairs));
    }
    // What the event loop knows to run, and all tasks that there are.
    void put_running(const std::vector<uint64_t>& tasks, const std::vector<uint64_t>& all = {}) {
        const wire_python_layout& at = source_.layout.frames;
        const uint64_t interpreter = room(8192);
        memory.put(source_.runtime + at.runtime_interpreters, interpreter);
        if (source_.asyncio.thread_running) {
            uint64_t thread = 0;
            for (const uint64_t task : tasks) {
                const uint64_t next = std::exchange(thread, room(2048));
                memory.put(thread + at.thread_next, next);
                memory.put(thread + source_.asyncio.thread_running, task);
                put_list(thread + source_.asyncio.thread_tasks, {});
            }
            memory.put(interpreter + at.interpreter_threads, thread);
            // Those of the last thread, but for one whose thread has ended.
            const size_t of_thread = thread && !all.empty() ? all.size() - 1 : 0;
            if (thread)
                put_list(thread + source_.asyncio.thread_tasks,
                         {all.begin(), all.begin() + static_cast<ptrdiff_t>(of_thread)});
            put_list(interpreter + source_.asyncio.interpreter_tasks,
                     {all.begin() + static_cast<ptrdiff_t>(of_thread), all.end()});
            return;
        }
        std::vector<std::pair<uint64_t, uint64_t>> running;
        for (const uint64_t task : tasks)
            running.emplace_back(room(64), task);
        const uint64_t module = object(class_named("module"), 64);
        const char* const name =
            source_.layout.frames.version == 0x030b ? "_all_tasks" : "_scheduled_tasks";
        memory.put(module + 16, dict(1, {{text(name), weak_set(all)},
                                         {text("_current_tasks"), dict(0, running)}}));
        memory.put(interpreter + source_.layout.awaits.interpreter_modules,
                   dict(1, {{text("sys"), text("x")},
                            {text("_asynci0"), text("x")},
                            {text("_asyncio"), module}}));
    }

    static constexpr uint64_t object_bytes = 256; // of all classes

  private:
    // A ring.
    void put_list(uint64_t head, const std::vector<uint64_t>& tasks) {
        uint64_t last = head;
        for (const uint64_t task : tasks) {
            memory.put(last, task + source_.asyncio.task_node);
            last = task + source_.asyncio.task_node;
        }
        memory.put(last, head);
    }
    uint64_t weak_set(const std::vector<uint64_t>& all) {
        std::vector<uint64_t> references;
        for (const uint64_t one : all) {
            references.push_back(object(class_named("weakref"), 64));
            memory.put(references.back() + 16, one);
        }
        const uint64_t address = object(class_named("WeakSet"));
        put_attributes(address, {{text("_pending_removals"), text("x")},
                                 {text("data"), all.empty() ? 0 : set(references)}});
        return address;
    }
    uint64_t type_of(uint64_t object) {
        uint64_t type = 0;
        memory.get(object + 8, &type, sizeof type);
        return type;
    }
    uint64_t words(const std::vector<uint64_t>& all) {
        const uint64_t address = room(8 * all.size() + 8);
        for (size_t i = 0; i < all.size(); i++)
            memory.put(address + 8 * i, all[i]);
        return address;
    }
    // Since 3.13 behind what stands before them.
    uint64_t values(const std::vector<std::pair<uint64_t, uint64_t>>& entries) {
        std::vector<uint64_t> all;
        const bool has_head = source_.layout.awaits.attributes == python_attributes_inline;
        if (has_head)
            all.push_back(0x01010000);
        for (const auto& entry : entries)
            all.push_back(entry.second);
        return words(all);
    }

    const TaskSource& source_;
    uint64_t next_ = 0x7f0000100000;
    std::map<std::string, uint64_t> classes_;
};

} // namespace auger::test
