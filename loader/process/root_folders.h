// SPDX-License-Identifier: GPL-3.0-or-later
// RootFolders: the root folders of processes that see other files than we do, each opened once.
#pragma once

#include "loader/base/fd.h"

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace auger {

class RootFolders {
  public:
    // O_PATH of a root; null: ours, or one without files. One pointer for all processes of the same
    // mount namespace and root, as long as somebody holds it.
    using Root = std::shared_ptr<const UniqueFd>;
    // Nothing when the process is gone.
    std::optional<Root> of(pid_t pid);

  private:
    std::map<std::string, std::weak_ptr<const UniqueFd>> open_; // by mount namespace and root inode
};

} // namespace auger
