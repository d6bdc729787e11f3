// SPDX-License-Identifier: GPL-3.0-or-later
// A folder that everybody may enter, gone with its contents at the end of the scope.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace auger::test {

class TemporaryFolder {
  public:
    TemporaryFolder() {
        path_ = (std::filesystem::temp_directory_path() / "auger-test-XXXXXX").string();
        if (!mkdtemp(path_.data()))
            throw std::runtime_error("mkdtemp");
        std::filesystem::permissions(path_, std::filesystem::perms(0755));
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string path(const std::string& name) const { return path_ + "/" + name; }
    // The path of a new file.
    std::string file(const std::string& name, const std::string& content) const {
        std::ofstream(path(name), std::ios::binary) << content;
        return path(name);
    }

  private:
    std::string path_;
};

} // namespace auger::test
