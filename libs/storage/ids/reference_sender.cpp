#include "ids/reference_sender.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "ids/reference_sender.sql.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/database_watch.hpp"
#include "postgres/query_database.hpp"
#include "tables/account_groups.hpp"

namespace skua::ids {
namespace {

using postgres::column;

constexpr std::chrono::milliseconds kInterval{1'000};
constexpr std::chrono::minutes kIntervalWithoutNodes{10};
constexpr std::chrono::seconds kPauseAfterFailure{10};
constexpr std::int64_t kMostOfGroup = 500;
constexpr std::int64_t kMostLists = 20;
constexpr int kAttemptsAtEnd = 3;

/// A row of references_mentioned.
struct ListedAccount {
  std::int64_t seq;
  std::string did;
};

/// A row of references_left.
struct Left {
  std::string node;
  std::string url;
  std::int64_t count;
};

/// Throws std::runtime_error if the database of `peer` computes other numbers, or does not own the
/// groups of the references.
void require_owner(postgres::Session& peer, const atproto::NumberKey& key,
                   std::span<const Reference> references) {
  if (tables::load_number_key(peer) != key) {
    throw std::runtime_error("its database computes other account numbers");
  }
  const auto owned = tables::load_account_groups(peer).owned;
  for (const Reference& reference : references) {
    if (owned.has(static_cast<AccountGroup>(reference.account_group))) continue;
    throw std::runtime_error(
        fmt::format("its database does not own group {}", reference.account_group));
  }
}

/// Sorts values and removes repetitions. Two senders insert in the same order, so neither waits for
/// the other in a circle.
void make_set(std::vector<std::string_view>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Returns a member of each reference.
template <class Member>
auto column_of(std::span<const Reference* const> references, Member member) {
  return column(references, [member](const Reference* reference) { return reference->*member; });
}

}  // namespace

std::string UnsentReferences::text() const {
  // Only the first line of an error, because the log has all of it.
  const std::string reason = problem.substr(0, problem.find('\n'));
  return fmt::format(
      "{} to accounts of {} {} not sent{}: `skua run` with this database sends them later",
      counted(count, "reference"), node.empty() ? "groups that no node owns" : "the node " + node,
      count == 1 ? "was" : "were", reason.empty() ? "" : " (" + reason + ")");
}

void receive_references(postgres::Session& peer, const atproto::NumberKey& number_key,
                        std::span<const Reference> references, Timestamp now) {
  std::vector<std::string_view> dids;
  std::vector<std::string_view> collections;
  std::vector<const Reference*> keys;
  std::vector<const Reference*> replies;
  for (const Reference& reference : references) {
    if (reference.is_request()) continue;
    if (reference.distance) {
      replies.push_back(&reference);
      continue;
    }
    if (!reference.actor_id) {
      dids.push_back(reference.text);
      continue;
    }
    keys.push_back(&reference);
    if (!reference.nsid.empty()) collections.push_back(reference.nsid);
  }
  make_set(dids);
  make_set(collections);
  std::ranges::sort(keys, {}, [](const Reference* key) {
    return std::tuple(key->actor_id, key->nsid, key->rkey, key->seq);
  });
  if (!dids.empty()) {
    const auto ids = column(dids, [&](std::string_view did) {
      return atproto::computed_account_number(number_key, did);
    });
    peer.execute(sql::references_receive_accounts, ids, dids, now);
  }
  if (!collections.empty()) peer.execute(sql::references_receive_collections, collections);
  if (!keys.empty()) {
    peer.execute(sql::references_receive_texts, column_of(keys, &Reference::actor_id),
                 column_of(keys, &Reference::rkey), column_of(keys, &Reference::nsid),
                 column_of(keys, &Reference::text));
  }
  if (replies.empty()) return;
  std::ranges::sort(replies, {}, [](const Reference* reply) {
    return std::tuple(reply->actor_id, reply->rkey, reply->reply_actor, reply->reply_rkey,
                      reply->seq);
  });
  peer.execute(sql::references_receive_replies, column_of(replies, &Reference::actor_id),
               column_of(replies, &Reference::rkey), column_of(replies, &Reference::distance),
               column_of(replies, &Reference::reply_actor),
               column_of(replies, &Reference::reply_rkey),
               column_of(replies, &Reference::reply_at));
}

ReferenceSender::ReferenceSender(postgres::Runtime& runtime)
    : clock_(runtime.clocks.server),
      thread_(runtime,
              {.session_name = postgres::process_name("skua references"),
               .component = "store",
               .failure = "references to accounts of other nodes wait",
               .retries_sql_errors = true},
              [this](postgres::LazySession& session, const std::stop_token& stop) {
                return round(session.get(), stop);
              }) {}

std::chrono::milliseconds ReferenceSender::round(postgres::Session& session,
                                                 const std::stop_token& stop) {
  const auto key = tables::load_number_key(session);
  if (!key) return kIntervalWithoutNodes;
  send_mentioned(session, stop, *key, std::numeric_limits<std::int64_t>::max());
  send_waiting(session, stop, *key, std::numeric_limits<std::int64_t>::max());
  return kInterval;
}

std::vector<UnsentReferences> ReferenceSender::send_all(postgres::Session& session,
                                                        const std::stop_token& stop,
                                                        std::chrono::milliseconds pause) {
  std::vector<UnsentReferences> unsent;
  const auto key = tables::load_number_key(session);
  if (!key) return unsent;
  std::mutex mutex;
  std::condition_variable_any wake;
  for (int attempt = 1; !stop.stop_requested(); ++attempt) {
    for (auto& [url, peer] : peers_) peer.next_attempt = {};
    // Another process of this node may queue more, which it sends.
    const auto last_list = session.query_one<std::int64_t>(sql::references_mentioned_last);
    send_mentioned(session, stop, *key, last_list);
    const auto last = session.query_one<std::int64_t>(sql::references_last);
    send_waiting(session, stop, *key, last);
    const auto left = session.query<Left>(sql::references_left, last, last_list);
    unsent.clear();
    for (const Left& of_node : left) {
      unsent.push_back({of_node.node, of_node.count, peers_[of_node.url].problem});
    }
    const bool has_node =
        std::ranges::any_of(left, [](const Left& one) { return !one.node.empty(); });
    if (!has_node || attempt == kAttemptsAtEnd) break;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, pause, [] { return false; });
  }
  return unsent;
}

void ReferenceSender::send_mentioned(postgres::Session& session, const std::stop_token& stop,
                                     const atproto::NumberKey& key, std::int64_t last) {
  while (!stop.stop_requested()) {
    auto listed = session.query<ListedAccount>(sql::references_mentioned, kMostLists);
    if (listed.empty() || listed.front().seq > last) return;
    std::vector<std::int64_t> lists;
    std::vector<Reference> unsent;
    for (ListedAccount& account : listed) {
      if (lists.empty() || lists.back() != account.seq) lists.push_back(account.seq);
      const AccountGroup group = atproto::account_group(account.did);
      unsent.push_back({.account_group = group, .text = std::move(account.did)});
    }
    for (const postgres::Node& node : postgres::read_nodes(session)) {
      const auto owned = atproto::GroupSet::parse(node.owned).value();
      const auto first = std::partition(unsent.begin(), unsent.end(), [&](const Reference& one) {
        return !owned.has(static_cast<AccountGroup>(one.account_group));
      });
      const std::span<const Reference> of_node(first, unsent.end());
      if (of_node.empty()) continue;
      const Outcome outcome = send(node.name, node.url, key, of_node, {});
      if (outcome == Outcome::Lost) session.execute(sql::references_resend, node.owned);
      if (outcome != Outcome::Sent) continue;
      metrics_.sent += of_node.size();
      unsent.erase(first, unsent.end());
    }
    crash_point("after_references");
    session.execute(sql::references_mentioned_sent, lists,
                    column(unsent, &Reference::account_group), column(unsent, &Reference::text));
  }
}

void ReferenceSender::send_waiting(postgres::Session& session, const std::stop_token& stop,
                                   const atproto::NumberKey& key, std::int64_t last) {
  for (const auto& node : session.query<postgres::Node>(sql::references_nodes)) {
    while (!stop.stop_requested()) {
      const auto references =
          session.query<Reference>(sql::references_waiting, node.owned, kMostOfGroup);
      if (references.empty() || references.front().seq > last) break;
      const bool requests = std::ranges::any_of(references, &Reference::is_request);
      const std::string wanted =
          requests ? tables::load_account_groups(session).owned.list() : std::string();
      const Outcome outcome = send(node.name, node.url, key, references, wanted);
      if (outcome == Outcome::Lost) session.execute(sql::references_resend, node.owned);
      if (outcome != Outcome::Sent) break;
      crash_point("after_references");
      session.execute(sql::references_sent, column(references, &Reference::account_group),
                      column(references, &Reference::seq));
      metrics_.sent += references.size();
    }
  }
}

ReferenceSender::Outcome ReferenceSender::send(const std::string& name, const std::string& url,
                                               const atproto::NumberKey& key,
                                               std::span<const Reference> references,
                                               const std::string& wanted) {
  Peer& peer = peers_[url];
  if (std::chrono::steady_clock::now() < peer.next_attempt) return Outcome::Waits;
  const bool was_connected = peer.session != nullptr;
  try {
    if (!peer.session) {
      peer.session =
          std::make_unique<postgres::Session>(url, postgres::process_name("skua references"));
    }
    require_owner(*peer.session, key, references);
    receive_references(*peer.session, key, references, clock_.now());
    if (!wanted.empty()) {
      peer.session->execute(sql::references_resend, wanted);
      logger("store")->info(
          "node {}: asked to send all references to accounts of this node, which may lack some",
          name);
    }
    return Outcome::Sent;
  } catch (const postgres::DatabaseChanged& change) {
    peer.session.reset();
    postgres::database_watch().forget(url);
    if (change.is_of_groups()) return Outcome::Waits;
    logger("store")->warn("node {}: {}; all references to its accounts are sent again", name,
                          change.what());
    return Outcome::Lost;
  } catch (const std::runtime_error& error) {
    logger("store")->warn("node {}: references to its accounts wait: {}", name, error.what());
    metrics_.failures += 1;
    peer.problem = error.what();
    peer.session.reset();
    // A connection that has ended says nothing about the next one.
    if (!was_connected) peer.next_attempt = std::chrono::steady_clock::now() + kPauseAfterFailure;
    return Outcome::Waits;
  }
}

}  // namespace skua::ids
