#include "world/network.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "world/activity.hpp"
#include "world/announcements.hpp"
#include "world/hostile.hpp"
#include "world/incidents.hpp"
#include "world/labeler.hpp"
#include "world/population.hpp"
#include "world/record_writer.hpp"
#include "world/subjects.hpp"
#include "world/write_capture.hpp"

namespace skua::sim {

std::string_view status_name(AccountStatus status) {
  switch (status) {
    case AccountStatus::active:
      return "active";
    case AccountStatus::deactivated:
      return "deactivated";
    case AccountStatus::suspended:
      return "suspended";
    case AccountStatus::takendown:
      return "takendown";
    case AccountStatus::deleted:
      return "deleted";
  }
  return {};
}

std::string_view hostility_name(Hostility kind) {
  switch (kind) {
    case Hostility::truncated_frame:
      return "truncated-frame";
    case Hostility::bad_hash:
      return "bad-hash";
    case Hostility::bad_signature:
      return "bad-signature";
    case Hostility::wrong_prev_data:
      return "wrong-prev-data";
    case Hostility::replayed_rev:
      return "replayed-rev";
    case Hostility::future_rev:
      return "future-rev";
  }
  return {};
}

/// Owns the parts of the network and steps them. Each part refers only to earlier ones.
class Network::Impl {
 public:
  Impl(const NetworkSettings& settings, std::vector<std::string> host_urls, Timestamp start,
       Publish publish)
      : last_(start),
        random_(settings.seed),
        hostile_random_(~settings.seed),
        subjects_(settings, start),
        records_(random_, subjects_),
        population_(settings, std::move(host_urls)),
        announcements_(std::move(publish)),
        activity_(random_, records_, announcements_),
        incidents_({random_, subjects_, records_, population_, announcements_, activity_},
                   settings.oddities, settings.one_op_a_path) {
    constexpr std::chrono::hours kOldestAccount{400 * 24};
    for (std::size_t number = 0; number < settings.accounts; ++number) {
      const Account& account = population_.add(start - kOldestAccount);
      subjects_.add_account({account.did, account.handle});
    }
    const auto records_before = [&](std::size_t number) {
      return static_cast<std::size_t>(
          static_cast<double>(settings.records) *
          share_before(number, settings.accounts, settings.records_spread));
    };
    for (std::size_t number = 0; number < settings.accounts; ++number) {
      activity_.found(population_.at(number), records_before(number + 1) - records_before(number),
                      start);
    }
    if (!settings.labeler_url.empty()) {
      labeler_.emplace(settings.seed, 0, population_, subjects_, start);
    }
  }

  std::size_t step(Timestamp now) {
    last_ = std::max(last_, now);
    const std::size_t events = make_step();
    if (labeler_) labeler_->happen(last_);
    return events;
  }

  bool provoke(Hostility kind, Timestamp now) {
    last_ = std::max(last_, now);
    return say_hostile([&](const CommitFrame& commit, const atproto::SigningKey& key) {
      return hostile_message(kind, commit, key, last_);
    });
  }

  bool provoke_as(const std::string& did, std::size_t bytes, Timestamp now) {
    last_ = std::max(last_, now);
    return say_hostile([&](const CommitFrame& commit, const atproto::SigningKey& key) {
      return std::optional(commit_in_name_of(did, bytes, commit, key));
    });
  }

  std::optional<std::size_t> cause(std::string_view incident, Timestamp now) {
    last_ = std::max(last_, now);
    return incidents_.cause(incident, last_);
  }

  Population& population() { return population_; }
  Labeler* labeler() { return labeler_ ? &*labeler_ : nullptr; }

  void rotate_label_key(Timestamp now) {
    last_ = std::max(last_, now);
    Account& account = labeler_->account();
    population_.renew_label_key(account, last_);
    if (account.introduced) {
      announcements_.identity(account, last_);
    } else {
      activity_.introduce(account, last_);
    }
  }

  std::optional<std::string> create_record(std::string_view did, std::string_view nsid,
                                           Timestamp now) {
    last_ = std::max(last_, now);
    Account* const account = population_.find(did);
    const auto collection = collection_of(nsid);
    if (account == nullptr || !collection || account->status != AccountStatus::active) return {};
    auto rkey = records_.new_key(*account, *collection, last_);
    if (!rkey) return {};
    if (!account->introduced) activity_.introduce(*account, last_);
    std::vector<Write> writes;
    writes.push_back(records_.create_at(*account, *collection, *rkey, last_));
    activity_.commit(*account, std::move(writes), last_);
    return rkey;
  }

  bool put_record(std::string_view did, std::string path, Bytes block, Timestamp now) {
    last_ = std::max(last_, now);
    Account* const account = population_.find(did);
    if (account == nullptr || account->status != AccountStatus::active) return false;
    if (!account->introduced) activity_.introduce(*account, last_);
    std::vector<Write> writes;
    writes.push_back({std::move(path), std::move(block)});
    activity_.commit(*account, std::move(writes), last_);
    return true;
  }

  bool identify(std::string_view did, Timestamp now) {
    last_ = std::max(last_, now);
    Account* const account = population_.find(did);
    if (account == nullptr) return false;
    announcements_.identity(*account, last_);
    return true;
  }

  bool delete_record(std::string_view did, std::string_view nsid, Timestamp now) {
    last_ = std::max(last_, now);
    Account* const account = population_.find(did);
    const auto collection = collection_of(nsid);
    if (account == nullptr || !collection || account->keys_of(*collection).empty()) return false;
    std::vector<Write> writes;
    writes.push_back(records_.remove(*account, *collection, 0));
    activity_.commit(*account, std::move(writes), last_);
    return true;
  }

