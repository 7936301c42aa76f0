#pragma once

#include <optional>
#include <string>

#include "admin/token.hpp"
#include "admin/wrong_tokens.hpp"
#include "base/time.hpp"
#include "http_server/request.hpp"
#include "http_server/response.hpp"

namespace skua::admin {

/// Decides from the header of a request whether its client may use the admin API. For the thread of
/// the server.
class Guard {
 public:
  struct Options {
    /// Nothing: all requests are refused.
    std::optional<Token> token;
    /// The setting that names the file of the token, for the answer without a token.
    std::string setting;
    /// Does not jump; it outlives the guard.
    const Clock& clock = monotonic_clock();
  };

  explicit Guard(Options options) : options_(std::move(options)) {}

  bool has_token() const { return options_.token.has_value(); }

  /// Nothing: the client has sent the token. A client address with too many wrong tokens is refused
  /// without a comparison. Requests without a token do not count as wrong ones.
  std::optional<http_server::Response> refusal(const http_server::Request& request);

 private:
  const Options options_;
  WrongTokens wrong_;
};

}  // namespace skua::admin
