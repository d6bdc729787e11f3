// SPDX-License-Identifier: GPL-3.0-or-later
// How to draw on standard output: width, colours and characters.
#pragma once

#include "views/text/views.h"

namespace auger {

// Width and colour of the terminal; 100 columns without colour when it is none. Unicode by the
// locale (setlocale must have been called).
ViewOptions view_of_stdout();

} // namespace auger
