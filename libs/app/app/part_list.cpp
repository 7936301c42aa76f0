#include "app/part_list.hpp"

#include <boost/range/adaptor/reversed.hpp>

namespace skua::app {

void PartList::start() {
  for (const Part& part : parts_) {
    if (part.start) part.start();
  }
}

bool PartList::end(std::chrono::milliseconds patience) {
  for (const Part& part : boost::adaptors::reverse(parts_)) {
    if (part.close) part.close();
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  bool is_drained = true;
  for (const Part& part : boost::adaptors::reverse(parts_)) {
    if (part.drain) is_drained = part.drain(deadline) && is_drained;
  }
  for (const Part& part : boost::adaptors::reverse(parts_)) {
    if (part.end) part.end(is_drained);
  }
  return is_drained;
}

bool PartList::stop(std::chrono::milliseconds patience) {
  bool is_complete = end(patience);
  for (const Part& part : boost::adaptors::reverse(parts_)) {
    if (part.save) is_complete = part.save() && is_complete;
  }
  return is_complete;
}

void PartList::drop() {
  end(std::chrono::milliseconds(0));
  for (const Part& part : boost::adaptors::reverse(parts_)) {
    if (part.drop) part.drop();
  }
}

void PartList::add_metrics(pipeline::Metrics& metrics) const {
  for (const Part& part : parts_) {
    if (part.add_metrics) part.add_metrics(metrics);
  }
}

}  // namespace skua::app
