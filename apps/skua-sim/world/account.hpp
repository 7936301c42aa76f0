#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "atproto/cid.hpp"
#include "atproto/signing.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "repo/mst_tree.hpp"
#include "world/message_log.hpp"
#include "world/network.hpp"
#include "world/subjects.hpp"

namespace skua::sim {

/// A change of one key in a commit: an empty `block` removes the key, otherwise the block is stored
/// under it.
struct Write {
  std::string path;
  Bytes block;
};

/// One account's repository on its PDS (atproto.com/specs/repository): the tree, the signed head
/// commit and, if they are kept, the records' blocks. One thread; owned by the account.
class AccountRepository {
 public:
  AccountRepository(std::string did, bool keep_records)
      : did_(std::move(did)), keep_records_(keep_records) {}

  struct InitialRecord {
    std::string path;
    atproto::Tid rev;
    atproto::Cid cid;
    Bytes block;  // empty if records are not kept
  };
  /// Fills an empty repository and signs its first commit, which is not published. Paths are
  /// unique, in any order.
  void found(std::vector<InitialRecord> records, atproto::Tid rev, const atproto::SigningKey& key);

  /// Applies writes in their order and signs a new head. `time` is that of the message. The rev is
  /// made from the time, or is the successor of the last rev. Throws std::logic_error if a removed
  /// key does not exist.
  CommitFrame commit(std::vector<Write> writes, Timestamp time, const atproto::SigningKey& key);

  /// Returns the message of the head commit as if it were the first commit. Only for repositories
  /// without records.
  CommitFrame first_commit(Timestamp time) const;

  const std::string& did() const { return did_; }
  const atproto::Cid& head() const { return head_; }
  const Bytes& head_block() const { return head_block_; }
  atproto::Tid rev() const { return rev_; }
  std::size_t records() const { return record_count_; }
  bool keeps_records() const { return keep_records_; }

  /// Returns a CAR: the commit, the tree, and the records that are newer than `since`, or all
  /// records if `since` is empty. Returns nothing if records are not kept.
  std::optional<Bytes> car(std::string_view since) const;

 private:
  struct Record {
    atproto::Cid cid;
    atproto::Tid rev;
    Bytes block;
  };
  void sign_head(const atproto::SigningKey& key);

  std::string did_;
  bool keep_records_;
  // The tree is mutable, because reading its blocks updates the CIDs of its nodes.
  mutable repo::MstTree tree_;
  atproto::Cid data_;
  atproto::Tid rev_;
  atproto::Cid head_;
  Bytes head_block_;
  std::size_t record_count_ = 0;
  std::map<std::string, Record, std::less<>> kept_;
};

/// Returns the block of a version 3 commit.
Bytes signed_commit(std::string_view did, const atproto::Cid& data, atproto::Tid rev,
                    const atproto::SigningKey& key);

/// The record keys of one collection of an account, from which one can be picked. Most keys are
/// TIDs, which take 8 bytes.
class RecordKeys {
 public:
  void add(const std::string& rkey) {
    const auto tid = atproto::Tid::parse(rkey);
    if (tid) {
      tids_.push_back(tid->value);
    } else {
      names_.push_back(rkey);
    }
  }
  std::size_t size() const { return tids_.size() + names_.size(); }
  bool empty() const { return size() == 0; }
  std::string at(std::size_t index) const {
    return index < tids_.size() ? atproto::Tid{tids_[index]}.to_string()
                                : names_[index - tids_.size()];
  }
  /// Removes a key. The last key takes its place.
  void remove(std::size_t index) {
    if (index < tids_.size()) {
      std::swap(tids_[index], tids_.back());
      tids_.pop_back();
    } else {
      std::swap(names_[index - tids_.size()], names_.back());
      names_.pop_back();
    }
  }
  std::optional<std::size_t> index_of(const std::string& rkey) const {
    if (const auto tid = atproto::Tid::parse(rkey)) {
      const auto found = std::find(tids_.begin(), tids_.end(), tid->value);
      if (found == tids_.end()) return std::nullopt;
      return static_cast<std::size_t>(found - tids_.begin());
    }
    const auto found = std::find(names_.begin(), names_.end(), rkey);
    if (found == names_.end()) return std::nullopt;
    return tids_.size() + static_cast<std::size_t>(found - names_.begin());
  }
  bool contains(const std::string& rkey) const { return index_of(rkey).has_value(); }

 private:
  std::vector<std::uint64_t> tids_;
  std::vector<std::string> names_;
};

/// An account of the simulated network: its data at its PDS, in the directory and in the name
/// servers. Owned by Population; one thread.
struct Account {
  std::size_t number = 0;
  std::string did;
  std::string handle;  // the handle in its DID document
  std::size_t host = 0;
  AccountStatus status = AccountStatus::active;
  atproto::SigningKey signing_key;
  std::uint64_t signing_key_generation = 0;
  atproto::SigningKey rotation_key;
  /// The key for labels, if the account is a labeler.
  std::optional<atproto::SigningKey> label_key = std::nullopt;
  std::uint64_t label_key_generation = 0;
  /// The address of the account's labeler in the directory. If it is empty, the address is that of
  /// the network's labeler.
  std::string labeler_url = {};
  AccountRepository repository;
  std::array<RecordKeys, kCollections> keys;
  /// The newest record key that was made from a time.
  atproto::Tid last_rkey;
  /// True if the host of the account has announced it to the relay.
  bool introduced = false;
  /// The content of the last #identity and #account messages.
  std::optional<std::string> announced_handle;
  std::optional<AccountStatus> announced_status;
  /// The handles of all #identity messages of the account, each with the time of the last such
  /// message.
  std::map<std::string, Timestamp> claims;

  RecordKeys& keys_of(Collection collection) { return keys[static_cast<std::size_t>(collection)]; }
  const RecordKeys& keys_of(Collection collection) const {
    return keys[static_cast<std::size_t>(collection)];
  }
};

}  // namespace skua::sim
