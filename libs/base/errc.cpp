#include "base/errc.hpp"

#include <string>

namespace skua {
namespace {

class BaseCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "skua"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::datetime_form:
        return "not a datetime: wanted is 2026-07-04T14:38:08.085Z, with seconds and a zone";
      case errc::datetime_out_of_range:
        return "not a datetime: there is no such day or time of day";
      case errc::datetime_zone:
        return "not a datetime: there is no such zone (-00:00 is not allowed)";
      case errc::datetime_year:
        return "not a datetime: in UTC its year is before 0000 or after 9999";
    }
    return "unknown error";
  }
};

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const BaseCategory category;
  return {static_cast<int>(e), category};
}

}  // namespace skua
