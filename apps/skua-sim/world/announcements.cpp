#include "world/announcements.hpp"

#include <memory>
#include <utility>

namespace skua::sim {

void Announcements::say(std::size_t host, Message message) {
  publish_(host, std::make_shared<const Message>(std::move(message)));
}

void Announcements::commit(const Account& account, CommitFrame frame) {
  say(account.host, commit_message(frame));
  commits_.add(std::move(frame));
}

void Announcements::sync(const Account& account, Timestamp now) {
  const AccountRepository& repository = account.repository;
  say(account.host,
      sync_message(account.did, now, repository.rev().to_string(), repository.head_block()));
}

void Announcements::identity(Account& account, Timestamp now) {
  account.announced_handle = account.handle;
  account.claims[account.handle] = now;
  say(account.host, identity_message(account.did, now, account.handle));
}

void Announcements::account(Account& account, Timestamp now) {
  account.announced_status = account.status;
  const bool active = account.status == AccountStatus::active;
  say(account.host,
      account_message(account.did, now, active, active ? "" : status_name(account.status)));
}

void Announcements::left(Account& account, std::size_t host, Timestamp now) {
  account.announced_status = AccountStatus::deactivated;
  say(host, account_message(account.did, now, false, status_name(AccountStatus::deactivated)));
}

void Announcements::hostile(const Account& account, Message message) {
  message.honest = false;
  say(account.host, std::move(message));
}

}  // namespace skua::sim
