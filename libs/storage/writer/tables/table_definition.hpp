#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "postgres/session.hpp"
#include "records/post_content.hpp"
#include "records/reference.hpp"
#include "writer/tables/keyed_table.hpp"

namespace skua::writer {

/// The columns of a record's table besides the common columns, each with the member of the record
/// that fills it. The common columns (actor_id, rkey, rev, cid, created_at, extra, indexed_at) are
/// added automatically.
template <class R>
class ColumnList {
 public:
  using Append = void (*)(postgres::Values&, const R&);

  struct Column {
    BatchColumn in_batch;
    Append append;
  };

  /// Adds a column for a member of one of the types of record structs. An absent value becomes
  /// null, a list text[], a blob the text of its CID, and an account its id.
  template <auto Member>
  ColumnList& column(std::string name) {
    using Value = std::remove_cvref_t<decltype(std::declval<const R&>().*Member)>;
    return add(std::move(name), kType<Value>, kCast<Value>,
               [](postgres::Values& array, const R& r) { put(array, r.*Member); });
  }

  /// Adds a column for a member that holds JSON text. The text is empty if the value is absent.
  template <auto Member>
  ColumnList& json(std::string name) {
    return add(std::move(name), postgres::Array::Type::text, "::jsonb",
               [](postgres::Values& array, const R& r) {
                 if ((r.*Member).empty()) {
                   array.null();
                 } else {
                   array.json(r.*Member);
                 }
               });
  }

  /// Adds a column for a list, which is null if the list is empty: text[] for texts, int8[] for
  /// accounts.
  template <auto Member>
  ColumnList& list(std::string name) {
    using Value = std::remove_cvref_t<decltype(std::declval<const R&>().*Member)>;
    const bool is_text = !std::is_same_v<Value, std::vector<records::ActorRef>>;
    return add(std::move(name), Type::text, is_text ? "::text[]" : "::int8[]",
               [](postgres::Values& array, const R& r) {
                 if ((r.*Member).empty()) {
                   array.null();
                 } else {
                   put(array, r.*Member);
                 }
               });
  }

  /// Adds a text column for a list of values without spaces: the values, separated by spaces. An
  /// array has 24 bytes more. An empty list becomes an empty text, an absent one null.
  template <auto Member>
  ColumnList& words(std::string name) {
    return add(std::move(name), Type::text, "", [](postgres::Values& array, const R& r) {
      const std::optional<records::TextList>& values = r.*Member;
      if (!values) {
        array.null();
      } else if (values->size() == 1) {
        array.text(values->front());
      } else {
        array.text(fmt::format("{}", fmt::join(*values, " ")));
      }
    });
  }

  /// Adds the columns `<prefix>_actor` and `<prefix>_rkey` of a reference to a record.
  template <auto Member>
  ColumnList& key_of(const std::string& prefix) {
    add(prefix + "_actor", postgres::Array::Type::int8, "",
        [](postgres::Values& array, const R& r) {
          const std::optional<records::RecordRef>& reference = r.*Member;
          reference ? array.int8(reference->actor_id) : array.null();
        });
    return add(prefix + "_rkey", postgres::Array::Type::int8, "",
               [](postgres::Values& array, const R& r) {
                 const std::optional<records::RecordRef>& reference = r.*Member;
                 reference ? array.int8(reference->rkey_number) : array.null();
               });
  }

  /// Adds the column `<prefix>_collection` of a reference that may name any collection.
  template <auto Member>
  ColumnList& collection_of(const std::string& prefix) {
    return add(prefix + "_collection", postgres::Array::Type::int4, "",
               [](postgres::Values& array, const R& r) {
                 const std::optional<records::RecordRef>& reference = r.*Member;
                 reference ? array.int4(reference->collection_id) : array.null();
               });
  }

  /// Adds the column `<prefix>_cid` of a strong reference. It is null if the row of the referenced
  /// post has the CID (ADR 16).
  template <auto Member>
  ColumnList& cid_of(const std::string& prefix) {
    return add(prefix + "_cid", postgres::Array::Type::bytea, "",
               [](postgres::Values& array, const R& r) {
                 const std::optional<records::RecordRef>& reference = r.*Member;
                 reference && reference->cid && !reference->has_first_cid
                     ? array.bytea(reference->cid->digest)
                     : array.null();
               });
  }