  bool make_labeler(std::string_view did, std::string url, Timestamp now) {
    last_ = std::max(last_, now);
    Account* const account = population_.find(did);
    if (account == nullptr) return false;
    account->labeler_url = std::move(url);
    population_.renew_label_key(*account, last_);
    return true;
  }

 private:
  static std::optional<Collection> collection_of(std::string_view nsid) {
    for (std::size_t i = 0; i < kCollections; ++i) {
      if (nsid_of(static_cast<Collection>(i)) == nsid) return static_cast<Collection>(i);
    }
    return std::nullopt;
  }

  std::size_t make_step() {
    if (const auto events = incidents_.happen(last_)) return *events;
    Account* const account = population_.random_busy(random_);
    return account == nullptr ? incidents_.join(last_) : activity_.act(*account, last_);
  }

  /// Publishes the message that `make` creates from the newest commit of some account, if it can be
  /// made.
  template <class Make>
  bool say_hostile(Make make) {
    const auto& commits = announcements_.commits();
    const std::size_t count = commits.items().size();
    const std::size_t first = count == 0 ? 0 : hostile_random_.below(count);
    for (std::size_t i = 0; i < count; ++i) {
      const CommitFrame& commit = commits.newest((first + i) % count);
      const Account& account = *population_.find(commit.did);
      const bool newest = account.repository.head() == commit.commit;
      if (!newest || account.status != AccountStatus::active) continue;
      std::optional<Message> message = make(commit, account.signing_key);
      if (!message) continue;
      announcements_.hostile(account, std::move(*message));
      return true;
    }
    return false;
  }

  Timestamp last_;
  Random random_;
  /// Hostile messages use a separate generator, so that they do not change honest events.
  Random hostile_random_;
  Subjects subjects_;
  RecordWriter records_;
  Population population_;
  Announcements announcements_;
  Activity activity_;
  Incidents incidents_;
  std::optional<Labeler> labeler_;
};

Network::Network(const NetworkSettings& settings, std::vector<std::string> host_urls,
                 Timestamp start, Publish publish)
    : impl_(std::make_unique<Impl>(settings, std::move(host_urls), start, std::move(publish))) {}

Network::~Network() = default;

std::size_t Network::step(Timestamp now) {
  return impl_->step(now);
}

bool Network::provoke(Hostility kind, Timestamp now) {
  return impl_->provoke(kind, now);
}

bool Network::provoke_as(const std::string& did, std::size_t bytes, Timestamp now) {
  return impl_->provoke_as(did, bytes, now);
}

std::optional<std::size_t> Network::cause(std::string_view incident, Timestamp now) {
  return impl_->cause(incident, now);
}

Labeler* Network::labeler() const {
  return impl_->labeler();
}

void Network::rotate_label_key(Timestamp now) {
  impl_->rotate_label_key(now);
}

std::optional<std::string> Network::create_record(std::string_view did, std::string_view collection,
                                                  Timestamp now) {
  return impl_->create_record(did, collection, now);
}

bool Network::put_record(std::string_view did, std::string path, Bytes block, Timestamp now) {
  return impl_->put_record(did, std::move(path), std::move(block), now);
}

bool Network::identify(std::string_view did, Timestamp now) {
  return impl_->identify(did, now);
}

bool Network::delete_record(std::string_view did, std::string_view collection, Timestamp now) {
  return impl_->delete_record(did, collection, now);
}

bool Network::make_labeler(std::string_view did, std::string url, Timestamp now) {
  return impl_->make_labeler(did, std::move(url), now);
}

const std::vector<std::string>& Network::dids() const {
  return impl_->population().dids();
}

std::optional<AccountView> Network::account(std::string_view did) const {
  Population& population = impl_->population();
  const Account* const account = population.find(did);
  if (account == nullptr) return std::nullopt;
  const AccountRepository& repository = account->repository;
  return AccountView{.did = account->did,
                     .handle = account->handle,
                     .handle_valid = population.handle_valid(*account),
                     .status = account->status,
                     .host = account->host,
                     .head = repository.head().to_string(),
                     .rev = repository.rev().to_string(),
                     .records = repository.records()};
}

std::optional<std::string> Network::resolve_handle(std::string_view handle) const {
  return impl_->population().did_of(handle);
}

nlohmann::ordered_json Network::did_document(std::string_view did) const {
  const PlcOperation* const operation = impl_->population().directory().newest(did);
  return operation == nullptr ? nlohmann::ordered_json()
                              : plc_document(std::string(did), *operation);
}

nlohmann::ordered_json Network::plc_audit(std::string_view did) const {
  return impl_->population().directory().audit(did);
}

nlohmann::ordered_json Network::plc_export(std::string_view after, std::size_t count) const {
  return impl_->population().directory().exported(after, count);
}

std::optional<Bytes> Network::repository(std::string_view did, std::string_view since) const {
  const Account* const account = impl_->population().find(did);
  return account == nullptr ? std::nullopt : account->repository.car(since);
}

std::vector<std::string> Network::collections(std::string_view did) const {
  std::vector<std::string> nsids;
  const Account* const account = impl_->population().find(did);
  if (account == nullptr) return nsids;
  for (std::size_t i = 0; i < kCollections; ++i) {
    if (!account->keys[i].empty()) nsids.emplace_back(nsid_of(static_cast<Collection>(i)));
  }
  std::sort(nsids.begin(), nsids.end());
  return nsids;
}

void Network::dump(const std::filesystem::path& directory) const {
  dump_oracle(impl_->population(), directory);
}

}  // namespace skua::sim
