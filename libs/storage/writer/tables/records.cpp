#include "writer/tables/keyed_table.hpp"

namespace skua::writer {
namespace {

using postgres::Array;

/// The table `bsky.records`. It has the records of every collection without a table of its own, and
/// records that break their lexicon.
class RecordsTable : public KeyedTable {
 public:
  RecordsTable() : KeyedTable("records", Key::ManyCollections, kColumns, {}, "") {}

  std::int32_t collection_id() const override { return 0; }

  void fill(postgres::CopyRows& rows, Events events, Timestamp indexed_at) const override {
    for (const event::ResolvedEvent* event : events) {
      rows.row();
      append_key(rows, *event);
      rows.int8(static_cast<std::int64_t>(event->change().rev.value));
      rows.bytea(event->change().cid.value().digest);
      rows.json(event->record().json);
      if (const auto& reason = event->record().invalid_reason) {
        rows.text(*reason);
      } else {
        rows.null();
      }
      if (event->record().needs_block) {
        rows.bytea(event->change().block);
      } else {
        rows.null();
      }
      rows.timestamp(indexed_at);
    }
  }

  void append_columns(postgres::Params& params, Events events) const override {
    using event::ResolvedEvent;
    using postgres::column;
    params.array(column(events, [](const ResolvedEvent* event) { return event->change().rev; }));
    params.array(column(
        events, [](const ResolvedEvent* event) -> const auto& {
          return event->change().cid.value().digest;
        }));
    params.array(column(
        events, [](const ResolvedEvent* event) -> const auto& { return event->record().json; }));
    params.array(column(
        events,
        [](const ResolvedEvent* event) -> const auto& { return event->record().invalid_reason; }));
    postgres::Array blocks(Array::Type::bytea);
    for (const ResolvedEvent* event : events) {
      if (event->record().needs_block) {
        blocks.bytea(event->change().block);
      } else {
        blocks.null();
      }
    }
    params.array(blocks);
  }

  CountedReferences references_of(const event::ResolvedEvent& /*event*/) const override {
    return {};
  }

 private:
  inline static const std::vector<BatchColumn> kColumns = {
      {"rev", Array::Type::int8, ""},
      {"cid", Array::Type::bytea, ""},
      {"record", Array::Type::text, "::jsonb"},
      {"invalid_reason", Array::Type::text, ""},
      {"block", Array::Type::bytea, ""}};
};

}  // namespace

const TableWriter& records_table() {
  static const RecordsTable kTable;
  return kTable;
}

}  // namespace skua::writer
