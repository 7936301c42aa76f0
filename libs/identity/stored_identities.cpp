#include "identity/stored_identities.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "store/outage.hpp"

namespace skua::identity {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto kTablePause = std::chrono::seconds(10);

}  // namespace

std::shared_ptr<const Identity> identity_of(const IdentityRow& row) {
  const auto multikey = atproto::Multikey::parse(row.signing_key);
  if (!multikey) return nullptr;
  auto key = atproto::VerifyingKey::from_multikey(*multikey);
  if (!key) return nullptr;
  std::optional<atproto::Multikey> label_key;
  if (const auto found = atproto::Multikey::parse(row.label_key)) label_key = *found;
  return std::make_shared<const Identity>(
      Identity{row.did, *std::move(key), row.pds, row.handle, row.fetched_at, label_key});
}

IdentityRow row_of(const Identity& identity) {
  return {.did = identity.did,
          .signing_key = identity.key.multikey().to_string(),
          .pds = identity.pds,
          .handle = identity.handle,
          .fetched_at = identity.fetched_at,
          .label_key = identity.label_key ? identity.label_key->to_string() : std::string()};
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
