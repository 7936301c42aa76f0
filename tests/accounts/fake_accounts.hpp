#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "accounts/account_source.hpp"
#include "documents/errc.hpp"

namespace skua::test {

/// Accounts that say what a test tells them, at once on the caller's thread or when the test wants
/// it, and remember what they were asked. Any thread.
class FakeAccounts final : public accounts::AccountSource {
 public:
  using Identity = Result<documents::Account>;
  using Status = Result<documents::HostStatus>;

  /// Said from now on; of others: did_not_found.
  void knows(const std::string& did, const Identity& identity) {
    const std::scoped_lock lock(mutex_);
    identities_.insert_or_assign(did, identity);
  }
  /// Said from now on; of others: server_failed.
  void host_says(const std::string& did, const Status& status) {
    const std::scoped_lock lock(mutex_);
    statuses_.insert_or_assign(did, status);
  }
  void has_no_hosts() { has_hosts_ = false; }
  /// The keys that the account had at any time in the past; of others: did_not_found.
  void had(const std::string& did, const std::vector<atproto::Multikey>& keys) {
    const std::scoped_lock lock(mutex_);
    former_.insert_or_assign(did, keys);
  }

  /// Questions about this account wait for `answer` from now on.
  void hold(const std::string& did) {
    const std::scoped_lock lock(mutex_);
    held_.insert(did);
  }
  void stop_holding(const std::string& did) {
    const std::scoped_lock lock(mutex_);
    held_.erase(did);
  }
  /// Answers the question about this account that waits longest (or the `number`th) with what is
  /// known now. False: there is none.
  bool answer(const std::string& did, std::size_t number = 0) {
    std::function<void()> question;
    {
      const std::scoped_lock lock(mutex_);
      auto& waiting = waiting_[did];
      if (number >= waiting.size()) return false;
      question = std::move(waiting[number]);
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(number));
    }
    question();
    return true;
  }

  /// Questions so far, each `known DID`, `recent DID`, `now DID`, `status DID` or
  /// `former DID`.
  std::size_t asked(const std::string& question) const {
    const std::scoped_lock lock(mutex_);
    return count(question);
  }
  /// False: it was not asked so often within a minute.
  bool wait_until_asked(const std::string& question, std::size_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1),
                             [&] { return count(question) >= times; });
  }

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override {
    static const std::map<Freshness, std::string> kWords = {
        {Freshness::Known, "known "}, {Freshness::Recent, "recent "}, {Freshness::Now, "now "}};
    ask(kWords.at(freshness) + did, did, [this, did, done = std::move(done)] {
      std::unique_lock lock(mutex_);
      const auto place = identities_.find(did);
      const Identity identity =
          place != identities_.end() ? place->second : Identity(documents::errc::did_not_found);
      lock.unlock();
      done(identity);
    });
  }
  void identity_once(const std::string& did, Freshness freshness, IdentityDone done) override {
    identity(did, freshness, std::move(done));
  }
  bool has_hosts() const override { return has_hosts_; }
  void status(const std::string& did, StatusDone done) override {
    ask("status " + did, did, [this, did, done = std::move(done)] {
      std::unique_lock lock(mutex_);
      const auto place = statuses_.find(did);
      const Status status =
          place != statuses_.end() ? place->second : Status(documents::errc::server_failed);
      lock.unlock();
      done(status);
    });
  }
  void keys_near(const std::string& did, Timestamp /*time*/, KeyUse /*use*/,
                 KeysDone done) override {
    ask("former " + did, did, [this, did, done = std::move(done)] {
      std::unique_lock lock(mutex_);
      const auto place = former_.find(did);
      const Result<std::vector<atproto::Multikey>> keys =
          place != former_.end() ? Result<std::vector<atproto::Multikey>>(place->second)
                                 : documents::errc::did_not_found;
      lock.unlock();
      done(keys);
    });
  }
  std::string failure_text(const std::string& did, const ErrorCode& error) const override {
    return did + ": " + error.message();
  }
  void stop() override {}

 private:
  void ask(const std::string& question, const std::string& did, std::function<void()> answer) {
    bool is_held = false;
    {
      const std::scoped_lock lock(mutex_);
      is_held = held_.contains(did);
      if (is_held) waiting_[did].push_back(answer);
      asked_.push_back(question);
      changed_.notify_all();
    }
    if (!is_held) answer();
  }
  std::size_t count(const std::string& question) const {
    return static_cast<std::size_t>(std::count(asked_.begin(), asked_.end(), question));
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Identity> identities_;
  std::map<std::string, Status> statuses_;
  std::map<std::string, std::vector<atproto::Multikey>> former_;
  std::set<std::string> held_;
  std::map<std::string, std::deque<std::function<void()>>> waiting_;
  std::vector<std::string> asked_;
  bool has_hosts_ = true;
};

}  // namespace skua::test
