// SPDX-License-Identifier: GPL-3.0-or-later
// Where a user's sessions leave what later ones are to find.
#pragma once

#include "loader/base/result.h"

#include <string>

namespace auger {

// $XDG_STATE_HOME/auger, or ~/.local/state/auger of whoever runs auger; under sudo of whoever
// called it. Fails when there is no home folder. Nothing is made.
Result<std::string> state_folder();

// Makes what is missing of the folders above `path`, mode 0700, with the calling thread's rights.
Result<void> make_folders_above(const std::string& path);

} // namespace auger