  /// Declares a reference that consumers count. `column` or `key_of` declares its columns.
  /// `collection` is the collection of a record reference that has no column for its collection.
  template <auto Member>
  ColumnList& counted(tables::ReferenceRole role, const std::string& prefix, bool counts_once,
                      std::int32_t collection = 0) {
    using Value = std::remove_cvref_t<decltype(std::declval<const R&>().*Member)>;
    Reference reference{{role, counts_once, "t." + prefix + "_actor",
                         std::to_string(collection) + "::int4", "0::int8"},
                        nullptr};
    if constexpr (std::is_same_v<Value, records::ActorRef>) {
      reference.target = [](const R& r) -> std::optional<tables::ReferenceTarget> {
        return tables::ReferenceTarget{(r.*Member).id, 0, 0};
      };
    } else {
      if (collection == 0) reference.columns.collection = "t." + prefix + "_collection";
      reference.columns.rkey = "t." + prefix + "_rkey";
      reference.target = [](const R& r) -> std::optional<tables::ReferenceTarget> {
        const std::optional<records::RecordRef>& to = r.*Member;
        if (!to) return std::nullopt;
        return tables::ReferenceTarget{to->actor_id, to->collection_id, to->rkey_number};
      };
    }
    references_.push_back(std::move(reference));
    return *this;
  }

  /// Declares that consumers count the records of each author under this role.
  ColumnList& counted_author(tables::ReferenceRole role) {
    references_.push_back({{role, false, "t.actor_id", "0::int4", "0::int8"}, nullptr});
    return *this;
  }

  /// The target of a reference. If the pointer is null, the target is the author.
  using Target = std::optional<tables::ReferenceTarget> (*)(const R&);
  struct Reference {
    ReferenceColumns columns;
    Target target;
  };

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Reference>& references() const { return references_; }

 private:
  using Type = postgres::Array::Type;

  template <class Value>
  static constexpr bool kIsText = std::is_same_v<Value, std::string_view> ||
                                  std::is_same_v<Value, std::optional<std::string_view>> ||
                                  std::is_same_v<Value, std::optional<records::TextList>> ||
                                  std::is_same_v<Value, std::optional<records::Blob>>;

  template <class Value>
  static constexpr Type kType =
      kIsText<Value>                                       ? Type::text
      : std::is_same_v<Value, ByteView>                    ? Type::bytea
      : std::is_same_v<Value, records::ActorRef>           ? Type::int8
      : std::is_same_v<Value, std::optional<std::int64_t>> ? Type::int8
      : std::is_same_v<Value, std::optional<std::int32_t>> ? Type::int4
                                                           : Type::boolean;

  template <class Value>
  static constexpr const char* kCast =
      std::is_same_v<Value, std::optional<records::TextList>> ? "::text[]" : "";

  static void put(postgres::Values& array, std::string_view value) { array.text(value); }
  static void put(postgres::Values& array, bool value) { array.boolean(value); }
  static void put(postgres::Values& array, std::int64_t value) { array.int8(value); }
  static void put(postgres::Values& array, std::int32_t value) { array.int4(value); }
  static void put(postgres::Values& array, ByteView value) { array.bytea(value); }
  static void put(postgres::Values& array, const records::ActorRef& value) { array.int8(value.id); }
  static void put(postgres::Values& array, const records::TextList& value) {
    array.text_list(value);
  }
  static void put(postgres::Values& array, const std::vector<std::string>& value) {
    array.text_list(records::TextList(value.begin(), value.end()));
  }
  static void put(postgres::Values& array, const std::vector<records::ActorRef>& value) {
    std::vector<AccountNumber> ids;
    ids.reserve(value.size());
    for (const records::ActorRef& actor : value) ids.push_back(actor.id);
    array.int8_list(ids);
  }
  static void put(postgres::Values& array, const records::Blob& value) {
    array.text(value.cid_text());
  }
  template <class Value>
  static void put(postgres::Values& array, const std::optional<Value>& value) {
    if (value) {
      put(array, *value);
    } else {
      array.null();
    }
  }

