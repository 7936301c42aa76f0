#include "tables/change_log.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "tables/change_log.sql.hpp"

namespace skua::tables {
namespace {

/// Returns the values of labels, or nothing if the block has no label.
std::optional<postgres::Array> label_values(const std::vector<Change>& changes) {
  const auto is_label = [](const Change& change) { return change.kind == ChangeKind::Label; };
  if (std::ranges::none_of(changes, is_label)) return std::nullopt;
  return postgres::column(changes, [&](const Change& change) {
    return is_label(change) ? std::optional<std::string_view>(change.val) : std::nullopt;
  });
}

}  // namespace

bool is_logging_changes(postgres::Session& session) {
  return session.query_one<bool>(sql::log_is_logging);
}

std::int64_t append_changes(postgres::Session& session, const ChangeBlock& block) {
  const auto& changes = block.changes;
  const auto& references = block.references;
  const auto number = [](auto member) {
    return
        [member](const auto& item) { return static_cast<std::int16_t>(std::invoke(member, item)); };
  };
  return session.query_one<std::int64_t>(
      sql::log_append, postgres::column(changes, number(&Change::kind)),
      postgres::column(changes, number(&Change::operation)),
      postgres::column(changes, &Change::actor_id),
      postgres::column(changes, &Change::collection_id), postgres::column(changes, &Change::rkey),
      postgres::column(changes, &Change::rev), postgres::column(changes, &Change::cid),
      label_values(changes),
      postgres::column(
          references,
          [](const ChangedReference& one) { return static_cast<std::int32_t>(one.change); }),
      postgres::column(references, number(&ChangedReference::role)),
      postgres::column(references, &ChangedReference::delta),
      postgres::column(references, [](const ChangedReference& one) { return one.target.actor_id; }),
      postgres::column(references,
                       [](const ChangedReference& one) { return one.target.collection_id; }),
      postgres::column(references, [](const ChangedReference& one) { return one.target.rkey; }));
}

void lock_change_log_mode(postgres::Session& session) {
  session.execute(sql::log_lock_mode);
}

bool end_bootstrap_in_log(postgres::Session& session) {
  return session.query_one<bool>(sql::log_end_bootstrap);
}

std::int32_t check_change_log_timeline(postgres::Session& session) {
  return session.query_one<std::int32_t>(sql::log_check_timeline);
}

}  // namespace skua::tables
