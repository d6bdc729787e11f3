// SPDX-License-Identifier: GPL-3.0-or-later
// AskedProgram: a runtime's program that says what is true of it, then `ready`, and waits for a
// line; and its memory, as it is then.
#pragma once

#include "loader/base/fd.h"
#include "loader/process/process_memory.h"

#include <gtest/gtest.h>

#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace auger {

class AskedProgram {
  public:
    AskedProgram() = default;
    AskedProgram(const AskedProgram&) = delete;
    AskedProgram& operator=(const AskedProgram&) = delete;
    ~AskedProgram() {
        if (said_)
            fclose(said_);
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }

    using Understand = std::function<void(const std::string&)>;
    // Whether it has come to the line `ready`, and waits. `understand` gets those before.
    bool start(std::vector<std::string> words, const Understand& understand) {
        int in[2], out[2];
        if (pipe(in) != 0 || pipe(out) != 0)
            return false;
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], 0);
            dup2(out[1], 1);
            for (const int fd : {in[0], in[1], out[0], out[1]})
                close(fd);
            std::vector<char*> arguments;
            for (std::string& word : words)
                arguments.push_back(word.data());
            arguments.push_back(nullptr);
            execv(arguments[0], arguments.data());
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        input_ = UniqueFd(in[1]);
        said_ = fdopen(out[0], "r");
        return listen(understand);
    }
    // Likewise once it has read this line.
    bool answer(const std::string& line, const Understand& understand) {
        return write(input_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
               listen(understand);
    }
    pid_t pid() const { return pid_; }

    MemoryRead read(uint64_t address, void* bytes, size_t size) const {
        // Not read_process_memory(), which waits for so long only: a busy machine is no hostile
        // owner.
        const iovec here{bytes, size}, there{reinterpret_cast<void*>(address), size};
        return process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size)
                   ? MemoryRead::whole
                   : MemoryRead::unreadable;
    }
    template <typename Number>
    Number number(uint64_t address) const {
        Number number{};
        EXPECT_EQ(read(address, &number, sizeof number), MemoryRead::whole) << std::hex << address;
        return number;
    }
    uint64_t word(uint64_t address) const { return number<uint64_t>(address); }

  private:
    bool listen(const Understand& understand) {
        char* line = nullptr;
        size_t room = 0;
        bool ready = false;
        while (!ready && getline(&line, &room, said_) > 0) {
            ready = std::string(line) == "ready\n";
            if (!ready)
                understand(line);
        }
        free(line);
        return ready && waits_for_a_line();
    }
    // It says that it is ready before it reads.
    bool waits_for_a_line() const {
        for (int i = 0; i < 10'000; i++) {
            char syscall[64] = {};
            FILE* const file = fopen(("/proc/" + std::to_string(pid_) + "/syscall").c_str(), "r");
            if (!file)
                return false;
            const bool read = fgets(syscall, sizeof syscall, file);
            fclose(file);
            // read(0), standard input, or poll() or ppoll(): until there is something to read.
            const std::string call = syscall;
            if (read &&
                (call.starts_with("0 0x0 ") || call.starts_with("7 ") || call.starts_with("271 ")))
                return true;
            usleep(1000);
        }
        return false;
    }

    pid_t pid_ = -1;
    UniqueFd input_;
    FILE* said_ = nullptr;
};

// What it says of texts: in hexadecimal, or -.
inline std::string text_of_hex(const std::string& hex) {
    std::string text;
    for (size_t i = 0; hex != "-" && i + 1 < hex.size(); i += 2)
        text.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return text;
}

} // namespace auger
