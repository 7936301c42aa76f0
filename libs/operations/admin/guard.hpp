#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "atproto/sha256.hpp"
#include "base/time.hpp"
#include "http_server/exchange.hpp"

namespace skua::admin {

/// A file that cannot give the token. The message tells the operator the file, the reason and the
/// cure, and contains nothing of the file's content.
class TokenError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The secret of the admin API. Keeps only the digest of the token. Immutable, so any thread may
/// use it.
class Token {
 public:
  /// The limits of the token's length, in characters.
  static constexpr std::size_t kShortest = 20;
  static constexpr std::size_t kLongest = 1'024;

  /// Reads a regular file with one token of printable ASCII characters. Spaces and line ends around
  /// the token are ignored. Users other than the owner and the group of the file must have no
  /// rights on the file. Throws TokenError.
  static Token read(const std::string& file);

  explicit Token(std::string_view token);

  /// Compares a text with the token. The time of the comparison does not depend on the number of
  /// correct characters.
  bool matches(std::string_view token) const;

 private:
  atproto::Digest digest_;
};

/// Counts the wrong tokens of each client address, so that a client cannot try many tokens. The
/// memory is bounded: beyond `kAddresses` addresses, the address whose minute began first is
/// removed. One thread.
class WrongTokens {
 public:
  static constexpr std::size_t kAllowed = 10;
  static constexpr std::chrono::seconds kWindow{60};
  static constexpr std::size_t kAddresses = 1'024;

  /// Returns whether the address has sent `kAllowed` wrong tokens within a window that has not
  /// ended.
  bool is_refused(const std::string& address, Timestamp now) const;
  /// Counts a wrong token of the address.
  void add(const std::string& address, Timestamp now);

  std::size_t size() const { return by_address_.size(); }

 private:
  struct Window {
    Timestamp begins;
    std::size_t count = 0;
  };

  std::map<std::string, Window> by_address_;
};

/// Decides from the header of a request whether its client may use the admin API. The thread of the
/// server calls it.
class Guard {
 public:
  struct Options {
    /// The token; if it is nothing, all requests are refused.
    std::optional<Token> token;
    /// The setting that names the file of the token. An answer without a configured token mentions
    /// the setting.
    std::string setting;
    /// A clock that does not jump. It must outlive the guard.
    const Clock& clock = monotonic_clock();
  };

  explicit Guard(Options options) : options_(std::move(options)) {}

  bool has_token() const { return options_.token.has_value(); }

  /// Returns the refusal of a request; nothing if the client has sent the token. A client address
  /// with too many wrong tokens is refused without a comparison. Requests without a token do not
  /// count as wrong tokens.
  std::optional<http_server::Response> refusal(const http_server::Request& request);

 private:
  const Options options_;
  WrongTokens wrong_;
};

}  // namespace skua::admin
