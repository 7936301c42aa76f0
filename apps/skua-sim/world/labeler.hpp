#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "label.hpp"
#include "message_log.hpp"
#include "population.hpp"
#include "random.hpp"
#include "subjects.hpp"

namespace skua::sim {

/// An account of the network that puts labels on accounts and posts, and withdraws some. Its stream
/// has numbers of its own and goes back to the first label; a label keeps the signature of its
/// time. What it does follows from the seed and the calls, and changes nothing that others do. One
/// thread.
class Labeler {
 public:
  /// Makes the account a labeler. It is the `number`th of the population, which must outlive this
  /// as the subjects must.
  Labeler(std::uint64_t seed, std::size_t number, Population& population, const Subjects& subjects,
          Timestamp now);

  const std::string& did() const { return account().did; }
  Account& account() const { return population_.at(number_); }

  /// By chance, after a step of the network: a frame of one label, or of a few.
  void happen(Timestamp now);

  /// A label as somebody wants it; `src` is filled in.
  struct Wanted {
    Label label;
    std::optional<LabelFlaw> flaw = std::nullopt;
  };
  /// One frame with these. Each that has no flaw must have a datetime in `cts`. Returns its seq.
  std::int64_t say(std::vector<Wanted> wanted);
  /// The newest frame once more, under the same number. False: there is none yet.
  bool repeat();

  MessageLog& log() { return log_; }
  /// What holds: {src, seq, labels: [{src, uri, val, neg, cts, exp, cid, seq}]}, by URI and value;
  /// what is absent is null. Of several labels with one URI and value the last by (cts, seq)
  /// counts; withdrawn ones are there with `neg`.
  nlohmann::ordered_json state() const;

 private:
  /// URI and value.
  using Key = std::pair<std::string, std::string>;
  struct Standing {
    Label label;
    Timestamp made;
    std::int64_t seq = 0;
  };

  Label fresh_label(Timestamp now);
  Label changed_label(Timestamp now);
  void keep(const Label& label, std::int64_t seq);

  Random random_;
  const std::size_t number_;
  Population& population_;
  const Subjects& subjects_;
  MessageLog log_;
  std::shared_ptr<const Message> newest_;
  std::map<Key, Standing> standing_;
  /// Of what stands, in the order in which it came: to be picked from.
  std::vector<Key> keys_;
};

}  // namespace skua::sim
