#include "world/account.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "repo/car.hpp"
#include "repo/commit.hpp"

namespace skua::sim {

namespace {

/// Returns the value of a result. The tree is complete and its keys are short, so an error is a bug
/// in this program.
template <class T>
T sound(Result<T> result) {
  if (!result) throw std::logic_error("simulated repository: " + result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace

Bytes signed_commit(std::string_view did, const atproto::Cid& data, atproto::Tid rev,
                    const atproto::SigningKey& key) {
  repo::Commit commit;
  commit.did = did;
  commit.data = data;
  commit.rev = rev;
  const atproto::Signature signature = key.sign(repo::unsigned_commit_bytes(commit));
  commit.signature = signature;
  return repo::commit_bytes(commit);
}

void AccountRepository::sign_head(const atproto::SigningKey& key) {
  head_block_ = signed_commit(did_, data_, rev_, key);
  head_ = atproto::Cid::of(head_block_);
}

void AccountRepository::found(std::vector<InitialRecord> records, atproto::Tid rev,
                              const atproto::SigningKey& key) {
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  std::vector<std::pair<std::string, atproto::Cid>> entries;
  entries.reserve(records.size());
  for (const InitialRecord& record : records) entries.emplace_back(record.path, record.cid);
  tree_ = repo::MstTree::build(entries);
  data_ = tree_.root();
  record_count_ = records.size();
  rev_ = rev;
  sign_head(key);
  if (!keep_records_) return;
  for (InitialRecord& record : records) {
    kept_.emplace_hint(kept_.end(), std::move(record.path),
                       Record{record.cid, record.rev, std::move(record.block)});
  }
}

CommitFrame AccountRepository::commit(std::vector<Write> writes, Timestamp time,
                                      const atproto::SigningKey& key) {
  constexpr unsigned kClockId = 7;
  CommitFrame frame;
  frame.did = did_;
  frame.time = time;
  frame.since = rev_.to_string();
  frame.prev_data = data_;
  rev_ = std::max(atproto::Tid::from_time(time, kClockId), atproto::Tid{rev_.value + 1});
  frame.rev = rev_.to_string();

  frame.blocks.emplace_back();  // reserved for the commit
  for (Write& write : writes) {
    CommitOp& op = frame.ops.emplace_back();
    if (write.block.empty()) {
      op.action = "delete";
      op.prev = sound(tree_.remove(write.path));
      if (!op.prev) throw std::logic_error("simulated repository: nothing under " + write.path);
      --record_count_;
      if (keep_records_) kept_.erase(write.path);
    } else {
      op.cid = atproto::Cid::of(write.block);
      op.prev = sound(tree_.set(write.path, *op.cid));
      op.action = op.prev ? "update" : "create";
      if (!op.prev) ++record_count_;
      if (keep_records_) kept_[write.path] = {*op.cid, rev_, write.block};
      frame.blocks.emplace_back(*op.cid, std::move(write.block));
    }
    op.path = std::move(write.path);
  }
  data_ = tree_.root();
  sign_head(key);

  repo::OwnedBlocks proof;
  for (const CommitOp& op : frame.ops) sound(tree_.add_proof(op.path, proof));
  for (auto& [cid, block] : proof) frame.blocks.emplace_back(cid, std::move(block));
  frame.commit = head_;
  frame.blocks.front() = {head_, head_block_};
  return frame;
}

CommitFrame AccountRepository::first_commit(Timestamp time) const {
  CommitFrame frame;
  frame.did = did_;
  frame.time = time;
  frame.rev = rev_.to_string();
  frame.commit = head_;
  frame.blocks.emplace_back(head_, head_block_);
  for (auto& [cid, block] : tree_.blocks()) frame.blocks.emplace_back(cid, block);
  return frame;
}

std::optional<Bytes> AccountRepository::car(std::string_view since) const {
  if (!keep_records_) return std::nullopt;
  const auto after = atproto::Tid::parse(since);
  Bytes car;
  const std::array roots = {head_};
  repo::CarWriter writer(car, roots);
  writer.block(head_, head_block_);
  for (const auto& [cid, block] : tree_.blocks()) writer.block(cid, block);
  for (const auto& [path, record] : kept_) {
    if (!after || record.rev > *after) writer.block(record.cid, record.block);
  }
  return car;
}

}  // namespace skua::sim
