// SPDX-License-Identifier: GPL-3.0-or-later
// AccessToken: what a client at a port has to know. A port of the loopback interface is open to
// every user of the machine; who has the token was given it by somebody who may read it.
#pragma once

#include "loader/base/result.h"

#include <string>
#include <string_view>

namespace auger {

class AccessToken {
  public:
    // A new one: 128 random bits.
    static Result<AccessToken> random();
    // That of a file, so that scrapers can be told once. It is read with the invoking user's
    // rights, and has to belong to that user (or to whom auger runs as) and be closed to others;
    // where there is none, it is made with a new token, mode 0600. What holds anything else stays
    // as it is.
    static Result<AccessToken> of_file(const std::string& path);

    const std::string& text() const { return text_; }
    // Takes as long whatever of it is right.
    bool matches(std::string_view given) const;

  private:
    explicit AccessToken(std::string text) : text_(std::move(text)) {}

    std::string text_; // letters, digits, '-' and '_'
};

} // namespace auger
