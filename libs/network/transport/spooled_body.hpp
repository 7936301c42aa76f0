#pragma once

#include <cstddef>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::transport {

/// An unnamed file, mapped for reading, with a body that was too large for memory. Its readers
/// share the object. The disk space is freed when the last reader releases it. Any thread.
class SpooledBody {
 public:
  /// Maps the first `size` (not 0) bytes of an open file. The caller may close the file afterwards.
  /// Error: errc::spool_failed.
  static Result<std::shared_ptr<const SpooledBody>> map(int file, std::size_t size);

  ~SpooledBody();
  SpooledBody(const SpooledBody&) = delete;
  SpooledBody& operator=(const SpooledBody&) = delete;

  /// The view is valid as long as this object.
  ByteView view() const { return bytes_; }

  /// Releases the memory of the mapped bytes in this process. Later reads load the bytes again from
  /// the file or the page cache. A sequential reader calls this function regularly, so that the
  /// whole file is never in memory at once.
  void let_go() const;

 private:
  explicit SpooledBody(ByteView bytes) : bytes_(bytes) {}

  const ByteView bytes_;
};

}  // namespace skua::transport
