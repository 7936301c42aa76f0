#include "writer/table_writer.hpp"
#include "writer/tables/table_statements.hpp"

namespace skua::writer {
namespace {

using store::Array;

/// `bsky.records`: every collection without a table of its own, and records that break their
/// lexicon.
class RecordsTable : public TableWriter {
 public:
  std::int32_t collection_id() const override { return 0; }

  std::size_t upsert(store::Session& session, Events events, Timestamp indexed_at) const override {
    store::Params params;
    append_keys(params, events);
    Array revs(Array::Type::int8);
    Array cids(Array::Type::bytea);
    Array records(Array::Type::text);
    Array reasons(Array::Type::text);
    for (const event::ResolvedEvent* event : events) {
      revs.int8(static_cast<std::int64_t>(event->change().rev.value));
      cids.bytea(event->change().cid.value().digest);
      records.text(event->record().json);
      if (const auto& reason = event->record().invalid_reason) {
        reasons.text(*reason);
      } else {
        reasons.null();
      }
    }
    params.array(revs).array(cids).array(records).array(reasons).timestamp(indexed_at);
    return session.execute(statements_.upsert(), params).affected();
  }

  std::size_t remove(store::Session& session, Events events) const override {
    store::Params params;
    append_keys(params, events);
    append_removal(params, events);
    return session.execute(statements_.remove(), params).affected();
  }

  std::vector<std::int64_t> read_revs(store::Session& session,
                                      std::span<const RowKey> keys) const override {
    Array actors(Array::Type::int4);
    Array collections(Array::Type::int4);
    Array rkeys(Array::Type::int8);
    for (const RowKey& key : keys) {
      actors.int4(key.actor_id);
      collections.int4(key.collection_id);
      rkeys.int8(key.rkey);
    }
    store::Params params;
    params.array(actors).array(collections).array(rkeys);
    return revs_by_place(session.execute(statements_.read_revs(), params), keys.size());
  }

 private:
  static void append_keys(store::Params& params, Events events) {
    Array actors(Array::Type::int4);
    Array collections(Array::Type::int4);
    Array rkeys(Array::Type::int8);
    for (const event::ResolvedEvent* event : events) {
      actors.int4(event->actor_id);
      collections.int4(event->collection_id);
      rkeys.int8(event->rkey_number);
    }
    params.array(actors).array(collections).array(rkeys);
  }

  inline static const std::vector<BatchColumn> kKeys = {{"actor_id", Array::Type::int4, ""},
                                                        {"collection_id", Array::Type::int4, ""},
                                                        {"rkey", Array::Type::int8, ""}};
  inline static const std::vector<BatchColumn> kColumns = {
      {"rev", Array::Type::int8, ""},
      {"cid", Array::Type::bytea, ""},
      {"record", Array::Type::text, "::jsonb"},
      {"invalid_reason", Array::Type::text, ""}};

  TableStatements statements_{"records", kKeys, kColumns};
};

}  // namespace

const TableWriter& records_table() {
  static const RecordsTable kTable;
  return kTable;
}

}  // namespace skua::writer
