#include "backfill/errc.hpp"

#include <string>

namespace skua::backfill {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "skua.backfill"; }

  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::list_form:
        return "the answer is not the requested list";
      case errc::list_too_long:
        return "a page of the list has too many entries";
      case errc::list_empty_pages:
        return "the list has too many empty pages";
      case errc::host_name:
        return "not a plain host name";
    }
    return "unknown backfill error";
  }
};

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const Category category;
  return {static_cast<int>(e), category};
}

}  // namespace skua::backfill
