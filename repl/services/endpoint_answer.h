// SPDX-License-Identifier: GPL-3.0-or-later
// What the endpoint answers with: written by a forked copy of the process, sent from its file.
#pragma once

#include "loader/process/forked_task.h"
#include "loader/settings/sampling_settings.h"
#include "repl/services/endpoint_request.h"
#include "views/text/views.h"

namespace auger {

struct AnswerSource {
    ExportQuery query;           // the request's selection, in the window that it is of
    SamplingSettings sampling{}; // while it was
    StatusContext status{};      // of `status`
};

Result<ForkedTask> start_answer(const Model&, const EndpointRequest&, const AnswerSource&);
// Once it has been written.
HttpAnswer answer_of(const EndpointRequest&, UniqueFd file);

} // namespace auger
