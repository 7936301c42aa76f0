#include "transport/impl/spool_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <system_error>
#include <unistd.h>

#include "transport/errc.hpp"

namespace skua::transport::impl {

Result<std::unique_ptr<SpoolFile>> SpoolFile::create(const std::filesystem::path& folder) {
  std::error_code error;
  const auto place = folder.empty() ? std::filesystem::temp_directory_path(error) : folder;
  if (error) return errc::spool_failed;
  auto name = (place / "skua-body-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return errc::spool_failed;
  // Unlinks the file at once, so that no file remains however the process ends.
  ::unlink(name.c_str());
  return std::unique_ptr<SpoolFile>(new SpoolFile(file));
}

SpoolFile::~SpoolFile() {
  ::close(file_);
}

ErrorCode SpoolFile::append(ByteView bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return errc::spool_failed;
    size_ += static_cast<std::size_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::shared_ptr<const SpooledBody>> SpoolFile::mapped() const {
  return SpooledBody::map(file_, size_);
}

}  // namespace skua::transport::impl
