// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/function_match.h"

#include "loader/probes/function_names.h"
#include "views/model/frame_kind.h"
#include "views/short_name.h"

#include <string>

namespace auger {
namespace {

bool matches_in_part(std::string_view name, std::string_view wanted) {
    // Most names are ruled out by what they do not hold; the rest costs.
    const std::string_view last = unqualified(without_parameters(wanted));
    if (last.empty() || name.find(last.substr(0, last.find_first_of("<( "))) == name.npos)
        return false;
    const std::string whole = normalise_spaces(name), want = normalise_spaces(wanted);
    const std::string bare(without_parameters(whole));
    const std::string plain = strip_template_arguments(bare);
    for (const std::string& each : {whole, bare, plain}) {
        for (const size_t start : name_starts(each)) {
            if (std::string_view(each).substr(start) == want)
                return true;
        }
    }
    return false;
}

} // namespace

std::string_view without_parameters(std::string_view name) {
    size_t from = 0;
    if (const size_t at = name.find("operator()"); at != std::string_view::npos)
        from = at + std::string_view("operator()").size();
    // "(anonymous namespace)::f(int)": what begins with a bracket is not a parameter list.
    int depth = 0;
    for (size_t i = from; i < name.size(); ++i) {
        if (name[i] == '(' && depth == 0 && i > 0 && name[i - 1] != ':')
            return name.substr(0, i);
        depth += name[i] == '(' || name[i] == '<';
        depth -= (name[i] == ')' || (name[i] == '>' && (i == 0 || name[i - 1] != '-')));
    }
    return name;
}

NameMatch match_name(std::string_view name, std::string_view wanted) {
    if (wanted.empty())
        return NameMatch::none;
    if (name == wanted)
        return NameMatch::whole;
    if (short_name(name) == wanted || source_name(name) == wanted)
        return NameMatch::shown;
    return matches_in_part(name, wanted) ? NameMatch::part : NameMatch::none;
}

} // namespace auger
