// SPDX-License-Identifier: GPL-3.0-or-later
// A function's source in the pager, with the share of samples beside each line.
#pragma once

#include "views/screen/pager.h"
#include "views/screen/pane.h"
#include "views/screen/screen.h"

namespace auger {

Result<Pager> source_page(const Model&, const Scope&, FunctionId,
                          const std::function<Result<std::string>(const std::string&)>& read);

} // namespace auger
