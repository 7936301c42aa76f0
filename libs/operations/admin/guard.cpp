#include "admin/guard.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "http_server/server.hpp"

namespace skua::admin {

namespace {

/// The maximum size of the file, which exceeds that of the longest token with spaces around it.
constexpr std::size_t kLargestFile = 8 * 1024;
/// The rights of users that are neither the owner nor in the group of the file.
constexpr ::mode_t kRightsOfOthers = 0007;

class OpenFile {
 public:
  /// Opens a file. With O_NONBLOCK a FIFO without a writer does not block.
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

  /// Reads at most `most` bytes.
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

bool WrongTokens::is_refused(const std::string& address, Timestamp now) const {
  const auto found = by_address_.find(address);
  return found != by_address_.end() && found->second.count >= kAllowed &&
         now - found->second.begins < kWindow;
}

void WrongTokens::add(const std::string& address, Timestamp now) {
  std::erase_if(by_address_, [&](const auto& one) { return now - one.second.begins >= kWindow; });
  if (by_address_.size() >= kAddresses && !by_address_.contains(address)) {
    by_address_.erase(std::min_element(by_address_.begin(), by_address_.end(),
                                       [](const auto& one, const auto& other) {
                                         return one.second.begins < other.second.begins;
                                       }));
  }
  by_address_.try_emplace(address, Window{now}).first->second.count += 1;
}

std::optional<http_server::Response> Guard::refusal(const http_server::Request& request) {
  using http_server::error_response;
  if (!options_.token) {
    return error_response(
        401, "AdminDisabled",
        fmt::format("the admin API is not enabled: {} names the file of its token",
                    options_.setting));
  }
  const auto now = options_.clock.now();
  const std::string address = http_server::counted_address(request.address);
  if (wrong_.is_refused(address, now)) {
    return error_response(429, "TooManyWrongTokens",
                          fmt::format("this address has sent {} wrong tokens: wait {} seconds",
                                      WrongTokens::kAllowed, WrongTokens::kWindow.count()));
  }
  const auto token = http_server::bearer_token(request.authorization);
  if (!token) {
    return error_response(401, "Unauthorized",
                          "the header Authorization must be `Bearer TOKEN` with the admin token");
  }
  if (options_.token->matches(*token)) return std::nullopt;
  wrong_.add(address, now);
  logger("admin")->warn("{}: wrong token", request.address);
  return error_response(401, "Unauthorized", "the admin token is wrong");
}

}  // namespace skua::admin
