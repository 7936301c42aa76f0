#include "repo/commit.hpp"

#include "atproto/data_model.hpp"
#include "atproto/syntax.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/errc.hpp"

namespace skua::repo {
namespace {

constexpr int kOldestVersion = 2;
constexpr int kCurrentVersion = 3;

/// Encodes the fields in DAG-CBOR's key order, with `sig` only on request.
Bytes encode(const Commit& commit, bool with_signature) {
  Bytes out;
  CborWriter writer(out);
  writer.map(4U + (commit.rev ? 1U : 0U) + (with_signature ? 1U : 0U));
  writer.string("did");
  writer.string(commit.did);
  if (commit.rev) {
    writer.string("rev");
    writer.string(commit.rev->to_string());
  }
  if (with_signature) {
    writer.string("sig");
    writer.bytes(commit.signature);
  }
  writer.string("data");
  writer.link(commit.data);
  writer.string("prev");
  if (commit.prev) {
    writer.link(*commit.prev);
  } else {
    writer.null();
  }
  writer.string("version");
  writer.integer(commit.version);
  return out;
}

}  // namespace

Result<Commit> decode_commit(ByteView block) {
  thread_local atproto::Document document;
  if (const auto read = read_dag_cbor(block, document); !read) return read.error();
  const atproto::Value root = document.root();
  const auto did = root.find("did");
  const auto version = root.find("version");
  const auto data = root.find("data");
  const auto signature = root.find("sig");
  if (!did || !did->is_string() || !atproto::is_did(did->string()) ||  //
      !version || !version->is_integer() ||                            //
      !data || !data->is_link() ||                                     //
      !signature || !signature->is_bytes()) {
    return errc::commit_malformed;
  }
  if (version->integer() != kOldestVersion && version->integer() != kCurrentVersion) {
    return errc::commit_malformed;
  }

  Commit commit;
  commit.did = did->string();
  commit.version = static_cast<int>(version->integer());
  commit.data = data->link();
  commit.signature = signature->bytes();

  if (const auto rev = root.find("rev"); rev && !rev->is_null()) {
    if (!rev->is_string()) return errc::commit_malformed;
    const auto tid = atproto::Tid::parse(rev->string());
    if (!tid) return errc::commit_malformed;
    commit.rev = *tid;
  } else if (commit.version == kCurrentVersion) {
    return errc::commit_malformed;
  }
  // Version 3 requires a prev that may be null. Old producers left prev out but signed it as null.
  if (const auto prev = root.find("prev"); prev && !prev->is_null()) {
    if (!prev->is_link()) return errc::commit_malformed;
    commit.prev = prev->link();
  }
  return commit;
}

Bytes unsigned_commit_bytes(const Commit& commit) {
  return encode(commit, false);
}

Bytes commit_bytes(const Commit& commit) {
  return encode(commit, true);
}

}  // namespace skua::repo
