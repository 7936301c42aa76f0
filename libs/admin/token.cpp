#include "admin/token.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/ascii.hpp"
#include "base/bytes.hpp"

namespace skua::admin {
namespace {

/// More than the longest token with spaces around it.
constexpr std::size_t kLargestFile = 8 * 1024;
/// Rights of users that are neither the owner nor in the group.
constexpr ::mode_t kRightsOfOthers = 0007;

class OpenFile {
 public:
  /// A FIFO without a writer does not block.
  explicit OpenFile(const std::string& name)
      : name_(name), number_(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ < 0) fail();
  }
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  struct ::stat state() const {
    struct ::stat state {};
    if (::fstat(number_, &state) != 0) fail();
    return state;
  }

  /// At most `most` bytes.
  std::string read(std::size_t most) const {
    std::string content(most, '\0');
    std::size_t size = 0;
    while (size < most) {
      const auto count = ::read(number_, content.data() + size, most - size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail();
      if (count == 0) break;
      size += static_cast<std::size_t>(count);
    }
    content.resize(size);
    return content;
  }

 private:
  [[noreturn]] void fail() const {
    const int error = errno;
    throw TokenError(
        fmt::format("{} cannot be read: {}", name_, std::system_category().message(error)));
  }

  const std::string name_;
  const int number_;
};

}  // namespace

Token Token::read(const std::string& file) {
  const OpenFile open(file);
  const auto state = open.state();
  if (!S_ISREG(state.st_mode)) throw TokenError(fmt::format("{} is not a regular file", file));
  if ((state.st_mode & kRightsOfOthers) != 0) {
    throw TokenError(fmt::format("other users have rights on {} (mode {:04o}): run `chmod 600 {}`",
                                 file, state.st_mode & 07777U, file));
  }
  const std::string content = open.read(kLargestFile + 1);
  const std::string_view token = trimmed(content);
  if (content.size() > kLargestFile || token.size() > kLongest) {
    throw TokenError(fmt::format("{} has more than {} characters", file, kLongest));
  }
  if (token.size() < kShortest) {
    throw TokenError(fmt::format(
        "the token in {} has {} characters and needs at least {}: `openssl rand -hex 32` makes one",
        file, token.size(), kShortest));
  }
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; })) {
    throw TokenError(
        fmt::format("{} must contain one token of ASCII characters, without spaces in it", file));
  }
  return Token(token);
}

Token::Token(std::string_view token) : digest_(atproto::sha256(as_bytes(token))) {}

bool Token::matches(std::string_view token) const {
  return atproto::is_same_secret(digest_, atproto::sha256(as_bytes(token)));
}

}  // namespace skua::admin
