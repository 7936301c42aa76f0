#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "records/post_content.hpp"
#include "records/reference.hpp"

namespace skua::records {

/// Reads the fields of one object of a record: the record itself, or an object within it. Each
/// accessor names a field of the lexicon, checks its type and takes the field. `extra` contains the
/// fields that no accessor took, and those whose exact value does not follow from the returned
/// value: `bsky.record_json` makes each record from its columns and `extra`, and its JSON encodes
/// to the CID of the record. The reader notes the first fault with its path. After a fault the
/// returned values are meaningless, so a decoder reads all fields without checks and its caller
/// checks `fault` at the end. A reader lives on the stack during the decoding of one record.
class FieldReader {
 public:
  /// Shared state of the readers of one record.
  struct Notes {
    /// The first fault, as its path, a colon and a message. Empty if there is no fault.
    std::string fault;
    std::size_t nuls_removed = 0;
  };

  /// The requirement for a text; `Any` is only valid UTF-8.
  enum class Format : std::uint8_t { Any, AtUri, Uri, Did };

  /// Reads a record. `value` must be a map.
  FieldReader(const atproto::Value& value, Notes& notes) : map_(value), notes_(notes) {}

  /// Reads an object within `parent`, which must outlive this reader. `index` is set if the object
  /// is an item of the list `key`.
  FieldReader(const atproto::Value& value, const FieldReader& parent, std::string_view key,
              std::optional<std::size_t> index = std::nullopt)
      : map_(value), notes_(parent.notes_), parent_(&parent), key_(key), index_(index) {}

  // A required field that is absent is a fault. An optional field that is absent returns nothing.

  std::string_view text(std::string_view key, Format format = Format::Any);
  std::optional<std::string_view> optional_text(std::string_view key, Format format = Format::Any);
  std::int64_t integer(std::string_view key);
  std::optional<std::int64_t> optional_integer(std::string_view key);
  std::optional<bool> optional_boolean(std::string_view key);
  ByteView bytes(std::string_view key);

  TextList texts(std::string_view key, Format format = Format::Any);
  std::optional<TextList> optional_texts(std::string_view key, Format format = Format::Any);

  /// A datetime whose text is not the one that `bsky.time_text` returns also stays in `extra`.
  std::optional<Timestamp> datetime(std::string_view key);
  std::optional<Timestamp> optional_datetime(std::string_view key);

  ActorRef did(std::string_view key);

  // A reference is returned only if the URI names a record by DID and, if `collection` is given, a
  // record of that collection. Otherwise nothing is returned and the field stays in `extra`.

  /// Reads a field that is an AT-URI.
  std::optional<RecordRef> record_uri(std::string_view key, std::string_view collection = {});
  /// Reads a field that is a com.atproto.repo.strongRef.
  std::optional<RecordRef> strong_ref(std::string_view key, std::string_view collection = {});
  std::optional<RecordRef> optional_strong_ref(std::string_view key,
                                               std::string_view collection = {});

  /// The MIME type and the size of a blob of the record itself stay in `extra`, below the key of
  /// the blob with a `$` before it.
  Blob blob(std::string_view key);
  std::optional<Blob> optional_blob(std::string_view key);

  /// Reads the values of com.atproto.label.defs#selfLabels. Labels of another type stay in `extra`.
  std::optional<TextList> optional_self_labels(std::string_view key);

  /// Reads an object. The object is not a part of `extra`, unless the caller returns it with
  /// `keep`.
  std::optional<FieldReader> object(std::string_view key);
  std::optional<FieldReader> optional_object(std::string_view key);
  /// Reads an object of an open union. The object has a `$type`, which may be unknown to this
  /// program.
  std::optional<FieldReader> union_object(std::string_view key);
  std::optional<FieldReader> optional_union_object(std::string_view key);

  /// Calls `visit(FieldReader&)` with each object of a list. Returns false if the field is absent.
  template <class F>
  bool each_object(std::string_view key, F&& visit) {
    const auto list = take_list(key);
    if (!list) return false;
    std::size_t index = 0;
    for (const auto item : list->items()) {
      FieldReader reader(item, *this, key, index++);
      if (reader.check_map()) visit(reader);
    }
    return true;
  }
  /// Calls `visit(FieldReader&)` with each object of a list of open unions. Returns false if the
  /// field is absent.
  template <class F>
  bool each_union_object(std::string_view key, F&& visit) {
    return each_object(key, [&](FieldReader& item) {
      if (item.check_type()) visit(item);
    });
  }

  /// Notes a fault if the field is absent. Used for required lists.
  void require(std::string_view key);

  /// Returns the object's `$type`, or an empty text if there is none.
  std::string_view type() const;

  /// Takes a field without a check and returns its JSON text, or an empty text if the field is
  /// absent.
  std::string json(std::string_view key);

  /// Adds a field to `extra` although an accessor took it.
  void keep(std::string_view key);
  /// Whether all fields were taken. The `$type` of a union or blob counts as taken, that of another
  /// object does not, because its value follows from nothing.
  bool complete() const;
  /// Returns a JSON object of the fields that were not taken, or an empty text if there are none. A
  /// `$type` is left out, and a missing one is null.
  std::string extra() const;

  /// Notes a fault of the field `key`, or of this object if `key` is empty.
  void fail(std::string_view key, std::string_view fault);
  bool failed() const { return !notes_.fault.empty(); }

 private:
  /// Takes the field and returns its value.
  std::optional<atproto::Value> take(std::string_view key);
  std::optional<atproto::Value> take_required(std::string_view key);
  std::optional<atproto::Value> take_list(std::string_view key);
  bool was_taken(std::string_view key) const;
  void append_blob(std::string& out, std::string_view key, const atproto::Value& value) const;
  bool check_map();
  bool check_type();

  std::string_view as_text(std::string_view key, const atproto::Value& value, Format format);
  std::int64_t as_integer(std::string_view key, const atproto::Value& value);
  TextList as_texts(std::string_view key, const atproto::Value& value, Format format);
  std::optional<Timestamp> as_datetime(std::string_view key, const atproto::Value& value);
  std::optional<RecordRef> as_strong_ref(std::string_view key, const atproto::Value& value,
                                         std::string_view collection);
  Blob as_blob(std::string_view key, const atproto::Value& value);
  std::optional<FieldReader> as_object(std::string_view key, const atproto::Value& value);

  void append_path(std::string& path) const;

  atproto::Value map_;
  Notes& notes_;
  const FieldReader* parent_ = nullptr;
  std::string_view key_;
  std::optional<std::size_t> index_;
  /// The keys that were taken, by their position in the block. No lexicon has more fields than this
  /// array; a field beyond the limit would also stay in `extra`.
  std::array<const char*, 16> taken_{};
  std::size_t taken_count_ = 0;
  /// Whether the object states the `$type` that its lexicon requires.
  bool has_type_ = false;
  /// The keys of blobs whose MIME type and size are a part of `extra`. No record has more.
  std::array<const char*, 2> blobs_{};
  std::size_t blob_count_ = 0;
};

}  // namespace skua::records
