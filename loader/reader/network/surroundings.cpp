// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/network/surroundings.h"

#include <cstdlib>

namespace auger {

AllowedFiles network_files() {
    AllowedFiles files;
    files.read = {"/usr",
                  "/lib",
                  "/lib64",
                  "/etc/ssl",
                  "/etc/pki",
                  "/etc/ca-certificates",
                  "/etc/crypto-policies",
                  "/etc/gnutls",
                  "/etc/resolv.conf",
                  "/etc/hosts",
                  "/etc/nsswitch.conf",
                  "/etc/host.conf",
                  "/etc/gai.conf",
                  "/etc/services",
                  "/etc/ld.so.cache",
                  "/run/systemd/resolve",
                  "/var/lib/ca-certificates",
                  "/dev/null",
                  "/dev/random",
                  "/dev/urandom"};
    return files;
}

bool set_variables(std::span<const std::string> variables) {
    for (const std::string& text : variables) {
        const size_t equals = text.find('=');
        if (equals == text.npos || equals == 0 ||
            setenv(text.substr(0, equals).c_str(), text.c_str() + equals + 1, 1) != 0)
            return false;
    }
    return true;
}

} // namespace auger
