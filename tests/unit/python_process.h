// SPDX-License-Identifier: GPL-3.0-or-later
// A CPython that runs a script, and its memory as it is read from outside. Debian's; another one:
// AUGER_PYTHON=/path/to/python3.14, which may be a script that starts it.
#pragma once

#include "loader/base/fd.h"
#include "loader/process/proc_maps.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/runtimes/read_python.h"
#include "loader/runtimes/python/layout.h"
#include "loader/runtimes/read_memory.h"

#include <gtest/gtest.h>

#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace auger::test {

class PythonProcess : public testing::Test {
  protected:
    // Runs one of this repository's files. `understand` gets each line that it says, until it says
    // of one that it was the last; then the process waits for its input to end.
    void start(const std::string& script,
               const std::function<bool(const std::string&)>& understand) {
        const char* const other = std::getenv("AUGER_PYTHON");
        const char* const python = other ? other : "/usr/bin/python3";
        if (access(python, X_OK) != 0)
            GTEST_SKIP() << python << " is not installed";
        const std::string path = std::string(AUGER_SOURCE_DIR "/") + script;
        int in[2], out[2];
        ASSERT_EQ(pipe(in), 0);
        ASSERT_EQ(pipe(out), 0);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], 0);
            dup2(out[1], 1);
            for (const int fd : {in[0], in[1], out[0], out[1]})
                close(fd);
            setenv("PYTHONIOENCODING", "utf-8", 1);
            execl(python, python, "-S", path.c_str(), nullptr);
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        input_ = UniqueFd(in[1]);
        FILE* const said = fdopen(out[0], "r");
        char* line = nullptr;
        size_t room = 0;
        bool ready = false;
        while (!ready && getline(&line, &room, said) > 0)
            ready = understand(line);
        free(line);
        fclose(said);
        ASSERT_TRUE(ready);
        find_runtime();
    }
    void TearDown() override {
        input_ = UniqueFd();
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }

    MemoryRead read(uint64_t address, void* bytes, size_t size) const {
        // Not read_process_memory(), which waits for so long only: a busy machine is no hostile
        // owner.
        const iovec here{bytes, size}, there{reinterpret_cast<void*>(address), size};
        return process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size)
                   ? MemoryRead::whole
                   : MemoryRead::unreadable;
    }
    ReadMemory reader() const {
        return [this](uint64_t from, void* bytes, size_t size) { return read(from, bytes, size); };
    }
    template <typename Number>
    Number number(uint64_t address) const {
        Number number{};
        EXPECT_EQ(read(address, &number, sizeof number), MemoryRead::whole);
        return number;
    }
    uint64_t word(uint64_t address) const { return number<uint64_t>(address); }

    pid_t pid_ = -1;
    uint64_t runtime_ = 0; // in the process
    PythonLayout layout_{};
    std::optional<AsyncioFile> asyncio_; // of what it maps

  private:
    void find_runtime() {
        const auto maps = read_maps(pid_);
        ASSERT_TRUE(maps.ok());
        for (const Mapping& mapping : *maps) {
            if (mapping.inode == 0 || !mapping.executable)
                continue;
            auto fd = open_mapped_file(pid_, mapping);
            if (!fd.ok())
                continue;
            const auto file = ElfFile::open(std::move(*fd), mapping.path);
            if (!file.ok())
                continue;
            if (const auto asyncio = read_asyncio(**file))
                asyncio_ = asyncio;
            const auto python = runtime_ ? std::nullopt : read_python(**file);
            if (!python)
                continue;
            const auto linked = (*file)->address_of_offset(mapping.offset);
            ASSERT_TRUE(linked);
            runtime_ = python->runtime + mapping.start - *linked;
            const auto layout = python_layout(*python);
            ASSERT_TRUE(layout.ok()) << layout.error().message();
            layout_ = *layout;
        }
        ASSERT_TRUE(runtime_);
    }

    UniqueFd input_;
};

} // namespace auger::test
