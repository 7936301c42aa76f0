#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/cid.hpp"
#include "atproto/signing.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "frames.hpp"
#include "repo/mst_tree.hpp"

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

  /// Applies writes in their order and signs a new head; `time` is the message's. The rev is made
  /// from the time, or is the successor of the last one. Throws std::logic_error if a removed key
  /// does not exist.
  CommitFrame commit(std::vector<Write> writes, Timestamp time, const atproto::SigningKey& key);

  /// The message of the head commit as if it were the first commit: for repositories without
  /// records.
  CommitFrame first_commit(Timestamp time) const;

  const std::string& did() const { return did_; }
  const atproto::Cid& head() const { return head_; }
  const Bytes& head_block() const { return head_block_; }
  atproto::Tid rev() const { return rev_; }
  std::size_t records() const { return record_count_; }
  bool keeps_records() const { return keep_records_; }

  /// A CAR: commit, tree, and the records that are newer than `since` (empty: all). Nothing if
  /// records are not kept.
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
  // Reading the blocks of a tree updates the CIDs of its nodes.
  mutable repo::MstTree tree_;
  atproto::Cid data_;
  atproto::Tid rev_;
  atproto::Cid head_;
  Bytes head_block_;
  std::size_t record_count_ = 0;
  std::map<std::string, Record, std::less<>> kept_;
};

/// The block of a version 3 commit.
Bytes signed_commit(std::string_view did, const atproto::Cid& data, atproto::Tid rev,
                    const atproto::SigningKey& key);

}  // namespace skua::sim
