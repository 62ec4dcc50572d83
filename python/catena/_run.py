"""Simulation and runs: the record of simulate(), in memory or in a file, with plots and reports."""
from __future__ import annotations

import html
import json
import os
import tempfile
import webbrowser
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _catena
from ._catena import Mechanism, RunComparison, RunEvent, SimulationResult, State

Array = npt.NDArray[np.float64]
# An effort or an event: an expression of t, q.NAME and v.NAME ("2*sin(t)"), a number, a function of
# (t, state), or a dictionary of a table ({"times": t, "values": x} or {"table": "file.csv"}).
Signal = Union[str, float, Callable[[float, State], float], Mapping[str, Any]]
# A motion or a target, which need derivatives: the same of t alone; a function of t gives (value,
# rate, acceleration).
MotionSignal = Union[str, float, Callable[[float], Sequence[float]], Mapping[str, Any]]
PathLike = Union[str, "os.PathLike[str]"]


class Run:
    """The record of a simulation: columns by name, events, audit, plots.

        run = catena.simulate(robot, duration=5.0)
        run.time, run["q.elbow"]        # arrays (rows,)
        run.audit.energy_drift
        run.plot("q.elbow", "v.elbow")  # needs matplotlib
        run.view()                      # the report, in the browser

    open_run(path) gives the Run of a file, also while a simulation still writes it.
    """

    def __init__(
        self,
        record: Union[_catena.MemoryRecorder, _catena.RunFile],
        *,
        mechanism: Optional[Mechanism] = None,
        result: Optional[SimulationResult] = None,
        settings_json: str = "",
        model_path: str = "",
        kind: str = "simulation",
        difference: Optional[float] = None,
        regulation: Any = None,
    ) -> None:
        self._record = record
        self._mechanism = mechanism
        self._settings_json = settings_json
        self._model_path = model_path
        self._kind = kind
        #: How the simulation went; None for a run that was read from a file.
        self.result = result
        #: Of record_motion(): how far its end is from that of the motion that was found.
        self.difference = difference
        #: Of simulate_regulated(): a RegulatedResult.
        self.regulation = regulation

    # ---- What was recorded. ----

    @property
    def columns(self) -> List[str]:
        """Names of the columns; the first is "time"."""
        return list(self._record.columns)

    @property
    def units(self) -> Dict[str, str]:
        """The unit of each column: "rad", "m", "N m", ..."""
        return dict(zip(self._record.columns, self._record.units))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self._record.rows)

    @property
    def values(self) -> Array:
        """All rows, (rows, columns). Of a run in memory a view that cannot be written."""
        if isinstance(self._record, _catena.RunFile):
            return self._record.read(0, self._record.rows)
        return self._record.values

    @property
    def time(self) -> Array:
        """Times of the rows, (rows,), s."""
        return self["time"]

    def column(self, name: str) -> Array:
        """A column by its name, (rows,). An unknown name raises UnknownNameError with the nearest."""
        if isinstance(self._record, _catena.RunFile):
            return self._record.column(name)
        if name in self._record.columns:
            return self._record.values[:, self._record.columns.index(name)]
        return self._record.column(name)  # raises

    def __getitem__(self, name: str) -> Array:
        return self.column(name)

    def __contains__(self, name: str) -> bool:
        return name in self._record.columns

    @property
    def events(self) -> List[RunEvent]:
        """Impacts, sticking and slipping, switches, events of the user, in order."""
        return list(self._record.events)

    @property
    def complete(self) -> bool:
        """False for a run that was interrupted, failed, or is in progress."""
        return bool(self._record.complete)

    @property
    def audit(self) -> Any:
        """Audit of energy, momentum and closure; of a run from a file a dictionary."""
        if self.result is not None:
            return self.result.audit
        text = self._record.audit_json
        return json.loads(text).get("audit", {}) if text else {}

    @property
    def kind(self) -> str:
        """Origin of the run: "simulation", "optimization" (record_motion()) or "regulation"."""
        return self._record.kind if isinstance(self._record, _catena.RunFile) else self._kind

    @property
    def settings(self) -> Dict[str, Any]:
        """All settings of the run, defaults filled in."""
        text = self._settings_json
        if isinstance(self._record, _catena.RunFile):
            text = self._record.settings_json
        return json.loads(text) if text else {}

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that moved."""
        if self._mechanism is None:
            assert isinstance(self._record, _catena.RunFile)
            description = _catena.read_yaml_text(self._record.model_yaml, self._record.path)
            self._mechanism = _catena.MechanismBuilder(description).finish(strict=False)
        return self._mechanism

    def state(self, row: int = -1) -> State:
        """The State of a row; the last one unless given. Needs the columns q.* and v.*."""
        mechanism = self.mechanism
        q = [self[f"q.{name}"][row] for name in mechanism.position_names]
        v = [self[f"v.{name}"][row] for name in mechanism.velocity_names]
        return State(mechanism, q, v)

    def refresh(self) -> "Run":
        """Reads what a running simulation has added to its file."""
        if isinstance(self._record, _catena.RunFile):
            self._record.refresh()
        return self

    # ---- Files. ----

    @property
    def path(self) -> Optional[str]:
        """The file of the run; None if it is in memory."""
        return self._record.path if isinstance(self._record, _catena.RunFile) else None

    def save(self, path: PathLike, *, overwrite: bool = False) -> str:
        """Writes a run in memory to an HDF5 file, for `catena report`, view and compare.

        It cannot be resumed; a run made with simulate(..., output=path) can.
        """
        if isinstance(self._record, _catena.RunFile):
            raise _catena.Error(f"this run is in the file {self._record.path} already")
        name = os.fspath(path)
        self._record.save(
            name,
            _catena.write_yaml(self.mechanism),
            self._model_path,
            self._settings_json,
            overwrite,
            self._kind,
        )
        return name

    # ---- Pictures. ----

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draws columns over time with matplotlib; returns the axes.

        names: columns, a * standing for anything ("q.*"); all q.* unless given.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                "plot() needs matplotlib (Debian: python3-matplotlib); svg() does without"
            ) from error
        if axes is None:
            _, axes = plt.subplots()
        chosen = self._matching(names)
        units = self.units
        for name in chosen:
            axes.plot(self.time, self[name], label=name)
        axes.set_xlabel("time, s")
        shown = sorted({units[name] for name in chosen})
        axes.set_ylabel(", ".join(unit for unit in shown if unit))
        axes.legend()
        return axes

    def svg(self, *names: str, title: str = "") -> str:
        """The same picture as SVG text, without matplotlib; one frame for each unit."""
        units = self.units
        curves = [(name, units[name], self[name]) for name in self._matching(names)]
        return _catena.svg_plot(title, self.time, curves)

    def _matching(self, names: Sequence[str]) -> List[str]:
        from fnmatch import fnmatchcase

        chosen: List[str] = []
        for pattern in names or ("q.*",):
            found = [c for c in self.columns[1:] if fnmatchcase(c, pattern)]
            if not found:
                self.column(pattern)  # raises, with the nearest name
            chosen += [c for c in found if c not in chosen]
        return chosen

    def report_html(self) -> str:
        """The report as one page: animation, plots, audit, events; works offline."""
        if isinstance(self._record, _catena.RunFile):
            return _catena._run_page(self._record.path)
        with tempfile.TemporaryDirectory(prefix="catena-") as folder:
            return _catena._run_page(self.save(os.path.join(folder, "run.h5")))

    def report(self, path: PathLike = "report.html") -> str:
        """Writes the report page to a file and returns its path."""
        return _write_page(self.report_html(), path)

    def view(self, path: Optional[PathLike] = None, *, browser: bool = True) -> str:
        """Opens the report in a browser; returns the path of the page (a temporary one unless
        given)."""
        return _show(self.report_html(), path, browser)

    def _repr_html_(self) -> str:
        return _frame(self.report_html())

    def __repr__(self) -> str:
        where = f" in {self.path}" if self.path else ""
        end = "" if self.complete else ", not complete"
        return f"<Run: {self.rows} rows, {len(self.columns)} columns{where}{end}>"


def simulate(
    mechanism: Mechanism,
    state: Optional[State] = None,
    *,
    duration: Optional[float] = None,
    inputs: Optional[Mapping[str, Signal]] = None,
    controllers: Optional[Mapping[str, Mapping[str, Any]]] = None,
    motions: Optional[Mapping[str, MotionSignal]] = None,
    events: Optional[Mapping[str, Any]] = None,
    external: Any = None,
    output: Optional[PathLike] = None,
    overwrite: bool = False,
    outputs: Optional[Union[str, Sequence[str]]] = None,
    output_interval: Optional[float] = None,
    checkpoint_interval: Optional[float] = None,
    method: Optional[Union[str, _catena.Method]] = None,
    relative_tolerance: Optional[float] = None,
    absolute_tolerance: Optional[float] = None,
    step: Optional[float] = None,
    maximum_step: Optional[float] = None,
    stops: Optional[bool] = None,
    restitution: Optional[float] = None,
    stop_settings: Optional[Mapping[str, float]] = None,
    friction: Optional[Union[str, _catena.FrictionLaw]] = None,
    limit_efforts: Optional[bool] = None,
    extra_outputs: Optional[Mapping[str, Any]] = None,
    settings: Optional[Union[PathLike, Mapping[str, Any]]] = None,
    progress: Optional[Callable[[float], Optional[bool]]] = None,
    model_path: str = "",
    interval: Optional[float] = None,
    checkpoint: Optional[float] = None,
    rtol: Optional[float] = None,
    atol: Optional[float] = None,
    max_step: Optional[float] = None,
    restitutions: Optional[Mapping[str, float]] = None,
) -> Run:
    """Simulates a mechanism; returns a Run.

        run = catena.simulate(robot, state, duration=5.0,
                              inputs={"elbow": "2*sin(t)", "wrist": lambda t, s: -s["v.wrist"]},
                              controllers={"shoulder": {"kp": 200, "kd": 20, "target": 0.5}})

    state: the initial state; the mechanism's default state unless given. Loops that are not closed
        are assembled, keeping what the model gives or what differs from its default state if
        that can be.
    duration: s (default 10).
    inputs: efforts at freedoms, N m or N, by name: an expression of t, q.NAME and v.NAME, a number,
        a function of (t, state), or a table: {"times": (n,), "values": (n,), "interpolation":
        "linear", "hold" or "spline", "cutoff": Hz}, or of a file {"table": "file.csv", "column":
        ..., "interpolation": ...}.
    controllers: by name {"kp", "kd", "ki", "target"}; target as motions.
    motions: prescribed coordinates by name, rad or m: an expression of t, a table, or a function
        of t that gives (value, rate, acceleration).
    events: by name an expression or function whose zeros are recorded, or {"when": ...,
        "direction": "up" (1), "down" (-1) or "both" (0), "action": "record" or "stop",
        "respond": f(t, state)}; respond may change the state.
    external: constant wrenches, as in forward_dynamics.
    output: a file for the run (HDF5, or a table if it ends in .csv); None: memory.
    outputs: columns to record, a * standing for anything (default q.*, v.*, effort.*, energy.*,
        contact.*).
    extra_outputs: more columns by name: a function of (t, state), or (function, unit).
    output_interval, checkpoint_interval: s (default: about 1000 rows; a tenth of the duration).
    method: the integrator (default "dop853"); relative_tolerance (1e-8), absolute_tolerance
        (1e-10), step (of fixed-step methods, 1e-3 s), maximum_step.
    stops, restitution, stop_settings (restitution by freedom), friction ("events", which is
        "set_valued", or "smooth"), limit_efforts: see docs/simulation.md.
    interval, checkpoint, rtol, atol, max_step, restitutions: the short names that settings files
        have for output_interval, checkpoint_interval, relative_tolerance, absolute_tolerance,
        maximum_step and stop_settings.
    settings: a YAML file with the settings of docs/simulation.md, or a dictionary of them; the
        arguments win. Constraints that are switched are given there: {"constraints": {...},
        "switches": {...}}, and how loops are treated: {"loops": "multipliers"}.
    progress: called some ten times a second with the time reached; False ends the run.

    Ctrl-C ends the run cleanly and raises KeyboardInterrupt. When a run ends by an error, the
    exception's `run` has the rows recorded until then.
    """
    output_interval = _one_of(output_interval=output_interval, interval=interval)
    checkpoint_interval = _one_of(checkpoint_interval=checkpoint_interval, checkpoint=checkpoint)
    relative_tolerance = _one_of(relative_tolerance=relative_tolerance, rtol=rtol)
    absolute_tolerance = _one_of(absolute_tolerance=absolute_tolerance, atol=atol)
    maximum_step = _one_of(maximum_step=maximum_step, max_step=max_step)
    stop_settings = _one_of(stop_settings=stop_settings, restitutions=restitutions)
    if isinstance(outputs, str):
        outputs = [outputs]
    record = _catena.MemoryRecorder()
    path = "" if output is None else os.fspath(output)
    try:
        result, settings_json = _catena._simulate(
            mechanism,
            state,
            duration,
            output_interval,
            checkpoint_interval,
            None if outputs is None else list(outputs),
            method,
            relative_tolerance,
            absolute_tolerance,
            step,
            maximum_step,
            inputs,
            controllers,
            motions,
            external,
            events,
            extra_outputs,
            stops,
            restitution,
            stop_settings,
            "set_valued" if friction == "events" else friction,
            limit_efforts,
            "" if settings is None or isinstance(settings, Mapping) else os.fspath(settings),
            json.dumps(dict(settings)) if isinstance(settings, Mapping) else "",
            progress,
            path,
            overwrite,
            model_path,
            record,
        )
    except BaseException as error:
        if record.rows > 0:
            error.run = Run(record, mechanism=mechanism, model_path=model_path)  # type: ignore
        elif path and not path.endswith(".csv") and os.path.exists(path):
            error.run = open_run(path)  # type: ignore[attr-defined]
        raise
    return _recorded(
        record,
        path,
        mechanism=mechanism,
        result=result,
        settings_json=settings_json,
        model_path=model_path,
    )


def _one_of(**names: Any) -> Any:
    """The argument that is given of two that mean the same."""
    given = [name for name, value in names.items() if value is not None]
    if len(given) > 1:
        raise TypeError(f"{given[0]} and {given[1]} are the same: give one of them")
    return names[given[0]] if given else None


def _recorded(record: _catena.MemoryRecorder, path: str, **about: Any) -> Run:
    """The Run of what was recorded: in memory, or in a file."""
    if path.endswith(".csv"):
        return Run(_Table(*_catena.read_csv(path)), **about)  # type: ignore[arg-type]
    return Run(_catena.RunFile(path) if path else record, **about)


class _Table:
    """A CSV file as a record: numbers alone."""

    def __init__(self, names: List[str], values: Array) -> None:
        self.columns, self.values = names, values
        self.units = [""] * len(names)
        self.rows, self.complete, self.audit_json = len(values), True, ""
        self.events: List[RunEvent] = []

    def column(self, name: str) -> Array:
        raise _catena.UnknownNameError(f"no column is named '{name}'")


def resume_simulation(
    path: PathLike,
    *,
    duration: Optional[float] = None,
    inputs: Optional[Mapping[str, Signal]] = None,
    controllers: Optional[Mapping[str, Mapping[str, Any]]] = None,
    motions: Optional[Mapping[str, MotionSignal]] = None,
    events: Optional[Mapping[str, Any]] = None,
    extra_outputs: Optional[Mapping[str, Any]] = None,
    progress: Optional[Callable[[float], Optional[bool]]] = None,
) -> Run:
    """Continues an interrupted run from its last checkpoint, to the same bits as if it had never
    been interrupted.

    duration: s, if another than before.
    inputs, controllers, motions, events, extra_outputs: functions are not in the file; those that
        the run had are given again, by the same names. The rest is in the file.
    progress: as in simulate().
    """
    name = os.fspath(path)
    settings = json.loads(_catena.RunFile(name).settings_json or "{}")
    needed = settings.pop("code", [])
    code = {
        "inputs": inputs,
        "controllers": controllers,
        "motions": motions,
        "events": events,
        "extra_outputs": extra_outputs,
    }
    given = [f"{kind}.{key}" for kind, entries in code.items() for key in entries or {}]
    for missing in needed:
        if missing not in given:
            kind, _, key = missing.partition(".")
            raise _catena.Error(
                f"{name}: this run has a function that is not in the file: give it again, "
                f"{kind}={{{key!r}: ...}}"
            )
    for known in given:
        if known not in needed:
            raise _catena.Error(f"{name}: the run has no function {known} to be given again")
    result = _catena._resume_simulation(
        name,
        json.dumps(settings),
        duration,
        inputs,
        controllers,
        motions,
        events,
        extra_outputs,
        progress,
    )
    return Run(_catena.RunFile(name), result=result)


def open_run(path: PathLike) -> Run:
    """The Run in an HDF5 file, also of a simulation in progress (refresh())."""
    return Run(_catena.RunFile(os.fspath(path)))


def compare_runs(
    first: Union[Run, PathLike], second: Union[Run, PathLike]
) -> RunComparison:
    """How two runs differ: columns, settings, model."""
    with tempfile.TemporaryDirectory(prefix="catena-") as folder:

        def path_of(run: Union[Run, PathLike], name: str) -> str:
            if not isinstance(run, Run):
                return os.fspath(run)
            return run.path or run.save(os.path.join(folder, name))

        return _catena._compare_runs(path_of(first, "first.h5"), path_of(second, "second.h5"))


def view(
    mechanism: Mechanism,
    path: Optional[PathLike] = None,
    *,
    model_path: str = "",
    browser: bool = True,
) -> str:
    """Opens a drawing of a mechanism in a browser; returns the path of the page. Meshes are searched
    from the folder of model_path."""
    return _show(_catena._model_page(mechanism, model_path), path, browser)


# ---- Pages. ----


def _write_page(page: str, path: PathLike) -> str:
    Path(path).write_text(page, encoding="utf-8")
    return os.fspath(path)


def _show(page: str, path: Optional[PathLike], browser: bool) -> str:
    if path is None:
        handle, path = tempfile.mkstemp(prefix="catena-", suffix=".html")
        os.close(handle)
    name = _write_page(page, path)
    if browser:
        webbrowser.open(Path(name).absolute().as_uri())
    return name


def _frame(page: str) -> str:
    return (
        f'<iframe srcdoc="{html.escape(page, quote=True)}" width="100%" height="640" '
        'style="border:0" sandbox="allow-scripts"></iframe>'
    )
