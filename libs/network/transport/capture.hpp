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

/// Reads a capture, which repeats `[u32 little-endian length][frame]`. Sequential and buffered, for
/// files of any size. One thread. Throws std::runtime_error with the file's name if the file cannot
/// be opened or read.
class CaptureReader {
 public:
  explicit CaptureReader(const std::filesystem::path& path);
  ~CaptureReader();
  CaptureReader(const CaptureReader&) = delete;
  CaptureReader& operator=(const CaptureReader&) = delete;

  /// Returns the next frame, which is valid until the next call, or nothing at the end. A truncated
  /// last frame counts as the end (see `torn_bytes`). The error capture_frame_too_large is repeated
  /// on every later call, because after an impossible length the next frame cannot be found.
  Result<std::optional<ByteView>> next();

  /// The position of the next frame's length in the file, in bytes. After an error or a truncated
  /// end, the position of the bad part.
  std::uint64_t offset() const { return offset_; }

  /// The size of a truncated frame at the end, which is known after `next` has returned nothing. A
  /// recorder that was killed leaves a truncated frame.
  std::uint64_t torn_bytes() const { return torn_bytes_; }

  /// Returns an error message with name and offset for users, or an empty text if there is no
  /// error.
  std::string problem() const;

 private:
  /// Reads until the buffer has `wanted` bytes. Returns false if the file has fewer.
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

/// Appends frames to a capture. The file is created when the first frame is written, so without
/// frames there is no file. One thread. Every failure (the file cannot be written, the disk is
/// full) throws std::runtime_error with the file's name.
class CaptureWriter {
 public:
  /// Refuses a file that is not a capture or ends in a truncated frame, because appended frames
  /// could not be read. Never truncates a file; the message tells the user how to do this. Also
  /// refuses a file that cannot be created.
  explicit CaptureWriter(const std::filesystem::path& path);
  /// Flushes and ignores failures. Call `flush` before to get them.
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  /// Appends one frame of at most kMaxFrameBytes to a buffer. Throws std::invalid_argument for a
  /// longer frame.
  void append(ByteView frame);

  /// Passes all buffered bytes to the operating system.
  void flush();

 private:
  void open_file();
  void write_out(ByteView bytes);

  std::filesystem::path path_;
  int file_ = -1;
  Bytes buffer_;
};

}  // namespace skua::transport
