#include "transport/spooled_body.hpp"

#include <cstdint>
#include <sys/mman.h>

#include "transport/errc.hpp"

namespace skua::transport {

Result<std::shared_ptr<const SpooledBody>> SpooledBody::map(int file, std::size_t size) {
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (begin == MAP_FAILED) return errc::spool_failed;
  const ByteView bytes(static_cast<const std::uint8_t*>(begin), size);
  return std::shared_ptr<const SpooledBody>(new SpooledBody(bytes));
}

SpooledBody::~SpooledBody() {
  ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

void SpooledBody::let_go() const {
  ::madvise(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

}  // namespace skua::transport
