// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/accepted_form.h"

#include <algorithm>
#include <charconv>

namespace auger {
namespace {

// Up to `separator`, without blanks around; both go.
std::string_view take_part(std::string_view& text, char separator) {
    const size_t end = std::min(text.find(separator), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t begin = part.find_first_not_of(" \t");
    if (begin == part.npos)
        return {};
    return part.substr(begin, part.find_last_not_of(" \t") + 1 - begin);
}

// One of the forms, and how much it is wanted: 0, not at all, to 1.
struct AcceptedForm {
    std::string_view type;
    double weight = 1;
    bool metric_families = false, delimited = false;
};

AcceptedForm read_form(std::string_view text) {
    AcceptedForm form{take_part(text, ';')};
    while (!text.empty()) {
        const std::string_view parameter = take_part(text, ';');
        if (parameter.starts_with("q=")) {
            form.weight = 0;
            std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), form.weight);
        }
        form.metric_families |= parameter == "proto=io.prometheus.client.MetricFamily";
        form.delimited |= parameter == "encoding=delimited";
    }
    return form;
}

} // namespace

bool accepts_protobuf(std::string_view accept) {
    double text = 0, protobuf = 0;
    while (!accept.empty()) {
        const AcceptedForm form = read_form(take_part(accept, ','));
        if (form.type == "text/plain")
            text = std::max(text, form.weight);
        if (form.type == "application/vnd.google.protobuf" && form.metric_families &&
            form.delimited)
            protobuf = std::max(protobuf, form.weight);
    }
    return protobuf > 0 && protobuf >= text;
}

} // namespace auger
