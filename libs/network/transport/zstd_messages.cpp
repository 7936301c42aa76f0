#include "transport/zstd_messages.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <zstd.h>

#include "transport/errc.hpp"

namespace skua::transport {
namespace {

/// The size of the initial buffer if a frame does not state its decompressed size.
constexpr std::size_t kFirstGuess = 16 * 1024;
/// The limit is 8 MiB (RFC 9659), because a frame may request this much memory before any byte
/// arrives.
constexpr int kMaxWindowLog = 23;

}  // namespace

struct ZstdDictionary::Prepared {
  struct Free {
    void operator()(ZSTD_DDict* unused) const { ZSTD_freeDDict(unused); }
  };

  std::uint32_t id = 0;
  std::unique_ptr<ZSTD_DDict, Free> dictionary;
};

ZstdDictionary::ZstdDictionary(ByteView bytes) {
  auto prepared = std::make_unique<Prepared>();
  prepared->id = ZSTD_getDictID_fromDict(bytes.data(), bytes.size());
  if (prepared->id != 0) prepared->dictionary.reset(ZSTD_createDDict(bytes.data(), bytes.size()));
  if (!prepared->dictionary) throw std::runtime_error("this is not a zstd dictionary");
  prepared_ = std::move(prepared);
}

ZstdDictionary::~ZstdDictionary() = default;

std::uint32_t ZstdDictionary::id() const {
  return prepared_->id;
}

struct ZstdMessages::Context {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  const ZstdDictionary::Prepared* dictionary = nullptr;
  std::unique_ptr<ZSTD_DCtx, Free> zstd{ZSTD_createDCtx()};
};

ZstdMessages::ZstdMessages(const ZstdDictionary* dictionary, std::size_t max_bytes)
    : max_bytes_(max_bytes), context_(std::make_unique<Context>()) {
  if (!context_->zstd) throw std::bad_alloc();
  if (dictionary != nullptr) context_->dictionary = dictionary->prepared_.get();
  ZSTD_DCtx_setParameter(context_->zstd.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
}

ZstdMessages::~ZstdMessages() = default;

ErrorCode ZstdMessages::decompress(ByteView message, Bytes& out) {
  const auto length = ZSTD_getFrameContentSize(message.data(), message.size());
  if (length == ZSTD_CONTENTSIZE_ERROR) return errc::zstd_malformed;
  const bool knows_length = length != ZSTD_CONTENTSIZE_UNKNOWN;
  if (knows_length && length > max_bytes_) return errc::zstd_too_large;

  // A frame that names no dictionary was compressed without a dictionary. With our dictionary the
  // decompression would start with wrong offsets.
  const auto wanted = ZSTD_getDictID_fromFrame(message.data(), message.size());
  const auto* ours = context_->dictionary;
  if (wanted != 0 && (ours == nullptr || ours->id != wanted)) return errc::zstd_other_dictionary;
  auto* zstd = context_->zstd.get();
  ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only);
  ZSTD_DCtx_refDDict(zstd, wanted != 0 ? ours->dictionary.get() : nullptr);

  // If the whole frame and enough room for its content are present, zstd needs no window of its
  // own.
  out.resize(knows_length ? static_cast<std::size_t>(length) : std::min(kFirstGuess, max_bytes_));
  ZSTD_inBuffer in{message.data(), message.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  while (true) {
    const std::size_t left = ZSTD_decompressStream(zstd, &to, &in);
    if (ZSTD_isError(left)) return errc::zstd_malformed;
    if (left == 0) break;
    if (to.pos < to.size) return errc::zstd_malformed;  // the frame is truncated
    if (out.size() >= max_bytes_) return errc::zstd_too_large;
    out.resize(std::min(out.size() * 2, max_bytes_));
    to.dst = out.data();
    to.size = out.size();
  }
  if (in.pos != in.size) return errc::zstd_malformed;  // one message must be one frame
  out.resize(to.pos);
  return {};
}

}  // namespace skua::transport
