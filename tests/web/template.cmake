# The hash in web/dist/report.html is that of the sources it was built from (web/vite.config.js).
#   cmake -D WEB=<folder> -P template.cmake
cmake_minimum_required(VERSION 3.25)
file(GLOB sources RELATIVE ${WEB} ${WEB}/src/*)
list(APPEND sources index.html package-lock.json vite.config.js)
list(SORT sources)
set(lines "")
foreach(source IN LISTS sources)
  file(SHA256 ${WEB}/${source} hash)
  string(APPEND lines "${hash}  ${source}\n")
endforeach()
string(SHA256 wanted "${lines}")
file(STRINGS ${WEB}/dist/report.html found REGEX "SHA-256 [0-9a-f]+" LIMIT_COUNT 1)
if(NOT found MATCHES "SHA-256 ${wanted} ")
  message(FATAL_ERROR "web/dist/report.html is older than its sources (${wanted}); run\n"
                      "  cd web && npm ci && npm run build\nand commit the result")
endif()
message("as its sources")
