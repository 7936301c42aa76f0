#include "identity/stored_identities.hpp"

#include <utility>

#include <fmt/format.h>

#include "atproto/multikey.hpp"
#include "atproto/signing.hpp"
#include "store/outage.hpp"

namespace skua::identity {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto kTablePause = std::chrono::seconds(10);

}  // namespace

std::optional<Account> account_of(const IdentityRow& row) {
  const auto key = atproto::Multikey::parse(row.signing_key);
  if (!key || !atproto::VerifyingKey::from_multikey(*key)) return std::nullopt;
  Account account{.did = row.did,
                  .key = *key,
                  .pds = row.pds,
                  .handle = row.handle,
                  .fetched_at = row.fetched_at};
  if (const auto found = atproto::Multikey::parse(row.label_key)) account.label_key = *found;
  return account;
}

IdentityRow row_of(const Account& account) {
  return {.did = account.did,
          .signing_key = account.key.to_string(),
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
