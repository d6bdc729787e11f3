// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/mini_debug_info.h"

#include <lzma.h>
#include <sys/mman.h>

#include <array>

namespace auger {
namespace {

// Some megabytes are usual for the largest programs. xz can pack a thousand times as much nothing.
constexpr size_t packed_limit = size_t{32} << 20;
constexpr uint64_t unpacked_limit = uint64_t{64} << 20;
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
        while (ready_ && state == LZMA_OK && stream_.total_out <= unpacked_limit) {
            stream_.next_out = part.data();
            stream_.avail_out = part.size();
            state = lzma_code(&stream_, LZMA_FINISH);
            const size_t size = part.size() - stream_.avail_out;
            if (write(to, part.data(), size) != static_cast<ssize_t>(size))
                return false;
        }
        return state == LZMA_STREAM_END;
    }

  private:
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool ready_;
};

} // namespace

std::shared_ptr<const ElfFile> mini_debug_file(const ElfFile& module) {
    if (!module.has_section(".gnu_debugdata"))
        return nullptr;
    const std::vector<std::byte> packed = module.read_section(".gnu_debugdata", packed_limit);
    UniqueFd memory(memfd_create("gnu_debugdata", MFD_CLOEXEC));
    if (packed.empty() || !memory || !Decoder().unpack(packed, memory.get()))
        return nullptr;
    auto file = ElfFile::open(std::move(memory), module.name() + ":.gnu_debugdata");
    return file ? *file : nullptr;
}

} // namespace auger
