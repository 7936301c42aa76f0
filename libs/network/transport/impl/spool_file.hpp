#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "transport/spooled_body.hpp"

namespace skua::transport::impl {

/// An unnamed temporary file, written sequentially. One owner, one thread. Its error is
/// errc::spool_failed: the folder does not exist or is not writable, or the disk is full.
class SpoolFile {
 public:
  /// `folder` may be empty: the system's folder for temporary files.
  static Result<std::unique_ptr<SpoolFile>> create(const std::filesystem::path& folder);

  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  ErrorCode append(ByteView bytes);

  /// The written bytes, at least one.
  Result<std::shared_ptr<const SpooledBody>> mapped() const;

 private:
  explicit SpoolFile(int file) : file_(file) {}

  const int file_;
  std::size_t size_ = 0;
};

}  // namespace skua::transport::impl
