// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/certificate_file.h"

#include "loader/http/http_messages.h"
#include "loader/process/proc_info.h"
#include "loader/process/safe_open.h"
#include "loader/process/user_rights.h"

namespace auger {

Result<std::string> read_certificate_file(const std::string& path) {
    constexpr const char* operation = "read certificates from";
    if (path.empty())
        return std::string();
    const auto user = invoking_user();
    const UserRights rights(user);
    auto file = open_regular(path);
    if (!file)
        return Error{operation, path, file.error().cause, rights_hint(user, "read")};
    auto text = read_all(file->get(), http_messages::certificates_limit + 1);
    if (!text)
        return text;
    if (text->size() > http_messages::certificates_limit ||
        text->find("-----BEGIN CERTIFICATE-----") == std::string::npos)
        return Error{operation, path, "it holds no certificates", "PEM is read"};
    return text;
}

} // namespace auger
