#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "atproto/multikey.hpp"
#include "base/time.hpp"

namespace skua::identity {

/// An account as its DID document describes it (atproto.com/specs/did): the only value of this
/// kind. Documents are read into it, caches keep it, and verification and downloads use it. An
/// account has a repository (`key` and `pds`), or labels others (`label_key`), or both.
struct Account {
  std::string did = {};
  /// The key of the verification method `#atproto`, which signs the commits of the repository. It
  /// is a point of its curve. Nothing: a labeler has none, or none that can be used.
  std::optional<atproto::Multikey> key = {};
  /// The origin of the account's host, `https://host[:port]`, without a slash at the end; empty:
  /// not known.
  std::string pds = {};
  /// The first handle in alsoKnownAs, in lower case; empty: none. Claimed, not verified.
  std::string handle = {};
  /// The key of the verification method `#atproto_label`, which signs labels; nothing: there is
  /// none, or none that can be used.
  std::optional<atproto::Multikey> label_key = {};
  /// The origin of its labeler, the service `#atproto_labeler`; empty: it has none, or none that
  /// can be used. Not stored: known only of a document that was just fetched.
  std::string labeler = {};
  /// When the document was fetched; the epoch: it comes from a file.
  Timestamp fetched_at = {};

  friend bool operator==(const Account&, const Account&) = default;

  /// False also for a document from the future: a wrong clock wrote its time, and its age is not
  /// known.
  bool is_younger_than(std::chrono::seconds max_age, Timestamp now) const {
    return fetched_at <= now && now - fetched_at < max_age;
  }
};

}  // namespace skua::identity
