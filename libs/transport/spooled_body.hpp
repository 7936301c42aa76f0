#pragma once

#include <cstddef>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::transport {

/// The bytes of an unnamed file, mapped for reading: a body that was too large for memory. Shared
/// by its readers; the disk space is free when the last one releases it. Any thread.
class SpooledBody {
 public:
  /// Maps the first `size` (not 0) bytes of an open file, which may be closed afterwards. Error:
  /// errc::spool_failed.
  static Result<std::shared_ptr<const SpooledBody>> map(int file, std::size_t size);

  ~SpooledBody();
  SpooledBody(const SpooledBody&) = delete;
  SpooledBody& operator=(const SpooledBody&) = delete;

  /// Valid as long as this is.
  ByteView view() const { return bytes_; }

  /// Releases the memory of the mapped bytes in this process; later reads load them again from the
  /// file or the page cache. A reader that goes through them once calls it regularly, so that they
  /// are never in memory all at once.
  void let_go() const;

 private:
  explicit SpooledBody(ByteView bytes) : bytes_(bytes) {}

  const ByteView bytes_;
};

}  // namespace skua::transport
