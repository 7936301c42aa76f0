#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "transport/frame_sink.hpp"

namespace skua::transport {

/// Reads a capture: `[u32 little-endian length][frame]` repeated. Sequential, buffered, any file
/// size. One thread. A file that cannot be opened or read throws std::runtime_error with its name.
class CaptureReader {
 public:
  explicit CaptureReader(const std::filesystem::path& path);
  ~CaptureReader();
  CaptureReader(const CaptureReader&) = delete;
  CaptureReader& operator=(const CaptureReader&) = delete;

  /// The next frame, valid until the next call; nothing at the end. A truncated last frame counts
  /// as the end (see `torn_bytes`). Error: capture_frame_too_large, repeated on every later call,
  /// because after an impossible length the next frame cannot be found.
  Result<std::optional<ByteView>> next();

  /// The position of the next frame's length in the file, in bytes; after an error or a truncated
  /// end, the position of the bad part.
  std::uint64_t offset() const { return offset_; }

  /// The size of a truncated frame at the end, known once `next` has returned nothing. A recorder
  /// that was killed leaves one.
  std::uint64_t torn_bytes() const { return torn_bytes_; }

  /// An error message with name and offset for users; empty while there is no error.
  std::string problem() const;

 private:
  /// Tries to read until the buffer has `wanted` bytes; true: it has.
  bool fill(std::size_t wanted);

  std::filesystem::path path_;
  int file_ = -1;
  Bytes buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t torn_bytes_ = 0;
  std::uint64_t oversized_ = 0;
};

/// Appends frames to a capture. A file that does not exist is created with the first frame that is
/// written: without frames there is no file. One thread. Every failure (the file cannot be written,
/// the disk is full) throws std::runtime_error with the file's name.
class CaptureWriter {
 public:
  /// Refuses a file that is not a capture or ends in a truncated frame, because appended frames
  /// could not be read. Never truncates a file; the message explains how to do it. Also refuses a
  /// file that cannot be created.
  explicit CaptureWriter(const std::filesystem::path& path);
  /// Flushes and ignores failures: call `flush` before.
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  /// Appends one frame of at most kMaxFrameBytes; throws std::invalid_argument for a longer one.
  /// Buffered.
  void append(ByteView frame);

  /// Hands everything to the operating system.
  void flush();

 private:
  void open_file();
  void write_out(ByteView bytes);

  std::filesystem::path path_;
  int file_ = -1;
  Bytes buffer_;
};

}  // namespace skua::transport
