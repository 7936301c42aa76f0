#include "atproto/syntax.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "atproto/errc.hpp"
#include "base/text.hpp"

namespace skua::atproto {

namespace {

constexpr std::size_t kMaxUri = 8192;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_scheme_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == '_';
}

bool is_blank_or_control(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
}

/// The tags that were registered before RFC 4646 and do not follow its grammar.
constexpr std::array<std::string_view, 17> kIrregular = {
    "en-GB-oed", "i-ami", "i-bnn",     "i-default", "i-enochian", "i-hak",
    "i-klingon", "i-lux", "i-mingo",   "i-navajo",  "i-pwn",      "i-tao",
    "i-tay",     "i-tsu", "sgn-BE-FR", "sgn-BE-NL", "sgn-CH-DE"};

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_alpha(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}
bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}
bool is_alphanumeric(char c) {
  return is_alpha(c) || is_decimal(c);
}

/// Splits a language tag from front to back. `subtag_` is the current subtag; it is empty at the
/// end of the tag and between two adjacent hyphens.
class TagScanner {
 public:
  explicit TagScanner(std::string_view text) : rest_(text) { next(); }

  bool is_tag() {
    if (is_private_use()) return private_use();
    return language() && script_and_region() && variants_and_extensions() &&
           (!is_private_use() || private_use()) && at_end_;
  }

 private:
  void next() {
    if (rest_.data() == nullptr) {
      at_end_ = true;
      subtag_ = {};
      return;
    }
    const std::size_t hyphen = rest_.find('-');
    subtag_ = rest_.substr(0, hyphen);
    rest_ = hyphen == std::string_view::npos ? std::string_view{} : rest_.substr(hyphen + 1);
  }

  template <class P>
  bool is(std::size_t shortest, std::size_t longest, P of_class) const {
    return subtag_.size() >= shortest && subtag_.size() <= longest &&
           std::all_of(subtag_.begin(), subtag_.end(), of_class);
  }

  /// Consumes the current subtag if it has this form.
  template <class P>
  bool take(std::size_t shortest, std::size_t longest, P of_class) {
    if (!is(shortest, longest, of_class)) return false;
    next();
    return true;
  }

  bool language() {
    if (take(5, 8, is_lower)) return true;
    if (!take(2, 3, is_lower)) return false;
    for (int extended = 0; extended < 3 && take(3, 3, is_alpha); ++extended) {
    }
    return true;
  }

  bool script_and_region() {
    take(4, 4, is_alpha);
    if (!take(2, 2, is_alpha)) take(3, 3, is_decimal);
    return true;
  }

  bool variants_and_extensions() {
    while (take(5, 8, is_alphanumeric) ||
           (!subtag_.empty() && is_decimal(subtag_[0]) && take(4, 4, is_alphanumeric))) {
    }
    while (!is_private_use() && take(1, 1, is_alphanumeric)) {
      if (!take(2, 8, is_alphanumeric)) return false;
      while (take(2, 8, is_alphanumeric)) {
      }
    }
    return true;
  }

  bool is_private_use() const { return subtag_ == "x" || subtag_ == "X"; }

  bool private_use() {
    next();
    if (!take(1, 8, is_alphanumeric)) return false;
    while (take(1, 8, is_alphanumeric)) {
    }
    return at_end_;
  }

  std::string_view rest_;
  std::string_view subtag_;
  bool at_end_ = false;
};

constexpr std::string_view kAtUriScheme = "at://";
/// Pages of bsky.app whose next path segment is an account.
constexpr std::array<std::string_view, 2> kPagesOfAccounts = {"/profile/", "/starter-pack/"};

/// Removes `prefix` from the front of `text`, in upper or lower case. Returns false if `text` does
/// not begin with `prefix`.
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

/// `path` begins after the host. Subpages, queries and fragments are ignored.
Result<std::string> account_of_page(std::string_view path) {
  for (const std::string_view page : kPagesOfAccounts) {
    if (!path.starts_with(page)) continue;
    path.remove_prefix(page.size());
    return did_or_handle(path.substr(0, path.find_first_of("/?#")));
  }
  return errc::bad_account_name;
}

}  // namespace

namespace {

constexpr std::size_t kMaxDid = 2048;
constexpr std::size_t kMaxHandle = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxNsid = 317;
constexpr std::size_t kMaxRecordKey = 512;
constexpr std::size_t kMaxAtUri = 8192;

/// Classes of characters, as bits of a table. A table is fast, and these checks run for every
/// record.
enum CharacterClass : std::uint8_t {
  kLower = 1,
  kUpper = 2,
  kDigit = 4,
  kHyphen = 8,
  kKeyPunctuation = 16,  // _ ~ . : of record keys; the hyphen has its own class
  kDidPunctuation = 32,  // . _ : % of DIDs; the hyphen has its own class
};
constexpr unsigned kLetter = kLower | kUpper;
constexpr unsigned kAlnum = kLetter | kDigit;

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = kLower;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = kUpper;
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = kDigit;
  table['-'] = kHyphen;
  table['~'] = kKeyPunctuation;
  table['%'] = kDidPunctuation;
  for (const unsigned char c : {'_', '.', ':'}) table[c] = kKeyPunctuation | kDidPunctuation;
  return table;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

bool is(char c, unsigned classes) {
  return (kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

bool all(std::string_view text, unsigned classes) {
  return std::all_of(text.begin(), text.end(), [classes](char c) { return is(c, classes); });
}

/// A label of a domain name: 1 to 63 letters, digits and hyphens, no hyphen at either end.
bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kMaxLabel && all(label, kAlnum | kHyphen) &&
         label.front() != '-' && label.back() != '-';
}

}  // namespace

bool is_did(std::string_view text) {
  if (text.size() > kMaxDid || !text.starts_with("did:")) return false;
  const std::size_t colon = text.find(':', 4);
  if (colon == std::string_view::npos) return false;
  const std::string_view method = text.substr(4, colon - 4);
  const std::string_view id = text.substr(colon + 1);
  return !method.empty() && all(method, kLower) && !id.empty() &&
         all(id, kAlnum | kHyphen | kDidPunctuation) && id.back() != ':' && id.back() != '%';
}

namespace {

bool is_plc_id(std::string_view id) {
  constexpr std::size_t kPlcLength = 24;
  return id.size() == kPlcLength && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
         });
}

