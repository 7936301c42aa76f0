#include "lexicon_store/added_checks.hpp"

#include <utility>
#include <vector>

#include "lexicon/lexicon_error.hpp"
#include "lexicon_store/added_checks.sql.hpp"
#include "lexicon_store/document.hpp"

namespace skua::lexicon_store {

std::shared_ptr<const AddedChecks> load_added_checks(
    store::Session& session, const std::shared_ptr<const AddedChecks>& known) {
  const std::int64_t version = session.query_one<std::int64_t>(sql::lexicons_version);
  if (known && known->version == version) return known;
  auto checks = std::make_shared<AddedChecks>();
  checks->version = version;
  const auto documents = session.query<Document>(sql::lexicons_documents);
  if (documents.empty()) return checks;
  try {
    checks->schema = schema_of(documents);
  } catch (const lexicon::LexiconError& error) {
    checks->fault = error.what();
  }
  return checks;
}

}  // namespace skua::lexicon_store
