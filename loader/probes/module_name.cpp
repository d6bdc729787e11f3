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

bool module_matches(std::string_view wanted, const ElfFile& file, std::string_view path) {
    if (wanted.find('/') != wanted.npos) {
        if (wanted == without_deleted(path))
            return true;
        // The same file under another name: links, and what auger itself sees from outside a
        // container.
        struct stat status;
        return stat(std::string(wanted).c_str(), &status) == 0 && status.st_dev == file.device() &&
               status.st_ino == file.inode();
    }
    std::string_view base = module_base_name(path);
    return glob_match(wanted, base) || glob_match(wanted, module_stem(base));
}

} // namespace auger
