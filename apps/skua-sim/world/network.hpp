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
  /// Accounts that act.
  std::size_t accounts = 200;
  /// Accounts that exist only in references: likes, follows and replies refer to them and to their
  /// posts, which are never sent.
  std::size_t outsiders = 4'000;
  /// The share of references to outsiders, 0 to 1.
  double outside_share = 0.3;
  /// The total number of records before the first message.
  std::size_t records = 0;
  /// How unequally they are distributed (see share_before).
  double records_spread = 1;
  std::size_t hosts = 3;
  /// Keeps the blocks of records: required for getRepo and the dump. Otherwise a capture of any
  /// length fits in memory.
  bool keep_records = true;
  /// The frequency of events that are rare on the real network, so that tests see them. 1: for the
  /// stress suite; 0: none. These events are account events, moves, key rotations, handle contests,
  /// records that violate their lexicon, odd rkeys, many ops in one commit, and one key twice in
  /// one commit.
  double oddities = 1;
  /// No commit names a path twice: sync 1.1 forbids it, but older hosts do it.
  bool one_op_a_path = false;
  /// All accounts act equally often; otherwise a few make most of the traffic.
  bool even = false;
  /// The labeler's address, http://127.0.0.1:2002; the first account becomes the labeler. Empty:
  /// none.
  std::string labeler_url;
};

enum class AccountStatus : std::uint8_t { active, deactivated, suspended, takendown, deleted };
/// The name in the protocol.
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
  /// `publish(host, message)`: a PDS sends a message; the relay forwards it.
  using Publish = std::function<void(std::size_t host, std::shared_ptr<const Message> message)>;

  /// `host_urls`: the addresses of the PDSes, for the DID documents: `http://127.0.0.1:2001`.
  Network(const NetworkSettings& settings, std::vector<std::string> host_urls, Timestamp start,
          Publish publish);
  ~Network();

  /// Makes the next event, at `now` (never before the time of the last call). Returns the number of
  /// record operations and account or identity events.
  std::size_t step(Timestamp now);

  /// Publishes one hostile message, made from an account's newest commit. False: there is no commit
  /// yet.
  bool provoke(Hostility kind, Timestamp now);
  /// Publishes a copy of an account's newest commit in the name of `did`, an account outside this
  /// network, with `bytes` additional bytes. False: there is no commit yet.
  bool provoke_as(const std::string& did, std::size_t bytes, Timestamp now);

  /// Causes a rare event for some active account: `move`, `take_handle`, `leave_for_good`...
  /// Returns the number of record operations and events, 0 if it was not possible; nothing: unknown
  /// name.
  std::optional<std::size_t> cause(std::string_view incident, Timestamp now);

  /// Null: there is no labeler.
  Labeler* labeler() const;
  /// Changes the key for labels; the labeler's host announces this.
  void rotate_label_key(Timestamp now);

  /// Commits a new record of a collection of the network by an active account. Returns its key;
  /// nothing: unknown account or collection, or the collection has no room.
  std::optional<std::string> create_record(std::string_view did, std::string_view collection,
                                           Timestamp now);
  /// Commits a record by an active account: `block` is its DAG-CBOR, and `path` need not be one of
  /// the network. False: unknown account, or it is not active.
  bool put_record(std::string_view did, std::string path, Bytes block, Timestamp now);
  /// Publishes an #identity message of an account. False: unknown account.
  bool identify(std::string_view did, Timestamp now);
  /// Deletes the first record of a collection. False: there is none.
  bool delete_record(std::string_view did, std::string_view collection, Timestamp now);
  /// Makes an account a labeler in the directory, at this address. False: unknown account.
  bool make_labeler(std::string_view did, std::string url, Timestamp now);

  // Data for the servers. DIDs are in byte order.
  const std::vector<std::string>& dids() const;
  std::optional<AccountView> account(std::string_view did) const;
  /// The account that a handle leads to.
  std::optional<std::string> resolve_handle(std::string_view handle) const;
  /// The account's DID document; null: unknown, or a tombstone.
  nlohmann::ordered_json did_document(std::string_view did) const;
  /// The account's PLC operations in the format of `/:did/log/audit` and `/export`, each with did,
  /// cid, createdAt, nullified and operation.
  nlohmann::ordered_json plc_audit(std::string_view did) const;
  /// The directory's operations in the order they were made, `count` after `after` (createdAt).
  nlohmann::ordered_json plc_export(std::string_view after, std::size_t count) const;
  /// The repository as a CAR, whatever the account's status. With `since`: only the commit, the
  /// tree and the records newer than that rev. Nothing: unknown account, or records are not kept.
  std::optional<Bytes> repository(std::string_view did, std::string_view since) const;
  /// NSIDs of the collections in which an account has records.
  std::vector<std::string> collections(std::string_view did) const;

  /// Writes the oracle: `<did>.car` of every account that has a repository (deleted accounts in
  /// their last state), and `accounts.json`, an array of {did, handle, announced_handle, claims,
  /// handle_valid, status, announced_status, active, host, head, rev, signing_key, records}. The
  /// announced values come from the last #identity and #account messages, and are null before the
  /// first one. Claims are all handles of these messages, each with the time of the last one in
  /// microseconds.
  void dump(const std::filesystem::path& directory) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::sim
