#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/account_number.hpp"
#include "postgres/session.hpp"
#include "writer/table_writer.hpp"
#include "writer/tables/table_statements.hpp"

namespace skua::writer {

/// The common part of all tables: finds and removes rows by key. The derived classes write the
/// other columns of a row.
class KeyedTable : public TableWriter {
 public:
  std::size_t upsert(postgres::Session& session, Events events, Timestamp indexed_at,
                     Effects& effects) const override;
  void copy(postgres::Session& session, Events events, Timestamp indexed_at,
            Effects& effects) const override;
  std::size_t merge(postgres::Session& session, Events events,
                    std::span<const AccountNumber> settled, Timestamp indexed_at,
                    Effects& effects) const override;
  std::vector<std::vector<FoundKey>> read_keys(postgres::Session& session,
                                               std::span<const KeyRange> ranges) const override;
  void drop_stubs(postgres::Session& session, Events events) const override;
  std::vector<AccountNumber> actors_with_rows_before(
      postgres::Session& session, std::span<const AccountNumber> actors,
      std::span<const std::int64_t> revs) const override;
  std::vector<StoredRow> rows_before(postgres::Session& session, AccountNumber actor_id,
                                     std::int64_t rev, const std::optional<RecordKey>& after,
                                     std::size_t limit) const override;
  std::size_t remove(postgres::Session& session, Events events, Timestamp indexed_at,
                     Effects& effects) const override;
  std::vector<std::int64_t> read_revs(postgres::Session& session,
                                      std::span<const RecordKey> keys) const override;
  std::size_t purge(postgres::Session& session, AccountNumber actor_id, std::int64_t rev,
                    std::size_t limit, Effects& effects) const override;
  std::string name() const override { return statements_.table(); }
  std::vector<ExpiredRow> expired_rows(postgres::Session& session,
                                       const ExpiredQuestion& question) const override;
  std::size_t discard(postgres::Session& session, std::span<const RecordKey> keys,
                      std::optional<Timestamp> before, Effects& effects) const override;
  std::vector<std::int64_t> count_references(
      postgres::Session& session, std::span<const ReferenceQuestion> questions) const override;

 protected:
  /// The columns of the key: (actor_id, rkey) for a table of one collection, (actor_id,
  /// collection_id, rkey) for a table of many collections.
  enum class Key : std::uint8_t { OneCollection, ManyCollections };

  /// `columns` are the columns that follow the key. `stub_marker` is the marker of
  /// TableStatements::keep_stubs; if it is empty, removals delete the rows. `references` are the
  /// columns of counted references, in the order of `references_of`.
  KeyedTable(const std::string& table, Key key, std::span<const BatchColumn> columns,
             std::span<const ReferenceColumns> references, const std::string& stub_marker);

  const TableStatements& statements() const { return statements_; }
  /// Returns the NSID of `collection_id`, or an empty text for `bsky.records`.
  virtual std::string_view collection() const { return {}; }
  /// Appends one row for each event: the columns of TableStatements::copied, in their order.
  virtual void fill(postgres::CopyRows& rows, Events events, Timestamp indexed_at) const = 0;
  /// Appends the arrays of the columns that follow the key.
  virtual void append_columns(postgres::Params& params, Events events) const = 0;
  /// Returns the counted references of the event's record.
  virtual CountedReferences references_of(const event::ResolvedEvent& event) const = 0;
  void append_key(postgres::CopyRows& rows, const event::ResolvedEvent& event) const;
  /// Appends the arrays of the keys of the events.
  void append_keys(postgres::Params& params, Events events) const;

 private:
  /// The old content of a row, as the statements return it.
  struct OldContent {
    bool had_content = false;
    bool same_cid = false;
    CountedReferences references;
  };

  void append_keys(postgres::Params& params, std::span<const RecordKey> keys) const;
  void copy_into(postgres::Session& session, const std::string& table, Events events,
                 Timestamp indexed_at) const;

  postgres::Params row_params(Events events, Timestamp indexed_at) const;
  OldContent old_content(const postgres::Rows& rows, std::size_t row, std::size_t column) const;
  /// Returns the key in the first columns of a row.
  RecordKey key_in(const postgres::Rows& rows, std::size_t row) const;
  std::size_t key_size() const { return key_ == Key::OneCollection ? 2 : 3; }
  /// Reports that the content of the event's record replaced `old`.
  void replaced(const event::ResolvedEvent& event, const OldContent& old, Effects& effects) const;

  const Key key_;
  const std::vector<ReferenceColumns> references_;
  TableStatements statements_;
};

}  // namespace skua::writer
