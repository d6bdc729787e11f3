// SPDX-License-Identifier: GPL-3.0-or-later
//
// See statement.h.
#include "demo/statement.h"

#include "common/truth.h"

#include <algorithm>
#include <cstdio>
#include <vector>

struct Movement {
    uint32_t number;
    uint64_t cents;
};

// Made up from the account, so that the same request always gets the same answer.
TIMED static std::vector<Movement> load_movements(const Account& account, uint32_t rows) {
    std::vector<Movement> movements(rows);
    uint64_t state = account.balance + account.id + 1;
    for (uint32_t row = 0; row < rows; ++row) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        movements[row] = {row, (state >> 33) % 1'000'000};
    }
    std::sort(movements.begin(), movements.end(),
              [](const Movement& left, const Movement& right) { return left.cents < right.cents; });
    return movements;
}

TIMED static void format_movement(const Movement& movement, std::string& out) {
    char text[96];
    const int length =
        snprintf(text, sizeof text, "<#%u> Smith & Sons \"%llu.%02llu\" <%s>\n", movement.number,
                 static_cast<unsigned long long>(movement.cents / 100),
                 static_cast<unsigned long long>(movement.cents % 100),
                 movement.cents % 3 == 0 ? "paid & booked" : "pending");
    escape_html({text, static_cast<size_t>(length)}, out);
}

TIMED void render_response(const Account& account, uint32_t rows, std::string& out) {
    for (const Movement& movement : load_movements(account, rows))
        format_movement(movement, out);
}

TIMED void escape_html(std::string_view text, std::string& out) {
    for (const char letter : text) {
        switch (letter) {
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '&':
            out += "&amp;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += letter;
        }
    }
}

// CRC-32, a bit at a time: slow, and plain to see.
TIMED uint32_t checksum(std::string_view text) {
    uint32_t crc = 0xffffffffu;
    for (const char letter : text) {
        crc ^= static_cast<unsigned char>(letter);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}
