#include "store/change_log.hpp"

#include <algorithm>

namespace skua::store {
namespace {

const Statement kIsLogging{"log_is_logging", "SELECT skua.is_logging_changes()"};
const Statement kAppend{
    "log_append",
    "SELECT skua.append_changes($1::int2[], $2::int2[], $3::int4[], $4::int4[], $5::int8[], "
    "$6::int8[], $7::bytea[], $8::text[], $9::int4[], $10::int2[], $11::int2[], $12::int4[], "
    "$13::int4[], $14::int8[])"};
const Statement kLockMode{"log_lock_mode", "SELECT skua.lock_change_log_mode()"};
const Statement kEndBootstrap{"log_end_bootstrap", "SELECT skua.end_bootstrap()"};
const Statement kCheckTimeline{"log_check_timeline", "SELECT skua.check_change_log_timeline()"};

void append_label_values(Params& params, const std::vector<Change>& changes) {
  const bool has_labels = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
    return change.kind == ChangeKind::Label;
  });
  if (!has_labels) {
    params.null();
    return;
  }
  Array values(Array::Type::text);
  for (const Change& change : changes) {
    change.kind == ChangeKind::Label ? values.text(change.val) : values.null();
  }
  params.array(values);
}

}  // namespace

bool is_logging_changes(Session& session) {
  return session.execute(kIsLogging, {}).boolean(0, 0);
}

std::int64_t append_changes(Session& session, const ChangeBlock& block) {
  Array kinds(Array::Type::int2);
  Array operations(Array::Type::int2);
  Array actors(Array::Type::int4);
  Array collections(Array::Type::int4);
  Array rkeys(Array::Type::int8);
  Array revs(Array::Type::int8);
  Array cids(Array::Type::bytea);
  for (const Change& change : block.changes) {
    kinds.int2(static_cast<std::int16_t>(change.kind));
    operations.int2(static_cast<std::int16_t>(change.operation));
    actors.int4(change.actor_id);
    collections.int4(change.collection_id);
    rkeys.int8(change.rkey);
    revs.int8(change.rev);
    change.cid ? cids.bytea(*change.cid) : cids.null();
  }
  Array ref_changes(Array::Type::int4);
  Array roles(Array::Type::int2);
  Array deltas(Array::Type::int2);
  Array ref_actors(Array::Type::int4);
  Array ref_collections(Array::Type::int4);
  Array ref_rkeys(Array::Type::int8);
  for (const ChangedReference& reference : block.references) {
    ref_changes.int4(static_cast<std::int32_t>(reference.change));
    roles.int2(static_cast<std::int16_t>(reference.role));
    deltas.int2(reference.delta);
    ref_actors.int4(reference.target.actor_id);
    ref_collections.int4(reference.target.collection_id);
    ref_rkeys.int8(reference.target.rkey);
  }
  Params params;
  params.array(kinds).array(operations).array(actors).array(collections).array(rkeys);
  params.array(revs).array(cids);
  append_label_values(params, block.changes);
  params.array(ref_changes).array(roles).array(deltas).array(ref_actors);
  params.array(ref_collections).array(ref_rkeys);
  return session.execute(kAppend, params).int8(0, 0);
}

void lock_change_log_mode(Session& session) {
  session.execute(kLockMode, {});
}

bool end_bootstrap_in_log(Session& session) {
  return session.execute(kEndBootstrap, {}).boolean(0, 0);
}

std::int32_t check_change_log_timeline(Session& session) {
  return session.execute(kCheckTimeline, {}).int4(0, 0);
}

}  // namespace skua::store
