// SPDX-License-Identifier: GPL-3.0-or-later
// From what a user asks of a probe's calls (`slow recv > 1ms if ret < 0 show fd, str(buf)`) to the
// program that the kernel runs at each of them, and from the values that come back to text.
//
// An expression is a value of a call: `arg0` to `argN` by position in the calling convention
// (of the architecture), `str(arg1)` the string that it points to, `ret`, `errno`, the `task` that
// CPython runs; a parameter by its name and members of it (`req->len`, `this->id`, `fd`), where
// there is DWARF; `trace` and `span_id`, what the thread works for, where its program says so
// (thread_place.h); `golabel("route")`, a pprof label of the goroutine that it works for. Pointers
// are followed and counted with as in C (`*(arg0 + 8)`, `p->items[i]`, `&p->name`), values are cast
// (`(u8)arg1`,
// `((struct request *)arg0)->len`) and computed with (`arg1 - arg0`, `flags >> 4`). All but `ret`
// and `errno`, and what is made of them, are read when the call begins; a label in a Go function,
// too, when it returns. A predicate compares values with numbers, strings or each other, joined by
// `and`, `or`, `not` and parentheses: `arg2 > 4096 and not (ret < 0)`.
#pragma once

#include "bpf/wire.h"
#include "loader/base/result.h"
#include "loader/stream/events.h"
#include "loader/values/text_checks.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

// What is asked of one probe's calls.
struct ProgramRequest {
    CallConditions conditions;
    std::string split_if; // predicate that sets `split_mark`; empty: none
    uint8_t split_mark = 0;
    std::string split_by;     // expression that calls are labelled with; empty: none
    bool traces_slow = false; // `show_default` reads parameters and result only then
    bool shows_trace = false; // ... and what the call belongs to
};

// What a value is, to people.
struct ValueFormat {
    enum class Kind : uint8_t {
        word, // 64 bits of which nothing more is known
        signed_number,
        unsigned_number,
        pointer,
        string,
        boolean,
        character,
        enumeration,
        error_number,
        descriptor,
        trace_id, // a string of its digits; empty: there is none
        span_id,  // 0: there is none
        task,     // the address of a task's coroutine; 0: none runs
        go_label, // a string; empty: the goroutine has none
    };
    Kind kind = Kind::word;
    uint8_t size = 8;                                   // bytes
    std::vector<std::pair<int64_t, std::string>> names; // of an enumeration
};

// A value that slow calls show.
struct ShownValue {
    std::string name; // as asked for, or of the parameter
    uint8_t value = 0;
    // Shown only when this value (the result) says that the call failed, as errno is.
    std::optional<uint8_t> failed_by{};
    bool if_any = false; // not shown when there is none
};

struct CallProgram {
    // But for its version; with judges_end set where every call needs its values at its end.
    wire_call_program wire{};
    std::vector<ValueFormat> formats; // one a fetch
    std::vector<ShownValue> shown;    // in the order asked for
};

// Of a tracepoint's record, in the kernel's memory.
inline bool is_of_record(const wire_fetch& fetch) {
    return fetch.base == WIRE_BASE_RECORD || fetch.base == WIRE_BASE_DATA_LOC;
}

// Whether there is nothing to compile.
bool asks_nothing(const ProgramRequest& request);
// Whether the thread's context is read.
bool reads_context(const CallProgram& program);
// Whether all is read when the call returns, and is the call's, on whatever thread it is by then:
// labels of the goroutine, results.
bool is_read_at_return(const CallProgram& program);
// That shows the ids of trace and span, where there are some, and nothing else.
CallProgram context_program();
// Whether it may need to know where errno is.
bool may_ask_for_errno(const ProgramRequest& request);

// What a file descriptor stands for; empty: not known. (See loader/process/fd_target.h.)
using DescribeDescriptor = std::function<std::string(uint64_t fd)>;
// What the task of a coroutine is called; empty: not known. (See loader/kernel/task_names.h.)
using DescribeTask = std::function<std::string(uint64_t coroutine)>;

// The values to be shown, in the order asked for.
std::vector<CallValue> format_values(const CallProgram& program, const wire_values& values,
                                     const DescribeDescriptor& describe,
                                     const DescribeTask& describe_task = {});
// A split's label: `kind` is a wire_label, `text` a string's bytes.
std::string format_label(const CallProgram& program, uint32_t kind, uint64_t value,
                         std::string_view text);

} // namespace auger
