// SPDX-License-Identifier: GPL-3.0-or-later
// What the flame graphs that leave auger as pictures have in common: headings, and kinds of frames,
// by which they are coloured alike.
#pragma once

#include "views/exports/export.h"

#include <cstdint>
#include <string>

namespace auger {

// "auger: flame graph of calls of handle, slow".
std::string flame_title(const Model&, const ExportQuery&);
// "12.3 s long": of time covered.
std::string flame_span(const FlameTree&);

enum class FrameKind : uint8_t { user, kernel, label }; // the root is a label
FrameKind frame_kind(const Model&, const FlameTree&, uint32_t node);

// 0xrrggbb: a hue by kind, varied by the (harmless) name. flame.html draws the same.
uint32_t frame_colour(FrameKind, std::string_view name);

} // namespace auger
