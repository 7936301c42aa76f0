#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "atproto/signing.hpp"
#include "atproto/tid.hpp"
#include "event/frame_builder.hpp"
#include "event/unresolved_event.hpp"
#include "repo/mst_tree.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::test {

/// A repository that makes the messages an honest host sends about it, as JSON, so that a test can
/// make them dishonest. Its account is kDid.
class SignedRepository {
 public:
  explicit SignedRepository(atproto::Curve curve = atproto::Curve::k256, unsigned char secret = 7);

  struct Change {
    event::Operation operation;
    std::string path;
    std::string text;  // of the record; none on delete
  };

  /// The parts of a #commit before they are put together.
  struct Parts {
    json body;  // without `commit` and `blocks`
    std::map<atproto::Cid, Bytes> blocks;
    repo::Commit commit;  // without signature
  };

  /// Applies changes, one a path, and makes the commit that says so.
  Parts change(const std::vector<Change>& changes);
  /// Signs, and makes the body of the message.
  json sign(Parts parts) const;
  json commit(const std::vector<Change>& changes) { return sign(change(changes)); }
  /// The body of a #sync for where it stands.
  json sync() const;

  atproto::VerifyingKey key() const;
  atproto::RepositoryHead head() { return {rev_, tree_.root()}; }
  const std::map<std::string, atproto::Cid>& records() const { return records_; }

 private:
  Bytes signed_block(repo::Commit commit) const;

  atproto::SigningKey key_;
  repo::MstTree tree_;
  std::map<std::string, atproto::Cid> records_;
  atproto::Tid rev_{};
  atproto::Cid data_;
};

/// A CAR of these blocks with one root.
Bytes car_of(const atproto::Cid& root, const std::map<atproto::Cid, Bytes>& blocks);

}  // namespace skua::test
