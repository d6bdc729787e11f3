// SPDX-License-Identifier: GPL-3.0-or-later
// The last resort. Nothing in auger throws across a room's border; should something do so all the
// same (memory that is not to be had, a defect), it becomes the failure of what was being done
// there, and not the end of the session.
#pragma once

#include "loader/base/result.h"

#include <exception>
#include <new>
#include <string>

namespace auger {

inline Error unexpected_error(const char* what) {
    return {"", "", std::string("unexpected: ") + what, "this is a bug in auger: please report it",
            Error::Kind::failed};
}

// What `work` returns (something that an Error can become), or `failed` of what it threw.
template <typename Work, typename Failed>
auto guarded(Work work, Failed failed) -> decltype(work()) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return failed(Error{"", "", "there is not enough memory for it",
                            "a shorter window, or fewer samples (--store-samples), takes less",
                            Error::Kind::failed});
    } catch (const std::exception& thrown) {
        return failed(unexpected_error(thrown.what()));
    } catch (...) {
        return failed(unexpected_error("an exception without a name"));
    }
}

template <typename Work>
auto guarded(Work work) -> decltype(work()) {
    return guarded(std::move(work), [](Error error) { return error; });
}

} // namespace auger
