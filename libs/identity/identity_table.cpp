#include "identity/identity_table.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "atproto/multikey.hpp"
#include "atproto/signing.hpp"
#include "identity/identity_table.sql.hpp"
#include "store/outage.hpp"

namespace skua::identity {
namespace {

const std::string kInsert =
    "INSERT INTO skua.identities AS t (did, signing_key, pds, handle, fetched_at, operation_at, "
    "label_key, created_at) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], "
    "$5::timestamptz[], $6::timestamptz[], $7::text[], $8::timestamptz[]) ON CONFLICT (did) DO "
    "UPDATE SET signing_key "
    "= EXCLUDED.signing_key, "
    "pds = EXCLUDED.pds, handle = EXCLUDED.handle, fetched_at = EXCLUDED.fetched_at, "
    "operation_at = EXCLUDED.operation_at, label_key = EXCLUDED.label_key, "
    "created_at = coalesce(t.created_at, EXCLUDED.created_at) ";

const store::Statement kSave{"identities_save",
                             kInsert + "WHERE t.fetched_at <= EXCLUDED.fetched_at"};

// A document that was fetched after the operation was made knows it already, and maybe more.
const store::Statement kImport{
    "identities_import",
    kInsert + "WHERE coalesce(t.operation_at, t.fetched_at) <= EXCLUDED.operation_at"};

void add_time(store::Array& column, const std::optional<Timestamp>& time) {
  if (time) {
    column.timestamp(*time);
  } else {
    column.null();
  }
}

void add_text(store::Array& column, const std::string& text) {
  if (text.empty()) {
    column.null();
  } else {
    column.text(text);
  }
}

std::size_t write(store::Session& session, const store::Statement& statement,
                  std::vector<IdentityRow>& rows) {
  if (rows.empty()) return 0;
  using store::Array;
  // By the conflict key, so that two writers never wait for each other in a circle.
  std::sort(rows.begin(), rows.end(),
            [](const auto& left, const auto& right) { return left.did < right.did; });
  Array dids(Array::Type::text);
  Array keys(Array::Type::text);
  Array hosts(Array::Type::text);
  Array handles(Array::Type::text);
  Array fetched(Array::Type::timestamptz);
  Array operations(Array::Type::timestamptz);
  Array label_keys(Array::Type::text);
  Array creations(Array::Type::timestamptz);
  for (const auto& row : rows) {
    dids.text(row.did);
    add_text(keys, row.signing_key);
    add_text(hosts, row.pds);
    add_text(handles, row.handle);
    fetched.timestamp(row.fetched_at);
    add_text(label_keys, row.label_key);
    add_time(operations, row.operation_at);
    add_time(creations, row.created_at);
  }
  store::Params params;
  params.array(dids).array(keys).array(hosts).array(handles).array(fetched).array(operations);
  params.array(label_keys).array(creations);
  return session.execute(statement, params).affected();
}

using SteadyClock = std::chrono::steady_clock;

constexpr auto kTablePause = std::chrono::seconds(10);

/// Nothing: there is none, or it is no point of its curve.
std::optional<atproto::Multikey> key_of_text(std::string_view text) {
  const auto key = atproto::Multikey::parse(text);
  if (!key || !atproto::VerifyingKey::from_multikey(*key)) return std::nullopt;
  return *key;
}

}  // namespace

std::vector<IdentityRow> load_identities(store::Session& session,
                                         std::span<const std::string> dids) {
  std::vector<IdentityRow> found;
  if (dids.empty()) return found;
  store::Array asked(store::Array::Type::text);
  for (const auto& did : dids) asked.text(did);
  store::Params params;
  params.array(asked);
  const auto rows = session.execute(sql::identities_load, params);
  found.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.push_back({std::string(rows.text(i, 0)), std::string(rows.text(i, 1)),
                     std::string(rows.text(i, 2)), std::string(rows.text(i, 3)),
                     Timestamp(std::chrono::microseconds(rows.int8(i, 4))), std::nullopt,
                     std::string(rows.text(i, 5))});
    if (!rows.is_null(i, 6)) {
      found.back().current_at = Timestamp(std::chrono::microseconds(rows.int8(i, 6)));
    }
  }
  return found;
}

void save_identities(store::Session& session, std::vector<IdentityRow> rows) {
  write(session, kSave, rows);
}

std::size_t import_identities(store::Session& session, std::vector<IdentityRow> rows) {
  const std::size_t written = write(session, kImport, rows);
  if (written == rows.size()) return written;
  store::Array dids(store::Array::Type::text);
  store::Array creations(store::Array::Type::timestamptz);
  for (const IdentityRow& row : rows) {
    if (!row.created_at) continue;
    dids.text(row.did);
    creations.timestamp(*row.created_at);
  }
  store::Params params;
  params.array(dids).array(creations);
  session.execute(sql::identities_set_creation, params);
  return written;
}

std::optional<Account> account_of(const IdentityRow& row) {
  Account account{.did = row.did,
                  .key = key_of_text(row.signing_key),
                  .pds = row.pds,
                  .handle = row.handle,
                  .label_key = key_of_text(row.label_key),
                  .fetched_at = row.fetched_at};
  if (!account.label_key && (!account.key || account.pds.empty())) return std::nullopt;
  return account;
}

IdentityRow row_of(const Account& account) {
  return {.did = account.did,
          .signing_key = account.key ? account.key->to_string() : std::string(),
          .pds = account.pds,
          .handle = account.handle,
          .fetched_at = account.fetched_at,
          .label_key = account.label_key ? account.label_key->to_string() : std::string()};
}

std::vector<IdentityRow> StoredIdentities::load(const std::vector<std::string>& dids) {
  std::vector<IdentityRow> rows;
  perform([&](store::Session& session) { rows = load_identities(session, dids); });
  return rows;
}

void StoredIdentities::save(std::vector<IdentityRow> rows) {
  if (rows.empty()) return;
  perform([&](store::Session& session) { save_identities(session, std::move(rows)); });
}

void StoredIdentities::perform(const std::function<void(store::Session&)>& work) {
  if (url_.empty() || SteadyClock::now() < away_until_) return;
  try {
    if (!session_ || !session_->connected()) {
      session_ = std::make_unique<store::Session>(url_, name_);
    }
    work(*session_);
  } catch (const store::DefectError&) {
    throw;
  } catch (const store::SqlError& error) {
    session_.reset();
    away_until_ = SteadyClock::now() + kTablePause;
    store::log_retry("identity",
                     fmt::format("working without skua.identities for {} s", kTablePause.count()),
                     error);
  }
}

}  // namespace skua::identity
