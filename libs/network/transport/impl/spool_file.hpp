#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "transport/spooled_body.hpp"

namespace skua::transport::impl {

/// An unnamed temporary file that is written sequentially. One owner, one thread. The error
/// errc::spool_failed means that the folder does not exist or is not writable, or that the disk is
/// full.
class SpoolFile {
 public:
  /// An empty `folder` means the system's folder for temporary files.
  static Result<std::unique_ptr<SpoolFile>> create(const std::filesystem::path& folder);

  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  ErrorCode append(ByteView bytes);

  /// Maps the written bytes. At least one byte must have been written.
  Result<std::shared_ptr<const SpooledBody>> mapped() const;

 private:
  explicit SpoolFile(int file) : file_(file) {}

  const int file_;
  std::size_t size_ = 0;
};

}  // namespace skua::transport::impl
