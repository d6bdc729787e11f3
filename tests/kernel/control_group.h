// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

namespace auger::test {

// A control group of its own, gone with the test.
class ControlGroup {
  public:
    explicit ControlGroup(std::string name = "auger-test-" + std::to_string(getpid()))
        : name_(std::move(name)) {
        std::ifstream mounts("/proc/self/mounts");
        std::string device, point, type, rest;
        while (mounts >> device >> point >> type && std::getline(mounts, rest)) {
            if (type == "cgroup2")
                path_ = point + "/" + name_;
        }
        made_ = !path_.empty() && mkdir(path_.c_str(), 0755) == 0;
    }
    ~ControlGroup() {
        if (made_)
            rmdir(path_.c_str());
    }
    bool made() const { return made_; }
    std::string name() const { return "/" + name_; }
    // Into which a process writes its number to come here.
    std::string processes() const { return path_ + "/cgroup.procs"; }
    void move_here(pid_t pid) { std::ofstream(processes()) << pid << std::endl; }

  private:
    std::string name_;
    std::string path_;
    bool made_ = false;
};

} // namespace auger::test
