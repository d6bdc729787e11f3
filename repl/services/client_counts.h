// SPDX-License-Identifier: GPL-3.0-or-later
// What servers count of their answers, in the words of `status`.
#pragma once

#include "repl/services/http_server.h"
#include "views/text/views.h"

namespace auger {

void add_counts(HttpCounts& to, const HttpCounts& counts);
// Enters what was answered, and what was refused by its cause.
void put_counts(const HttpCounts& counts, ClientsStatus& status);

} // namespace auger
