// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
#include "sample.h"

__noinline int list_open_call(struct open_call* call, struct sample_buffer* buffer,
                              struct stack_place* here) {
    struct wire_call* out;

    if (!call || !buffer || !here || buffer->sample.calls >= WIRE_MAX_OPEN_CALLS ||
        !is_listed(call))
        return 0;
    if (here->sp > call->sp && has_been_left(call, here))
        return 0;
    // The count stands in memory, where the verifier forgets it.
    out = (void*)&buffer->words[2 * (buffer->sample.calls & (WIRE_MAX_OPEN_CALLS - 1))];
    out->start_ns = call->start_ns;
    out->sequence = call->sequence;
    out->spec = call->spec;
    out->generation = call->generation;
    buffer->sample.calls++;
    return 1;
}
