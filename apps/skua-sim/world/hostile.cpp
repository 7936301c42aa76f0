#include "hostile.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "account_repository.hpp"
#include "atproto/tid.hpp"
#include "repo/commit.hpp"

namespace skua::sim {
namespace {

constexpr std::chrono::hours kIntoFuture{1};

/// Replaces the commit block consistently.
void replace_commit_block(CommitFrame& commit, Bytes block) {
  commit.commit = atproto::Cid::of(block);
  commit.blocks.front() = {commit.commit, std::move(block)};
}

repo::Commit read_commit(ByteView block) {
  const auto commit = repo::decode_commit(block);
  if (!commit) throw std::logic_error("simulated commit: " + commit.error().message());
  return *commit;
}

Message cut_short(const CommitFrame& commit) {
  Message message = commit_message(commit);
  const std::size_t after_seq = *message.seq_at;
  message.bytes.resize(after_seq + (message.bytes.size() - after_seq) / 2);
  return message;
}

bool change_record(CommitFrame& commit) {
  for (auto& entry : commit.blocks) {
    const bool is_record = std::any_of(commit.ops.begin(), commit.ops.end(),
                                       [&](const CommitOp& op) { return op.cid == entry.first; });
    if (!is_record) continue;
    entry.second[entry.second.size() / 2] ^= 1U;
    return true;
  }
  return false;
}

void change_signature(CommitFrame& commit) {
  const Bytes block = commit.blocks.front().second;
  repo::Commit content = read_commit(block);
  Bytes signature(content.signature.begin(), content.signature.end());
  signature.back() ^= 1U;
  content.signature = signature;
  replace_commit_block(commit, repo::commit_bytes(content));
}

/// Signs the commit again with another revision.
void sign_as(CommitFrame& commit, atproto::Tid rev, const atproto::SigningKey& key) {
  const Bytes block = commit.blocks.front().second;
  commit.rev = rev.to_string();
  replace_commit_block(commit, signed_commit(commit.did, read_commit(block).data, rev, key));
}

/// The direct successor of the commit's revision: newer than the known one, and older than the next
/// honest one.
atproto::Tid next_rev(const CommitFrame& commit) {
  return {atproto::Tid::parse(commit.rev)->value + 1};
}

}  // namespace

std::optional<Message> hostile_message(Hostility kind, CommitFrame commit,
                                       const atproto::SigningKey& key, Timestamp now) {
  switch (kind) {
    case Hostility::truncated_frame:
      return cut_short(commit);
    case Hostility::bad_hash:
      if (!change_record(commit)) return std::nullopt;
      break;
    case Hostility::bad_signature:
      sign_as(commit, next_rev(commit), key);
      change_signature(commit);
      break;
    case Hostility::wrong_prev_data:
      sign_as(commit, next_rev(commit), key);
      commit.prev_data = atproto::Cid::of(as_bytes("a tree that never was"));
      break;
    case Hostility::replayed_rev:
      break;
    case Hostility::future_rev:
      sign_as(commit, atproto::Tid::from_time(now + kIntoFuture, 0), key);
      break;
  }
  return commit_message(commit);
}

Message commit_in_name_of(const std::string& did, std::size_t bytes, CommitFrame commit,
                          const atproto::SigningKey& key) {
  commit.did = did;
  sign_as(commit, *atproto::Tid::parse(commit.rev), key);
  Bytes filler(bytes);
  const auto cid = atproto::Cid::of(filler);
  commit.blocks.emplace_back(cid, std::move(filler));
  return commit_message(commit);
}

}  // namespace skua::sim
