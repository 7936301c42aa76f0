#include "writer/table_writer.hpp"

#include <array>

#include "records/record.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

const TableWriter* table_of(std::int32_t collection_id) {
  static const auto kTables = [] {
    std::array<const TableWriter*, records::kTypedCollections + 1> tables{};
    records::for_each_collection([&]<class R>() {
      tables[static_cast<std::size_t>(R::kCollectionId)] = &table_definition<R>();
    });
    return tables;
  }();
  if (collection_id < 0 || static_cast<std::size_t>(collection_id) >= kTables.size()) {
    return nullptr;
  }
  return kTables[static_cast<std::size_t>(collection_id)];
}

}  // namespace skua::writer
