# Writes OUTPUT, a C++ file with the text of the files of the dashboard in FOLDER, and of CHARTS, the library for charts.
set(js "text/javascript; charset=utf-8")
set(entries "")
function(embed path type file)
  file(READ ${file} text)
  # A string literal has a limit of 64 KB in some compilers; GCC and Clang have none.
  string(APPEND entries "    {\"${path}\", \"${type}\", R\"skua_asset(${text})skua_asset\"},\n")
  set(entries "${entries}" PARENT_SCOPE)
endfunction()
embed(/ "text/html; charset=utf-8" ${FOLDER}/dashboard.html)
embed(/dashboard.css "text/css; charset=utf-8" ${FOLDER}/dashboard.css)
embed(/dashboard.js "${js}" ${FOLDER}/dashboard.js)
embed(/samples.js "${js}" ${FOLDER}/samples.js)
embed(/charts.js "${js}" ${CHARTS})
file(WRITE ${OUTPUT} "// Made of libs/pages/dashboard by libs/pages/embed_assets.cmake.
#include \"pages/dashboard.hpp\"

namespace skua::pages {

std::span<const Asset> dashboard_assets() {
  static constexpr Asset kAssets[] = {
${entries}  };
  return kAssets;
}

}  // namespace skua::pages
")
