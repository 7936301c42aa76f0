# Writes OUTPUT, a C++ file with the text of the files of the dashboard in FOLDER, and of CHARTS, the library for charts.
set(js "text/javascript; charset=utf-8")
set(entries "")
function(embed path type file)
  file(READ ${file} text)
  string(APPEND entries "    {\"${path}\", \"${type}\", R\"skua_asset(${text})skua_asset\"},\n")
  set(entries "${entries}" PARENT_SCOPE)
endfunction()
# All files of FOLDER with a suffix.
function(embed_all suffix type)
  file(GLOB files ${FOLDER}/*.${suffix})
  foreach(file ${files})
    get_filename_component(name ${file} NAME)
    embed(/${name} "${type}" ${file})
  endforeach()
  set(entries "${entries}" PARENT_SCOPE)
endfunction()
embed(/ "text/html; charset=utf-8" ${FOLDER}/dashboard.html)
embed_all(css "text/css; charset=utf-8")
embed_all(js "${js}")
embed_all(svg "image/svg+xml")
embed(/charts.js "${js}" ${CHARTS})
file(WRITE ${OUTPUT} "// Made of libs/operations/pages/dashboard by libs/operations/pages/embed_assets.cmake.
#include \"pages/dashboard.hpp\"

namespace skua::pages {

std::span<const Asset> dashboard_assets() {
  static constexpr Asset kAssets[] = {
${entries}  };
  return kAssets;
}

}  // namespace skua::pages
")
