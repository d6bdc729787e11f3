// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>

namespace auger {
namespace {

constexpr uint32_t oldest_minor = 8, newest_minor = 15;
constexpr uint32_t first_candidate = 0xc; // of a version's level; below are alphas and betas

// A layout's values are told by tables; those of what may be anywhere are bounded all the same.
constexpr uint64_t large_limit = 16 << 20; // of _PyRuntime, and of an interpreter
constexpr uint64_t code_limit = 4096;      // before the instructions of a code object
constexpr uint64_t object_limit = 256;     // before the data of a str or bytes
constexpr uint64_t type_limit = 4096;      // of a class

// The same in all versions, see PyUnicodeObject: behind the part that all strings have, one has the
// address of its characters when these are not in the object.
constexpr uint64_t text_tail = sizeof(uint64_t);

// Of what tasks are told by (bpf/python_task.h), which _Py_DebugOffsets does not have before 3.14:
// the beginning of a code object has been the same since 3.11, that of a generator since 3.12.
// Measured in 3.11 to 3.13, by the headers in 3.14 and 3.15.
constexpr uint32_t code_flags = 48, generator_frame = 72;

// co_version, which _Py_DebugOffsets does not have either; since 3.12.
constexpr uint32_t code_version = 92;

// Of what is known of coroutines that wait. Measured in 3.11 to 3.15 (PythonTruth.*), and the same
// in all releases of one minor version: the stable part of a frame, a class and the tasks of
// _asyncio. Its debug offsets say all of it in 3.15, most in 3.14, and some in 3.13.
constexpr uint32_t state_before_frame = 5; // bytes

constexpr uint64_t code_size_limit = 16 << 20; // of the loop, which has some 40 kB

// str and bytes of 3.8 to 3.11.
constexpr PythonObjects objects_until_311 = {.text_length = 16,
                                             .text_state = 32,
                                             .text_ascii = 48,
                                             .text_wide = 72,
                                             .bytes_length = 16,
                                             .bytes_data = 32,
                                             .lines = python_lines_steps};

// Up to 3.10, where frames are objects, and the loop calls itself for each. 3.9 measured in Debian
// 11's; 3.8 has the same, and 3.10 what differs, by the headers of these (cpython/pystate.h,
// cpython/frameobject.h, cpython/code.h, internal/pycore_runtime.h, internal/pycore_interp.h).
constexpr PythonLayout layout_until_310(uint32_t minor) {
    PythonLayout layout = {
        .frames = {.loop = {},
                   .runtime_interpreters = 32,
                   .interpreter_next = 0,
                   .interpreter_threads = 8,
                   .thread_next = 8,
                   .thread_id = 176,
                   .thread_frame = 24,
                   .has_cframe = 0,
                   .cframe_frame = 0,
                   .cframe_previous = 0,
                   .boundary = WIRE_PYTHON_EACH,
                   .frame_code = 32,
                   .frame_previous = 24,
                   .frame_instruction = 104,
                   .instruction_unit = 1,
                   .frame_owner = 0,
                   .frame_kind = 0,
                   .generator_frame = 0,
                   .frame_generator = 96,
                   .frame_bytes = WIRE_PYTHON_FRAME_OBJECT_BYTES,
                   .code_line = 40,
                   .code_file = 104,
                   .code_name = 112,
                   .code_lines = 120,
                   .code_instructions = 0,
                   .code_flags = 36,
                   .code_version = 0,
                   .version = 3 << 8 | minor,
                   .padding = 0},
        .objects = objects_until_311,
        .awaits = {},
    };
    if (minor == 10) {
        layout.frames.frame_instruction = 96;
        layout.frames.instruction_unit = 2;
        layout.frames.frame_generator = 88;
        layout.objects.lines = python_lines_ranges;
    }
    return layout;
}

constexpr PythonLayout layout_311 = {
    .frames = {.loop = {},
               .runtime_interpreters = 40,
               .interpreter_next = 0,
               .interpreter_threads = 16,
               .thread_next = 8,
               .thread_id = 152,
               .thread_frame = 56,
               .has_cframe = 1,
               .cframe_frame = 8,
               .cframe_previous = 16,
               .boundary = WIRE_PYTHON_CFRAME,
               .frame_code = 32,
               .frame_previous = 48,
               .frame_instruction = 56,
               .instruction_unit = 0,
               .frame_owner = 68,
               .frame_kind = 69,
               .generator_frame = 80,
               .frame_generator = 0,
               .frame_bytes = WIRE_PYTHON_FRAME_BYTES,
               .code_line = 72,
               .code_file = 112,
               .code_name = 128,
               .code_lines = 136,
               .code_instructions = 184,
               .code_flags = code_flags,
               .code_version = 0,
               .version = 0x030b,
               .padding = 0},
    .objects = {.text_length = 16,
                .text_state = 32,
                .text_ascii = 48,
                .text_wide = 72,
                .bytes_length = 16,
                .bytes_data = 32,
                .lines = python_lines_locations},
    .awaits = {.known = 1,
               .interpreter_modules = 888,
               .generator_state = 80 - state_before_frame,
               .states = python_states_suspended,
               .frame_stack = 64,
               .stack_is_address = 0,
               .frame_locals = 72,
               .type_keys = 872,
               .attributes = python_attributes_behind,
               .tuple_items = 24,
               .asyncio = {.task_coroutine = 136,
                           .task_name = 144,
                           .future_state = 88,
                           .thread_running = 0,
                           .task_node = 0,
                           .thread_tasks = 0,
                           .interpreter_tasks = 0}},
};

constexpr PythonLayout layout_312 = {
    .frames = {.loop = {},
               .runtime_interpreters = 40,
               .interpreter_next = 0,
               .interpreter_threads = 72,
               .thread_next = 8,
               .thread_id = 136,
               .thread_frame = 56,
               .has_cframe = 1,
               .cframe_frame = 0,
               .cframe_previous = 8,
               .boundary = WIRE_PYTHON_SHIM,
               .frame_code = 0,
               .frame_previous = 8,
               .frame_instruction = 56,
               .instruction_unit = 0,
               .frame_owner = 70,
               .frame_kind = 70,
               .generator_frame = generator_frame,
               .frame_generator = 0,
               .frame_bytes = WIRE_PYTHON_FRAME_BYTES,
               .code_line = 68,
               .code_file = 112,
               .code_name = 128,
               .code_lines = 136,
               .code_instructions = 192,
               .code_flags = code_flags,
               .code_version = code_version,
               .version = 0x030c,
               .padding = 0},
    .objects = {.text_length = 16,
                .text_state = 32,
                .text_ascii = 40,
                .text_wide = 56,
                .bytes_length = 16,
                .bytes_data = 32,
                .lines = python_lines_locations},
    .awaits = {.known = 1,
               .interpreter_modules = 944,
               .generator_state = generator_frame - state_before_frame,
               .states = python_states_suspended,
               .frame_stack = 64,
               .stack_is_address = 0,
               .frame_locals = 72,
               .type_keys = 880,
               .attributes = python_attributes_tagged,
               .tuple_items = 24,
               .asyncio = {.task_coroutine = 136,
                           .task_name = 144,
                           .future_state = 88,
                           .thread_running = 0,
                           .task_node = 0,
                           .thread_tasks = 0,
                           .interpreter_tasks = 0}},
};

// _Py_DebugOffsets is a row of words: this is which of them says what.
enum {
    word_cookie = 0,
    word_version = 1,
    word_free_threaded = 2,
};
struct Words {
    uint8_t interpreters_head, interpreter_next, threads_head;
    uint8_t thread_next, current_frame, thread_id;
    uint8_t previous, executable, instr_ptr, owner;
    uint8_t filename, qualname, linetable, firstlineno, co_code_adaptive;
    uint8_t bytes_ob_size, bytes_ob_sval;
    uint8_t unicode_size, unicode_state, unicode_length, asciiobject_size;
};
constexpr Words words_313 = {5,  8,  9,  21, 23, 24, 29, 30, 31, 33, 35,
                             37, 38, 39, 43, 65, 66, 67, 68, 69, 70};
constexpr Words words_314 = {5,  8,  9,  24, 26, 27, 32, 33, 34, 36, 40,
                             42, 43, 44, 48, 75, 76, 77, 78, 79, 80};
constexpr Words words_315 = {5,  8,  9,  24, 26, 30, 40, 41, 42, 44, 48,
                             50, 51, 52, 56, 87, 88, 89, 90, 91, 92};
constexpr const Words* words_of[] = {&words_313, &words_314, &words_315};
// ... what coroutines that wait are followed by; 0: it does not say.
struct AwaitWords {
    uint8_t modules, localsplus, stackpointer, tuple_item, gen_frame_state, type_keys;
};
constexpr AwaitWords await_words_313 = {11, 32, 0, 51, 0, 0},
                     await_words_314 = {12, 35, 37, 57, 86, 0},
                     await_words_315 = {12, 43, 45, 69, 102, 67};
constexpr const AwaitWords* await_words_of[] = {&await_words_313, &await_words_314,
                                                &await_words_315};
constexpr uint32_t first_of_words = 13;

std::string version_text(uint32_t version) {
    const uint32_t level = version >> 4 & 15;
    std::string text =
        fmt::format("{}.{}.{}", version >> 24, version >> 16 & 255, version >> 8 & 255);
    if (level != 0xf)
        text += fmt::format("{}{}", level < 0xb ? "a" : level < 0xc ? "b" : "rc", version & 15);
    return text;
}

Error unknown(uint32_t version, std::string cause) {
    return {"show Python's functions",
            version ? "of CPython " + version_text(version)
                    : "of a CPython that does not say its version",
            std::move(cause), "the interpreter's own functions are shown instead",
            Error::Kind::unsupported};
}

class DebugOffsets {
  public:
    explicit DebugOffsets(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::optional<uint64_t> word(size_t index) const {
        uint64_t word;
        if (bytes_.size() / sizeof word <= index)
            return std::nullopt;
        std::memcpy(&word, bytes_.data() + index * sizeof word, sizeof word);
        return word;
    }
    // Where a field of `size` bytes lies, all of it below `limit`. Fails once, for all.
    uint32_t field(size_t index, size_t size, uint64_t limit) {
        const auto offset = word(index);
        if (offset && size <= limit && *offset <= limit - size)
            return static_cast<uint32_t>(*offset);
        failed_ = true;
        return 0;
    }
    bool failed() const { return failed_; }

  private:
    std::span<const std::byte> bytes_;
    bool failed_ = false;
};

// Nothing known where it says what cannot be: frames have names all the same.
PythonAwaits awaits_by_words(uint32_t minor, DebugOffsets offsets) {
    constexpr size_t pointer = 8;
    const bool says_all = minor > first_of_words;
    const AwaitWords& at = *await_words_of[minor - first_of_words];
    PythonAwaits awaits{};
    awaits.known = 1;
    awaits.interpreter_modules = offsets.field(at.modules, pointer, large_limit);
    awaits.generator_state = generator_frame - state_before_frame;
    if (at.gen_frame_state)
        awaits.generator_state = offsets.field(at.gen_frame_state, 1, object_limit);
    awaits.states = minor > 14 ? python_states_counted : python_states_signed;
    awaits.frame_stack = 64;
    if (at.stackpointer)
        awaits.frame_stack = offsets.field(at.stackpointer, pointer, object_limit);
    awaits.stack_is_address = says_all;
    awaits.frame_locals = offsets.field(at.localsplus, pointer, object_limit);
    awaits.type_keys = 880;
    if (at.type_keys)
        awaits.type_keys = offsets.field(at.type_keys, pointer, type_limit);
    awaits.attributes = python_attributes_inline;
    awaits.tuple_items = offsets.field(at.tuple_item, pointer, object_limit);
    if (!says_all)
        awaits.asyncio = {.task_coroutine = 120,
                          .task_name = 128,
                          .future_state = 96,
                          .thread_running = 0,
                          .task_node = 0,
                          .thread_tasks = 0,
                          .interpreter_tasks = 0};
    return offsets.failed() ? PythonAwaits{} : awaits;
}

std::optional<PythonLayout> layout_by_words(uint32_t minor, DebugOffsets offsets) {
    const Words& at = *words_of[minor - first_of_words];
    constexpr size_t pointer = 8;
    const auto address = [&](size_t index, uint64_t limit) {
        return offsets.field(index, pointer, limit);
    };
    PythonLayout layout{};
    wire_python_layout& frames = layout.frames;
    frames.runtime_interpreters = address(at.interpreters_head, large_limit);
    frames.interpreter_next = address(at.interpreter_next, large_limit);
    frames.interpreter_threads = address(at.threads_head, large_limit);
    frames.thread_next = address(at.thread_next, WIRE_PYTHON_THREAD_BYTES);
    frames.thread_id = address(at.thread_id, WIRE_PYTHON_THREAD_BYTES);
    frames.thread_frame = address(at.current_frame, WIRE_PYTHON_THREAD_BYTES);
    frames.boundary = WIRE_PYTHON_SHIM;
    frames.frame_code = address(at.executable, WIRE_PYTHON_FRAME_BYTES);
    frames.frame_previous = address(at.previous, WIRE_PYTHON_FRAME_BYTES);
    frames.frame_instruction = address(at.instr_ptr, WIRE_PYTHON_FRAME_BYTES);
    frames.frame_owner = offsets.field(at.owner, 1, WIRE_PYTHON_FRAME_BYTES);
    frames.frame_kind = frames.frame_owner;
    frames.generator_frame = generator_frame;
    frames.frame_bytes = WIRE_PYTHON_FRAME_BYTES;
    frames.code_flags = code_flags;
    frames.code_version = code_version;
    frames.code_line = offsets.field(at.firstlineno, 4, WIRE_PYTHON_CODE_BYTES);
    frames.code_file = address(at.filename, WIRE_PYTHON_CODE_BYTES);
    frames.code_name = address(at.qualname, WIRE_PYTHON_CODE_BYTES);
    frames.code_lines = address(at.linetable, WIRE_PYTHON_CODE_BYTES);
    frames.code_instructions = offsets.field(at.co_code_adaptive, 0, code_limit);
    frames.version = 3 << 8 | minor;
    PythonObjects& objects = layout.objects;
    objects.text_ascii = offsets.field(at.asciiobject_size, 0, object_limit);
    objects.text_wide = offsets.field(at.unicode_size, 0, object_limit) - uint32_t{text_tail};
    // What comes before the characters is read at once.
    objects.text_length = address(at.unicode_length, objects.text_ascii);
    objects.text_state = offsets.field(at.unicode_state, 4, objects.text_ascii);
    objects.bytes_data = offsets.field(at.bytes_ob_sval, 0, object_limit);
    objects.bytes_length = address(at.bytes_ob_size, object_limit);
    objects.lines = python_lines_locations;
    if (offsets.failed() || objects.text_wide > object_limit)
        return std::nullopt;
    layout.awaits = awaits_by_words(minor, offsets);
    return layout;
}

} // namespace

Result<PythonLayout> python_layout(uint32_t hex_version, std::span<const std::byte> debug_offsets) {
    const uint32_t minor = hex_version >> 16 & 255;
    if (hex_version >> 24 != 3 || minor < oldest_minor || minor > newest_minor)
        return unknown(hex_version, fmt::format("auger knows the frames of 3.{} to 3.{}",
                                                oldest_minor, newest_minor));
    if ((hex_version >> 4 & 15) < first_candidate)
        return unknown(hex_version, "its frames may not be those of the release");
    if (minor <= 10)
        return layout_until_310(minor);
    if (minor < first_of_words)
        return minor == 11 ? layout_311 : layout_312;

    const DebugOffsets offsets(debug_offsets);
    uint64_t cookie;
    std::memcpy(&cookie, "xdebugpy", sizeof cookie);
    const auto version = offsets.word(word_version), threaded = offsets.word(word_free_threaded);
    if (offsets.word(word_cookie) != cookie || !version || !threaded)
        return unknown(hex_version, "it does not say where its frames are (_Py_DebugOffsets)");
    if (*version != hex_version)
        return unknown(hex_version, "it says where the frames of another version are");
    if (*threaded)
        return unknown(hex_version, "it is a free-threaded build, whose frames are others");
    if (const auto layout = layout_by_words(minor, offsets))
        return *layout;
    return unknown(hex_version, "where it says that its frames are, they cannot be");
}

Result<PythonLayout> python_layout(const PythonFile& file) {
    auto layout = python_layout(file.hex_version, file.debug_offsets);
    if (!layout || layout->frames.boundary != WIRE_PYTHON_EACH)
        return layout;
    if (file.loop.body_size == 0 || file.loop.body_size > code_size_limit ||
        file.loop.cold_size > code_size_limit)
        return unknown(file.hex_version, "where its loop begins and ends "
                                         "(_PyEval_EvalFrameDefault) is not known");
    layout->frames.loop = loop_from(file.loop, file.runtime);
    return layout;
}

} // namespace auger
