#include "repo/repository_listing.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "repo/block_index.hpp"
#include "repo/car.hpp"
#include "repo/errc.hpp"
#include "repo/mst_reader.hpp"

namespace skua::repo {

Result<Repository> open_repository(ByteView car) {
  // Checks the roots first, because a CAR that is not a repository may contain blocks that no
  // repository can have.
  const auto header = CarReader::open(car);
  if (!header) return header.error();
  if (header->roots().empty()) return errc::car_not_a_repository;

  Repository repository;
  if (const auto loaded = load_car(car, repository.car); !loaded) return loaded.error();
  const auto block = repository.car.blocks.find(repository.car.roots.front().digest);
  if (block == repository.car.blocks.end()) return errc::car_not_a_repository;
  const auto commit = decode_commit(block->second);
  if (!commit) return errc::car_not_a_repository;
  repository.commit = *commit;
  return repository;
}

using atproto::Cid;

namespace {

/// A key of a tree omits the bytes that it shares with the previous key, and many entries may name
/// the same block. So a small CAR could expand to far more bytes than it has. An entry takes 53
/// bytes without its key. No honest repository has keys of four times that length and no records.
constexpr std::size_t kMostPaths = 4;

/// The number of bytes that is enough for most paths.
constexpr std::size_t kTypicalPath = 40;

/// Loads the first cache lines of a block that is needed soon.
void prefetch(ByteView block) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kLines = 8;
  const std::size_t end = std::min(block.size(), kLines * kLine);
  for (std::size_t at = 0; at < end; at += kLine) __builtin_prefetch(block.data() + at);
}

Result<Commit> read_commit(ByteView car, const BlockIndex& index, const Cid& root) {
  const auto section = index.find(root.digest);
  if (section == BlockIndex::kMissing) return errc::car_not_a_repository;
  const auto commit = decode_commit(car_block_at(car, section).data);
  if (!commit) return errc::car_not_a_repository;
  return *commit;
}

}  // namespace

/// Fills a listing with the entries of a walk. Looks up some hundred records at once, see
/// BlockIndex.
class RepositoryListing::Lister final : public MstVisitor {
 public:
  Lister(RepositoryListing& listing, const BlockIndex& index) : out_(listing), index_(index) {
    out_.places_.reserve(index.size());
    out_.paths_.reserve(index.size() * kTypicalPath);
    walked_.reserve(kBatch);
    digests_.reserve(kBatch);
  }

  void expect(std::span<const atproto::Digest> nodes) override {
    std::array<std::size_t, kBatch> sections;
    const std::size_t count = std::min(nodes.size(), sections.size());
    index_.find(nodes.first(count), std::span(sections).first(count));
    for (const std::size_t section : std::span(sections).first(count)) {
      if (section != BlockIndex::kMissing) prefetch(out_.car_.subspan(section));
    }
  }

  std::optional<ByteView> find(const atproto::Digest& digest) override {
    const std::size_t section = index_.find(digest);
    if (section == BlockIndex::kMissing) return std::nullopt;
    return car_block_at(out_.car_, section).data;
  }

  void entry(std::string_view key, const Cid& value) override {
    keys_.append(key);
    walked_.push_back({keys_.size(), value.codec == Cid::kRaw, subtree_missing_});
    digests_.push_back(value.digest);
    subtree_missing_ = false;
    if (walked_.size() == kBatch) list();
  }

  void missing_node() override { subtree_missing_ = true; }

  /// Must be called when the walk has ended. Errors: see `open`.
  Result<void> finish(const MstWalk& walk, Extent extent) {
    list();
    out_.unreadable_ = walk.unreadable;
    out_.gaps_.push_back(gap_before_next_ || subtree_missing_);
    if (out_.paths_.size() > most_paths()) return errc::mst_too_large;
    if (extent == Extent::Since) return {};
    if (walk.missing_nodes > 0) return errc::mst_missing_node;
    if (out_.places_.size() < walk.entries) return errc::record_missing;
    return {};
  }

 private:
  static constexpr std::size_t kBatch = 256;

  /// An entry whose record was not looked up yet.
  struct WalkedEntry {
    std::size_t key_end;  // the end of the key in `keys_`; it begins at the end of the previous key
    bool raw;
    /// Whether a subtree is missing between the previous entry and this one.
    bool subtree_missing;
  };

  std::size_t most_paths() const { return kMostPaths * out_.car_.size(); }

  /// Looks up the collected entries, and lists the entries whose block exists.
  void list() {
    std::array<std::size_t, kBatch> sections;
    index_.find(digests_, std::span(sections).first(digests_.size()));
    std::size_t begin = 0;
    for (std::size_t i = 0; i < walked_.size(); ++i) {
      const WalkedEntry& entry = walked_[i];
      gap_before_next_ = gap_before_next_ || entry.subtree_missing;
      if (sections[i] == BlockIndex::kMissing) {
        gap_before_next_ = true;
      } else if (out_.paths_.size() <= most_paths()) {
        out_.paths_.append(keys_, begin, entry.key_end - begin);
        out_.places_.push_back({sections[i], out_.paths_.size()});
        out_.raw_.push_back(entry.raw);
        out_.gaps_.push_back(gap_before_next_);
        gap_before_next_ = false;
      }
      begin = entry.key_end;
    }
    keys_.clear();
    walked_.clear();
    digests_.clear();
  }

  RepositoryListing& out_;
  const BlockIndex& index_;
  /// Whether a subtree was missing since the last entry of the walk.
  bool subtree_missing_ = false;
  /// Whether a subtree or a record was missing since the last listed record, so that the next
  /// record to list has a gap before it.
  bool gap_before_next_ = false;
  std::vector<WalkedEntry> walked_;
  std::vector<atproto::Digest> digests_;
  std::string keys_;
};

Result<RepositoryListing> RepositoryListing::open(ByteView car, Extent extent) {
  // Checks the roots first, as `open_repository` does.
  const auto header = CarReader::open(car);
  if (!header) return header.error();
  if (header->roots().empty()) return errc::car_not_a_repository;
  const auto index = BlockIndex::build(car);
  if (!index) return index.error();
  const auto commit = read_commit(car, *index, header->roots().front());
  if (!commit) return commit.error();

  RepositoryListing listing(car, *commit);
  Lister lister(listing, *index);
  const auto walk = walk_mst(commit->data, lister);
  if (!walk) return walk.error();
  if (const auto finished = lister.finish(*walk, extent); !finished) return finished.error();
  return listing;
}

ListedRecord RepositoryListing::at(std::size_t i) const {
  // Loads a later record into the cache. Most readers continue in order, and successive records are
  // seldom adjacent in the CAR.
  constexpr std::size_t kAhead = 4;
  if (i + kAhead < places_.size()) prefetch(car_.subspan(places_[i + kAhead].section));
  const Place& place = places_[i];
  const CarBlock block = car_block_at(car_, place.section);
  return {path(i), {raw_[i] ? Cid::kRaw : Cid::kDagCbor, block.cid.digest}, block.data};
}

std::string_view RepositoryListing::path(std::size_t i) const {
  const std::size_t begin = i == 0 ? 0 : places_[i - 1].path_end;
  return std::string_view(paths_).substr(begin, places_[i].path_end - begin);
}

}  // namespace skua::repo
