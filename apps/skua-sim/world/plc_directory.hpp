#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "plc_operation.hpp"

namespace skua::sim {

/// All operations of a PLC directory in the order of their creation. One thread.
class PlcDirectory {
 public:
  /// Adds an account's next operation, signed. Its `createdAt` is later than that of all before it,
  /// because `/export` continues from there.
  void add(const std::string& did, PlcOperation operation, Timestamp now);

  /// The account's newest operation; null: unknown.
  const PlcOperation* newest(std::string_view did) const;

  /// See Network.
  nlohmann::ordered_json audit(std::string_view did) const;
  nlohmann::ordered_json exported(std::string_view after, std::size_t count) const;

 private:
  struct Entry {
    std::string did;
    std::string cid;
    Timestamp created;
    PlcOperation operation;
  };
  static nlohmann::ordered_json json_of(const Entry& entry);

  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_did_;
};

}  // namespace skua::sim
