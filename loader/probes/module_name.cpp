// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/module_name.h"

#include "loader/probes/probe_pattern.h"

#include <sys/stat.h>

#include <string>

namespace auger {
namespace {

std::string_view without_deleted(std::string_view path) {
    constexpr std::string_view mark = " (deleted)";
    return path.ends_with(mark) ? path.substr(0, path.size() - mark.size()) : path;
}

} // namespace

std::string_view module_base_name(std::string_view path) {
    path = without_deleted(path);
    size_t slash = path.rfind('/');
    return slash == path.npos ? path : path.substr(slash + 1);
}

std::string_view module_stem(std::string_view base_name) {
    size_t so = base_name.find(".so");
    if (so == base_name.npos || (so + 3 < base_name.size() && base_name[so + 3] != '.'))
        return base_name;
    std::string_view stem = base_name.substr(0, so);
    size_t version = stem.rfind('-');
    if (version != stem.npos && version + 1 < stem.size() &&
        stem.find_first_not_of("0123456789.", version + 1) == stem.npos)
        stem = stem.substr(0, version);
    return stem;
}

bool leads_to(std::string_view wanted, int fd) {
    struct stat named, open;
    return wanted.find('/') != wanted.npos && stat(std::string(wanted).c_str(), &named) == 0 &&
           fstat(fd, &open) == 0 && named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

bool module_matches(std::string_view wanted, std::string_view path) {
    if (wanted.find('/') != wanted.npos)
        return wanted == without_deleted(path);
    std::string_view base = module_base_name(path);
    return glob_match(wanted, base) || glob_match(wanted, module_stem(base));
}

} // namespace auger
