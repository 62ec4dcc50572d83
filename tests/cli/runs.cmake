# The commands that read runs: report, plot, compare, events, and what they say of files that are none.
#   cmake -D CATENA=<program> -D WRITE_RUN=<program> -D SOURCE=<repository> -D WORK=<folder>
#         -P runs.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

foreach(what pendulum four_bar million)
  execute_process(COMMAND ${WRITE_RUN} ${what} ${SOURCE}/models ${WORK}/${what}.h5
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# ---- report: one page with everything in it
expect(0 OUT "pendulum.h5 -> page.html" RUN report pendulum.h5 -o page.html)
file(READ ${WORK}/page.html page)
if(NOT page MATCHES "\"format\":\"catena report 1\"" OR page MATCHES "\"CATENA_REPORT_DATA\"")
  fail("the page has no data")
endif()
if(page MATCHES "(src|href)=\"(http|//)")
  fail("the page refers to something outside: ${CMAKE_MATCH_0}")
endif()
string(REGEX MATCH "<script id=\"report-data\" type=\"application/json\">([^<]*)</script>" found "${page}")
set(json "${CMAKE_MATCH_1}")
value("${json}" double_pendulum title)
value("${json}" 1001 rows)
value("${json}" complete status)
value("${json}" upper bodies 0 name)
value("${json}" capsule bodies 0 visuals 0 shape)
value("${json}" q.shoulder series columns 0 name)
value("${json}" rk4 settings integrator method)
value("${json}" shoulder events 0 name)
# 1001 times of 8 bytes, and as many poses of 2 bodies by 7 numbers of 4 bytes, in base64
foreach(row "10680;times" "74744;poses")
  list(POP_FRONT row length)
  string(JSON text GET "${json}" frames ${row})
  string(LENGTH "${text}" found)
  if(NOT found EQUAL length)
    fail("${length} characters of ${row} expected, found ${found}")
  endif()
endforeach()
expect(0 OUT "million.h5 -> long.html" ERR "note: The plots show the least and the greatest of every 250 rows"
       RUN report million.h5 -o long.html)
file(SIZE ${WORK}/long.html size)
if(size GREATER 4000000)
  fail("the page of a million rows has ${size} bytes")
endif()
expect(1 OUT "" ERR "there is no such file" RUN report none.h5)
expect(1 OUT "" ERR "cannot be written" RUN report pendulum.h5 -o no_such_folder/page.html)
file(WRITE ${WORK}/text.h5 "time,q\n")
expect(1 OUT "" ERR "not an HDF5 file" RUN report text.h5)
expect(2 OUT "" ERR "RUN is required" RUN report)
expect(2 OUT "" ERR "'r.pdf': the result is an HTML page" RUN report pendulum.h5 -o r.pdf)

# Several runs in one page, and mode shapes
expect(0 OUT "pendulum.h5 -> both.html" RUN report pendulum.h5 four_bar.h5 -o both.html)
file(READ ${WORK}/both.html page)
string(REGEX MATCH "<script id=\"report-data\" type=\"application/json\">([^<]*)</script>" found "${page}")
value("${CMAKE_MATCH_1}" four_bar others 0 title)
expect(2 OUT "" ERR "at most 4 runs"
       RUN report pendulum.h5 pendulum.h5 pendulum.h5 pendulum.h5 pendulum.h5 -o many.html)
expect(1 OUT "" ERR "there is no such file" RUN report pendulum.h5 none.h5 -o none.html)
expect(0 OUT "-> modes.html\nmode " RUN modes ${SOURCE}/models/four_bar.yaml --report modes.html)
file(READ ${WORK}/modes.html page)
string(REGEX MATCH "<script id=\"report-data\" type=\"application/json\">([^<]*)</script>" found "${page}")
value("${CMAKE_MATCH_1}" modes status)
value("${CMAKE_MATCH_1}" A modes 0 participants 0 name)
expect(2 OUT "" ERR "'m.pdf': the result is an HTML page"
       RUN modes ${SOURCE}/models/four_bar.yaml --report m.pdf)

# ---- plot
expect(0 OUT "pendulum.h5 -> x.svg" RUN plot pendulum.h5 q.elbow v.elbow -o x.svg)
file(READ ${WORK}/x.svg svg)
foreach(text "^<svg " ">q.elbow<" ">v.elbow<" ">rad<" ">rad/s<" "time \\[s\\]")
  if(NOT svg MATCHES "${text}")
    fail("x.svg should match ${text}")
  endif()
endforeach()
expect(0 OUT "<svg.*>q.shoulder<.*>q.elbow<.*</svg>" RUN plot pendulum.h5 "q.*")
expect(1 OUT "" ERR "no column 'q.elbwo'; did you mean 'q.elbow'" RUN plot pendulum.h5 q.elbwo)
expect(1 OUT "" ERR "no column like 'z" RUN plot pendulum.h5 "z*")
expect(2 OUT "" ERR "COLUMN is required" RUN plot pendulum.h5)
expect(2 OUT "" ERR "'x.png': the result is an SVG picture; its name must end in .svg" RUN plot pendulum.h5 q.elbow -o x.png)
expect(0 OUT "^<svg.*</svg>" RUN plot pendulum.h5 q.elbow -o -)
if(EXISTS ${WORK}/- OR EXISTS ${WORK}/x.png)
  fail("plot wrote a file that it should not write")
endif()

# ---- compare
expect(0 OUT "7 of 7 columns are equal in 1001 rows.*agree within 0" RUN compare pendulum.h5 pendulum.h5)
expect(1 OUT "models are different.*Only in pendulum.h5: .*q.elbow.*Only in four_bar.h5: .*They end at 10 s and 6.28"
       RUN compare pendulum.h5 four_bar.h5)
expect(1 OUT "." RUN compare pendulum.h5 four_bar.h5 --json)
keys("${out}" agree tolerance same_model same_times ends versions compared_rows settings only_first
     only_second columns)
value("${out}" OFF agree)
expect(2 OUT "" ERR "must not be negative" RUN compare pendulum.h5 pendulum.h5 --tolerance -1)
expect(1 OUT "" ERR "there is no such file" RUN compare pendulum.h5 none.h5)

# ---- view
expect(1 OUT "" ERR "there is no such file" RUN view none.h5)
expect(2 OUT "" ERR "--port" RUN view pendulum.h5 --port 70000)

# ---- events
expect(0 OUT "time +kind +of +what.*user +shoulder +hangs straight down.*[0-9]+ events?: [0-9]+ user" RUN events pendulum.h5)
expect(0 OUT "." RUN events pendulum.h5 --json)
value("${out}" user events 0 kind)
value("${out}" shoulder events 0 name)
expect(0 OUT "^0 events" RUN events million.h5)
expect(0 OUT "^0 events" RUN events pendulum.h5 --kind limit,zeno)
expect(1 OUT "" ERR "no kind of event 'usr'; did you mean 'user'" RUN events pendulum.h5 --kind usr)
expect(1 OUT "" ERR "there is no such file" RUN events none.h5)

report_failures()
