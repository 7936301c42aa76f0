#include "top/samples.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace skua::top {
namespace {

constexpr std::size_t kMostLabels = 16;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

/// Removes a name from the beginning.
std::string_view take_name(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && is_name_character(text[size])) ++size;
  const std::string_view name = text.substr(0, size);
  text.remove_prefix(size);
  return name;
}

/// Removes `"value"` from the beginning; nothing: there is none.
std::optional<std::string> take_value(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] != '\\') {
      value += text[i];
    } else if (++i < text.size()) {
      value += text[i] == 'n' ? '\n' : text[i];
    }
  }
  return std::nullopt;
}

/// Removes `{name="value",...}` from the beginning. False: it is malformed, or too long.
bool take_labels(std::string_view& text, Labels& labels) {
  if (!text.starts_with('{')) return true;
  do {
    text.remove_prefix(1);
    const std::string_view name = take_name(text);
    if (name.empty() || !text.starts_with('=') || labels.size() == kMostLabels) return false;
    text.remove_prefix(1);
    auto value = take_value(text);
    if (!value) return false;
    labels.emplace_back(name, std::move(*value));
  } while (text.starts_with(','));
  if (!text.starts_with('}')) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string key_of(const Labels& labels) {
  std::string key;
  for (const auto& [name, value] : labels) key.append(name).append(1, '\0').append(value) += '\1';
  return key;
}

bool counts(std::string_view name) {
  return name.ends_with("_total") || name.ends_with("_count") || name.ends_with("_bucket");
}

}  // namespace

std::string_view Samples::Sample::label(std::string_view name) const {
  for (const auto& [each, text] : labels) {
    if (each == name) return text;
  }
  return {};
}

bool Samples::Sample::has(const Labels& wanted) const {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& each) { return label(each.first) == each.second; });
}

Samples Samples::parse(std::string_view text) {
  Samples samples;
  while (!text.empty() && samples.size_ < kMost) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    samples.add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return samples;
}

void Samples::add(std::string_view line) {
  const std::string name(take_name(line));
  Sample sample;
  if (name.empty() || !take_labels(line, sample.labels) || !line.starts_with(' ')) return;
  const auto value = number_in(line.substr(1));
  if (!value) return;
  sample.value = *value;
  Family& family = families_[name];
  if (!family.places.emplace(key_of(sample.labels), family.samples.size()).second) return;
  family.samples.push_back(std::move(sample));
  ++size_;
}

const Samples::Family* Samples::family(std::string_view name) const {
  const auto found = families_.find(name);
  return found == families_.end() ? nullptr : &found->second;
}

const std::vector<Samples::Sample>& Samples::of(std::string_view name) const {
  static const std::vector<Sample> kNone;
  const Family* const found = family(name);
  return found == nullptr ? kNone : found->samples;
}

std::optional<double> Samples::total(std::string_view name, const Labels& wanted) const {
  std::optional<double> sum;
  for (const Sample& sample : of(name)) {
    if (sample.has(wanted)) sum = sum.value_or(0) + sample.value;
  }
  return sum;
}

std::vector<std::string> Samples::values(std::string_view name, std::string_view label) const {
  std::vector<std::string> all;
  std::unordered_map<std::string, bool> is_known;
  for (const Sample& sample : of(name)) {
    std::string value(sample.label(label));
    if (!value.empty() && is_known.emplace(value, true).second) all.push_back(std::move(value));
  }
  return all;
}

const double* Samples::find(std::string_view name, const Labels& labels) const {
  const Family* const found = family(name);
  if (found == nullptr) return nullptr;
  const auto place = found->places.find(key_of(labels));
  return place == found->places.end() ? nullptr : &found->samples[place->second].value;
}

bool Samples::restarted_since(const Samples& before) const {
  for (const auto& [name, family] : families_) {
    if (!counts(name)) continue;
    for (const Sample& sample : family.samples) {
      const double* const former = before.find(name, sample.labels);
      if (former != nullptr && sample.value < *former) return true;
    }
  }
  return false;
}

std::optional<double> rate(const Reading* before, const Reading& now, std::string_view name,
                           const Labels& wanted) {
  if (before == nullptr || now.at <= before->at) return std::nullopt;
  std::optional<double> growth;
  for (const auto& sample : now.samples.of(name)) {
    const double* const former =
        sample.has(wanted) ? before->samples.find(name, sample.labels) : nullptr;
    if (former == nullptr) continue;
    if (sample.value < *former) return std::nullopt;
    growth = growth.value_or(0) + (sample.value - *former);
  }
  if (!growth) return std::nullopt;
  return *growth / std::chrono::duration<double>(now.at - before->at).count();
}

std::optional<double> quantile(const Reading* before, const Reading& now, std::string_view name,
                               double share) {
  const std::string bucket = std::string(name) + "_bucket";
  std::map<double, double> counts;
  const auto add = [&](const Reading& reading, double sign) {
    for (const auto& sample : reading.samples.of(bucket)) {
      const std::string_view bound = sample.label("le");
      const auto number = bound == "+Inf" ? std::numeric_limits<double>::infinity()
                                          : number_in(bound).value_or(std::nan(""));
      if (!std::isnan(number)) counts[number] += sign * sample.value;
    }
  };
  add(now, 1);
  if (before != nullptr) add(*before, -1);
  if (counts.empty() || counts.rbegin()->second <= 0) return std::nullopt;
  const double wanted = share * counts.rbegin()->second;
  double below = 0;
  double lower = 0;
  for (const auto& [bound, count] : counts) {
    if (count >= wanted) {
      if (std::isinf(bound) || count <= below) return lower;
      return lower + (bound - lower) * (wanted - below) / (count - below);
    }
    below = count;
    lower = bound;
  }
  return lower;
}

}  // namespace skua::top
