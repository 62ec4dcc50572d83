# The command line as a user meets it: exit codes, messages, JSON keys.
#   cmake -D CATENA=<program> -D SOURCE=<repository> -D WORK=<folder> -P check.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

set(models ${SOURCE}/models)

# ---- help, version, wrong usage
expect(0 OUT "^catena [0-9]+\\.[0-9]+\\.[0-9]+\n$" RUN --version)
expect(0 OUT "Examples:" RUN --help)
foreach(command info check convert assemble ik dynamics batch linearize modes equilibrium check-derivatives lyapunov
        simulate optimize lqr verify report view plot compare events)
  expect(0 OUT "Examples:.*catena ${command}" RUN ${command} --help)
endforeach()
expect(0 OUT "^Simulate.*Usage: catena simulate.*--method.*Examples:.*catena simulate" RUN help simulate)
expect(0 OUT "Subcommands:.*simulate.*Examples:" RUN help)
expect(2 OUT "" ERR "there is no command 'simulte'; did you mean 'simulate'" RUN help simulte)
expect(2 OUT "" ERR "error: A subcommand is required" RUN)
expect(2 OUT "" ERR "did you mean 'info'" RUN inof)
expect(2 OUT "" ERR "did you mean '--json'" RUN info ${models}/pendulum.yaml --jsn)
expect(2 OUT "" ERR "FILE is required" RUN info)
expect(2 OUT "" ERR "pendulun.yaml: error: there is no such file; did you mean 'pendulum.yaml'"
       RUN info ${models}/pendulun.yaml)
expect(2 OUT "" ERR "--base" RUN info ${models}/pendulum.yaml --base floating)
expect(2 OUT "" ERR "--gravity" RUN info ${models}/pendulum.yaml --gravity 1 2)
expect(2 OUT "" ERR "--gravity needs three finite numbers, not nan"
       RUN info ${models}/pendulum.yaml --gravity 0 0 nan)
expect(2 OUT "" ERR "--set needs NAME=VALUE, not 'mass.link'"
       RUN info ${models}/pendulum.yaml --set mass.link)
expect(1 OUT "" ERR "body.couplr.mass'; did you mean 'body.coupler.mass'"
       RUN info ${models}/four_bar.yaml --set mass.couplr=2)
expect(1 OUT "1 error" ERR "four_bar.yaml:16: error: body 'coupler': mass -1 must not be negative"
       RUN check ${models}/four_bar.yaml --set body.coupler.mass=-1)
expect(2 OUT "" ERR "--output -: .* give a file" RUN simulate ${models}/pendulum.yaml -d 1 -o -)
file(WRITE ${WORK}/torn.yaml "q: {A: 1.0, D: 0.3}\n")
expect(0 OUT "acceleration" ERR "warning: the given state does not close the loops; moved: A from 1 to .* and D from 0.3 to"
       RUN dynamics ${models}/four_bar.yaml --state ${WORK}/torn.yaml)
