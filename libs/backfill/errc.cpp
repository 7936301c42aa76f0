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
        return "the answer is not the list that was asked for";
      case errc::list_too_long:
        return "a page of the list has more entries than any that is meant";
      case errc::list_turns_in_circles:
        return "the list leads back to where it has been and would never end";
      case errc::list_empty_pages:
        return "the list gives one empty page after another";
      case errc::host_name:
        return "not the plain name of a host";
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
