// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/names/mini_debug_info.h"

#include "loader/symbols/unpack_memory.h"

#include <lzma.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <span>

namespace auger {
namespace {

// Some megabytes are usual for the largest programs. xz can pack a thousand times as much nothing.
constexpr size_t packed_limit = size_t{32} << 20;
constexpr uint64_t memory_limit = uint64_t{128} << 20; // of the decoder

class Decoder {
  public:
    Decoder() { ready_ = lzma_stream_decoder(&stream_, memory_limit, 0) == LZMA_OK; }
    ~Decoder() { lzma_end(&stream_); }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    // False unless all of it could be unpacked and written.
    bool unpack(const std::vector<std::byte>& packed, int to) {
        stream_.next_in = reinterpret_cast<const uint8_t*>(packed.data());
        stream_.avail_in = packed.size();
        std::array<uint8_t, 64 << 10> part;
        lzma_ret state = LZMA_OK;
        while (ready_ && state == LZMA_OK && stream_.total_out <= unpack_limit) {
            stream_.next_out = part.data();
            stream_.avail_out = part.size();
            state = lzma_code(&stream_, LZMA_FINISH);
            const size_t size = part.size() - stream_.avail_out;
            if (!put(to, {part.data(), size}))
                return false;
        }
        return state == LZMA_STREAM_END && clear_rest(to);
    }

  private:
    bool put(int to, std::span<const uint8_t> bytes) {
        const auto size = static_cast<ssize_t>(bytes.size());
        // Beyond its end the kernel would end the process (SIGXFSZ).
        if (static_cast<uint64_t>(at_ + size) > unpack_limit ||
            pwrite(to, bytes.data(), bytes.size(), at_) != size)
            return false;
        at_ += size;
        return true;
    }
    // What is behind it, up to the first nothing, is that of a file before it.
    bool clear_rest(int to) {
        std::array<uint8_t, 64 << 10> old;
        constexpr std::array<uint8_t, 64 << 10> nothing{};
        for (;;) {
            const ssize_t got = pread(to, old.data(), old.size(), at_);
            if (got < 0)
                return false;
            const auto size = static_cast<size_t>(got);
            if (std::memcmp(old.data(), nothing.data(), size) == 0)
                return true;
            if (!put(to, {nothing.data(), size}))
                return false;
        }
    }

    off_t at_ = 0;
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool ready_;
};

} // namespace

std::shared_ptr<const ElfFile> mini_debug_file(const ElfFile& module, int memory) {
    if (!module.has_section(".gnu_debugdata"))
        return nullptr;
    const std::vector<std::byte> packed = module.read_section(".gnu_debugdata", packed_limit);
    if (packed.empty() || !Decoder().unpack(packed, memory))
        return nullptr;
    auto file = ElfFile::open(duplicate(memory), module.name() + ":.gnu_debugdata");
    return file ? *file : nullptr;
}

} // namespace auger