file(WRITE ${WORK}/dry.yaml "catena: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}}
hinges: {h: {type: revolute, parent: world, child: a, axis: z, friction: 0.5, stiffness: 4}}
")
foreach(command modes linearize equilibrium)
  expect(0 OUT "." ERR "dry friction of h counts as viscous here, up to 500 .*--set hinge.h.friction=0"
         RUN ${command} ${WORK}/dry.yaml)
endforeach()
expect(0 OUT "± 2i" RUN modes ${WORK}/dry.yaml --set hinge.h.friction=0)
expect(0 OUT "^$" RUN info ${models}/four_bar.yaml -o ${WORK}/info.json)
file(READ ${WORK}/info.json out)
value("${out}" four_bar name)
expect(2 OUT "" ERR "--what" RUN dynamics ${models}/pendulum.yaml --what everything)
expect(2 OUT "" ERR "must end in .yaml" RUN convert ${models}/pendulum.yaml out.urdf)

# ---- info
expect(0 OUT "in use" RUN info --cpu)
expect(0 OUT "." RUN info --cpu --json)
keys("${out}" processor hardware_threads available built used)
expect(0 OUT "mobility +1\n.*closed by +hinge C.*constraints +5, 3 redundant"
       RUN info ${models}/four_bar.yaml)
expect(0 OUT "." RUN info ${models}/four_bar.yaml --json)
keys("${out}" name base gravity bodies hinges freedoms mobility loops couplings total_mass center_of_mass
     inertia warnings)
value("${out}" four_bar name)
value("${out}" fixed base)
value("${out}" 3 bodies)
value("${out}" 4 hinges)
value("${out}" 3 freedoms)
value("${out}" 1 mobility)
value("${out}" 4.0 total_mass)
expect(0 OUT "." RUN info ${models}/four_bar.yaml --json --set mass.coupler=3 --set gravity.y=-1)
value("${out}" 6.0 total_mass)
expect(0 OUT "." RUN info ${models}/four_bar.yaml --json)
string(JSON loop GET "${out}" loops 0)
keys("${loop}" bodies constraints redundant instantaneous singular shaky treatment)
value("${loop}" 5 constraints)
value("${loop}" 3 redundant)
expect(0 OUT "." RUN info ${models}/quadruped.yaml --json)
value("${out}" free base)
value("${out}" 18 freedoms)
expect(0 OUT "." RUN info ${models}/pendulum.yaml --json --gravity 0 0 -1.625)
value("${out}" -1.625 gravity 2)
file(GLOB all_models ${models}/*.yaml ${models}/*.sdf ${models}/*.urdf)
foreach(model IN LISTS all_models)
  expect(0 OUT "Tree" ERR ".*" RUN info ${model})
  expect(0 OUT "good" ERR ".*" RUN check ${model})
endforeach()

# ---- check: all problems at once, each with its line
file(WRITE ${WORK}/broken.yaml "catena: 1
bodies:
  a: {mass: -1}
  b: {mas: 1}
hinges:
  h: {type: revolut, parent: world, child: a}
")
expect(1 OUT "[0-9]+ errors" ERR "broken.yaml:[0-9]+: error: .*broken.yaml:4: error: .*did you mean 'mass'"
       RUN check broken.yaml)
if(NOT err MATCHES "broken.yaml:6: error: [^\n]*did you mean 'revolute'")
  fail("check should report all problems: ${err}")
endif()
expect(1 OUT "" ERR "broken.yaml:4: error: " RUN info broken.yaml)
# A loop that cannot be closed: the rod does not reach its slider.
file(WRITE ${WORK}/torn.yaml "catena: 1
bodies:
  crank: {mass: 1, inertia: [1, 1, 1]}
  rod: {mass: 1, inertia: [1, 1, 1]}
  slider: {mass: 1, inertia: [1, 1, 1]}
hinges:
  A: {type: revolute, parent: world, child: crank}
  B: {type: revolute, parent: crank, child: rod, at: [0.4, 0, 0]}
  S: {type: prismatic, parent: world, child: slider, axis: x, at: [0, 9, 0]}
  C: {type: revolute, parent: rod, child: slider, at: [1, 0, 0]}
")
expect(1 OUT "1 error" ERR "torn.yaml: error: .*loop of 'crank', 'rod' and 'slider' cannot be closed.*open by 7.6 m"
       RUN check torn.yaml)
# A hinge without inertia is an error, but no reason not to describe the rest.
file(WRITE ${WORK}/idle.urdf "<robot name='r'><link name='base'/><link name='a'/>
<joint name='j' type='continuous'><parent link='base'/><child link='a'/></joint></robot>
")
expect(1 OUT "freedoms +1\n" ERR "idle.urdf:2: error: hinge 'j'" RUN info idle.urdf)
expect(1 OUT "." ERR "idle.urdf:2: error: hinge 'j'" RUN info idle.urdf --json)
value("${out}" 1 freedoms)
expect(1 OUT "1 error" ERR "idle.urdf:2: error: hinge 'j'" RUN check idle.urdf)
expect(1 OUT "" ERR "idle.urdf:2: error: hinge 'j'" RUN dynamics idle.urdf)
expect(1 OUT "" ERR "error: " RUN info ${SOURCE}/LICENSE)
expect(1 OUT "" ERR "error: " RUN info ${SOURCE})

# ---- convert: the result is the same mechanism
expect(0 OUT "converted.yaml" ERR ".*" RUN convert ${models}/quadruped.yaml converted.yaml)
expect(0 OUT "." RUN info ${models}/quadruped.yaml --json)
set(before "${out}")
expect(0 OUT "." RUN info converted.yaml --json)
if(NOT "${out}" STREQUAL "${before}")
  fail("convert changed the mechanism: ${before} ${out}")
endif()
expect(1 OUT "" ERR "error: " RUN convert ${models}/pendulum.yaml no_such_folder/out.yaml)

# ---- dynamics
file(WRITE ${WORK}/state.yaml "q: {pivot: 0.6}\nv: {pivot: 1.4}\neffort: {pivot: 0.5}\n")
expect(0 OUT "pivot +-5.479799" RUN dynamics ${models}/pendulum.yaml --state state.yaml)
expect(0 OUT "." RUN dynamics ${models}/pendulum.yaml --state state.yaml --json)
string(JSON found GET "${out}" acceleration pivot)
if(NOT found MATCHES "^-5\\.47979929544")
  fail("acceleration of the pendulum: ${found}")
endif()
foreach(row "forward;acceleration;effort" "inverse;acceleration;effort"
            "hybrid;acceleration;effort" "mass-matrix;mass_matrix" "forces;acceleration;forces"
            "energy;energy;momentum")
  list(POP_FRONT row what)
  expect(0 OUT "." RUN dynamics ${models}/mixed_chain.yaml --what ${what})
  expect(0 OUT "" RUN dynamics ${models}/mixed_chain.yaml --what ${what} -o ${what}.json)
  file(READ ${WORK}/${what}.json written)
  keys("${written}" ${row})
endforeach()
# A closed loop: numbers of the reference solution (V4, open branch, 60 degrees, rate 2,
# effort 3). What the state names is kept, the rest is assembled.
file(WRITE ${WORK}/closed.yaml "q: {A: pi/3}\nv: {A: 2}\neffort: {A: 3}\n")
expect(0 OUT "." RUN dynamics ${models}/four_bar.yaml --state closed.yaml --json)
keys("${out}" acceleration effort q v)
string(JSON found GET "${out}" acceleration A)
if(NOT found MATCHES "^-5\\.7256762535")
  fail("acceleration of the four-bar: ${found}")
endif()
# An effort at the hinge at which the loop is cut, which has coordinates because the state names it.
# Reference: bodies in absolute coordinates with dense constraints, in numpy.
file(WRITE ${WORK}/cut.yaml "q: {A: pi/3}\nv: {A: 2}\neffort: {C: 3}\n")
expect(0 OUT "." RUN dynamics ${models}/four_bar.yaml --state cut.yaml --json)
foreach(row "A;-6\\.3223577442" "B;6\\.4407621967" "C;-3\\.3229590145" "D;-3\\.2045545621")
  list(POP_FRONT row hinge)
  string(JSON found GET "${out}" acceleration ${hinge})
  if(NOT found MATCHES "^${row}")
    fail("acceleration of ${hinge} with an effort at C: ${found}")
  endif()
endforeach()
expect(0 OUT "by input C" RUN simulate ${models}/four_bar.sdf --input C=2 --duration 0.1
       --quiet -o cut.csv)
# A comment gives no coordinates to the hinge that is cut, a setting does.
file(WRITE ${WORK}/comment.yaml "duration: 0.1  # of q.C\n# inputs: {C: 2}\n")
file(WRITE ${WORK}/event.yaml "duration: 0.1\nevents: {turned: q.C - 0.5}\n")
foreach(row "comment;OFF" "event;ON")
  list(POP_FRONT row what)
  expect(0 OUT "rows" RUN simulate ${models}/four_bar.sdf --settings ${what}.yaml --quiet -o ${what}.csv)
  file(STRINGS ${WORK}/${what}.csv header LIMIT_COUNT 1)
  if((row AND NOT header MATCHES "q\\.C") OR (NOT row AND header MATCHES "q\\.C"))
    fail("columns with ${what}.yaml: ${header}")
  endif()
endforeach()
expect(0 OUT "C +" RUN assemble ${models}/four_bar.sdf --fix C)
expect(0 OUT "C +rocker +.*-4\\.94977, -2\\.48579, \\?.*undetermined"
       RUN dynamics ${models}/four_bar.yaml --state closed.yaml --what forces)
expect(0 OUT "freedom +[ABD]\n" RUN dynamics ${models}/four_bar.yaml --what mass-matrix)
expect(0 OUT "kinetic" RUN dynamics ${models}/four_bar.yaml --what energy)
expect(0 OUT "hinge 'C' +force x .*rank 2 of 5 rows" RUN dynamics ${models}/four_bar.yaml --route multipliers)
expect(0 OUT "." RUN dynamics ${models}/four_bar.yaml --route multipliers --json)
keys("${out}" acceleration effort multipliers q v)
value("${out}" 3 multipliers redundant)
expect(0 OUT "grip_a +object .*effective inertia of 'object'"
       RUN dynamics ${models}/../verification/two_arms/model.yaml --what chains --body object)
expect(0 OUT "." RUN dynamics ${models}/../verification/two_arms/model.yaml --what chains --body object --json)
expect(2 OUT "" ERR "--body" RUN dynamics ${models}/four_bar.yaml --what chains)
expect(1 OUT "" ERR "free hinge" RUN dynamics ${models}/four_bar.yaml --what chains --body rocker)
expect(2 OUT "" ERR "--route" RUN dynamics ${models}/four_bar.yaml --route both)
file(WRITE ${WORK}/wrong.yaml "q: {pivto: 0.6}\nspeed: 3\n")
expect(1 OUT "" ERR "wrong.yaml:1: error: .*'pivto'; did you mean 'pivot'.*wrong.yaml:2: error: "
       RUN dynamics ${models}/pendulum.yaml --state wrong.yaml)
expect(1 OUT "" ERR "none.yaml: error: " RUN dynamics ${models}/pendulum.yaml --state none.yaml)

# ---- assemble, ik
expect(0 OUT "." RUN assemble ${models}/four_bar.yaml --state closed.yaml --fix A --json --output found.yaml)
keys("${out}" closed closure_residual q v independent loops)
string(JSON found GET "${out}" q D)
if(NOT found MATCHES "^0\\.89611049629")
  fail("the rocker of the assembled four-bar: ${found}")
endif()
expect(0 OUT "A +1\\.0472" RUN assemble ${models}/four_bar.yaml --state found.yaml)
file(READ ${models}/four_bar.yaml text)
string(REPLACE "at: [4, 0, 0]" "at: [9, 0, 0]" text "${text}")
file(WRITE ${WORK}/impossible.yaml "${text}")
expect(1 OUT "" ERR ".*cannot be assembled.*'crank', 'coupler' and 'rocker'.*hinge 'C' is open by 1.2 m"
       RUN assemble impossible.yaml)
expect(1 OUT "" ERR "no hinge or freedom|did you mean|AA" RUN assemble ${models}/four_bar.yaml --fix AA)
expect(0 OUT "reached" RUN ik ${models}/arm6.yaml --body flange --to 0.4 0.2 0.5)
expect(1 OUT "not reached" ERR "cannot be reached" RUN ik ${models}/arm6.yaml --body flange --to 9 0 0)

# ---- simulate
expect(0 OUT "." RUN simulate ${models}/double_pendulum.yaml -d 2 -o swing.run.h5 --json)
keys("${out}" audit steps events simulated_time wall_time output)
string(JSON audit GET "${out}" audit)
keys("${audit}" energy_drift linear_momentum_drift angular_momentum_drift closure_residual)
value("${out}" swing.run.h5 output)
# An axis that six digits leave out of parallel.
file(READ ${models}/four_bar.yaml text)
string(REPLACE "child: rocker, axis: z, at" "child: rocker, axis: [1e-6, 0, 1], at" text "${text}")
file(WRITE ${WORK}/rounded.yaml "${text}")
expect(0 OUT "loops closed to +[0-9.]+e-0[67] .redundant constraints disagree.*few digits"
       RUN simulate ${WORK}/rounded.yaml -d 1 -o rounded.csv)
expect(0 OUT "loops closed to +[0-9.]+e-1[0-9]\n" RUN simulate ${models}/four_bar.yaml -d 1 -o exact.csv)
expect(0 OUT "energy drift.*output +table.csv" RUN simulate ${models}/double_pendulum.yaml
       --input "elbow=2*sin(t)" --pd shoulder=10,1,0.2 -d 1 -o table.csv)
# From its last checkpoint, and longer than it was meant to be.
expect(0 OUT "4 s" RUN simulate --resume swing.run.h5 -d 4)
expect(1 OUT "" ERR "last checkpoint is at .* give a longer --duration"
       RUN simulate --resume swing.run.h5 -d 1)
expect(1 OUT "" ERR "no output 'q.elbw'; did you mean 'q.elbow'"
       RUN simulate ${models}/double_pendulum.yaml --outputs q.elbw)
expect(1 OUT "" ERR "character 5: .*did you mean 'q.elbow'"
       RUN simulate ${models}/double_pendulum.yaml --input "elbow=1 + q.elbw")
expect(1 OUT "" ERR "no method 'rk5'; did you mean 'rk4'"
       RUN simulate ${models}/double_pendulum.yaml --method rk5)
expect(2 OUT "" ERR "give a model FILE, or --resume RUN" RUN simulate)
expect(2 OUT "" ERR "--input needs NAME=VALUE" RUN simulate ${models}/pendulum.yaml --input pivot)
file(WRITE ${WORK}/flat.csv "0.18, 0.18, 0.18\n0.18, 0.18, 0.18\n")
expect(0 OUT "work +-[0-9.]+ J by switches.*events +3\n"
       RUN simulate ${models}/hand_over.yaml --settings ${SOURCE}/examples/hand_over.yaml -o hand.run.h5)
expect(0 OUT "contact laws +met" RUN simulate ${models}/pile_of_boxes.yaml --ground --collisions -d 0.3 -o pile.run.h5)
expect(0 OUT "contact laws +met"
       RUN simulate ${SOURCE}/examples/car.yaml --settings ${SOURCE}/examples/car_on_hills.yaml -d 0.2 -o hills.run.h5)
expect(0 OUT "contact laws +met" ERR "'box0.collision' and 'height field' overlap by"
       RUN simulate ${models}/pile_of_boxes.yaml --ground ${WORK}/flat.csv -d 0.01 -o flat.run.h5)
expect(1 OUT "" ERR "need the method time-stepping" RUN simulate ${models}/pile_of_boxes.yaml --collisions --method dop853)
expect(1 OUT "" ERR "has no collision shapes" RUN simulate ${models}/pendulum.yaml --collisions)
expect(2 OUT "" ERR "no number and no file" RUN simulate ${models}/pile_of_boxes.yaml --ground hils.asc)
expect(0 OUT "." RUN simulate ${models}/four_bar.sdf -d 0.2 --form dae -o dae.run.h5 --json)
expect(0 OUT "." RUN simulate ${models}/four_bar.sdf -d 0.2 --loops multipliers -o multipliers.run.h5)
expect(2 OUT "" ERR "--form" RUN simulate ${models}/four_bar.sdf --form ado)
file(WRITE ${WORK}/servo.yaml "constraints: {tip: {type: servo, body: uper, motion: {x: 1}}}\n")
expect(1 OUT "" ERR "servo.yaml:1: error: .*did you mean 'upper'"
       RUN simulate ${models}/double_pendulum.yaml --settings servo.yaml)
expect(0 OUT "." RUN simulate ${models}/four_bar.sdf -d 1 -o four_bar.run.h5 --json)
string(JSON found GET "${out}" audit closure_residual)
if(NOT found MATCHES "e-1[3-9]$" AND NOT found EQUAL 0)
  fail("closure residual of the four-bar: ${found}")
endif()
file(WRITE ${WORK}/run.yaml "duration: 1\nmethd: rk4\n")
expect(1 OUT "" ERR "run.yaml:2: error: unknown key 'methd'; did you mean 'method'"
       RUN simulate ${models}/pendulum.yaml --settings run.yaml)

# ---- optimize
set(problems ${SOURCE}/examples/problems)
expect(0 OUT "." RUN optimize ${problems}/two_link_arm.yaml -o lift.run.h5 --json)
keys("${out}" converged feasible message solver cost guess_cost refined_cost refined_change grid duration
     violation overshoot stationarity iterations evaluations wall_time parts controls final)
value("${out}" ON converged)
expect(0 OUT "converged.*9.79472.*output +swing.csv" RUN optimize ${problems}/two_link_arm_swing.yaml -o swing.csv)
expect(0 OUT "." RUN plot lift.run.h5 q.elbow guess.q.elbow -o lift.svg)
expect(0 OUT "." RUN report lift.run.h5 -o lift.html)
expect(0 OUT "converged" RUN optimize ${problems}/two_link_arm.yaml --warm lift.run.h5 --no-run)
expect(1 OUT "time limit" ERR "best motion found was kept"
       RUN optimize ${problems}/acrobot.yaml --time-limit 0.01 -o short.run.h5)
# A regulator about an optimum: what departs without it stays with it.
expect(0 OUT "." RUN optimize ${problems}/acrobot_upright.yaml -o up.run.h5 --json)
expect(0 OUT "contracting +yes" RUN lqr up.run.h5 --disturb q.shoulder=0.03 --disturb mass.lower=1.02 -o held.run.h5)
expect(1 OUT "" ERR "is a run of another kind" RUN simulate --resume lift.run.h5 -d 9)
expect(1 OUT "" ERR "no such file|cannot be read" RUN optimize none.yaml)
file(WRITE ${WORK}/problem.yaml
  "model: ${models}/acrobot.yaml\nduration: 1\ncontrols: {elbw: {type: motion}}\n")
expect(1 OUT "" ERR "problem.yaml:3: error: .*did you mean 'elbow'" RUN optimize problem.yaml)
expect(1 OUT "" ERR "no folder 'nowhere'" RUN optimize ${problems}/two_link_arm.yaml -o nowhere/x.h5)
expect(1 OUT "" ERR "tolerance: must lie between" RUN optimize ${problems}/two_link_arm.yaml --tolerance nan --no-run)
file(WRITE ${WORK}/problem.yaml "model: ${models}/acrobot.yaml\nduration: 1\ncontrols: {elbow: {type: motion}}\n"
  "bounds:\n  v: {shoulder: 3}\n  q: {elbow: [2, 1]}\n")
expect(1 OUT "" ERR "problem.yaml:6: error: bounds on position of 'elbow': 2 and 1 exclude" RUN optimize problem.yaml)
file(WRITE ${WORK}/warm.json "{\"controls\": {\"elbow\": {\"type\": \"motion\", \"degree\": 9, "
  "\"coefficients\": [0,1,2,3,4,5,6,7,8,9,10,11]}}}")
expect(1 OUT "" ERR "warm.json: control 'elbow' has degree 9" RUN optimize ${problems}/acrobot.yaml --warm warm.json)
expect(2 OUT "" ERR "--solver" RUN optimize ${problems}/acrobot.yaml --solver slsqp)

# ---- verify
set(cases ${SOURCE}/verification)
expect(0 OUT "pass.*simple_pendulum.*passed" RUN verify ${cases}/simple_pendulum)
expect(0 OUT "." RUN verify ${cases} --filter double_pendulum --json)
keys("${out}" cases)
string(JSON first GET "${out}" cases 0)
keys("${first}" name source quantity reference value error tolerance pass)
value("${first}" double_pendulum name)
value("${first}" ON pass)
file(COPY ${cases}/vertical_screw DESTINATION ${WORK}/cases)
file(READ ${WORK}/cases/vertical_screw/case.yaml text)
string(REPLACE "-13.185" "-13.186" text "${text}")
file(WRITE ${WORK}/cases/vertical_screw/case.yaml "${text}")
expect(1 OUT "NO" RUN verify cases)
expect(1 OUT "." RUN verify cases --json)
value("${out}" OFF cases 0 pass)
file(WRITE ${WORK}/cases/vertical_screw/case.yaml "titel: x\n")
expect(1 OUT "1 case could not be read" ERR "case.yaml:1: error: unknown key 'titel'; did you mean 'title'"
       RUN verify cases)
expect(1 OUT "." ERR "titel" RUN verify cases --json)
value("${out}" vertical_screw cases 0 name)
value("${out}" OFF cases 0 pass)
expect(2 OUT "" ERR "there is no such file or folder" RUN verify no_such_folder)
expect(2 OUT "" ERR "has 'zebra' in its name" RUN verify ${cases} --filter zebra)

# ---- linear models
expect(0 OUT "q.shoulder +0 .*By perturbation of the nonlinear model: A differs by [0-9.]+e-[01]"
       RUN linearize ${models}/double_pendulum.yaml --compare)
expect(0 OUT "." RUN linearize ${models}/four_bar.yaml --json)
keys("${out}" states inputs outputs A B C D M P1 P2 P3 point residual equilibrium)
expect(0 OUT "" RUN linearize ${models}/cart_pendulum.yaml --inputs rail --outputs q.rail,q.pivot -o linear.json)
file(READ ${WORK}/linear.json linear)
value("${linear}" q.rail outputs 0)
value("${linear}" effort.rail inputs 0)
expect(1 OUT "" ERR "no input is named 'rial'; did you mean 'rail'"
       RUN linearize ${models}/cart_pendulum.yaml --inputs rial)
expect(1 OUT "" ERR "no output is named 'q.pivto'; did you mean 'q.pivot'"
       RUN linearize ${models}/cart_pendulum.yaml --outputs q.pivto)
expect(2 OUT "" ERR "not expected: linear.json --out" RUN linearize ${models}/cart_pendulum.yaml --out linear.json)
expect(0 OUT "shoulder +0.5 +-?[0-9.e-]+\n.*marginally stable"
       RUN equilibrium ${models}/double_pendulum.yaml -o rest.yaml)
expect(0 OUT "marginally stable" RUN modes ${models}/double_pendulum.yaml --at rest.yaml --shapes)
expect(0 OUT "." RUN modes ${models}/double_pendulum.yaml --at rest.yaml --json)
keys("${out}" modes stability growth residual equilibrium)
expect(0 OUT "held freedom +effort\n *elbow" RUN equilibrium ${models}/double_pendulum.yaml --hold elbow)
expect(1 OUT "" ERR "no equilibrium was found.*free base" RUN equilibrium ${models}/spacecraft.yaml --gravity 0 0 -9.81)
expect(0 OUT "∂acceleration/∂q .*states" RUN check-derivatives ${models}/mixed_chain.yaml --states 2)
expect(0 OUT "." RUN check-derivatives ${models}/four_bar.yaml --states 2 --json)
keys("${out}" states skipped worst pass checks)
expect(0 OUT "E .transposed.*body.lower.mass .*gravity.y" RUN linearize ${models}/double_pendulum.yaml
       --parameters body.*.mass,gravity.y,hinge.elbow.position.x)
expect(0 OUT "." RUN linearize ${models}/four_bar.yaml --parameters body.*.mass --json)
keys("${out}" states inputs outputs A B C D M P1 P2 P3 point residual equilibrium parameters values E)
expect(1 OUT "" ERR "no parameter is named 'body.lowr.mass'; did you mean 'body.lower.mass'"
       RUN linearize ${models}/double_pendulum.yaml --parameters body.lowr.mass)
expect(1 OUT "" ERR "no parameter matches 'bodies.*'" RUN linearize ${models}/double_pendulum.yaml --parameters bodies.*)
expect(0 OUT "body.lower.mass\n" RUN info ${models}/double_pendulum.yaml --parameters)
expect(0 OUT "exponent +1/s" RUN lyapunov ${models}/double_pendulum.yaml --duration 1)
expect(0 OUT "." RUN lyapunov ${models}/four_bar.yaml --duration 0.5 --exponents 1 --json)
keys("${out}" exponents spread sum duration step settle final_state)
expect(2 OUT "" ERR "the step .2 s. is longer than the motion" RUN lyapunov ${models}/double_pendulum.yaml --duration 1 --step 2)

# ---- the code in the README is the example that is compiled
file(READ ${SOURCE}/README.md readme)
file(READ ${SOURCE}/examples/pendulum.cpp example)
string(FIND "${readme}" "${example}" place)
if(place LESS 0)
  fail("README.md does not contain examples/pendulum.cpp as it is")
endif()

# ---- batch: from a table to a table; a bad state is told, the others are computed
file(WRITE ${WORK}/states.csv "q.shoulder,v.shoulder,effort.elbow,remark\n0.3,0.1,2,7\n0,0,0,8\n0.1,0,0,9\n")
expect(0 OUT "3 states, 0 failed" ERR "column 'remark' is ignored"
       RUN batch ${models}/double_pendulum.yaml --states ${WORK}/states.csv -o ${WORK}/found.csv)
file(STRINGS ${WORK}/found.csv lines)
list(LENGTH lines count)
list(GET lines 0 head)
if(NOT count EQUAL 4 OR NOT head MATCHES "^acceleration.shoulder,acceleration.elbow$")
  fail("batch wrote ${count} lines, the first ${head}")
endif()
# The first state is that of `dynamics`.
file(WRITE ${WORK}/state.yaml "q: {shoulder: 0.3}\nv: {shoulder: 0.1}\neffort: {elbow: 2}\n")
expect(0 OUT "." RUN dynamics ${models}/double_pendulum.yaml --state ${WORK}/state.yaml --json)
string(JSON one GET "${out}" acceleration shoulder)
list(GET lines 1 first)
string(REGEX REPLACE ",.*" "" first ${first})
string(SUBSTRING "${one}" 0 12 one)
string(SUBSTRING "${first}" 0 12 first)
if(NOT one STREQUAL first)
  fail("batch found ${first}, dynamics ${one}")
endif()
file(WRITE ${WORK}/states.csv "time,q.shoulder\n0,0.3\n1,0\n2,0.1\n")
expect(0 OUT "." RUN batch ${models}/double_pendulum.yaml --states ${WORK}/states.csv --what mass-matrix
       --threads 1 -o ${WORK}/found.csv --json)
keys("${out}" states failures failed threads lanes instruction_set wall_time output)
value("${out}" 3 states)
expect(0 OUT "." RUN batch ${models}/double_pendulum.yaml --states ${WORK}/states.csv --what poses
       -o ${WORK}/found.csv)
expect(0 OUT "3 states, 0 failed" RUN batch ${models}/double_pendulum.yaml --states ${WORK}/states.csv
       --what forward-derivatives -o ${WORK}/found.csv)
file(STRINGS ${WORK}/found.csv lines)
list(GET lines 0 head)
if(NOT head MATCHES "^acceleration.shoulder/q.shoulder,acceleration.elbow/q.shoulder,")
  fail("batch of derivatives wrote ${head}")
endif()
# In the first state the entry is that of `linearize`.
file(WRITE ${WORK}/state.yaml "q: {shoulder: 0.3}\n")
expect(0 OUT "." RUN linearize ${models}/double_pendulum.yaml --at ${WORK}/state.yaml --json)
string(JSON one GET "${out}" A 2 0)
list(GET lines 1 first)
string(REGEX REPLACE ",.*" "" first ${first})
string(SUBSTRING "${one}" 0 12 one)
string(SUBSTRING "${first}" 0 12 first)
if(NOT one STREQUAL first)
  fail("batch found ${first}, linearize ${one}")
endif()
file(WRITE ${WORK}/states.csv "time\n0\n")
expect(0 OUT "1 states, 0 failed" RUN batch ${models}/four_bar.yaml --states ${WORK}/states.csv
       --what inverse-derivatives -o ${WORK}/found.csv)
file(WRITE ${WORK}/states.csv "q.shoulder\n0.3\nnan\n")
expect(1 OUT "2 states, 1 failed" ERR "state 1: position of 'shoulder' is not finite"
       RUN batch ${models}/double_pendulum.yaml --states ${WORK}/states.csv -o ${WORK}/found.csv)
file(WRITE ${WORK}/states.csv "q.sholder\n0.3\n")
expect(1 OUT "" ERR "did you mean 'shoulder'"
       RUN batch ${models}/double_pendulum.yaml --states ${WORK}/states.csv -o ${WORK}/found.csv)

report_failures()
