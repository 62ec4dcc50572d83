# catena control and simulate --controller: designs, proofs, files, and what is said about mistakes.
#   cmake -D CATENA=<program> -D SOURCE=<repository> -D WORK=<folder> -P control.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

set(models ${SOURCE}/models)
set(cart ${models}/cart_pendulum.yaml)
set(upright ${SOURCE}/examples/control_cart_upright.yaml)
set(ports --inputs rail --outputs q.rail,q.pivot)

# near(<json> <wanted> <path> ...): to 1e-4 of it; both have at most 9 digits before that.
function(near json wanted)
  string(JSON found ERROR_VARIABLE problem GET "${json}" ${ARGN})
  execute_process(COMMAND awk -v a=${found} -v b=${wanted}
    "BEGIN { d = a - b; if (d < 0) d = -d; s = b < 0 ? -b : b; exit !(d <= 1e-4 * s + 1e-12) }"
    RESULT_VARIABLE wrong)
  if(wrong)
    fail("${ARGN}: about ${wanted} expected, found ${found} ${problem}")
  endif()
endfunction()

# ---- help
foreach(command info bode nyquist sigma step margins place lqr lqg ltr h2 hinf mixsyn ncf reduce discretize verify robust)
  expect(0 OUT "Examples:.*catena control ${command}" RUN control ${command} --help)
endforeach()
expect(0 OUT "Examples:.*catena control" RUN control --help)
expect(0 OUT "catena control verify" RUN help control verify)
expect(2 OUT "" ERR "did you mean 'info'" RUN control inof)
expect(2 OUT "" ERR "subcommand" RUN control)

