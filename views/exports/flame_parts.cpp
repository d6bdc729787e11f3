// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/flame_parts.h"

#include "views/format.h"

#include <algorithm>
#include <cmath>

namespace auger {

namespace {

// FNV-1a.
uint32_t hash_of(std::string_view text) {
    uint32_t hash = 2166136261;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
    return hash;
}

// Hue in degrees, the others from 0 to 1.
uint32_t rgb_of(double hue, double saturation, double lightness) {
    const auto channel = [&](double n) {
        const double k = std::fmod(n + hue / 30, 12);
        const double part = saturation * std::min(lightness, 1 - lightness);
        const double value = lightness - part * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
        return static_cast<uint32_t>(std::lround(255 * value));
    };
    return channel(0) << 16 | channel(8) << 8 | channel(4);
}

} // namespace

std::string flame_title(const Model& model, const ExportQuery& query) {
    std::string title = "auger: flame graph";
    if (const ProbeInfo* probe = model.find_probe(model.split().probe);
        probe && model.split().active)
        title += " of calls of " + probe->text;
    if (!query.filter.all())
        title += ", " + to_string(query.filter);
    return title;
}

std::string flame_span(const FlameTree& tree) {
    return format_duration(static_cast<double>(tree.to_ns - tree.from_ns)) + " long";
}

FrameKind frame_kind(const Model& model, const FlameTree& tree, uint32_t node) {
    const FlameNode& one = tree.nodes[node];
    if (one.depth < 2)
        return FrameKind::label;
    return model.symbols().function(one.function).kernel ? FrameKind::kernel : FrameKind::user;
}

uint32_t frame_colour(FrameKind kind, std::string_view name) {
    const uint32_t hash = hash_of(name);
    const double base = kind == FrameKind::kernel ? 28 : kind == FrameKind::label ? 150 : 205;
    return rgb_of(base + hash % 26, kind == FrameKind::label ? 0.25 : 0.62,
                  (72 + (hash >> 8) % 12) / 100.0);
}

} // namespace auger
