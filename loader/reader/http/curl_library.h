// SPDX-License-Identifier: GPL-3.0-or-later
// libcurl, loaded when somebody sends: it brings some twenty others along.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/http/http_post.h"

#include <curl/curl.h>

#include <memory>
#include <string>

namespace auger {

class CurlLibrary {
  public:
    // `certificates`: as http_messages::Begin has them. Fails when it is not installed.
    static Result<CurlLibrary> load(const std::string& certificates);

    // Sends the file. `outcome.text` is the answer's body, up to answer_limit bytes, or why there
    // was no answer. Connections are kept for the next one.
    HttpOutcome post(const HttpPost& post, int body) const;

    static constexpr size_t answer_limit = 64 << 10;

  private:
    CurlLibrary() = default;
    bool set_up(const HttpPost& post, curl_slist* headers) const;

    UniqueFd certificates_; // a file in memory; none: the machine's own
    std::shared_ptr<CURL> handle_;
    decltype(&curl_easy_cleanup) cleanup_ = nullptr;
    decltype(&curl_easy_getinfo) getinfo_ = nullptr;
    decltype(&curl_easy_init) init_ = nullptr;
    decltype(&curl_easy_perform) perform_ = nullptr;
    decltype(&curl_easy_reset) reset_ = nullptr;
    decltype(&curl_easy_setopt) setopt_ = nullptr;
    decltype(&curl_easy_strerror) strerror_ = nullptr;
    decltype(&curl_slist_append) append_ = nullptr;
    decltype(&curl_slist_free_all) free_all_ = nullptr;
};

} // namespace auger