/// Only localhost may have a port, because localhost occurs only in development.
bool is_web_id(std::string_view id) {
  constexpr std::string_view kLocalhost = "localhost";
  return is_handle(id) || id == kLocalhost || id.starts_with(std::string(kLocalhost) + "%3");
}

}  // namespace

Result<void> check_account_did(std::string_view did) {
  constexpr std::string_view kWebPrefix = "did:web:";
  if (!is_did(did)) return errc::bad_did;
  if (is_plc_did(did)) {
    if (!is_plc_id(did.substr(kPlcPrefix.size()))) return errc::bad_plc_did;
  } else if (!did.starts_with(kWebPrefix)) {
    return errc::bad_did_method;
  } else if (!is_web_id(did.substr(kWebPrefix.size()))) {
    return errc::bad_web_did;
  }
  return {};
}

bool is_handle(std::string_view text) {
  if (text.size() > kMaxHandle) return false;
  std::size_t labels = 0;
  for (;;) {
    const std::size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (!is_label(label)) return false;
    ++labels;
    if (dot == std::string_view::npos) return labels >= 2 && is(label.front(), kLetter);
    text.remove_prefix(dot + 1);
  }
}

bool is_nsid(std::string_view text) {
  if (text.size() > kMaxNsid) return false;
  const std::size_t last_dot = text.rfind('.');
  if (last_dot == std::string_view::npos) return false;
  const std::string_view name = text.substr(last_dot + 1);
  if (name.empty() || name.size() > kMaxLabel || !is(name.front(), kLetter) || !all(name, kAlnum)) {
    return false;
  }
  std::string_view domain = text.substr(0, last_dot);
  if (domain.empty() || !is(domain.front(), kLetter)) return false;
  std::size_t labels = 0;
  for (;;) {
    const std::size_t dot = domain.find('.');
    if (!is_label(domain.substr(0, dot))) return false;
    ++labels;
    if (dot == std::string_view::npos) return labels >= 2;
    domain.remove_prefix(dot + 1);
  }
}

bool is_record_key(std::string_view text) {
  return !text.empty() && text.size() <= kMaxRecordKey &&
         all(text, kAlnum | kHyphen | kKeyPunctuation) && text != "." && text != "..";
}

bool is_cid_text(std::string_view text) {
  constexpr std::size_t kShortest = 8;
  constexpr std::size_t kLongest = 256;
  return text.size() >= kShortest && text.size() <= kLongest && !text.starts_with("Qmb") &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is(c, kAlnum) || c == '+' || c == '='; });
}

Result<AtUri> parse_at_uri(std::string_view text) {
  if (text.size() > kMaxAtUri || !text.starts_with("at://")) return errc::bad_at_uri;
  std::string_view rest = text.substr(5);

  AtUri uri;
  std::size_t slash = rest.find('/');
  uri.authority = rest.substr(0, slash);
  if (uri.authority.starts_with("did:")) {
    if (!is_did(uri.authority)) return errc::bad_did;
  } else if (!is_handle(uri.authority)) {
    return errc::bad_handle;
  }
  if (slash == std::string_view::npos) return uri;

  rest.remove_prefix(slash + 1);
  slash = rest.find('/');
  uri.collection = rest.substr(0, slash);
  if (!is_nsid(uri.collection)) return errc::bad_nsid;
  if (slash == std::string_view::npos) return uri;

  uri.rkey = rest.substr(slash + 1);
  if (!is_record_key(uri.rkey)) return errc::bad_record_key;
  return uri;
}

Result<RepoPath> parse_repo_path(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return errc::bad_repo_path;
  const RepoPath parts{path.substr(0, slash), path.substr(slash + 1)};
  if (!is_nsid(parts.collection)) return errc::bad_nsid;
  if (!is_record_key(parts.rkey)) return errc::bad_record_key;
  return parts;
}

bool is_uri(std::string_view text) {
  if (text.size() > kMaxUri) return false;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(text[0])) return false;
  if (!std::all_of(text.begin(), text.begin() + colon, is_scheme_char)) return false;
  std::string_view rest = text.substr(colon + 1);
  if (rest.starts_with("//")) rest.remove_prefix(2);
  return !rest.empty() && rest[0] != '/' &&
         std::none_of(rest.begin(), rest.end(), is_blank_or_control);
}

bool is_language_tag(std::string_view text) {
  if (text.empty()) return false;
  return TagScanner(text).is_tag() ||
         std::find(kIrregular.begin(), kIrregular.end(), text) != kIrregular.end();
}

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
