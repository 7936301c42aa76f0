#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua::atproto {

/// The prefix of DIDs whose document the PLC directory serves.
inline constexpr std::string_view kPlcPrefix = "did:plc:";

/// Whether the PLC directory serves the DID's document (atproto.com/specs/did). The document of any
/// other DID is on a host of its own.
inline bool is_plc_did(std::string_view did) {
  return did.starts_with(kPlcPrefix);
}

/// Whether a text has the syntax of the identifier (atproto.com/specs/did, /handle, /nsid,
/// /record-key). Limits: DID 2048 bytes, handle 253, NSID 317 with three segments or more, record
/// key 512.
bool is_did(std::string_view text);
bool is_handle(std::string_view text);
bool is_nsid(std::string_view text);
bool is_record_key(std::string_view text);

/// Whether an account can have this DID: a did:plc of 24 characters of base32, or the did:web of a
/// domain name or of localhost (atproto.com/specs/did, did-method-plc). Checks the DIDs that a user
/// names; records may mention other DIDs. Errors: bad_did, bad_plc_did, bad_did_method,
/// bad_web_did.
Result<void> check_account_did(std::string_view did);

/// Whether a text looks like a CID of any kind, including the kinds that `Cid::parse` refuses: 8 to
/// 256 letters, digits, `+` and `=`, not CIDv0. The lexicons' string format `cid` has this rule.
bool is_cid_text(std::string_view text);

/// The parts of an AT-URI (atproto.com/specs/at-uri-scheme), as views into the text that was
/// parsed.
struct AtUri {
  std::string_view authority;   // a DID or a handle
  std::string_view collection;  // empty when absent
  std::string_view rkey;        // empty when absent
};

/// Parses `at://authority[/collection[/rkey]]` of at most 8192 bytes. The error names the wrong
/// part.
Result<AtUri> parse_at_uri(std::string_view text);

/// A repository path, `collection/rkey` (atproto.com/specs/repository): views into `path`.
struct RepoPath {
  std::string_view collection;
  std::string_view rkey;
};
Result<RepoPath> parse_repo_path(std::string_view path);

/// Whether a text has the lexicons' `uri` format (atproto.com/specs/lexicon#uri): a scheme, a colon
/// and at least one character after the colon, without white space, at most 8192 bytes.
bool is_uri(std::string_view text);

/// Whether a text is a well-formed language tag (RFC 5646, section 2.1), as the lexicons' string
/// format `language` requires. Two rules are narrower than in the RFC, as in the public test
/// vectors: the language is in lower case, and it does not have four letters, which the RFC
/// reserves. Subtags may be unregistered or repeated.
bool is_language_tag(std::string_view text);

/// Reads the account that a person names: a DID, a handle, `@handle`, an AT-URI, or the URL of a
/// profile, post, feed, list or starter pack at https://bsky.app. Of an AT-URI
/// (`at://AUTHORITY[/COLLECTION[/RKEY]]`) only the authority counts. Returns the DID, or the handle
/// in lower case. Errors: bad_account_name, and those of check_account_did.
Result<std::string> parse_account_name(std::string_view text);

}  // namespace skua::atproto
