#include "atproto/account_name.hpp"

#include <array>

#include "atproto/errc.hpp"
#include "atproto/syntax.hpp"
#include "base/ascii.hpp"

namespace skua::atproto {
namespace {

constexpr std::string_view kAtUriScheme = "at://";
/// Pages of bsky.app whose next path segment is an account.
constexpr std::array<std::string_view, 2> kPagesOfAccounts = {"/profile/", "/starter-pack/"};

/// Whether `text` begins with `prefix` in whatever case; if so, removes it.
bool remove_prefix(std::string_view& text, std::string_view prefix) {
  if (ascii_lower(text.substr(0, prefix.size())) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

Result<std::string> did_or_handle(std::string_view text) {
  if (is_did(text)) {
    if (const auto account = check_account_did(text); !account) return account.error();
    return std::string(text);
  }
  if (is_handle(text)) return ascii_lower(text);
  return errc::bad_account_name;
}

/// `path` begins behind the host. Subpages, queries and fragments are ignored.
Result<std::string> account_of_page(std::string_view path) {
  for (const std::string_view page : kPagesOfAccounts) {
    if (!path.starts_with(page)) continue;
    path.remove_prefix(page.size());
    return did_or_handle(path.substr(0, path.find_first_of("/?#")));
  }
  return errc::bad_account_name;
}

}  // namespace

Result<std::string> parse_account_name(std::string_view text) {
  if (text.starts_with(kAtUriScheme)) {
    const auto uri = parse_at_uri(text);
    if (!uri) return errc::bad_account_name;
    return did_or_handle(uri->authority);
  }
  std::string_view url = text;
  const bool has_scheme = remove_prefix(url, "https://") || remove_prefix(url, "http://");
  if (remove_prefix(url, "bsky.app/")) {
    return account_of_page(text.substr(text.size() - url.size() - 1));
  }
  if (has_scheme) return errc::bad_account_name;
  return did_or_handle(text.starts_with('@') ? text.substr(1) : text);
}

}  // namespace skua::atproto
