#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "atproto/computed_number.hpp"
#include "base/account_number.hpp"
#include "base/metric.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"

namespace skua::ids {

/// Metrics of the sender. Written by its thread, read by any thread.
struct ReferenceMetrics {
  Counter sent{"references_sent", "skua_references_sent_total", "references",
               "Accounts and record keys that records mention, and replies below posts, sent to "
               "their nodes"};
  Counter failures{"references_send_failures", "skua_references_send_failures_total", "failures",
                   "Failures to send references to a node"};
};

/// An account, a record key or a reply below a post of another node, or a request to it
/// (skua.waiting_references).
struct Reference {
  std::int32_t account_group = 0;
  std::int64_t seq = 0;
  /// The account of a record key; 0: `text` is the URI of a label; nothing: `text` is a DID.
  std::optional<AccountNumber> actor_id = std::nullopt;
  std::optional<std::int64_t> rkey = std::nullopt;
  /// The collection of a record key; empty for DIDs and URIs.
  std::string nsid = {};
  std::string text;
  /// Of a reply below the post of the account and record key; nothing: it is no reply.
  std::optional<std::int32_t> distance = std::nullopt;
  std::optional<AccountNumber> reply_actor = std::nullopt;
  std::optional<std::int64_t> reply_rkey = std::nullopt;
  std::optional<Timestamp> reply_at = std::nullopt;

  /// Whether this is no reference, but asks the other node for all references to accounts of this
  /// node.
  bool is_request() const { return !actor_id && text.empty(); }
};

/// References that a node did not get.
struct UnsentReferences {
  /// Empty if no node owns the groups of the accounts.
  std::string node;
  std::int64_t count = 0;
  /// Why the node did not take them. Empty if there was no error.
  std::string problem;

  /// Returns a text for the user.
  std::string text() const;
};

/// Inserts the references that the database of `peer`, their node, does not have. `number_key` is
/// the key of both nodes. Outside of a transaction. Throws postgres::SqlError, and may then be
/// called again.
void receive_references(postgres::Session& peer, const atproto::NumberKey& number_key,
                        std::span<const Reference> references, Timestamp now);

/// Sends the accounts and record keys of other nodes, which records of this node mention, to the
/// nodes that own them (skua.mentioned_accounts, skua.waiting_references, docs/nodes.md). A
/// reference is sent at least once, and a repetition changes nothing. A node that does not answer
/// delays only its own references. If a node lost its newest rows, for example by a restore of a
/// backup or a failover, everything that it owns is sent again: it requests this after its next
/// start (skua.request_references), and a sender that was connected to it notices the change. Has
/// its own thread and connections. In a database that is no node it does nothing.
class ReferenceSender {
 public:
  explicit ReferenceSender(postgres::Runtime& runtime);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// Sends all references that wait now, after `stop`, for a process that ends. Tries a few times,
  /// with a pause, to reach a node that fails. Returns the references that still wait. Blocks;
  /// throws postgres::SqlError if this database fails, and may then be called again.
  std::vector<UnsentReferences> send_all(postgres::Session& session, const std::stop_token& stop,
                                         std::chrono::milliseconds pause = kPauseAtEnd);

  const ReferenceMetrics& metrics() const { return metrics_; }

 private:
  struct Peer {
    std::unique_ptr<postgres::Session> session;
    /// No attempt comes before this time, which follows a failure.
    std::chrono::steady_clock::time_point next_attempt;
    /// The last failure.
    std::string problem;
  };

  static constexpr std::chrono::milliseconds kPauseAtEnd{1'000};

  enum class Outcome {
    Sent,
    /// The node does not answer, or refuses.
    Waits,
    /// The node has lost references that it had.
    Lost,
  };

  std::chrono::milliseconds round(postgres::Session& session, const std::stop_token& stop);
  /// Sends the accounts of the lists up to the number `last`. Accounts that a node does not take
  /// wait with the other references.
  void send_mentioned(postgres::Session& session, const std::stop_token& stop,
                      const atproto::NumberKey& key, std::int64_t last);
  /// Sends the references up to the number `last`.
  void send_waiting(postgres::Session& session, const std::stop_token& stop,
                    const atproto::NumberKey& key, std::int64_t last);
  /// If `wanted` is not empty, asks the node for all references to accounts of these groups.
  Outcome send(const std::string& name, const std::string& url, const atproto::NumberKey& key,
               std::span<const Reference> references, const std::string& wanted);

  const Clock& clock_;
  ReferenceMetrics metrics_;
  std::map<std::string, Peer> peers_;
  postgres::SessionThread thread_;
};

}  // namespace skua::ids
