// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that read a file for auger, to be stopped as if the file had made them hang.
#pragma once

#include "tests/support/children.h"

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace auger::test {

// The one of that service ("code") that has the file open; of all that the process has started. 0:
// there is none.
inline pid_t reader_of_file(pid_t auger, const std::string& service, const std::string& path) {
    std::error_code gone;
    for (const pid_t launcher : children_of(auger))
        for (const pid_t reader : children_of(launcher)) {
            const std::string folder = "/proc/" + std::to_string(reader);
            std::ifstream file(folder + "/comm");
            std::string comm;
            std::getline(file, comm);
            if (comm != "auger-" + service)
                continue;
            for (const auto& fd : std::filesystem::directory_iterator(folder + "/fd", gone))
                if (std::filesystem::read_symlink(fd, gone) == path)
                    return reader;
        }
    return 0;
}

// While it lives, who reads the code of a file hangs.
class HangingReader {
  public:
    HangingReader(pid_t auger, const std::string& path)
        : reader_(reader_of_file(auger, "code", path)) {
        if (reader_ == 0 || kill(reader_, SIGSTOP) != 0)
            throw std::runtime_error("nobody reads " + path);
    }
    ~HangingReader() { go_on(); }
    HangingReader(const HangingReader&) = delete;
    HangingReader& operator=(const HangingReader&) = delete;
    void go_on() const { kill(reader_, SIGCONT); }

  private:
    const pid_t reader_;
};

} // namespace auger::test
