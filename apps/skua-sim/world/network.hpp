#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "world/message_log.hpp"

namespace skua::sim {

struct NetworkSettings {
  std::uint64_t seed = 1;
  /// The number of accounts that act.
  std::size_t accounts = 200;
  /// The number of accounts that exist only in references: likes, follows and replies refer to
  /// these accounts and to their posts, which are never sent.
  std::size_t outsiders = 4'000;
  /// The share of references to outsiders, 0 to 1.
  double outside_share = 0.3;
  /// If true, most posts of outsiders are recent, as the subjects of live likes are: half of them
  /// are less than 9 hours old. If false, all ages up to 200 days are equally frequent.
  bool recent_posts = false;
  /// The total number of records before the first message.
  std::size_t records = 0;
  /// The inequality of the distribution of records over the accounts (see share_before).
  double records_spread = 1;
  std::size_t hosts = 3;
  /// If true, the blocks of records are kept, as getRepo and the dump require. If false, a capture
  /// of any length fits in memory.
  bool keep_records = true;
  /// The frequency of events that are rare on the real network, so that tests see them. 1 is for
  /// the stress suite, and 0 excludes them. These events are account events, moves, key rotations,
  /// handle contests, records that violate their lexicon, odd rkeys, many ops in one commit, and
  /// one key twice in one commit.
  double oddities = 1;
  /// If true, no commit names a path twice. Sync 1.1 forbids such commits, but older hosts send
  /// them.
  bool one_op_a_path = false;
  /// If true, all accounts act equally often; otherwise a few make most of the traffic.
  bool even = false;
  /// The labeler's address, such as http://127.0.0.1:2002; the first account becomes the labeler.
  /// Empty if there is no labeler.
  std::string labeler_url;
};

enum class AccountStatus : std::uint8_t { active, deactivated, suspended, takendown, deleted };
/// Returns the name of a status in the protocol.
std::string_view status_name(AccountStatus status);

/// The public state of an account, for the servers.
struct AccountView {
  std::string did;
  /// The handle in its DID document, and whether the handle resolves to this account.
  std::string handle;
  bool handle_valid = true;
  AccountStatus status = AccountStatus::active;
  /// The PDS of the repository.
  std::size_t host = 0;
  std::string head;  // CID of the commit
  std::string rev;
  std::size_t records = 0;
};

/// Messages that no honest host sends. Each is sent in addition to the honest message that it was
/// made from, so that refusing it loses no data.
enum class Hostility : std::uint8_t {
  truncated_frame,  // the frame ends in the middle
  bad_hash,         // a byte of a record block is changed, but not its CID
  bad_signature,    // the newest commit with the next rev and a changed bit in its signature
  wrong_prev_data,  // the same with a valid signature; prevData names another tree
  replayed_rev,     // the newest commit of a repository again
  future_rev,  // a validly signed commit with a rev one hour ahead, which the account never reaches
};
std::string_view hostility_name(Hostility kind);

class Labeler;

/// A small AT network in memory: accounts with keys, handles and repositories on a few PDSes, and a
/// PLC directory. Everything depends only on the seed, the calls and their times (except P-256
/// signatures, which are random). No I/O, no clock of its own. One thread.
///
/// The activity is a sequence of `step`s. Messages go to `publish`, in order.
class Network {
 public:
  /// Receives each message of a PDS; the relay forwards the message.
  using Publish = std::function<void(std::size_t host, std::shared_ptr<const Message> message)>;

  /// `host_urls` has the addresses of the PDSes for the DID documents, such as
  /// `http://127.0.0.1:2001`.
  Network(const NetworkSettings& settings, std::vector<std::string> host_urls, Timestamp start,
          Publish publish);
  ~Network();

  /// Makes the next event at `now`, which must not precede the time of the last call. Returns the
  /// number of record operations and account or identity events.
  std::size_t step(Timestamp now);

  /// Publishes one hostile message, made from an account's newest commit. Returns false if there is
  /// no commit yet.
  bool provoke(Hostility kind, Timestamp now);
  /// Publishes a copy of an account's newest commit in the name of `did`, an account outside this
  /// network, with `bytes` additional bytes. Returns false if there is no commit yet.
  bool provoke_as(const std::string& did, std::size_t bytes, Timestamp now);

  /// Causes a rare event for some active account: `move`, `take_handle`, `leave_for_good`...
  /// Returns the number of record operations and events, 0 if the event was not possible, and
  /// nothing if the name is unknown.
  std::optional<std::size_t> cause(std::string_view incident, Timestamp now);

  /// Returns null if there is no labeler.
  Labeler* labeler() const;
  /// Changes the key for labels. The labeler's host announces the change.
  void rotate_label_key(Timestamp now);

  /// Commits a new record of a collection of the network by an active account. Returns the record's
  /// key; nothing if the account or collection is unknown, or the collection has no room.
  std::optional<std::string> create_record(std::string_view did, std::string_view collection,
                                           Timestamp now);
  /// Commits a record by an active account. `block` is the DAG-CBOR of the record, and `path` need
  /// not be one of the network. Returns false if the account is unknown or not active.
  bool put_record(std::string_view did, std::string path, Bytes block, Timestamp now);
  /// Publishes an #identity message of an account. Returns false if the account is unknown.
  bool identify(std::string_view did, Timestamp now);
  /// Deletes the first record of a collection. Returns false if there is none.
  bool delete_record(std::string_view did, std::string_view collection, Timestamp now);
  /// Makes an account a labeler in the directory, at this address. Returns false if the account is
  /// unknown.
  bool make_labeler(std::string_view did, std::string url, Timestamp now);

  // The following functions return data for the servers. DIDs are in byte order.
  const std::vector<std::string>& dids() const;
  std::optional<AccountView> account(std::string_view did) const;
  /// Returns the account to which a handle resolves.
  std::optional<std::string> resolve_handle(std::string_view handle) const;
  /// Returns the account's DID document; null if the account is unknown, or has a tombstone.
  nlohmann::ordered_json did_document(std::string_view did) const;
  /// Returns the account's PLC operations in the format of `/:did/log/audit` and `/export`, each
  /// with did, cid, createdAt, nullified and operation.
  nlohmann::ordered_json plc_audit(std::string_view did) const;
  /// Returns `count` operations of the directory in the order of their creation, from the first one
  /// after `after` (createdAt) on.
  nlohmann::ordered_json plc_export(std::string_view after, std::size_t count) const;
  /// Returns the repository as a CAR, whatever the account's status. With `since`, the CAR has only
  /// the commit, the tree and the records newer than that rev. Returns nothing if the account is
  /// unknown, or records are not kept.
  std::optional<Bytes> repository(std::string_view did, std::string_view since) const;
  /// Returns the NSIDs of the collections in which an account has records.
  std::vector<std::string> collections(std::string_view did) const;

  /// Writes the oracle: `<did>.car` of every account that has a repository (deleted accounts in
  /// their last state), and `accounts.json`. The latter is an array of {did, handle,
  /// announced_handle, claims, handle_valid, status, announced_status, active, host, head, rev,
  /// signing_key, records}. The announced values come from the last #identity and #account
  /// messages, and are null before the first one. Claims are all handles of these messages, each
  /// with the time of the last one in microseconds.
  void dump(const std::filesystem::path& directory) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::sim
