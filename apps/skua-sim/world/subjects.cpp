#include "world/subjects.hpp"

#include <chrono>
#include <cmath>
#include <utility>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"
#include "world/language.hpp"
#include "world/network.hpp"
#include "world/plc_directory.hpp"

namespace skua::sim {

namespace {

/// The number of posts of each outsider.
constexpr std::uint64_t kPostsOfOutsider = 500;
/// The share of references to outsiders' posts that refer to popular ones.
constexpr double kToPopular = 0.08;
constexpr double kStartsThread = 0.6;

constexpr std::uint64_t kMicrosecondsOfHistory = 200ULL * 24 * 3600 * 1'000'000;

std::uint64_t number_in(const atproto::Digest& digest) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | digest[i];
  return number;
}

/// Returns an age between a minute and 200 days. Each order of magnitude is equally frequent, so
/// half of the ages are below 9 hours, and three quarters below 9 days.
std::chrono::microseconds recent_age(std::uint64_t drawn) {
  constexpr std::uint64_t kSteps = 1ULL << 53;
  constexpr double kMinute = 60e6;
  const double part = static_cast<double>(drawn % kSteps) / kSteps;
  return std::chrono::microseconds(std::llround(
      kMinute * std::pow(static_cast<double>(kMicrosecondsOfHistory) / kMinute, part)));
}

}  // namespace

Subjects::Subjects(const NetworkSettings& settings, Timestamp start)
    : seed_(settings.seed),
      outsiders_(settings.outsiders),
      outside_share_(settings.outsiders == 0 ? 0 : settings.outside_share),
      recent_posts_(settings.recent_posts),
      start_(start) {}

std::string Subjects::outsider(std::uint64_t number) const {
  const atproto::Digest digest = derive(seed_, "outsider", number);
  return "did:plc:" + base32(digest).substr(0, 24);
}

StrongRef Subjects::outside_post(std::uint64_t author, std::uint64_t number) const {
  const atproto::Digest digest = derive(seed_, "outside post", author * kPostsOfOutsider + number);
  const std::uint64_t drawn = number_in(digest);
  const std::chrono::microseconds age =
      recent_posts_ ? recent_age(drawn) : std::chrono::microseconds(drawn % kMicrosecondsOfHistory);
  const auto rkey = atproto::Tid::from_time(start_ - age, static_cast<unsigned>(drawn >> 54));
  return {"at://" + outsider(author) + "/app.bsky.feed.post/" + rkey.to_string(),
          atproto::Cid{atproto::Cid::kDagCbor, digest}.to_string()};
}

KnownPost Subjects::post(Random& random) const {
  const bool outside = posts_.empty() || random.chance(outside_share_);
  if (!outside || outsiders_ == 0) {
    if (posts_.empty()) {
      // There are no posts yet, and the settings have no outsiders, so the result is the first post
      // of outsider 0.
      StrongRef post = outside_post(0, 0);
      return {post, post};
    }
    return posts_.newest(random.popular(posts_.items().size()));
  }
  if (random.chance(kToPopular)) {
    const std::size_t rank = random.popular(outsiders_);
    StrongRef post = outside_post(rank, 0);
    return {post, post};
  }
  const std::uint64_t author = random.below(outsiders_);
  StrongRef post = outside_post(author, random.below(kPostsOfOutsider));
  if (random.chance(kStartsThread)) return {post, post};
  StrongRef root = outside_post(random.below(outsiders_), random.below(kPostsOfOutsider));
  return {std::move(post), std::move(root)};
}

bool Subjects::is_outside(Random& random) const {
  return accounts_.empty() || random.chance(outside_share_);
}

std::string Subjects::random_outsider(Random& random) const {
  const std::size_t count = outsiders_ == 0 ? 1 : outsiders_;
  // Popular accounts get more followers: one in ten references goes to a very popular account.
  return outsider(random.chance(0.1) ? random.popular(count) : random.below(count));
}

std::string Subjects::account(Random& random) const {
  return is_outside(random) ? random_outsider(random) : random.pick(accounts_).did;
}

KnownAccount Subjects::account_with_handle(Random& random) const {
  if (!is_outside(random)) return random.pick(accounts_);
  std::string did = random_outsider(random);
  Random own = random_of(did);
  return {std::move(did), random_name(own) + ".elsewhere.test"};
}

}  // namespace skua::sim
