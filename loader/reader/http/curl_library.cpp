// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/http/curl_library.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace auger {
namespace {

// The first one shares its libraries with libdebuginfod and libmicrohttpd on Debian.
constexpr const char* sonames[] = {"libcurl-gnutls.so.4", "libcurl.so.4"};
constexpr long connect_seconds = 10;

template <typename Function>
bool find_symbol(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

struct Body {
    int file;
    off_t at = 0;
};

size_t read_body(char* to, size_t size, size_t count, void* state) {
    auto& body = *static_cast<Body*>(state);
    const ssize_t got = pread(body.file, to, size * count, body.at);
    if (got < 0)
        return CURL_READFUNC_ABORT;
    body.at += got;
    return static_cast<size_t>(got);
}

// When a kept connection turns out to be gone, all is sent again.
int seek_body(void* state, curl_off_t offset, int origin) {
    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    static_cast<Body*>(state)->at = offset;
    return CURL_SEEKFUNC_OK;
}

// What is too much ends the transfer: the status is known by then.
size_t take_answer(char* bytes, size_t size, size_t count, void* state) {
    auto& answer = *static_cast<std::string*>(state);
    const size_t given = size * count;
    const size_t taken = std::min(given, CurlLibrary::answer_limit - answer.size());
    answer.append(bytes, taken);
    return taken;
}

} // namespace

// What was loaded stays: libraries behind it do not like to be unloaded.
Result<CurlLibrary> CurlLibrary::load(const std::string& certificates) {
    CurlLibrary library;
    void* loaded = nullptr;
    for (const char* soname : sonames)
        if (!loaded)
            loaded = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (!loaded || !find_symbol(loaded, library.cleanup_, "curl_easy_cleanup") ||
        !find_symbol(loaded, library.getinfo_, "curl_easy_getinfo") ||
        !find_symbol(loaded, library.init_, "curl_easy_init") ||
        !find_symbol(loaded, library.perform_, "curl_easy_perform") ||
        !find_symbol(loaded, library.reset_, "curl_easy_reset") ||
        !find_symbol(loaded, library.setopt_, "curl_easy_setopt") ||
        !find_symbol(loaded, library.strerror_, "curl_easy_strerror") ||
        !find_symbol(loaded, library.append_, "curl_slist_append") ||
        !find_symbol(loaded, library.free_all_, "curl_slist_free_all"))
        return Error{"load", sonames[0], "it cannot be loaded", {}};
    library.handle_ = std::shared_ptr<CURL>(library.init_(), library.cleanup_);
    if (!library.handle_)
        return Error{"load", sonames[0], "it does not begin", {}};
    if (certificates.empty())
        return library;
    library.certificates_.reset(memfd_create("certificates", MFD_CLOEXEC));
    if (write(library.certificates_.get(), certificates.data(), certificates.size()) !=
        static_cast<ssize_t>(certificates.size()))
        return system_error("keep", "certificates");
    return library;
}

bool CurlLibrary::set_up(const HttpPost& post, curl_slist* headers) const {
    CURL* const curl = handle_.get();
    reset_(curl);
    bool set = true;
    const auto option = [&](CURLoption name, auto value) {
        set = set && setopt_(curl, name, value) == CURLE_OK;
    };
    option(CURLOPT_URL, post.url.c_str());
    option(CURLOPT_POST, 1L);
    option(CURLOPT_HTTPHEADER, headers);
    option(CURLOPT_USERAGENT, "auger");
    option(CURLOPT_NOSIGNAL, 1L);
    option(CURLOPT_CONNECTTIMEOUT, connect_seconds);
    option(CURLOPT_TIMEOUT, static_cast<long>(post.seconds));
    option(CURLOPT_LOW_SPEED_LIMIT, 1L);
    option(CURLOPT_LOW_SPEED_TIME, static_cast<long>(HttpPost::idle_seconds));
    // Wherever an answer says to go on: a token is for the server that the user named.
    option(CURLOPT_FOLLOWLOCATION, 0L);
    option(CURLOPT_SSL_VERIFYPEER, 1L);
    option(CURLOPT_SSL_VERIFYHOST, 2L);
    option(CURLOPT_READFUNCTION, read_body);
    option(CURLOPT_SEEKFUNCTION, seek_body);
    option(CURLOPT_WRITEFUNCTION, take_answer);
    // Not every library behind it takes them out of memory (GnuTLS).
    if (certificates_) {
        const std::string certificates = "/proc/self/fd/" + std::to_string(certificates_.get());
        option(CURLOPT_CAINFO, certificates.c_str());
        option(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
    }
    return set;
}

HttpOutcome CurlLibrary::post(const HttpPost& post, int body) const {
    HttpOutcome outcome;
    // "Expect:" keeps it from asking first whether it may send a large body.
    curl_slist* headers = append_(nullptr, "Expect:");
    for (const std::string& header : post.headers)
        headers = append_(headers, header.c_str());
    const std::unique_ptr<curl_slist, decltype(free_all_)> owned(headers, free_all_);
    struct stat status {};
    Body source{body};
    char why[CURL_ERROR_SIZE] = "";
    CURL* const curl = handle_.get();
    if (fstat(body, &status) != 0 || !set_up(post, headers)) {
        outcome.text = "the request cannot be made";
        return outcome;
    }
    setopt_(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(status.st_size));
    setopt_(curl, CURLOPT_READDATA, &source);
    setopt_(curl, CURLOPT_SEEKDATA, &source);
    setopt_(curl, CURLOPT_WRITEDATA, &outcome.text);
    setopt_(curl, CURLOPT_ERRORBUFFER, why);
    const CURLcode done = perform_(curl);
    long code = 0;
    curl_off_t retry_after = 0;
    getinfo_(curl, CURLINFO_RESPONSE_CODE, &code);
    getinfo_(curl, CURLINFO_RETRY_AFTER, &retry_after);
    const bool cut = done == CURLE_WRITE_ERROR && outcome.text.size() == answer_limit;
    if (done != CURLE_OK && !cut) {
        outcome.text = *why ? why : strerror_(done);
        return outcome;
    }
    outcome.status = static_cast<uint32_t>(code);
    outcome.retry_after_s = static_cast<uint64_t>(std::max<curl_off_t>(retry_after, 0));
    return outcome;
}

} // namespace auger
