#include "transport/impl/content_decoder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <zlib.h>
#include <zstd.h>

#include <boost/beast/core/string.hpp>

#include "transport/errc.hpp"

namespace skua::transport::impl {
namespace {

constexpr std::size_t kPiece = 64 * 1024;
/// The limit is the 8 MiB of RFC 9659, because the decoder allocates the window before any byte
/// arrives.
constexpr int kMaxZstdWindowLog = 23;

/// Decodes gzip: a sequence of members (RFC 1952, section 2.2).
class GzipDecoder final : public ContentDecoder {
 public:
  GzipDecoder() {
    constexpr int kGzipOnly = 16;
    if (::inflateInit2(&stream_, kGzipOnly + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { ::inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  ErrorCode decode(ByteView bytes, const Put& put) override {
    // zlib reads its input through a pointer without const.
    stream_.next_in = const_cast<std::uint8_t*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    bool more = !bytes.empty();
    while (more) {
      // The previous member has ended, and the bytes after it are the next member.
      if (at_end_) ::inflateReset(&stream_);
      at_end_ = false;
      stream_.next_out = piece_.data();
      stream_.avail_out = static_cast<uInt>(piece_.size());
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_MEM_ERROR) throw std::bad_alloc();
      // Z_BUF_ERROR only means that no progress was possible.
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return errc::http_malformed;
      at_end_ = result == Z_STREAM_END;
      if (const auto error = put({piece_.data(), piece_.size() - stream_.avail_out})) return error;
      // If the piece is full, the decoder may hold more output of the bytes that it has read.
      const bool piece_is_full = stream_.avail_out == 0;
      more = stream_.avail_in > 0 || (piece_is_full && !at_end_);
    }
    return {};
  }

  bool is_complete() const override { return at_end_; }

 private:
  z_stream stream_{};
  bool at_end_ = false;
  std::array<std::uint8_t, kPiece> piece_;
};

/// Decodes a sequence of zstd frames (RFC 8878).
class ZstdDecoder final : public ContentDecoder {
 public:
  ZstdDecoder() {
    if (!stream_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kMaxZstdWindowLog);
  }

  ErrorCode decode(ByteView bytes, const Put& put) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    bool more = !bytes.empty();
    while (more) {
      ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(left)) return errc::http_malformed;
      at_end_ = left == 0;
      if (const auto error = put({piece_.data(), out.pos})) return error;
      // If the piece is full, the decoder may hold more output of the bytes that it has read.
      const bool piece_is_full = out.pos == out.size;
      more = in.pos < in.size || (piece_is_full && !at_end_);
    }
    return {};
  }

  bool is_complete() const override { return at_end_; }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  bool at_end_ = false;
  std::array<std::uint8_t, kPiece> piece_;
};

}  // namespace

Result<std::unique_ptr<ContentDecoder>> content_decoder_for(std::string_view encoding) {
  const auto is = [text = boost::beast::string_view(encoding.data(), encoding.size())](
                      const char* name) { return boost::beast::iequals(text, name); };
  if (encoding.empty() || is("identity")) return std::unique_ptr<ContentDecoder>();
  if (is("gzip") || is("x-gzip")) return std::unique_ptr<ContentDecoder>(new GzipDecoder);
  if (is("zstd")) return std::unique_ptr<ContentDecoder>(new ZstdDecoder);
  return errc::http_malformed;
}

}  // namespace skua::transport::impl
