#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/session.hpp"
#include "writer/table_writer.hpp"
#include "writer/tables/table_statements.hpp"

namespace skua::writer {

/// What all tables do alike: find and remove rows by key. How a row is written is each one's own.
class KeyedTable : public TableWriter {
 public:
  void copy(store::Session& session, Events events, Timestamp indexed_at) const override;
  std::size_t merge(store::Session& session, Events events, std::span<const std::int32_t> settled,
                    Timestamp indexed_at) const override;
  std::vector<std::vector<FoundKey>> read_keys(store::Session& session,
                                               std::span<const KeyRange> ranges) const override;
  void drop_stubs(store::Session& session, Events events) const override;
  std::vector<std::int32_t> actors_with_rows_before(
      store::Session& session, std::span<const std::int32_t> actors,
      std::span<const std::int64_t> revs) const override;
  std::vector<StoredRow> rows_before(store::Session& session, std::int32_t actor_id,
                                     std::int64_t rev, const std::optional<RowKey>& after,
                                     std::size_t limit) const override;
  std::size_t remove(store::Session& session, Events events, Timestamp indexed_at) const override;
  std::vector<std::int64_t> read_revs(store::Session& session,
                                      std::span<const RowKey> keys) const override;
  std::size_t purge(store::Session& session, std::int32_t actor_id, std::int64_t rev,
                    std::size_t limit) const override;

 protected:
  /// Of one collection the key is (actor_id, rkey), of many (actor_id, collection_id, rkey).
  enum class Key : std::uint8_t { OneCollection, ManyCollections };

  /// `columns`: those behind the key. `stub_marker`: see TableStatements::keep_stubs; empty:
  /// removed rows go.
  KeyedTable(const std::string& table, Key key, std::span<const BatchColumn> columns,
             const std::string& stub_marker);

  const TableStatements& statements() const { return statements_; }
  /// The NSID of `collection_id`; of `bsky.records` nothing.
  virtual std::string_view collection() const { return {}; }
  /// Appends one row an event: the columns of TableStatements::copied, in their order.
  virtual void fill(store::CopyRows& rows, Events events, Timestamp indexed_at) const = 0;
  void append_key(store::CopyRows& rows, const event::ResolvedEvent& event) const;
  /// Appends the arrays of the events' keys.
  void append_keys(store::Params& params, Events events) const;

 private:
  void append_keys(store::Params& params, std::span<const RowKey> keys) const;
  void copy_into(store::Session& session, const std::string& table, Events events,
                 Timestamp indexed_at) const;

  const Key key_;
  TableStatements statements_;
};

}  // namespace skua::writer
