// SPDX-License-Identifier: GPL-3.0-or-later
// PythonNames: CPython's functions, by the words that a walk has of its frames (bpf/wire/python.h).
#pragma once

#include "bpf/unwind_table.h"
#include "loader/kernel/function_names.h"
#include "loader/runtimes/loop_code.h"
#include "loader/runtimes/python/code_reader.h"

#include <cstdint>
#include <memory>

namespace auger {

// What a process runs.
struct PythonProcess {
    std::shared_ptr<const PythonLayout> layout;
    uint64_t runtime = 0; // where its _PyRuntime lies

    // That it executes frames by, where each has a run of its own; else nothing.
    LoopCode loop() const { return loop_at(layout->frames.loop, runtime); }
    friend bool operator==(const PythonProcess&, const PythonProcess&) = default;
};

struct PythonFunctions {
    using Layout = PythonProcess;
    using Function = PythonCode;
    using Words = FrameKey;
    using WordsHash = FrameKeyHash;
    static constexpr const char* label = "python";

    static FrameKey function_words(const FrameKey& words) {
        return address_and_cookie(words, WIRE_FRAME_PYTHON);
    }
    static std::variant<PythonCode, FunctionProblem>
    read(const ReadMemory& read, const PythonProcess& process, const FrameKey& words) {
        return read_python_code(read, *process.layout, words.first,
                                static_cast<uint32_t>(words.second));
    }
    static FunctionName name(const PythonCode& code, const FrameKey& words);
    static size_t bytes_of(const PythonCode& code) {
        return code.function.capacity() + code.file.capacity() + code.lines.capacity();
    }
};

using PythonNames = FunctionNames<PythonFunctions>;

} // namespace auger
