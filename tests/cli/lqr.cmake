# catena lqr: from a run to a regulated run, an equilibrium, and what it says of what cannot be.
#   cmake -D CATENA=<program> -D SOURCE=<repository> -D WORK=<folder> -P lqr.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)
set(models ${SOURCE}/models)
set(examples ${SOURCE}/examples)

# The first number is less than the second.
function(less a b what)
  if(NOT a LESS b)
    fail("${what}: ${a} should be less than ${b}")
  endif()
endfunction()

# ---- the example of docs/regulator.md
set(swing simulate ${models}/acrobot.yaml --state ${examples}/acrobot_start.yaml -d 2 --interval 0.002
    --input "elbow=3*sin(4*t) - 1")
expect(0 OUT "." RUN ${swing} -o swing.h5)
set(disturbed --disturb q.shoulder=0.02 --disturb "shoulder=0.5*pulse(t,0.3,0.4)" --disturb mass.lower=1.02)
expect(0 OUT "regulator +q.shoulder, q.elbow, v.shoulder and v.elbow by elbow, 400 intervals of 0.005 s.*output +held.h5"
       RUN lqr swing.h5 ${disturbed} -o held.h5)
expect(0 OUT "." RUN lqr swing.h5 ${disturbed} --gains gains.csv --json)
keys("${out}" states actuators stationary interval intervals weights unreachable open_transition
     closed_transition contracting open closed gains output)
value("${out}" elbow actuators 0)
if(NOT out MATCHES "\"unreachable\": \\[\\]")
  fail("something is out of reach: ${out}")
endif()
string(JSON open GET "${out}" open end_distance)
string(JSON closed GET "${out}" closed end_distance)
less(2 ${open} "without the regulator it departs")
less(${closed} 0.5 "with it it stays")
file(STRINGS ${WORK}/gains.csv lines)
list(LENGTH lines count)
list(GET lines 0 names)
if(NOT count EQUAL 401 OR NOT names STREQUAL
   "time,K.elbow.q.shoulder,K.elbow.q.elbow,K.elbow.v.shoulder,K.elbow.v.elbow")
  fail("gains.csv has ${count} lines, the first is ${names}")
endif()
# The run is one like all others, and may be regulated itself; it is not resumed.
expect(0 OUT "<svg.*>nominal.q.elbow<.*>deviation.v.elbow<" RUN plot held.h5 nominal.q.elbow deviation.v.elbow)
expect(0 OUT "held.h5 -> held.html" RUN report held.h5 -o held.html)
expect(0 OUT "contracting" RUN lqr held.h5 --actuators elbow)
expect(1 OUT "" ERR "another kind \\(regulation\\)" RUN simulate --resume held.h5)
# The same seed, the same offset.
expect(0 OUT "." RUN lqr swing.h5 --disturb random=0.1 --seed 7 --json)
set(first "${out}")
expect(0 OUT "." RUN lqr swing.h5 --disturb random=0.1 --seed 7 --json)
if(NOT out STREQUAL first)
  fail("two runs with one seed differ")
endif()

# ---- an equilibrium
expect(0 OUT "without it .*with it .* 1/s.*all, relative to allowed"
       RUN lqr ${models}/acrobot.yaml --at ${examples}/acrobot_upright.yaml --actuators elbow
           --disturb q.shoulder=0.01 --duration 5 --gains gains.json)
file(READ ${WORK}/gains.json text)
keys("${text}" states actuators interval times gains)
expect(0 OUT "." RUN lqr ${models}/acrobot.yaml --at ${examples}/acrobot_upright.yaml --actuators elbow --json)
value("${out}" ON contracting)
value("${out}" ON stationary)
expect(1 OUT "" ERR "is not an equilibrium with these efforts.*catena equilibrium"
       RUN lqr ${models}/acrobot.yaml --at initial --actuators elbow)

# ---- limits
expect(0 OUT "." RUN lqr swing.h5 ${disturbed} --limit elbow=4.5 --json)
value("${out}" 4.5 closed largest_effort elbow)

# ---- what cannot be
expect(1 OUT "" ERR "no freedom is named 'elbwo'; did you mean 'elbow'" RUN lqr swing.h5 --actuators elbwo)
expect(1 OUT "" ERR "the weight of the effort of 'elbow' is 0; it must be positive" RUN lqr swing.h5 --r elbow=0)
expect(1 OUT "" ERR "the weight of 'q.elbow' is -1; it must not be negative" RUN lqr swing.h5 --q q.elbow=-1)
expect(1 OUT "" ERR "did you mean 'v.elbow'" RUN lqr swing.h5 --final v.elbwo=1)
expect(1 OUT "" ERR "no body 'lowr'; did you mean 'lower'" RUN lqr swing.h5 --disturb mass.lowr=2)
expect(1 OUT "" ERR "did you mean 'q.elbow'" RUN lqr swing.h5 --disturb q.elbw=2)
expect(2 OUT "" ERR "--final has no meaning with --at"
       RUN lqr ${models}/acrobot.yaml --at initial --actuators elbow --final q.elbow=1)
expect(2 OUT "" ERR "--q needs NAME=VALUE" RUN lqr swing.h5 --q 3)
expect(2 OUT "" ERR "is a model; give a RUN, or with --at" RUN lqr ${models}/acrobot.yaml)
expect(1 OUT "" ERR "there is no such file" RUN lqr none.h5)
expect(0 OUT "." RUN ${swing} --outputs q.* v.* -o bare.h5)
expect(1 OUT "" ERR "bare.h5: has no column 'effort.shoulder': the efforts of the motion are needed; record them"
       RUN lqr bare.h5)
expect(0 OUT "." RUN simulate ${models}/acrobot.yaml -d 0.5 -o idle.h5)
expect(1 OUT "" ERR "no freedom has an effort in this motion; name the actuators" RUN lqr idle.h5)
expect(0 OUT "." RUN simulate ${models}/acrobot.yaml -d 0.5 --motion elbow=t^2 -o driven.h5)
expect(1 OUT "" ERR "the motion of 'elbow' was prescribed; a regulator needs efforts" RUN lqr driven.h5)

report_failures()
