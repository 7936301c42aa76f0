#include "transport/capture.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "transport/errc.hpp"

namespace skua::transport {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kBufferBytes = 1024 * 1024;

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw std::runtime_error(
      fmt::format("cannot {} {}: {}", what, path.string(), std::generic_category().message(error)));
}

std::size_t read_length(const std::uint8_t* at) {
  return std::size_t{at[0]} | std::size_t{at[1]} << 8 | std::size_t{at[2]} << 16 |
         std::size_t{at[3]} << 24;
}

}  // namespace

CaptureReader::CaptureReader(const std::filesystem::path& path) : path_(path) {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) fail("open", path, errno);
  buffer_.resize(kBufferBytes);
}

CaptureReader::~CaptureReader() {
  ::close(file_);
}

bool CaptureReader::fill(std::size_t wanted) {
  if (end_ - begin_ >= wanted) return true;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() < wanted) buffer_.resize(wanted);
  while (end_ < wanted) {
    const auto got = ::read(file_, buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path_, errno);
    if (got == 0) return false;
    end_ += static_cast<std::size_t>(got);
  }
  return true;
}

Result<std::optional<ByteView>> CaptureReader::next() {
  if (oversized_ > 0) return errc::capture_frame_too_large;
  if (!fill(kLengthBytes)) {
    torn_bytes_ = end_ - begin_;
    return std::nullopt;
  }
  const auto length = read_length(buffer_.data() + begin_);
  if (length > kMaxFrameBytes) {
    oversized_ = length;
    return errc::capture_frame_too_large;
  }
  if (!fill(kLengthBytes + length)) {
    torn_bytes_ = end_ - begin_;
    return std::nullopt;
  }
  const ByteView frame(buffer_.data() + begin_ + kLengthBytes, length);
  begin_ += kLengthBytes + length;
  offset_ += kLengthBytes + length;
  return frame;
}

std::string CaptureReader::problem() const {
  if (oversized_ > 0) {
    return fmt::format(
        "{}: at offset {} a frame claims {} bytes, more than the limit of {}: the file is damaged "
        "or is not a capture",
        path_.string(), offset_, oversized_, kMaxFrameBytes);
  }
  if (torn_bytes_ > 0) {
    return fmt::format("{}: unfinished frame at the end, {} from offset {}", path_.string(),
                       counted(torn_bytes_, "byte"), offset_);
  }
  return {};
}

CaptureWriter::CaptureWriter(const std::filesystem::path& path) : path_(path) {
  // Only the end of a regular file can be checked. A pipe or a device is written without this
  // check.
  if (std::filesystem::is_regular_file(path)) {
    CaptureReader existing(path);
    auto frame = existing.next();
    while (frame && *frame) frame = existing.next();
    if (!frame) throw std::runtime_error(existing.problem() + "; nothing was appended");
    if (existing.torn_bytes() > 0) {
      throw std::runtime_error(
          fmt::format("{}; nothing was appended. Record to another file, or cut the rest off: "
                      "truncate -s {} {}",
                      existing.problem(), existing.offset(), path.string()));
    }
  }
  // The first write creates a new file. The constructor only checks that this will be possible.
  if (std::filesystem::exists(path)) {
    open_file();
  } else {
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    if (::access(folder.c_str(), W_OK | X_OK) != 0) fail("write", path, errno);
  }
  buffer_.reserve(kBufferBytes);
}

CaptureWriter::~CaptureWriter() {
  try {
    flush();
  } catch (const std::runtime_error&) {
    // A destructor cannot report the failure. A caller that needs the error calls `flush`.
  }
  if (file_ >= 0) ::close(file_);
}

void CaptureWriter::open_file() {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) fail("write", path_, errno);
}

void CaptureWriter::append(ByteView frame) {
  if (frame.size() > kMaxFrameBytes) {
    throw std::invalid_argument("a frame over the limit cannot be read back from a capture");
  }
  if (buffer_.size() + kLengthBytes + frame.size() > kBufferBytes) flush();
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    buffer_.push_back(static_cast<std::uint8_t>(frame.size() >> (8 * i)));
  }
  buffer_.insert(buffer_.end(), frame.begin(), frame.end());
}

void CaptureWriter::flush() {
  // Empties the buffer before the write. After a partial write, another attempt would damage the
  // file further.
  const Bytes bytes = std::move(buffer_);
  buffer_ = {};
  buffer_.reserve(kBufferBytes);
  write_out(bytes);
}

void CaptureWriter::write_out(ByteView bytes) {
  if (bytes.empty()) return;
  if (file_ < 0) open_file();
  while (!bytes.empty()) {
    const auto written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace skua::transport
