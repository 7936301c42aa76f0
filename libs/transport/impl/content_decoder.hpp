#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::transport::impl {

/// What content_decoder_for understands, as a request offers it (RFC 9110, section 12.5.3).
inline constexpr const char* kAcceptedEncodings = "zstd, gzip";

/// Undoes the compression of one body as it comes (RFC 9110, section 8.4.1), piece by piece: what
/// is decoded goes to `put` in pieces of some 64 KiB, and an error of `put` ends it. One thread.
class ContentDecoder {
 public:
  using Put = std::function<ErrorCode(ByteView)>;

  virtual ~ContentDecoder() = default;
  /// Errors: http_malformed, or that of `put`.
  virtual ErrorCode decode(ByteView bytes, const Put& put) = 0;
  /// Whether what came ends where it may end. A body of no bytes at all does not.
  virtual bool is_complete() const = 0;
};

/// The decoder for a Content-Encoding; null when there is nothing to undo. Error: http_malformed
/// for an encoding that we do not offer, and so for several on top of each other.
Result<std::unique_ptr<ContentDecoder>> content_decoder_for(std::string_view encoding);

}  // namespace skua::transport::impl
