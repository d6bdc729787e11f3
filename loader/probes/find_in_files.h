// SPDX-License-Identifier: GPL-3.0-or-later
// find_in_files: one search for what a pattern means, in all files of the target, each read by its
// owner's process.
#pragma once

#include "loader/probes/code_conversations.h"
#include "loader/probes/place_match.h"
#include "loader/probes/probe_pattern.h"

#include <span>

namespace auger {

// See CodeReaders::find().
Result<ProbeMatches> find_in_files(CodeConversations& conversations, const ProbePattern& pattern,
                                   std::span<const SearchedFile> files,
                                   const MatchOptions& options);

} // namespace auger
