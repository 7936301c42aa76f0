#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "atproto/sha256.hpp"

namespace skua::admin {

/// A file that cannot give the token. The message tells the operator the file, the reason and the
/// cure, and has nothing of its content.
class TokenError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The secret of the admin API. It keeps only the digest of the token. Immutable: any thread.
class Token {
 public:
  /// In characters.
  static constexpr std::size_t kShortest = 20;
  static constexpr std::size_t kLongest = 1'024;

  /// Reads a regular file with one token of printable ASCII characters; spaces and line ends around
  /// it do not count. Other users than the owner and the group of the file must have no rights on
  /// it. Throws TokenError.
  static Token read(const std::string& file);

  explicit Token(std::string_view token);

  /// The time does not depend on how much of the token is right.
  bool matches(std::string_view token) const;

 private:
  atproto::Digest digest_;
};

}  // namespace skua::admin
