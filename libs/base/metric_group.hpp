#pragma once

#include <concepts>
#include <vector>

#include <boost/pfr/core.hpp>

#include "base/metric.hpp"

namespace skua {

/// Reads the metrics of a struct in the order of their declarations. The struct is an aggregate:
/// it has no constructors and no base. A member that is a Counter, Gauge, CountFamily or Histogram
/// is a metric; others are left out.
template <class Group>
std::vector<MetricValue> values_of(const Group& group) {
  std::vector<MetricValue> values;
  boost::pfr::for_each_field(group, [&values](const auto& field) {
    if constexpr (requires {
                    { field.read() } -> std::same_as<MetricValue>;
                  }) {
      values.push_back(field.read());
    }
  });
  return values;
}

}  // namespace skua
