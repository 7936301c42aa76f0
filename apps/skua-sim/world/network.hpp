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
#include "message.hpp"

namespace skua::sim {

struct NetworkSettings {
  std::uint64_t seed = 1;
  /// Accounts that act.
  std::size_t accounts = 200;
  /// Accounts that exist as names only: likes, follows and replies point to them and to posts of
  /// theirs that nobody ever sends.
  std::size_t outsiders = 4'000;
  /// Share of references that go to outsiders, 0 to 1.
  double outside_share = 0.3;
  /// Records that the accounts hold together before the first message.
  std::size_t records = 0;
  /// How unequally (see share_before).
  double records_spread = 1;
  std::size_t hosts = 3;
  /// Keep the blocks of records: needed for getRepo and the dump. Without, a capture of any length
  /// fits in memory.
  bool keep_records = true;
  /// Things that happen on the real network seldom, and here often enough to be met: account
  /// events, moves, key rotations, handle contests, records that break their lexicon, odd rkeys,
  /// many ops in one commit, one key twice in one commit. 1: as the stress suite wants it; 0: none.
  double oddities = 1;
  /// No commit names a path twice: sync 1.1 forbids it, hosts from before do it.
  bool one_op_a_path = false;
  /// Every account acts as often as the others; otherwise few make most of the traffic.
  bool even = false;
  /// Where the labeler will be reached, http://127.0.0.1:2002: the first account is one. Empty:
  /// there is none.
  std::string labeler_url;
};

enum class AccountStatus : std::uint8_t { active, deactivated, suspended, takendown, deleted };
/// As the protocol writes it.
std::string_view status_name(AccountStatus status);

/// What the servers may say of an account.
struct AccountView {
  std::string did;
  /// The handle that its DID document claims, and whether that name leads back to it.
  std::string handle;
  bool handle_valid = true;
  AccountStatus status = AccountStatus::active;
  /// The PDS that has the repository.
  std::size_t host = 0;
  std::string head;  // CID of the commit
  std::string rev;
  std::size_t records = 0;
};

/// Messages that no honest host sends. Each stands beside the honest message it was made from, so
/// that nothing is lost by refusing it.
enum class Hostility : std::uint8_t {
  truncated_frame,  // the frame ends in the middle
  bad_hash,         // a byte of a record block is changed, its CID is not
  bad_signature,    // the newest commit under the next rev, a bit of its signature changed
  wrong_prev_data,  // the same, well signed; prevData names another tree
  replayed_rev,     // the newest commit of a repository once more
  future_rev,       // a well signed commit, a rev one hour ahead; the account never gets there
};
std::string_view hostility_name(Hostility kind);

class Labeler;

/// A small AT network in memory: accounts with keys, handles and repositories on a few PDSes, and a
/// PLC directory. Everything follows from the seed, the calls and the times they carry (P-256
/// signatures excepted, which are random). No I/O, no clock of its own. One thread.
///
/// What happens is a sequence of `step`s. Messages go to `publish`, in order.
class Network {
 public:
  /// `publish(host, message)`: a PDS says something; the relay repeats it.
  using Publish = std::function<void(std::size_t host, std::shared_ptr<const Message> message)>;

  /// `host_urls`: where the PDSes will be reached, for the DID documents: `http://127.0.0.1:2001`.
  Network(const NetworkSettings& settings, std::vector<std::string> host_urls, Timestamp start,
          Publish publish);
  ~Network();

  /// The next thing that happens, at `now` (never before the time of the last call).
  /// Returns how many record operations and account or identity events that were.
  std::size_t step(Timestamp now);

  /// Says one hostile message, made from an account's newest commit. False: nobody has committed
  /// yet.
  bool provoke(Hostility kind, Timestamp now);
  /// Says a copy of an account's newest commit in the name of `did`, an account that is not of this
  /// network, with so many bytes more. False: nobody has committed yet.
  bool provoke_as(const std::string& did, std::size_t bytes, Timestamp now);

  /// Makes something happen that happens seldom, to some active account: `move`, `take_handle`,
  /// `leave_for_good`... Returns how many record operations and events that were, 0 where it could
  /// not be done; nothing: it is not known by this name.
  std::optional<std::size_t> cause(std::string_view incident, Timestamp now);

  /// Null: there is none.
  Labeler* labeler() const;
  /// The labeler's labels are signed with another key from now on; its host says so.
  void rotate_label_key(Timestamp now);

  // What the servers serve. DIDs stand in byte order.
  const std::vector<std::string>& dids() const;
  std::optional<AccountView> account(std::string_view did) const;
  /// The account that a handle leads to.
  std::optional<std::string> resolve_handle(std::string_view handle) const;
  /// The account's DID document; null: unknown, or a tombstone.
  nlohmann::ordered_json did_document(std::string_view did) const;
  /// The account's PLC operations as `/:did/log/audit` and `/export` give them, each with did, cid,
  /// createdAt, nullified and operation.
  nlohmann::ordered_json plc_audit(std::string_view did) const;
  /// The directory's operations in the order they were made, `count` after `after` (createdAt).
  nlohmann::ordered_json plc_export(std::string_view after, std::size_t count) const;
  /// The repository as a CAR, whatever the account's status. With `since`: only the records and
  /// commit newer than that rev, and the tree. Nothing: unknown account, or records are not kept.
  std::optional<Bytes> repository(std::string_view did, std::string_view since) const;
  /// NSIDs of the collections in which an account has records.
  std::vector<std::string> collections(std::string_view did) const;

  /// The oracle: `<did>.car` of every account that has a repository (deleted accounts as they were
  /// then), and `accounts.json`: an array of
  /// {did, handle, announced_handle, claims, handle_valid, status, announced_status, active, host,
  /// head, rev, signing_key, records}. What is announced is what the last #identity and #account
  /// messages said, null before one; claims are all handles that they named, each with the time in
  /// microseconds when they did last.
  void dump(const std::filesystem::path& directory) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::sim
