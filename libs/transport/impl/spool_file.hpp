#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "transport/spooled_body.hpp"

namespace skua::transport::impl {

/// A temporary file without a name, written from its beginning. One owner, one thread. Its error is
/// errc::spool_failed: no such folder, no right to write there, disk full.
class SpoolFile {
 public:
  /// `folder` may be empty: the system's for temporary files.
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
