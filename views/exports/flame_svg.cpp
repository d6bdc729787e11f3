// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/flame_svg.h"

#include "views/escape.h"
#include "views/exports/flame_parts.h"
#include "views/exports/json_text.h"
#include "views/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace auger {

namespace {

constexpr double width = 1200, margin = 8, row = 18;
constexpr double letter = 7.3;    // of a monospaced font of 12 pixels, rounded up
constexpr double narrowest = 0.3; // pixels; what is narrower cannot be seen

std::string xml_text(std::string_view harmless) {
    std::string text;
    for (const char c : harmless) {
        switch (c) {
        case '&':
            text += "&amp;";
            break;
        case '<':
            text += "&lt;";
            break;
        case '>':
            text += "&gt;";
            break;
        default:
            text += c;
        }
    }
    return text;
}

// Names begin with what tells them apart, and end with parameters.
std::string fitting(const std::string& text, size_t columns) {
    if (text_width(text) <= columns)
        return text;
    size_t used = 1, at = 0; // the ellipsis
    for (size_t next = 0;; at = next) {
        used += static_cast<size_t>(code_point_width(decode_utf8(text, next)));
        if (used > columns)
            return text.substr(0, at) + "\u2026";
    }
}

class Picture {
  public:
    Picture(const Model& model, const ExportQuery& query, ByteSink& out)
        : model_(model), query_(query), out_(out),
          tree_(fold(model, query.window, query.filter, query.by, query.under, query.frames)) {
        place_frames();
    }

    uint64_t write() {
        const std::vector<std::string> losses = export_losses(model_, query_),
                                       notes = export_notes(model_, query_);
        const double top = margin + row * static_cast<double>(2 + notes.size()) + margin;
        const double height = top + row * (depth_ + 1) + row + margin;
        out_.write(fmt::format(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
            "viewBox=\"0 0 {0} {1}\" font-family=\"monospace\" font-size=\"12\">\n"
            "<style>text {{ white-space: pre }} g:hover > rect {{ stroke: #111 }}</style>\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
            width, height));
        write_line(0, "#111", flame_title(model_, query_));
        write_line(1, "#555", flame_span(tree_) + " \u00b7 " + figures(0));
        for (size_t i = 0; i < notes.size(); i++)
            write_line(static_cast<double>(i) + 2, i < losses.size() ? "#b3261e" : "#444",
                       notes[i]);
        write_frames(top);
        if (too_narrow_)
            write_text(margin, height - margin, "#555",
                       fmt::format("frames too narrow to be drawn: {}", too_narrow_));
        out_.write("</svg>\n");
        return boxes_.size() - 1;
    }

  private:
    struct Box {
        uint32_t node;
        double x, width;
        uint32_t depth;
    };

    double weight(uint32_t node) const { return tree_.weight_ns(node); }
    std::string name(uint32_t node) const {
        return escape_untrusted(node_name(model_, tree_, tree_.nodes[node]));
    }
    // Children stand in the order of their names, so that pictures can be compared.
    std::vector<uint32_t> children(uint32_t node) const {
        std::vector<uint32_t> found;
        for (uint32_t child = tree_.nodes[node].first_child; child;
             child = tree_.nodes[child].next_sibling)
            found.push_back(child);
        std::ranges::sort(found, {}, [&](uint32_t child) {
            return node_name(model_, tree_, tree_.nodes[child]);
        });
        return found;
    }
    void place_frames() {
        boxes_.push_back({0, margin, width - 2 * margin, 0});
        const double scale = weight(0) > 0 ? boxes_[0].width / weight(0) : 0;
        for (size_t i = 0; i < boxes_.size(); i++) {
            const Box box = boxes_[i];
            depth_ = std::max(depth_, box.depth);
            double x = box.x;
            for (const uint32_t child : children(box.node)) {
                const double wide = weight(child) * scale;
                if (wide >= narrowest)
                    boxes_.push_back({child, x, wide, box.depth + 1});
                else
                    too_narrow_ += frames_from(child);
                x += wide;
            }
        }
    }
    uint64_t frames_from(uint32_t node) const {
        std::vector<uint32_t> open = {node};
        for (size_t i = 0; i < open.size(); i++)
            for (uint32_t child = tree_.nodes[open[i]].first_child; child;
                 child = tree_.nodes[child].next_sibling)
                open.push_back(child);
        return open.size();
    }
    // "70.0 ms, 40 % · slow 70.0 ms".
    std::string figures(uint32_t node) const {
        const double whole = weight(0);
        std::string text = fmt::format("{}, {}", format_duration(weight(node)),
                                       format_percent(whole > 0 ? weight(node) / whole : 0));
        if (model_.split().active) {
            const ClassSums classes = tree_.classes(node);
            for (const CallClass one : all_call_classes)
                if (classes[one].weight_ns > 0)
                    text += fmt::format(" \u00b7 {} {}", to_string(one),
                                        format_duration(classes[one].weight_ns));
        }
        return text;
    }
    void write_text(double x, double y, std::string_view colour, std::string_view text) {
        out_.write(fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" fill=\"{}\">{}</text>\n", x, y,
                               colour, xml_text(escape_untrusted(text))));
    }
    void write_line(double line, std::string_view colour, std::string_view text) {
        write_text(margin, margin + row * line + 13, colour, text);
    }
    // Of the whole, by class, to the nanosecond.
    std::string exact_totals() const {
        const ClassSums classes = tree_.classes();
        std::string text = fmt::format(" data-all-ns=\"{}\"", json_number(std::round(weight(0))));
        for (const CallClass one : all_call_classes)
            if (model_.split().active)
                text += fmt::format(" data-{}-ns=\"{}\"", to_string(one),
                                    json_number(std::round(classes[one].weight_ns)));
        return text;
    }
    void write_frames(double top) {
        out_.write(fmt::format("<g id=\"frames\"{}>\n", exact_totals()));
        for (const Box& box : boxes_) {
            const std::string text = name(box.node);
            const double y = top + row * box.depth;
            out_.write(
                fmt::format("<g><title>{}</title><rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
                            "height=\"{:.2f}\" fill=\"#{:06x}\"/>",
                            xml_text(text + " \u00b7 " + figures(box.node)), box.x, y,
                            std::max(box.width - (box.width > 3 ? 1 : 0), narrowest), row - 1,
                            frame_colour(frame_kind(model_, tree_, box.node), text)));
            const double room = std::floor((box.width - margin) / letter);
            if (room >= 3)
                write_text(box.x + 4, y + 13, "#111", fitting(text, static_cast<size_t>(room)));
            out_.write("</g>\n");
        }
        out_.write("</g>\n");
    }

    const Model& model_;
    const ExportQuery& query_;
    ByteSink& out_;
    FlameTree tree_;
    std::vector<Box> boxes_; // parents before children; the root first
    uint32_t depth_ = 0;
    uint64_t too_narrow_ = 0;
};

} // namespace

Result<uint64_t> write_flame_svg(const Model& model, const ExportQuery& query, ByteSink& out) {
    return Picture(model, query, out).write();
}

} // namespace auger
