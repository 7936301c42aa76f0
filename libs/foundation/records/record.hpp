#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "records/declarations.hpp"
#include "records/gates.hpp"
#include "records/lists.hpp"
#include "records/post.hpp"
#include "records/profile.hpp"
#include "records/reactions.hpp"
#include "records/reference.hpp"
#include "records/relations.hpp"
#include "records/services.hpp"

namespace skua::records {

/// A decoded record of a collection that has a table of its own. This list is the registry: the
/// look-up by NSID, the ids and the references are derived from it. Its order is the order of the
/// ids in `bsky.collections`, with frequent collections first. Texts point into the record's block.
///
/// Each struct has the constants `kCollection`, `kCollectionId` (its id in `bsky.collections`),
/// `kType` and `kSingleton` (only a record with the key `self` counts). It has the fields
/// `created_at` and `extra`. `extra` is the text of a JSON object with all content that has no
/// column, or an empty text if there is no such content. `decode` makes the struct from a record.
/// `visit_references` calls its argument with each `ActorRef&` and `RecordRef&` that is set.
using Record = std::variant<std::monostate, Post, Like, Repost, Threadgate, Postgate, FeedGenerator,
                            Follow, Block, List, ListItem, ListBlock, StarterPack, Verification,
                            Profile, Status, ChatDeclaration, NotificationDeclaration,
                            GermDeclaration, Labeler, VisibilityDeclaration>;

/// The number of collections that have a struct.
inline constexpr std::size_t kTypedCollections = std::variant_size_v<Record> - 1;

/// The struct whose `kCollectionId` is `Id`.
template <std::size_t Id>
using TypedRecord = std::variant_alternative_t<Id, Record>;

/// The result of decoding a record.
struct Decoded {
  /// Empty (monostate) if the collection has no struct, or if the record violates its lexicon.
  Record record;
  /// The whole record as JSON text without NULs. Set only if `record` is empty.
  std::string json;
  /// The reason why the record violates its lexicon, as the path of the field, a colon and a
  /// message.
  std::optional<std::string> invalid_reason;
  /// Whether JSON in the database cannot hold the record exactly, so that its block must be kept,
  /// too. Set by the overload for documents.
  bool needs_block = false;
  /// The number of NULs that decoding dropped from the JSON texts (`json`, `extra`, `..._json`).
  std::size_t nuls_removed = 0;
};

/// Decodes a record of any collection. Views in the result live as long as the buffer that was
/// read. A record of a collection with a struct is checked against its lexicon
/// (libs/foundation/lexicon). Decoding never fails: a record that violates its lexicon is kept as
/// JSON with the reason.
Decoded decode_record(std::string_view collection, std::string_view rkey,
                      const atproto::Value& root);

/// Decodes a document in the same way. A document with floats, which atproto forbids, violates
/// every lexicon.
Decoded decode_record(std::string_view collection, std::string_view rkey,
                      const atproto::Document& document);

/// Adds the block of a record that needs its block to the member `$cbor` of its `extra`, in base64.
/// Does nothing for a record without a struct, whose table has a column for the block.
void keep_block(Decoded& decoded, ByteView block);

/// Returns `createdAt` of a record that has a struct.
std::optional<Timestamp> created_at(const Record& record);

/// Returns the type of the collection's struct, or Metadata for a collection without a struct.
RecordType record_type_of(std::string_view collection);

/// Returns `kCollectionId` of the collection's struct, or 0 for a collection without a struct.
std::int32_t typed_collection_id(std::string_view collection);

/// Calls `visit` with each reference of the record that is set, as ActorRef& or RecordRef&.
template <class F>
void visit_references(Record& record, F&& visit) {
  std::visit(
      [&](auto& typed) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(typed)>, std::monostate>) {
          typed.visit_references(visit);
        }
      },
      record);
}

/// Calls `f.template operator()<T>()` for the struct T of each typed collection, in the order of
/// ids.
template <class F>
constexpr void for_each_collection(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<TypedRecord<I + 1>>(), ...);
  }
  (std::make_index_sequence<kTypedCollections>());
}

/// The names of the collections that have a struct, in the order of their ids, which begin at 1.
inline constexpr auto kCollectionNames = [] {
  std::array<std::string_view, kTypedCollections> names;
  std::size_t next = 0;
  for_each_collection([&]<class T>() { names[next++] = T::kCollection; });
  return names;
}();

}  // namespace skua::records
