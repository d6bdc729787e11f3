// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/gzip_sink.h"

#include <zlib.h>

#include <array>
#include <new>

namespace auger {

struct GzipSink::State {
    ByteSink& out;
    z_stream stream{};

    void run(std::string_view bytes, int flush) {
        std::array<char, 65536> buffer;
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream.avail_in = static_cast<uInt>(bytes.size());
        do {
            stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
            stream.avail_out = buffer.size();
            deflate(&stream, flush);
            out.write({buffer.data(), buffer.size() - stream.avail_out});
        } while (stream.avail_out == 0);
    }
};

GzipSink::GzipSink(ByteSink& out) : state_(new State{out}) {
    constexpr int gzip_header = 16;
    if (deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_header, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc(); // by its manual nothing else can go wrong
}

GzipSink::~GzipSink() {
    deflateEnd(&state_->stream);
}

void GzipSink::write(std::string_view bytes) {
    constexpr size_t most = 1 << 30; // zlib counts in 32 bits
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), most)))
        state_->run(bytes.substr(0, most), Z_NO_FLUSH);
}

void GzipSink::finish() {
    state_->run({}, Z_FINISH);
}

} // namespace auger
