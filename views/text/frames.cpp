// SPDX-License-Identifier: GPL-3.0-or-later
// A stack as a list of frames, leaf first, with their sources.
#include "views/escape.h"
#include "views/short_name.h"
#include "views/text/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace auger {

void add_frames(Canvas& canvas, const SymbolTables& symbols, bool unicode,
                std::span<const LocationId> stack, const StackOptions& options, size_t indent) {
    size_t shown = 0, hidden = 0;
    bool others = false;
    symbols.for_each_frame(stack, [&](size_t, const FrameEntry& frame) {
        if (!is_chosen(symbols, frame.function, options.frames)) {
            others = true;
            return;
        }
        if (options.depth && shown == options.depth) {
            hidden++;
            return;
        }
        shown++;
        size_t y = canvas.height();
        std::string source = escape_untrusted(source_text(symbols, frame));
        if (frame.inlined)
            source += source.empty() ? "(inlined)" : " (inlined)";
        size_t for_source = std::min(text_width(source), canvas.width() / 2);
        size_t for_name = canvas.width() - indent - (for_source ? for_source + 2 : 0);
        std::string name =
            fit_name(display_name(symbols.name(frame.function)), for_name, ellipsis(unicode));
        bool kernel = symbols.function(frame.function).kernel;
        size_t x = canvas.put(indent, y, name, kernel ? Style::kernel : Style::name);
        canvas.put(x + 2, y, elide_middle(source, for_source, ellipsis(unicode)), Style::dim);
    });
    if (shown == 0 && others)
        canvas.add_line(fmt::format("(no frame is {})", options.frames == FrameChoice::language
                                                            ? "of a language"
                                                            : "native"),
                        Style::dim, indent);
    if (hidden)
        canvas.add_line(fmt::format("({} more frames)", hidden), Style::dim, indent);
}

std::string wait_line(const std::string& wait) {
    if (wait.empty())
        return "waits";
    return (wait.starts_with("stopped") ? "" : "waits in ") + escape_untrusted(wait);
}

} // namespace auger
