#include "records/services.hpp"

#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::FeedGenerator;

template <>
const TableDefinition<FeedGenerator>& table_definition<FeedGenerator>() {
  static const auto kColumns =
      ColumnList<FeedGenerator>()
          .column<&FeedGenerator::service_did>("service_did")
          .column<&FeedGenerator::display_name>("display_name")
          .column<&FeedGenerator::description>("description")
          .json<&FeedGenerator::description_facets_json>("description_facets")
          .column<&FeedGenerator::avatar>("avatar_cid")
          .column<&FeedGenerator::accepts_interactions>("accepts_interactions")
          .column<&FeedGenerator::content_mode>("content_mode")
          .column<&FeedGenerator::labels>("labels");
  static const TableDefinition<FeedGenerator> kTable("feed_generators", kColumns);
  return kTable;
}

using records::Labeler;

template <>
const TableDefinition<Labeler>& table_definition<Labeler>() {
  static const auto kColumns = ColumnList<Labeler>()
                                   .json<&Labeler::policies_json>("policies")
                                   .column<&Labeler::labels>("labels")
                                   .column<&Labeler::reason_types>("reason_types")
                                   .column<&Labeler::subject_types>("subject_types")
                                   .column<&Labeler::subject_collections>("subject_collections");
  static const TableDefinition<Labeler> kTable("labelers", kColumns);
  return kTable;
}

}  // namespace skua::writer
