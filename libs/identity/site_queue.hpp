#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/seeded_hash.hpp"

namespace skua::identity {

/// The site of a host name: its last two labels. A name of a public suffix with two labels (co.uk)
/// counts as one site: that costs its hosts some of their share, and nobody else.
std::string site_of_host(std::string_view host);

/// The site of a did:web: the last two labels of its host. Whoever owns `example.com` can name any
/// number of hosts below it.
std::string site_of(std::string_view did);

/// did:web accounts that wait for a request to their own host. Sites take turns, and each has a
/// bounded number of requests under way: a slow site delays its own accounts only. One thread.
class SiteQueue {
 public:
  SiteQueue(std::size_t at_once, std::size_t of_one_site)
      : at_once_(at_once), of_one_site_(of_one_site) {}

  void push(std::string did);
  /// Whether `take` may be called: some site has room and one that waits.
  bool has_next() const { return under_way_ < at_once_ && !turns_.empty(); }
  /// The next one; its request counts as under way.
  std::string take();
  /// Once for each that was taken.
  void finished(std::string_view did);

  std::size_t under_way() const { return under_way_; }

 private:
  struct Site {
    std::deque<std::string> waiting;
    std::size_t under_way = 0;
    bool has_turn = false;
  };
  /// Gives the site a turn if it can use one.
  void give_turn(const std::string& name, Site& site);

  const std::size_t at_once_;
  const std::size_t of_one_site_;
  std::size_t under_way_ = 0;
  std::unordered_map<std::string, Site, SeededHash> sites_;
  /// The sites that have room and something that waits, in the order of their turns.
  std::deque<std::string> turns_;
};

}  // namespace skua::identity
