#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "query_note.hpp"

namespace skua::cli {
namespace {

using store::Statement;

const Statement kAccount{
    "query_subject_account",
    "SELECT a.did, coalesce(a.handle, a.did), a.active IS NOT FALSE, coalesce(a.status, ''), "
    "coalesce(r.state, '') FROM bsky.actors AS a LEFT JOIN skua.repositories AS r ON r.did = a.did "
    "WHERE a.id = bsky.actor_id($1::text)"};
// A stub is a post that others refer to. Other records have no stubs.
const Statement kRecord{
    "query_subject_record",
    "SELECT bsky.record_json($1::text) IS NOT NULL, p.actor_id IS NOT NULL OR EXISTS (SELECT FROM "
    "bsky.backlinks($1::text, 1)), coalesce(p.is_deleted, false) FROM (SELECT) AS one LEFT JOIN "
    "bsky.resolve_uri($1::text) AS k ON true LEFT JOIN bsky.posts AS p ON k.collection_id = 1 AND "
    "(p.actor_id, p.rkey) = (k.actor_id, k.rkey)"};

/// Looks up what the arguments name, and notes what is not stored of it.
class Subjects {
 public:
  Subjects(store::Session& session, const Invocation& invocation)
      : session_(session), invocation_(invocation) {}

  void look_at_account(const std::string& name) {
    const store::Rows rows = session_.execute(kAccount, store::Params().text(name));
    if (rows.empty()) throw unknown_account(name);
    const std::string shown(rows.text(0, 1));
    if (!rows.boolean(0, 2)) {
      const std::string_view status = rows.text(0, 3);
      notes_.push_back({fmt::format("the account {} is {}: its records are not shown", shown,
                                    status.empty() ? "inactive" : status),
                        {}});
    } else if (rows.text(0, 4) != "complete") {
      notes_.push_back({fmt::format("the repository of {} is not complete in this database: its "
                                    "older records may be missing",
                                    shown),
                        {backfill(shown)}});
    }
  }

  void look_at_record(const std::string& uri) {
    const std::string account =
        uri.substr(kScheme.size(), uri.find('/', kScheme.size()) - kScheme.size());
    if (session_.execute(kAccount, store::Params().text(account)).empty()) {
      throw unknown_account(account);
    }
    const store::Rows rows = session_.execute(kRecord, store::Params().text(uri));
    if (rows.boolean(0, 0)) return;
    if (rows.boolean(0, 2)) {
      notes_.push_back({fmt::format("the post {} was deleted", uri), {}});
    } else if (rows.boolean(0, 1)) {
      notes_.push_back(
          {fmt::format("the record {} is not stored, only records that refer to it", uri),
           {backfill(account)}});
    } else {
      throw std::runtime_error(
          fmt::format("the record {} is not in the database, and no record refers to it. To "
                      "download the repository of its account:\n  {}",
                      uri, backfill(account)));
    }
  }

  /// Records without a table may name an account that has no number.
  void look_at_target(const std::string& target) {
    if (target.find('/', kScheme.size()) != std::string::npos && target.starts_with(kScheme)) {
      look_at_record(target);
    } else if (!target.starts_with("did:")) {
      look_at_account(target);
    }
  }

  std::vector<QueryNote> take_notes() { return std::move(notes_); }

 private:
  static constexpr std::string_view kScheme = "at://";

  std::string backfill(const std::string& account) const {
    return invocation_.command_to_copy("backfill " + account);
  }

  std::runtime_error unknown_account(const std::string& name) const {
    if (name.starts_with("did:")) {
      return std::runtime_error(
          fmt::format("the account {} is not in the database. To download its repository:\n  {}",
                      name, backfill(name)));
    }
    return std::runtime_error(
        fmt::format("no account in the database has the handle {}. To look its DID up, which may "
                    "be stored without the handle, and to download its repository:\n  {}\n  {}",
                    name, invocation_.command_to_copy("identity " + name), backfill(name)));
  }

  store::Session& session_;
  const Invocation& invocation_;
  std::vector<QueryNote> notes_;
};

}  // namespace

std::vector<QueryNote> missing_subjects(store::Session& session, const NamedQuery& query,
                                        const std::vector<std::string>& values,
                                        const Invocation& invocation) {
  Subjects subjects(session, invocation);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& argument = query.arguments[i];
    if (argument == "account" || argument == "labeler") subjects.look_at_account(values[i]);
    if (argument == "post" || argument == "record") subjects.look_at_record(values[i]);
    if (argument == "target") subjects.look_at_target(values[i]);
  }
  return subjects.take_notes();
}

}  // namespace skua::cli
