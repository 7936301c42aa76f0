#include "admin/admin_metrics.hpp"

namespace skua::admin {

const char* name_of_request_end(std::size_t index) {
  switch (static_cast<RequestEnd>(index)) {
    case RequestEnd::Executed:
      return "executed";
    case RequestEnd::Rejected:
      return "rejected";
    case RequestEnd::Failed:
      return "failed";
    case RequestEnd::Unauthorized:
      return "unauthorized";
  }
  return "";
}

RequestEnd end_of_request(unsigned status) {
  // 429: too many wrong tokens.
  if (status == 401 || status == 429) return RequestEnd::Unauthorized;
  if (status >= 500) return RequestEnd::Failed;
  return status >= 400 ? RequestEnd::Rejected : RequestEnd::Executed;
}

}  // namespace skua::admin
