// SPDX-License-Identifier: GPL-3.0-or-later
// mapping_of: what the mapping of a page of a file's code looks like.
#pragma once

#include "loader/process/proc_maps.h"

#include <gtest/gtest.h>

#include <string>
#include <sys/stat.h>

namespace auger::test {

inline Mapping mapping_of(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    Mapping mapping{};
    mapping.start = 0x1000;
    mapping.end = 0x2000;
    mapping.device = status.st_dev;
    mapping.inode = status.st_ino;
    mapping.executable = true;
    mapping.path = path;
    return mapping;
}

} // namespace auger::test
