#include "documents/identity_table.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "atproto/signing.hpp"
#include "documents/identity_table.sql.hpp"
#include "postgres/outage.hpp"

namespace skua::documents {
namespace {

using postgres::column;

std::size_t write(postgres::Session& session, const postgres::Statement& statement,
                  std::vector<IdentityRow>& rows) {
  if (rows.empty()) return 0;
  // Sorts the rows by the conflict key, so that two writers cannot deadlock.
  std::ranges::sort(rows, {}, &IdentityRow::did);
  return session
      .execute(statement, column(rows, &IdentityRow::did), column(rows, &IdentityRow::signing_key),
               column(rows, &IdentityRow::pds), column(rows, &IdentityRow::handle),
               column(rows, &IdentityRow::fetched_at), column(rows, &IdentityRow::operation_at),
               column(rows, &IdentityRow::label_key), column(rows, &IdentityRow::created_at))
      .affected();
}

using SteadyClock = std::chrono::steady_clock;

constexpr auto kTablePause = std::chrono::seconds(10);

/// Returns nothing if there is no key, or if the key is not a point of its curve.
std::optional<atproto::Multikey> key_of_text(std::string_view text) {
  const auto key = atproto::Multikey::parse(text);
  if (!key || !atproto::VerifyingKey::from_multikey(*key)) return std::nullopt;
  return *key;
}

}  // namespace

std::vector<IdentityRow> load_identities(postgres::Session& session,
                                         std::span<const std::string> dids) {
  if (dids.empty()) return {};
  return session.query<IdentityRow>(sql::identities_load, dids);
}

void save_identities(postgres::Session& session, std::vector<IdentityRow> rows) {
  write(session, sql::identities_save, rows);
}

std::size_t import_identities(postgres::Session& session, std::vector<IdentityRow> rows) {
  const std::size_t written = write(session, sql::identities_import, rows);
  if (written == rows.size()) return written;
  session.execute(sql::identities_set_creation, column(rows, &IdentityRow::did),
                  column(rows, &IdentityRow::created_at));
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
  perform([&](postgres::Session& session) { rows = load_identities(session, dids); });
  return rows;
}

void StoredIdentities::save(std::vector<IdentityRow> rows) {
  if (rows.empty()) return;
  perform([&](postgres::Session& session) { save_identities(session, std::move(rows)); });
}

void StoredIdentities::perform(const std::function<void(postgres::Session&)>& work) {
  if (url_.empty() || SteadyClock::now() < away_until_) return;
  try {
    if (!session_ || !session_->connected()) {
      session_ = std::make_unique<postgres::Session>(url_, name_);
    }
    work(*session_);
  } catch (const postgres::DefectError&) {
    throw;
  } catch (const postgres::SqlError& error) {
    session_.reset();
    away_until_ = SteadyClock::now() + kTablePause;
    postgres::log_retry(
        "identity", fmt::format("working without skua.identities for {} s", kTablePause.count()),
        error);
  }
}

}  // namespace skua::documents
