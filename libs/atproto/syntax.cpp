#include "atproto/syntax.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "atproto/errc.hpp"

namespace skua::atproto {
namespace {

constexpr std::size_t kMaxDid = 2048;
constexpr std::size_t kMaxHandle = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxNsid = 317;
constexpr std::size_t kMaxRecordKey = 512;
constexpr std::size_t kMaxAtUri = 8192;

/// Classes of characters, as bits. A table, because these checks run for every record.
enum CharacterClass : std::uint8_t {
  kLower = 1,
  kUpper = 2,
  kDigit = 4,
  kHyphen = 8,
  kKeyPunctuation = 16,  // _ ~ . : of record keys, besides the hyphen
  kDidPunctuation = 32,  // . _ : % of DIDs, besides the hyphen
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

/// The port of localhost is in development only.
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

}  // namespace skua::atproto
