#include "records/feed_generator.hpp"
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

}  // namespace skua::writer
