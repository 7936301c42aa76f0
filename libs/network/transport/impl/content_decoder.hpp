#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::transport::impl {

/// The encodings that content_decoder_for supports, as the request names them (RFC 9110, section
/// 12.5.3).
inline constexpr const char* kAcceptedEncodings = "zstd, gzip";

/// Decompresses one body piece by piece (RFC 9110, section 8.4.1). Passes pieces of about 64 KiB to
/// `put`. An error of `put` ends the decoding. One thread.
class ContentDecoder {
 public:
  using Put = std::function<ErrorCode(ByteView)>;

  virtual ~ContentDecoder() = default;
  /// Errors: http_malformed, or an error of `put`.
  virtual ErrorCode decode(ByteView bytes, const Put& put) = 0;
  /// Whether the input ends at a valid position. Returns false for an empty body.
  virtual bool is_complete() const = 0;
};

/// Returns the decoder for a Content-Encoding, or null if the body is not encoded. Returns
/// http_malformed for an encoding that we do not offer, which includes combinations of encodings.
Result<std::unique_ptr<ContentDecoder>> content_decoder_for(std::string_view encoding);

}  // namespace skua::transport::impl
