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
/// accessor names a field of the lexicon, checks its type and takes it; what nobody took is
/// `extra`. The first thing that is wrong is noted with its path, and from then on the values given
/// out mean nothing: a decoder reads straight through and its caller asks `fault` once. Lives on
/// the stack of one decode.
class FieldReader {
 public:
  /// Shared state of the readers of one record.
  struct Notes {
    /// The first fault: its path, a colon and a message. Empty when there is none.
    std::string fault;
    std::size_t nuls_removed = 0;
  };

  /// The requirement for a text; `Any` is only valid UTF-8.
  enum class Format : std::uint8_t { Any, AtUri, Uri, Did };

  /// The record. `value` must be a map.
  FieldReader(const atproto::Value& value, Notes& notes) : map_(value), notes_(notes) {}

  /// An object within `parent`, which must outlive this. `index` when it is an item of the list
  /// `key`.
  FieldReader(const atproto::Value& value, const FieldReader& parent, std::string_view key,
              std::optional<std::size_t> index = std::nullopt)
      : map_(value), notes_(parent.notes_), parent_(&parent), key_(key), index_(index) {}

  // A required field notes a fault when it is absent; an optional one gives nothing.

  std::string_view text(std::string_view key, Format format = Format::Any);
  std::optional<std::string_view> optional_text(std::string_view key, Format format = Format::Any);
  std::int64_t integer(std::string_view key);
  std::optional<std::int64_t> optional_integer(std::string_view key);
  std::optional<bool> optional_boolean(std::string_view key);
  ByteView bytes(std::string_view key);

  TextList texts(std::string_view key, Format format = Format::Any);
  std::optional<TextList> optional_texts(std::string_view key, Format format = Format::Any);

  /// A datetime that is finer than a microsecond stays in `extra` too.
  std::optional<Timestamp> datetime(std::string_view key);
  std::optional<Timestamp> optional_datetime(std::string_view key);

  ActorRef did(std::string_view key);

  // References are filled only when the URI names a record by DID and, where `collection` is given,
  // of that collection. Otherwise nothing is given and the field stays in `extra`.

  /// A field that is an AT-URI.
  std::optional<RecordRef> record_uri(std::string_view key, std::string_view collection = {});
  /// A field that is a com.atproto.repo.strongRef.
  std::optional<RecordRef> strong_ref(std::string_view key, std::string_view collection = {});
  std::optional<RecordRef> optional_strong_ref(std::string_view key,
                                               std::string_view collection = {});

  Blob blob(std::string_view key);
  std::optional<Blob> optional_blob(std::string_view key);

  /// Values of com.atproto.label.defs#selfLabels. Labels of another type stay in `extra`.
  std::optional<TextList> optional_self_labels(std::string_view key);

  /// An object. It does not reach `extra` unless it is given back with `keep`.
  std::optional<FieldReader> object(std::string_view key);
  std::optional<FieldReader> optional_object(std::string_view key);
  /// The same for an open union: an object with `$type`, which may be one that is not known here.
  std::optional<FieldReader> union_object(std::string_view key);
  std::optional<FieldReader> optional_union_object(std::string_view key);

  /// Calls `visit(FieldReader&)` with each object of a list. False: the field is absent.
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
  /// The same for a list of open unions.
  template <class F>
  bool each_union_object(std::string_view key, F&& visit) {
    return each_object(key, [&](FieldReader& item) {
      if (item.check_type()) visit(item);
    });
  }

  /// Notes a fault when the field is absent. For lists that are required.
  void require(std::string_view key);

  /// The object's `$type`, empty when it has none.
  std::string_view type() const;

  /// JSON text of a field, empty when it is absent. Takes it without a check.
  std::string json(std::string_view key);

  /// Gives a field back: it goes to `extra` though it was read.
  void keep(std::string_view key);
  /// True when every field was taken, `$type` aside.
  bool complete() const;
  /// A JSON object of the fields that nobody took, `$type` aside; empty when there are none.
  std::string extra() const;

  /// Notes a fault of the field `key`, or of this object when `key` is empty.
  void fail(std::string_view key, std::string_view fault);
  bool failed() const { return !notes_.fault.empty(); }

 private:
  /// The field's value, taken.
  std::optional<atproto::Value> take(std::string_view key);
  std::optional<atproto::Value> take_required(std::string_view key);
  std::optional<atproto::Value> take_list(std::string_view key);
  bool was_taken(std::string_view key) const;
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
  /// Keys that were taken, by where they stand in the block. No lexicon has more fields than this;
  /// a field beyond it would stay in `extra` as well.
  std::array<const char*, 16> taken_{};
  std::size_t taken_count_ = 0;
};

}  // namespace skua::records
