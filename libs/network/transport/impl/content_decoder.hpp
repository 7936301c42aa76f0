#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::transport::impl {

/// The encodings that content_decoder_for supports, for the request (RFC 9110, section 12.5.3).
inline constexpr const char* kAcceptedEncodings = "zstd, gzip";

/// Decompresses one body piece by piece (RFC 9110, section 8.4.1). It passes pieces of about 64 KiB
/// to `put`; an error of `put` ends it. One thread.
class ContentDecoder {
 public:
  using Put = std::function<ErrorCode(ByteView)>;

  virtual ~ContentDecoder() = default;
  /// Errors: http_malformed, or an error of `put`.
  virtual ErrorCode decode(ByteView bytes, const Put& put) = 0;
  /// Whether the input ends at a valid position. An empty body does not.
  virtual bool is_complete() const = 0;
};

/// The decoder for a Content-Encoding; null if the body is not encoded. Error: http_malformed for
/// an encoding that we do not offer, which includes several encodings in combination.
Result<std::unique_ptr<ContentDecoder>> content_decoder_for(std::string_view encoding);

}  // namespace skua::transport::impl
