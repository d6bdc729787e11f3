// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/runtimes/layout_table.h"
#include "loader/runtimes/python/layout.h"

namespace auger {

using PythonLayoutTable = LayoutTable<PythonLayout, WIRE_PYTHON_LAYOUTS>;

} // namespace auger
