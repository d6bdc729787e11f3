// SPDX-License-Identifier: GPL-3.0-or-later
//
// Renders an account's statement: the ordinary work of every request.
#pragma once

#include "demo/accounts.h"

#include <cstdint>
#include <string>
#include <string_view>

// `rows` movements of the account, sorted by amount, escaped for HTML.
void render_response(const Account& account, uint32_t rows, std::string& out);

void escape_html(std::string_view text, std::string& out);

uint32_t checksum(std::string_view text);
