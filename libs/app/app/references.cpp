#include "app/references.hpp"

#include "base/time.hpp"
#include "ids/reference_sender.hpp"
#include "postgres/runtime.hpp"

namespace skua::app {

std::vector<std::string> send_references(postgres::Session& session,
                                         const std::string& database_url) {
  postgres::Runtime runtime(database_url, system_clock(), [](const std::string&) {});
  ids::ReferenceSender sender(runtime);
  std::vector<std::string> texts;
  for (const auto& unsent : sender.send_all(session, {})) texts.push_back(unsent.text());
  return texts;
}

}  // namespace skua::app
