#include "world/population.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "world/language.hpp"

namespace skua::sim {
namespace {

/// Every tenth account signs with P-256.
constexpr std::size_t kP256Every = 10;
/// Activity is proportional to 1 / (account number + this): Zipf's law with a flattened top.
constexpr double kShift = 10;

atproto::SigningKey key_of(atproto::Curve curve, const atproto::Digest& secret) {
  auto key = atproto::SigningKey::from_bytes(curve, secret);
  if (!key) throw std::logic_error("a derived number is no private key");
  return *key;
}

}  // namespace

double share_before(std::size_t number, std::size_t count, double spread) {
  const auto weight_before = [spread](std::size_t accounts) {
    const double rank = static_cast<double>(accounts) / kShift;
    return spread == 1 ? std::log1p(rank) : (1 - std::pow(1 + rank, 1 - spread)) / (spread - 1);
  };
  return weight_before(number) / weight_before(count);
}

Population::Population(const NetworkSettings& settings, std::vector<std::string> host_urls)
    : settings_(settings), host_urls_(std::move(host_urls)), random_(settings.seed ^ 0x70706c65U) {
  if (host_urls_.empty()) throw std::invalid_argument("a simulated network needs a host");
}

atproto::SigningKey Population::signing_key(std::size_t number, std::uint64_t generation) const {
  constexpr int kGenerationBits = 24;
  const auto curve =
      number % kP256Every == kP256Every - 1 ? atproto::Curve::p256 : atproto::Curve::k256;
  return key_of(curve, derive(settings_.seed, "signing key",
                              std::uint64_t{number} << kGenerationBits | generation));
}

Account& Population::add(Timestamp now) {
  const std::size_t number = accounts_.size();
  const std::size_t host = random_.below(host_urls_.size());
  PlcOperation genesis;
  const auto rotation_key =
      key_of(atproto::Curve::k256, derive(settings_.seed, "rotation key", number));
  const auto first_key = signing_key(number, 0);
  genesis.rotation_keys = {rotation_key.public_key().to_did_key()};
  genesis.signing_key = first_key.public_key().to_did_key();
  genesis.handle = fresh_handle(host);
  genesis.pds = host_urls_[host];
  sign_plc_operation(genesis, rotation_key);

  const std::string did = plc_did(genesis);
  accounts_.push_back(Account{.number = number,
                              .did = did,
                              .handle = genesis.handle,
                              .host = host,
                              .signing_key = first_key,
                              .rotation_key = rotation_key,
                              .repository = AccountRepository(did, settings_.keep_records),
                              .keys = {},
                              .last_rkey = {},
                              .announced_handle = {},
                              .announced_status = {},
                              .claims = {}});
  ++active_;
  by_did_.emplace(did, number);
  names_.emplace(genesis.handle, number);
  dids_.insert(std::upper_bound(dids_.begin(), dids_.end(), did), did);
  directory_.add(did, std::move(genesis), now);
  return accounts_.back();
}

Account* Population::find(std::string_view did) {
  const auto found = by_did_.find(std::string(did));
  return found == by_did_.end() ? nullptr : &accounts_[found->second];
}

Account* Population::random_active(Random& random) {
  if (active_ == 0) return nullptr;
  for (;;) {
    Account& account = accounts_[random.below(accounts_.size())];
    if (account.status == AccountStatus::active) return &account;
  }
}

Account* Population::random_busy(Random& random) {
  if (settings_.even) return random_active(random);
  if (active_ == 0) return nullptr;
  for (;;) {
    // The inverse of the cumulative distribution gives the account for a random share.
    const double whole = std::log1p(static_cast<double>(accounts_.size()) / kShift);
    const auto number = static_cast<std::size_t>(std::expm1(whole * random.unit()) * kShift);
    Account& account = accounts_[std::min(number, accounts_.size() - 1)];
    if (account.status == AccountStatus::active) return &account;
  }
}

void Population::set_status(Account& account, AccountStatus status) {
  if (account.status == AccountStatus::active) --active_;
  account.status = status;
  if (status == AccountStatus::active) ++active_;
}

std::string Population::fresh_handle(std::size_t host) {
  for (;;) {
    std::string handle = random_name(random_) + ".host" + std::to_string(host + 1) + ".test";
    if (!names_.contains(handle)) return handle;
  }
}

std::optional<std::string> Population::did_of(std::string_view handle) const {
  const auto found = names_.find(std::string(handle));
  if (found == names_.end()) return std::nullopt;
  return accounts_[found->second].did;
}

bool Population::handle_valid(const Account& account) const {
  const auto found = names_.find(account.handle);
  return found != names_.end() && found->second == account.number;
}

void Population::record_operation(Account& account, Timestamp now) {
  const PlcOperation& former = *directory_.newest(account.did);
  PlcOperation operation = former;
  operation.prev = former.cid();
  operation.signing_key = account.signing_key.public_key().to_did_key();
  operation.handle = account.handle;
  operation.pds = host_urls_[account.host];
  if (account.label_key) {
    operation.labeler = {account.label_key->public_key().to_did_key(),
                         account.labeler_url.empty() ? settings_.labeler_url : account.labeler_url};
  }
  sign_plc_operation(operation, account.rotation_key);
  directory_.add(account.did, std::move(operation), now);
}

void Population::change_handle(Account& account, const std::string& handle, Timestamp now) {
  release_handle(account);
  names_[handle] = account.number;
  account.handle = handle;
  record_operation(account, now);
}

void Population::renew_signing_key(Account& account) const {
  account.signing_key = signing_key(account.number, ++account.signing_key_generation);
}

void Population::rotate_key(Account& account, Timestamp now) {
  renew_signing_key(account);
  record_operation(account, now);
}

/// Changes the key for labels, and alternates between the two curves.
void Population::renew_label_key(Account& account, Timestamp now) {
  const std::uint64_t generation = account.label_key_generation++;
  const auto curve = generation % 2 == 0 ? atproto::Curve::k256 : atproto::Curve::p256;
  account.label_key = key_of(curve, derive(settings_.seed, "label key", generation));
  record_operation(account, now);
}

void Population::move(Account& account, std::size_t host, Timestamp now) {
  account.host = host;
  renew_signing_key(account);
  record_operation(account, now);
}

void Population::release_handle(const Account& account) {
  if (handle_valid(account)) names_.erase(account.handle);
}

}  // namespace skua::sim
