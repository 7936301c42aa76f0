#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace skua::top {

using Labels = std::vector<std::pair<std::string, std::string>>;

/// The samples of a page of metrics: the text format of Prometheus, version 0.0.4. Lines that are
/// not samples with a finite value are left out, and all after the first 10,000 samples.
class Samples {
 public:
  static constexpr std::size_t kMost = 10'000;

  struct Sample {
    Labels labels;
    double value = 0;
    /// Empty: there is no such label.
    std::string_view label(std::string_view name) const;
    bool has(const Labels& wanted) const;
  };

  static Samples parse(std::string_view text);

  std::size_t size() const { return size_; }

  /// The samples of a name, in the order of the page.
  const std::vector<Sample>& of(std::string_view name) const;
  /// The sum of the samples with these labels; nothing: there is none.
  std::optional<double> total(std::string_view name, const Labels& wanted = {}) const;
  /// The different values of a label, in the order of the page.
  std::vector<std::string> values(std::string_view name, std::string_view label) const;
  /// The value of the sample with exactly these labels.
  const double* find(std::string_view name, const Labels& labels) const;
  /// Whether a counter is lower than before: the process was started again.
  bool restarted_since(const Samples& before) const;

 private:
  struct Family {
    std::vector<Sample> samples;
    /// The index of each sample, by its labels.
    std::unordered_map<std::string, std::size_t> places;
  };

  const Family* family(std::string_view name) const;
  void add(std::string_view line);

  std::map<std::string, Family, std::less<>> families_;
  std::size_t size_ = 0;
};

/// A page of metrics, and when it arrived.
struct Reading {
  std::chrono::steady_clock::time_point at;
  Samples samples;
};

/// The growth per second of the counters that both readings have, with these labels; nothing: there
/// is none, or a counter fell. `before` may be null: nothing.
std::optional<double> rate(const Reading* before, const Reading& now, std::string_view name,
                           const Labels& wanted = {});

/// A quantile (`share` from 0 to 1) of a histogram, of what was added between two readings; nothing
/// was: nothing. Within a bucket the values are taken as even, as Prometheus does. `before` may be
/// null: since the start of the process.
std::optional<double> quantile(const Reading* before, const Reading& now, std::string_view name,
                               double share);

}  // namespace skua::top
