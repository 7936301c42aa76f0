#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "atproto/cid.hpp"
#include "base/account_number.hpp"

namespace skua::records {

/// The five kinds of records. Each kind has its own lanes, workers and locks, so that kinds never
/// wait for each other.
enum class RecordType : std::uint8_t { Actor, Like, Social, Post, Metadata };

inline constexpr std::array kRecordTypes = {RecordType::Actor, RecordType::Like, RecordType::Social,
                                            RecordType::Post, RecordType::Metadata};

constexpr std::string_view name_of(RecordType type) {
  constexpr std::array<std::string_view, 5> kNames = {"actor", "like", "social", "post",
                                                      "metadata"};
  return kNames[static_cast<std::size_t>(type)];
}

/// Another account that a record names. `id` is 0 until it is resolved to `bsky.actors.id`.
struct ActorRef {
  std::string_view did;
  AccountNumber id = 0;
};

/// Another record that a record names. The views point into the record's block. The decoder sets a
/// reference only if the URI names a record by DID. Any other URI is kept in the record's `extra`.
struct RecordRef {
  std::string_view did;
  std::string_view collection;
  std::string_view rkey;
  /// The CID of a strongRef. Absent if the lexicon has a plain URI.
  std::optional<atproto::Cid> cid;
  /// Whether the row of the referenced post has `cid` as its first CID, so that a row with the
  /// reference need not have it. Set when the reference is resolved.
  bool has_first_cid = false;

  /// `actor_id` is 0 until the reference is resolved.
  AccountNumber actor_id = 0;
  std::int32_t collection_id = 0;
  std::int64_t rkey_number = 0;
};

/// A record's reference to a blob (atproto.com/specs/data-model#blob-type), in the current form
/// `{$type: blob, ref, mimeType, size}` or in the legacy form `{cid, mimeType}`.
struct Blob {
  /// The link of the current form. Absent in the legacy form.
  std::optional<atproto::Cid> ref;
  /// The CID of the legacy form, as the record contains it. Empty in the current form.
  std::string_view legacy_cid;
  std::string_view mime_type;
  /// The size in bytes. Absent in the legacy form.
  std::optional<std::int64_t> size;

  /// Returns the blob's CID as text, for both forms.
  std::string cid_text() const { return ref ? ref->to_string() : std::string(legacy_cid); }
};

}  // namespace skua::records
