#pragma once

#include <cstddef>
#include <memory>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::transport {

/// The bytes of a file that has no name any more, mapped to be read: a body that was too large for
/// memory. Shared by whoever reads it; the disk's room is free again when the last one lets go. Any
/// thread.
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

  /// Gives the memory back that the bytes take in this process; they come again from the file, or
  /// the system's cache of it, as they are read. Whoever goes through them once calls it now and
  /// then, so that they never are in memory all at once.
  void let_go() const;

 private:
  explicit SpooledBody(ByteView bytes) : bytes_(bytes) {}

  const ByteView bytes_;
};

}  // namespace skua::transport