  ColumnList& add(std::string name, Type type, std::string cast, Append append) {
    columns_.push_back({{std::move(name), type, std::move(cast)}, append});
    return *this;
  }

  std::vector<Column> columns_;
  std::vector<Reference> references_;
};

/// The table of a typed record.
template <class R>
class TableDefinition : public KeyedTable {
 public:
  /// `stub_marker` is the marker of TableStatements::keep_stubs. If it is empty, removals delete
  /// the rows.
  TableDefinition(const std::string& table, const ColumnList<R>& own,
                  const std::string& stub_marker = {})
      : TableDefinition(table, all_columns(own), own.references(), stub_marker) {}

  std::int32_t collection_id() const override { return R::kCollectionId; }

  std::string_view collection() const override { return R::kCollection; }

  void fill(postgres::CopyRows& rows, Events events, Timestamp indexed_at) const override {
    for (const event::ResolvedEvent* event : events) {
      rows.row();
      append_key(rows, *event);
      rows.int8(static_cast<std::int64_t>(event->change().rev.value));
      rows.bytea(event->change().cid.value().digest);
      const R& record = std::get<R>(event->record().record);
      for (const Column& column : columns_) column.append(rows, record);
      rows.timestamp(indexed_at);
    }
  }

  void append_columns(postgres::Params& params, Events events) const override {
    postgres::Array revs(postgres::Array::Type::int8);
    postgres::Array cids(postgres::Array::Type::bytea);
    for (const event::ResolvedEvent* event : events) {
      revs.int8(static_cast<std::int64_t>(event->change().rev.value));
      cids.bytea(event->change().cid.value().digest);
    }
    params.array(revs).array(cids);
    for (const Column& column : columns_) {
      postgres::Array array(column.in_batch.type);
      for (const event::ResolvedEvent* event : events) {
        column.append(array, std::get<R>(event->record().record));
      }
      params.array(array);
    }
  }

  CountedReferences references_of(const event::ResolvedEvent& event) const override {
    CountedReferences found;
    const R& record = std::get<R>(event.record().record);
    for (const Reference& reference : references_) {
      const auto target = reference.target ? reference.target(record)
                                           : tables::ReferenceTarget{event.actor_id, 0, 0};
      if (target) {
        found.push_back({reference.columns.role, reference.columns.counts_once, *target});
      }
    }
    return found;
  }

 private:
  using Column = typename ColumnList<R>::Column;
  using Reference = typename ColumnList<R>::Reference;

  TableDefinition(const std::string& table, std::vector<Column> columns,
                  std::vector<Reference> references, const std::string& stub_marker)
      : KeyedTable(table, Key::OneCollection, in_batch(columns), columns_of(references),
                   stub_marker),
        columns_(std::move(columns)),
        references_(std::move(references)) {}

  static std::vector<ReferenceColumns> columns_of(const std::vector<Reference>& references) {
    std::vector<ReferenceColumns> columns;
    columns.reserve(references.size());
    for (const Reference& reference : references) columns.push_back(reference.columns);
    return columns;
  }

  static std::vector<Column> all_columns(const ColumnList<R>& own) {
    std::vector<Column> columns = own.columns();
    columns.push_back({{"created_at", postgres::Array::Type::timestamptz, ""},
                       [](postgres::Values& array, const R& r) {
                         r.created_at ? array.timestamp(*r.created_at) : array.null();
                       }});
    ColumnList<R> extra;
    extra.template json<&R::extra>("extra");
    columns.push_back(extra.columns().front());
    return columns;
  }

  static std::vector<BatchColumn> in_batch(const std::vector<Column>& columns) {
    // The values of rev and cid come from the event, and all others from the record.
    std::vector<BatchColumn> result = {{"rev", postgres::Array::Type::int8, ""},
                                       {"cid", postgres::Array::Type::bytea, ""}};
    for (const Column& column : columns) result.push_back(column.in_batch);
    return result;
  }

  const std::vector<Column> columns_;
  const std::vector<Reference> references_;
};

/// Returns the table of records of type R. The table's own file has the specialization.
template <class R>
const TableDefinition<R>& table_definition();

}  // namespace skua::writer
