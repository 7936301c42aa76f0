#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "transport/frame_sink.hpp"

namespace skua::transport {

/// A dictionary for the decompression of messages (RFC 8878, section 5). Immutable: any number of
/// threads may share it.
class ZstdDictionary {
 public:
  /// Copies `bytes`, a dictionary file. Throws std::runtime_error if they are not a dictionary.
  explicit ZstdDictionary(ByteView bytes);
  ~ZstdDictionary();
  ZstdDictionary(const ZstdDictionary&) = delete;
  ZstdDictionary& operator=(const ZstdDictionary&) = delete;

  /// The id is never 0.
  std::uint32_t id() const;

 private:
  friend class ZstdMessages;
  struct Prepared;
  std::unique_ptr<const Prepared> prepared_;
};

/// Decompresses websocket messages, each of which is compressed separately (Jetstream's
/// `compress=true`). An event of 500 bytes takes about a microsecond, a hostile message of 5 MiB
/// takes some milliseconds. One thread at a time.
class ZstdMessages {
 public:
  /// If `dictionary` is null, messages that need a dictionary are errors. Otherwise it must outlive
  /// this object.
  explicit ZstdMessages(const ZstdDictionary* dictionary, std::size_t max_bytes = kMaxFrameBytes);
  ~ZstdMessages();
  ZstdMessages(const ZstdMessages&) = delete;
  ZstdMessages& operator=(const ZstdMessages&) = delete;

  /// Writes the decompressed message to `out`, whose memory is reused. After an error `out` is
  /// undefined. Errors: zstd_malformed, zstd_other_dictionary, zstd_too_large (beyond `max_bytes`).
  ErrorCode decompress(ByteView message, Bytes& out);

 private:
  struct Context;
  const std::size_t max_bytes_;
  std::unique_ptr<Context> context_;
};

}  // namespace skua::transport