# ---- a system in a file: x'' + 0.4 x' + 4 x = u
file(WRITE ${WORK}/oscillator.yaml "linear system: 1
A: [[0, 1], [-4, -0.4]]
B: [[0], [1]]
C: [[1, 0]]
inputs: [force]
outputs: [place]
")
expect(0 OUT "." RUN control info oscillator.yaml --json)
near("${out}" 0.25 dc_gain 0 0)
near("${out}" 2 poles 0 frequency)
near("${out}" 0.1 poles 0 damping)
near("${out}" 1.2562973 hinf_norm value)   # 1/(0.4 sqrt(4 - 0.04))
near("${out}" 0.5590170 h2_norm)           # 1/sqrt(2 0.4 4)
expect(0 OUT "." RUN control step oscillator.yaml --json)
near("${out}" 0.25 entries 0 steady_state)
near("${out}" 72.92476 entries 0 overshoot)  # exp(-0.1 pi/sqrt(0.99))
expect(0 OUT "largest" RUN control bode oscillator.yaml -o bode.csv)
expect(0 OUT "." RUN control place oscillator.yaml --poles=-3,-4 --json)
near("${out}" 8 gain 0 0)
near("${out}" 6.6 gain 0 1)
expect(0 OUT "." RUN control lqr oscillator.yaml --q place=9 --json)
near("${out}" 1 gain 0 0)                  # k² + 8 k = 9
expect(0 OUT "sampled every 0.1 s" RUN control discretize oscillator.yaml --period 0.1 -o sampled.h5)
expect(0 OUT "sampled every 0.1 s" RUN control info sampled.h5)

# ---- margins of 4/(s (s+1)(s+2)): gain 1.5 (6/4) at sqrt 2
file(WRITE ${WORK}/third.yaml "A: [[0, 1, 0], [0, 0, 1], [0, -2, -3]]
B: [[0], [0], [4]]
C: [[1, 0, 0]]
")
expect(0 OUT "." RUN control margins third.yaml --json)
near("${out}" 1.5 channels 0 gain_up)

# ---- the nearest point to -1 is that of the curve, not of the grid: 1/|S| of 4/(s (s+1)(s+2)) is least
# where d|1 + L|/dw = 0 (by mpmath)
expect(0 OUT "." RUN control nyquist third.yaml --json)
near("${out}" 0.170208175 nearest distance)
near("${out}" 1.2021254 nearest frequency)
expect(0 OUT "." RUN control nyquist third.yaml --from 0.1 --to 1 --json)
near("${out}" 0.170208175 nearest distance)

# ---- sampled noise has the intensities of the continuous one: the norms tend to the continuous ones.
# x' = -x + w + u, z = (x, u), y = x + v: X = Y = sqrt 2 - 1, norm sqrt(X + X^3)
file(WRITE ${WORK}/lag.yaml "A: [[-1]]\nB: [[1]]\nC: [[1]]\ninputs: [u]\noutputs: [y]\n")
expect(0 OUT "." RUN control h2 lag.yaml --v y=1 --json)
near("${out}" 0.6966214 norm)
expect(0 OUT "." RUN control h2 lag.yaml --v y=1 --period 0.0001 --json)
near("${out}" 0.6966214 norm)
expect(0 OUT "." RUN control lqg lag.yaml --v y=1 --period 0.0001 --json)
near("${out}" 0.4852814 cost)

# ---- a mode of damping 1e-6: overshoot 100 exp(-pi zeta), settled after ln(50)/(zeta w)
file(WRITE ${WORK}/ringing.yaml "A: [[0, 1], [-400, -4e-5]]\nB: [[0], [400]]\nC: [[1, 0]]\n")
expect(0 OUT "." RUN control step ringing.yaml --json)
near("${out}" 99.999686 entries 0 overshoot)
near("${out}" 195601.15 entries 0 settling_time)
near("${out}" 0.0509801 entries 0 rise_time)     # (acos 0.1 - acos 0.9)/20
expect(0 OUT "2.5 s" RUN control step ringing.yaml --duration 2.5)

# ---- numbers out of range
expect(2 OUT "" ERR "--duration is -1; it must be positive" RUN control step ringing.yaml --duration -1)
expect(2 OUT "" ERR "--from is -2; it must be positive" RUN control bode third.yaml --from -2)
expect(2 OUT "" ERR "--to is 1; it must be above --from" RUN control bode third.yaml --from 3 --to 1)
expect(0 OUT "500 to 50000 rad/s" RUN control bode third.yaml --from 500)
expect(2 OUT "" ERR "--gamma is -1; it must be positive" RUN control hinf oscillator.yaml --gamma -1)
expect(2 OUT "" ERR "--tolerance is 0; it must be between 0 and 1" RUN control hinf oscillator.yaml --tolerance 0)
expect(2 OUT "" ERR "--suboptimality is 0.5; it must be above 1" RUN control ncf oscillator.yaml --suboptimality 0.5)
expect(2 OUT "" ERR "--period is -1 s; it must be positive" RUN control lqr oscillator.yaml --period -1)
foreach(command lqr lqg ltr h2 hinf)
  expect(2 OUT "" ERR "--period is 0 s; it must be positive" RUN control ${command} oscillator.yaml --period 0)
endforeach()
expect(2 OUT "" ERR "--period is 1e-12 s; beside the fastest pole of 2 rad/s" RUN control lqg oscillator.yaml --period 1e-12)
expect(2 OUT "" ERR "--q place: 'nan' is not a number" RUN control lqr oscillator.yaml --q place=nan)
expect(2 OUT "" ERR "--w1: 'nan' is not a number" RUN control mixsyn oscillator.yaml --w1 nan)
expect(2 OUT "" ERR "--w1 1,2,3: makeweight" RUN control mixsyn oscillator.yaml --w1 1,2,3)
expect(1 OUT "" ERR "weight W1 is zero" RUN control mixsyn oscillator.yaml --w1 0)
expect(2 OUT "" ERR "--controls is 0; it must be positive" RUN control hinf oscillator.yaml --controls 0)
expect(2 OUT "" ERR "--tolerance: must be a positive number, not nan" RUN control verify ${cart} --controller K.yaml --tolerance nan)
expect(0 OUT "closed loop       stable" RUN control place oscillator.yaml --poles=-2+i)
expect(2 OUT "" ERR "the factors must be positive" RUN control ltr oscillator.yaml --recovery -1,2)
expect(2 OUT "" ERR "--order is -3" RUN control reduce third.yaml --order -3)
expect(2 OUT "" ERR "repeats above 31.4" RUN control bode sampled.h5 --to 100)

# ---- plants without states, integrators, feedthrough, delays
file(WRITE ${WORK}/gain.yaml "D: [[2]]\n")
expect(0 OUT "." RUN control info gain.yaml --json)
near("${out}" 2 dc_gain 0 0)
near("${out}" 2 hinf_norm value)
expect(0 OUT "constant gain" RUN control info gain.yaml)
expect(1 OUT "" ERR "no states" RUN control hinf gain.yaml)
expect(0 OUT "inf" RUN control info third.yaml)   # DC gain behind an integrator
expect(0 OUT "1 unstable or rigid kept" RUN control reduce third.yaml --order 2)
file(WRITE ${WORK}/direct.yaml "A: [[-1]]\nB: [[1]]\nC: [[1]]\nD: [[1]]\nstates: [x]\noutputs: [force]\n")
expect(1 OUT "" ERR "'force' depends directly on the inputs" RUN control lqr direct.yaml)
expect(0 OUT "closed loop       stable" RUN control lqr direct.yaml --q x=1)
expect(2 OUT "" ERR "sampled at 0.1 s already" RUN control lqg sampled.h5 --period 0.2)

# ---- a delay of 0.1 s behind 1/(s + 1): loop gain 1 is reached nowhere; margins by a Pade line or by samples
file(WRITE ${WORK}/late_lag.yaml "A: [[-1]]\nB: [[2]]\nC: [[1]]\ninputs: [u]\noutputs: [y]\ninput_delay: [0.1]\n")
expect(2 OUT "" ERR "has delays; give --pade N" RUN control margins late_lag.yaml)
expect(2 OUT "" ERR "has delays; give --pade N" RUN control lqg late_lag.yaml)
expect(2 OUT "" ERR "--pade is 0; it must be 1 to 40" RUN control margins late_lag.yaml --pade 0)
expect(0 OUT "." RUN control margins late_lag.yaml --pade 6 --json)
near("${out}" 8.1752770 channels 0 gain_up)   # atan(w) + 0.1 w = pi: w = 16.319945, sqrt(1 + w^2)/2
near("${out}" 1.1091996 channels 0 delay)     # (pi - atan(sqrt 3))/sqrt 3 - 0.1
expect(0 OUT "closed loop       stable" RUN control lqg late_lag.yaml --period 0.04 -o late_lqg.yaml)
expect(0 OUT "closed loop       stable" RUN control margins late_lag.yaml --controller late_lqg.yaml)
expect(0 OUT "of the samples" RUN control sigma late_lag.yaml)

# ---- from a mechanism to a controller that holds it upright
expect(0 OUT "closed loop stable.*norm of the closed loop" RUN control hinf ${cart} --at ${upright} ${ports} -o K.yaml --report page.html)
file(READ ${WORK}/page.html page)
string(REGEX MATCHALL "<svg xmlns" pictures "${page}")
list(LENGTH pictures count)
if(count LESS 6 OR page MATCHES "nan|<script|http://[^w]")
  fail("the page has ${count} pictures, or holds NaN, a script or a link")
endif()
expect(0 OUT "H-infinity norm, inputs to outputs.*all hold for the nonlinear model|all hold for the nonlinear model.*H-infinity norm, inputs to outputs" RUN control verify ${cart} --controller K.yaml)
expect(0 OUT "." RUN control verify ${cart} --controller K.yaml --json)
value("${out}" ON passed)
expect(0 OUT "1 of the open loop.*stable" RUN control nyquist ${cart} --controller K.yaml)
expect(0 OUT "output" RUN simulate ${cart} --state ${SOURCE}/examples/control_cart_start.yaml --controller K.yaml -d 20 -o held.csv --quiet)
execute_process(COMMAND awk -F, "NR == 1 { for (i = 1; i <= NF; ++i) if ($i == \"q.pivot\") c = i } END { d = $c - 3.14159265358979; exit !(d * d < 1e-6) }"
  INPUT_FILE ${WORK}/held.csv RESULT_VARIABLE fallen)
if(fallen)
  fail("the pendulum is not upright after 20 s")
endif()
# Not upright without it; a run goes on with its controller.
expect(0 OUT "." RUN simulate ${cart} --state ${SOURCE}/examples/control_cart_start.yaml --controller K.yaml --controller-period 0.005
       --controller-delay 0.002 --controller-limit rail=60 -d 1 -o short.h5 --quiet --json)
expect(0 OUT "." RUN simulate --resume short.h5 -d 2 --quiet --json)
foreach(design "lqg" "h2" "ltr" "ncf")
  expect(0 OUT "closed loop       stable" RUN control ${design} ${cart} --at ${upright} ${ports} -o ${design}.yaml)
endforeach()
expect(0 OUT "all hold" RUN control verify ${cart} --controller lqg.yaml --skip-margins)
expect(0 OUT "closed loop       stable" RUN control lqg ${cart} --at ${upright} ${ports} --period 0.01 -o sampled.yaml)
expect(0 OUT "all hold" RUN control verify ${cart} --controller sampled.yaml)
expect(0 OUT "closed loop       stable" RUN control mixsyn ${models}/four_bar.yaml --inputs A --outputs q.A --w1 100,5,0.5 --w2 0.001 -o F.yaml)
expect(0 OUT "all hold" RUN control verify ${models}/four_bar.yaml --controller F.yaml)
# The loop is cut at C; a run that reads it, and a controller that does.
expect(0 OUT "output" RUN simulate ${models}/four_bar.yaml --controller F.yaml --outputs q.A,q.C -d 2 -o cut.csv --quiet)
execute_process(COMMAND awk -F, "END { d = $2 - 1.5707963267949; exit !(d * d < 1e-12) }"
  INPUT_FILE ${WORK}/cut.csv RESULT_VARIABLE fallen)
if(fallen)
  fail("the crank is not upright after 2 s")
endif()
expect(0 OUT "closed loop       stable" RUN control lqg ${models}/four_bar.yaml --inputs A --outputs q.C -o C.yaml)
expect(0 OUT "all hold" RUN control verify ${models}/four_bar.yaml --controller C.yaml)
file(WRITE ${WORK}/settings.yaml "duration: 1\ncontroller_files: {hold: {file: C.yaml, period: 0.002, limits: {A: 50}}}\n")
expect(0 OUT "by hold" RUN simulate ${models}/four_bar.yaml --settings settings.yaml -o hold.h5 --quiet)
# A generalized plant: 1 + sqrt 3 by hand (x' = x + w1 + u, z = (x, u), y = x + w2).
file(WRITE ${WORK}/P.yaml "A: [[1]]\nB: [[1, 0, 1]]\nC: [[1], [0], [1]]\nD: [[0, 0, 0], [0, 0, 1], [0, 1, 0]]\n")
expect(0 OUT "." RUN control hinf P.yaml --measurements 1 --controls 1 --tolerance 0.00005 --json)
near("${out}" 2.7320508 gamma)
# Along a run: the worst of its states, the slowest pole measured there too.
expect(0 OUT "." RUN simulate ${cart} --state ${SOURCE}/examples/control_cart_start.yaml --controller K.yaml -d 3 -o along.h5 --quiet --json)
expect(0 OUT "all hold.*points stable.*real part of the slowest pole.*H-infinity norm.*disk margin"
  RUN control verify ${cart} --controller K.yaml --along along.h5 --skip-margins)
# A computation delay: in poles, norm and margins too. The weight is held meanwhile.
file(READ ${WORK}/sampled.yaml text)
file(WRITE ${WORK}/late.yaml "${text}controller: {delay: 0.004}\n")
expect(0 OUT "all hold.*with the delay.*H-infinity norm.*gain up.*delay margin" RUN control verify ${cart} --controller late.yaml)
expect(0 OUT "closed loop       stable" RUN control lqg ${models}/four_bar.yaml --inputs A --outputs q.A --period 0.01 -o Fd.yaml --report sampled.html)
file(READ ${WORK}/Fd.yaml text)
file(WRITE ${WORK}/Flate.yaml "${text}controller: {delay: 0.009}\n")
expect(0 OUT "all hold" RUN control verify ${models}/four_bar.yaml --controller Flate.yaml)
# Constant weights on a plant with rigid modes.
expect(0 OUT "closed loop       stable.*zeros on the stability boundary" RUN control mixsyn ${cart} --at ${upright} ${ports} --w1 0.5 --w2 0.1)
# A free body, whose modes are all at zero.
expect(0 OUT "Hankel values" ERR ".*" RUN control info ${models}/quadruped.yaml)
# A controller with the wrong sign does not hold: exit 1.
file(WRITE ${WORK}/wrong.yaml "linear system: 1
D: [[100, 300]]
inputs: [q.rail, q.pivot]
outputs: [rail]
")
expect(1 OUT "NOT stable" RUN control verify ${cart} --at ${upright} --controller wrong.yaml)

# ---- a sparse structure: masses of 1 kg between springs of 1 N/m, both ends held
set(stiffness "%%MatrixMarket matrix coordinate real symmetric\n200 200 399\n")
set(damping "${stiffness}")
foreach(i RANGE 1 200)
  string(APPEND stiffness "${i} ${i} 2\n")
  string(APPEND damping "${i} ${i} 0.02\n")
  if(i LESS 200)
    math(EXPR next "${i} + 1")
    string(APPEND stiffness "${next} ${i} -1\n")
    string(APPEND damping "${next} ${i} -0.01\n")
  endif()
endforeach()
file(WRITE ${WORK}/K.mtx "${stiffness}")
file(WRITE ${WORK}/D.mtx "${damping}")
file(WRITE ${WORK}/M.mtx "%%MatrixMarket matrix coordinate real symmetric\n200 200 200\n")
foreach(i RANGE 1 200)
  file(APPEND ${WORK}/M.mtx "${i} ${i} 1\n")
endforeach()
file(WRITE ${WORK}/B.mtx "%%MatrixMarket matrix coordinate real general\n200 1 1\n70 1 1\n")
file(WRITE ${WORK}/C.mtx "%%MatrixMarket matrix coordinate real general\n1 200 1\n1 70 1\n")
file(WRITE ${WORK}/chain.yaml "structure: 1\nM: M.mtx\nD: D.mtx\nK: K.mtx\nB: B.mtx\nCq: C.mtx\n")
expect(0 OUT "estimated between samples" RUN control reduce chain.yaml --order 40 --to 0.2 -o small_modal.yaml)
# Least H2 error is not small relative error at antiresonances: the command says so.
expect(1 OUT "FAILED  relative error in the band" RUN control reduce chain.yaml --order 12 --to 0.2 --method interpolation)
expect(0 OUT "." RUN control reduce chain.yaml --order 40 --to 0.2 --json)
near("${out}" 40 order)
near("${out}" 12 modes_in_band)            # 2 sin(k pi/402) < 0.2 for k <= 12
expect(0 OUT "." RUN control info small_modal.yaml --json)
near("${out}" 45.6218905 dc_gain 0 0)      # 70 (201 - 70)/201
expect(2 OUT "" ERR "structures are reduced by" RUN control reduce chain.yaml --method hankel)
expect(2 OUT "" ERR "band of a structure" RUN control reduce oscillator.yaml --to 3)
file(WRITE ${WORK}/half.yaml "structure: 1\nM: M.mtx\nB: B.mtx\n")
expect(1 OUT "" ERR "half.yaml.*needs K" RUN control reduce half.yaml)

# ---- limits and delay: from beside the upright position, and from where 20 N do not suffice
file(WRITE ${WORK}/near.yaml "q: {rail: 0, pivot: 3.2}\n")
file(WRITE ${WORK}/far.yaml "q: {rail: 0, pivot: 4.4}\n")
expect(0 OUT "." RUN control lqg ${cart} --at ${upright} ${ports} -o Kl.yaml)
file(READ ${WORK}/Kl.yaml text)
file(WRITE ${WORK}/Klimited.yaml "${text}controller: {period: 0.005, delay: 0.002, lower: [-20], upper: [20]}\n")
expect(0 OUT "with the delay.*comes back" RUN control verify ${cart} --at ${upright} --controller Klimited.yaml
  --start near.yaml --skip-margins)
expect(1 OUT "does NOT come back" RUN control verify ${cart} --at ${upright} --controller Klimited.yaml
  --start far.yaml --skip-margins --duration 3)

# ---- mistakes
file(WRITE ${WORK}/unstable.yaml "A: [[0.5]]\nB: [[1]]\nC: [[1]]\n")
expect(1 OUT "" ERR "W1 is not stable" RUN control mixsyn oscillator.yaml --w1 unstable.yaml)
file(WRITE ${WORK}/d12.yaml "A: [[1]]\nB: [[1, 0, 1]]\nC: [[1], [0], [1]]\nD: [[0, 0, 0], [0, 0, 0], [0, 1, 0]]\n")
expect(0 OUT "D12" RUN control hinf d12.yaml --measurements 1 --controls 1)
file(WRITE ${WORK}/d21.yaml "A: [[1]]\nB: [[1, 0, 1]]\nC: [[1], [0], [1]]\nD: [[0, 0, 0], [0, 0, 1], [0, 0, 0]]\n")
expect(0 OUT "D21" RUN control hinf d21.yaml --measurements 1 --controls 1)
expect(2 OUT "" ERR "no equilibrium" RUN control hinf ${cart} ${ports})
expect(1 OUT "" ERR "did you mean 'q.pivot'" RUN control info ${cart} --outputs q.pivto)
file(WRITE ${WORK}/nan.yaml "A: [[.nan]]\nB: [[1]]\nC: [[1]]\n")
expect(1 OUT "" ERR "nan.yaml:1: error: A: entry .1, 1." RUN control info nan.yaml)
file(WRITE ${WORK}/deaf.yaml "A: [[-1]]\nB: [[]]\nC: [[1]]\n")
expect(1 OUT "" ERR "0 inputs" RUN control info deaf.yaml)
file(WRITE ${WORK}/mute.yaml "A: [[-1]]\nB: [[1]]\nC: [[]]\n")
expect(1 OUT "" ERR "0 outputs" RUN control info mute.yaml)
file(WRITE ${WORK}/stuck.yaml "A: [[1, 0], [0, -1]]\nB: [[0], [1]]\nC: [[1, 1]]\nstates: [runaway, calm]\n")
foreach(command "lqr" "lqg" "ltr" "h2" "hinf" "ncf" "mixsyn;--w1;1;--w2;1" "place;--poles=-1,-2" "place;--poles=-2;--output-feedback")
  expect(1 OUT "" ERR "runaway" RUN control ${command} stuck.yaml)
endforeach()
file(WRITE ${WORK}/blind.yaml "A: [[1, 0], [0, -1]]\nB: [[1], [1]]\nC: [[0, 1]]\nstates: [runaway, calm]\n")
expect(1 OUT "" ERR "runaway" RUN control lqg blind.yaml)
file(WRITE ${WORK}/wide.yaml "D: [[1, 0], [0, 1]]\n")
expect(1 OUT "" ERR "weight W1 has 2 inputs, the signal it weights has 1" RUN control mixsyn oscillator.yaml --w1 wide.yaml)
expect(2 OUT "" ERR "--w1 has 2 inputs and 2 outputs; the plant has 1" RUN control ncf oscillator.yaml --w1 wide.yaml)
expect(2 OUT "" ERR "LOW,CROSSOVER,HIGH" RUN control mixsyn oscillator.yaml --w1 1,2)
expect(2 OUT "" ERR "--poles needs numbers" RUN control place oscillator.yaml --poles=-3,x)
expect(1 OUT "" ERR "there is no signal 'plce'; did you mean 'place'" RUN control lqr oscillator.yaml --q plce=1)
expect(2 OUT "" ERR "must be positive" RUN control lqr oscillator.yaml --r force=0)
expect(2 OUT "" ERR "is a linear system; give the mechanism" RUN control verify oscillator.yaml --controller K.yaml)
expect(1 OUT "" ERR "the signals of the controller do not match .*double_pendulum.yaml" RUN control verify ${models}/double_pendulum.yaml --controller K.yaml)
file(READ ${WORK}/K.yaml text)
file(WRITE ${WORK}/two_limits.yaml "${text}controller: {lower: [5, 5]}\n")
expect(1 OUT "" ERR "1 outputs and 2 limits" RUN control verify ${cart} --controller two_limits.yaml)
expect(1 OUT "" ERR "computation delay is -1 s" RUN simulate ${cart} --controller K.yaml --controller-delay -1 -d 1)
expect(1 OUT "" ERR "K2.yaml" RUN simulate ${cart} --controller K2.yaml)
expect(1 OUT "" ERR "has no output 'rial'.*|did you mean" RUN simulate ${cart} --controller K.yaml --controller-limit rial=3)

# ---- robustness: m s^3 + d s^2 + 3 s + 1 is stable while 3 d > m; mass 1 +- 0.5 t, damping 1 -+ 0.25 t
file(WRITE ${WORK}/carriage.yaml "catena: 1
name: carriage
bodies: {block: {mass: 1, inertia: [0.1, 0.1, 0.1]}}
hinges: {rail: {type: prismatic, parent: world, child: block, axis: x, damping: 1, stiffness: 3}}
")
file(WRITE ${WORK}/integral.yaml "A: [[0]]
B: [[1]]
C: [[-1]]
D: [[0]]
inputs: [q.rail]
outputs: [rail]
")
set(robust control robust carriage.yaml --controller integral.yaml --uncertain)
expect(0 OUT "." RUN ${robust} "mass.block:±50%, friction.rail:±25%" --json)
near("${out}" 1.6 stability margin_high)
near("${out}" 1.8 uncertain 1 destabilizing)
expect(0 OUT "friction.rail +1 +0.75 +1.25 +1 +2.66[0-9]* +0.6" RUN ${robust} "mass.block:±50%, friction.rail:±25%")  # d = 1/3
expect(0 OUT "grows at .*20 of 20 random cases .*report +robust.html" RUN ${robust} "mass.block:±50%, friction.rail:±25%" --verify --samples 20 --gain --report robust.html)
file(WRITE ${WORK}/spring.yaml "D: [[-1]]\ninputs: [place]\noutputs: [force]\n")
file(WRITE ${WORK}/ranges.yaml "uncertain:\n  mass.block: [0.5, 1.5]\n  friction.rail: ±25%\n")
expect(0 OUT "stable for all values" RUN control robust carriage.yaml --controller integral.yaml --uncertain-file ranges.yaml)
expect(0 OUT "margin" RUN control robust oscillator.yaml --controller spring.yaml --uncertain "gain.force:±20%, mode.1.frequency:±5%")
expect(1 OUT "" ERR "'mass.block' cannot be -1" RUN ${robust} "mass.block:-1..2")
expect(1 OUT "" ERR "has no range" RUN ${robust} mass.block)
expect(1 OUT "" ERR "did you mean 'body.block.mass'" RUN ${robust} mass.blok:0..1)
expect(2 OUT "" ERR "nothing is uncertain" RUN control robust carriage.yaml --controller integral.yaml)
file(WRITE ${WORK}/strong.yaml "A: [[0]]\nB: [[1]]\nC: [[-4]]\nD: [[0]]\ninputs: [q.rail]\noutputs: [rail]\n")
expect(1 OUT "" ERR "the nominal loop is not stable" RUN control robust carriage.yaml --controller strong.yaml --uncertain mass.block:±50%)

report_failures()
