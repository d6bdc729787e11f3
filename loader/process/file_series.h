// SPDX-License-Identifier: GPL-3.0-or-later
// Files that follow each other in a folder, of which the latest are kept: PREFIX_TIME.EXTENSION,
// with the time in UTC, so that their names sort as they came. Everything here is done with the
// rights of whoever called sudo (see NewFile).
#pragma once

#include "loader/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace auger {

// "20261121T232000.000Z"; ns since 1970.
std::string time_stamp(uint64_t utc_ns);

// At most `longest` bytes of the text, with '-' in place of all but letters, digits, '.' and
// `further`.
std::string plain_name(std::string_view text, size_t longest, std::string_view further = {});

// Makes the folder (mode 0700) unless it is there.
Result<void> make_folder(const std::string& path);

// Removes files of ours of all but the latest `keep` times. Other names are left alone, and so is
// everything that is not a regular file.
Result<void> remove_old_files(const std::string& folder, std::string_view prefix,
                              std::span<const std::string> extensions, size_t keep);

// Makes `folder/link` lead to `name` there, in one step for whoever looks. Replaces only a link.
Result<void> replace_link(const std::string& folder, const std::string& link,
                          const std::string& name);

} // namespace auger
