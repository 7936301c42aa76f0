#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "transport/frame_sink.hpp"

namespace skua::transport {

/// A dictionary that messages were compressed with (RFC 8878, section 5). Immutable: threads share
/// it.
class ZstdDictionary {
 public:
  /// Copies `bytes`, a dictionary file. Throws std::runtime_error if they are not a dictionary.
  explicit ZstdDictionary(ByteView bytes);
  ~ZstdDictionary();
  ZstdDictionary(const ZstdDictionary&) = delete;
  ZstdDictionary& operator=(const ZstdDictionary&) = delete;

  /// Never 0.
  std::uint32_t id() const;

 private:
  friend class ZstdMessages;
  struct Prepared;
  std::unique_ptr<const Prepared> prepared_;
};

/// Undoes the compression of websocket messages, each of which is compressed by itself (Jetstream's
/// `compress=true`). An event of 500 bytes takes about a microsecond, a hostile message of 5 MiB
/// some milliseconds. One thread at a time.
class ZstdMessages {
 public:
  /// `dictionary` may be null: messages that need one are errors then. Else it must outlive this.
  explicit ZstdMessages(const ZstdDictionary* dictionary, std::size_t max_bytes = kMaxFrameBytes);
  ~ZstdMessages();
  ZstdMessages(const ZstdMessages&) = delete;
  ZstdMessages& operator=(const ZstdMessages&) = delete;

  /// `out` becomes the message without compression; of an error, whatever. Its memory is used
  /// again. Errors: zstd_malformed, zstd_other_dictionary, zstd_too_large (beyond `max_bytes`).
  ErrorCode decompress(ByteView message, Bytes& out);

 private:
  struct Context;
  const std::size_t max_bytes_;
  std::unique_ptr<Context> context_;
};

}  // namespace skua::transport
