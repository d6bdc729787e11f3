// SPDX-License-Identifier: GPL-3.0-or-later
// Continuous recording: `record DIR every 60s keep N`. Each interval's samples become files of the
// interval's own, in the formats that were asked for, and links to the last of them; files of all
// but the latest N intervals are removed.
#pragma once

#include "repl/services/interval_writer.h"
#include "repl/services/service_settings.h"

namespace auger {

// Makes the folder. `model` is read when intervals are written.
Result<IntervalWriter::Write> interval_files_writer(const Model& model, const IntervalFiles& files);

} // namespace auger
