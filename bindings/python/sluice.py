# SPDX-License-Identifier: BSD-3-Clause
"""Explicit instrumentation for Python: the functions of sluice/instrument.h, which is their manual.

    import sluice

    sluice.phase("solve")
    with sluice.activity("write", component="checkpoint", step=step, data_bytes=array.nbytes) as write:
        write.text("format", "hdf5")
        ...

Without Sluice, nothing is called, and every question is answered by None. Inside `with`, an exception ends the activity
with error 1. The module needs no other one and works with Python 3.6 and later.
"""

import contextlib
import ctypes

__all__ = ["Activity", "Target", "activity", "advise", "begin", "best", "is_present", "phase", "register", "target", "targets"]

_ABI = 1
_NAME_BYTES = 64
_VALUE_BYTES = 1024


class Target(ctypes.Structure):
    """A storage target, as forecast at the start of the run: see struct sluice_target."""

    _fields_ = [
        ("_name", ctypes.c_char * _NAME_BYTES),
        ("busy", ctypes.c_double),
        ("share", ctypes.c_double),
        ("slowdown", ctypes.c_double),
        ("age_s", ctypes.c_double),
    ]

    @property
    def name(self):
        return self._name.decode(errors="replace")

    def __repr__(self):
        return "Target(name=%r, busy=%g, share=%g, age_s=%g)" % (self.name, self.busy, self.share, self.age_s)


def _function(result, *arguments):
    return ctypes.PYFUNCTYPE(result, *arguments)


_u32, _i32, _u64, _i64 = ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint64, ctypes.c_int64
_size, _text = ctypes.c_size_t, ctypes.c_char_p


class _Instrument(ctypes.Structure):
    """struct sluice_instrument. The functions never wait, so the interpreter's lock stays locked."""

    _fields_ = [
        ("abi", _u32),
        ("bytes", _u32),
        ("component", _function(_u32, _text, _size)),
        ("begin", _function(_u64, _u32, _text, _size)),
        ("text", _function(None, _u64, _text, _size, _text, _size)),
        ("number", _function(None, _u64, _text, _size, _i64)),
        ("step", _function(None, _u64, _i64)),
        ("data", _function(None, _u64, _i64)),
        ("link", _function(None, _u64, _u64)),
        ("end", _function(None, _u64, _i32)),
        ("phase", _function(None, _text, _size)),
        ("target", _function(_i32, _text, _size, ctypes.POINTER(Target))),
        ("target_at", _function(_i32, _u32, ctypes.POINTER(Target))),
        ("best", _function(_i32, _text, _size, _text, _size, _text, _size)),
    ]


def _find():
    try:
        found = _Instrument.in_dll(ctypes.CDLL(None), "sluice_instrument_%d" % _ABI)
    except (AttributeError, OSError, ValueError):
        return None
    return found if found.abi == _ABI and found.bytes >= ctypes.sizeof(_Instrument) else None


_sluice = _find()


def _bytes(value):
    return str(value).encode(errors="replace")


def is_present():
    """Is the program being recorded by Sluice, or could it be?"""
    return _sluice is not None


def register(name):
    """The component with this name, which is registered if it is new; 0 without Sluice."""
    if _sluice is None:
        return 0
    name = _bytes(name)
    return _sluice.component(name, len(name))


class Activity:
    """An activity that has begun. It must end in the thread that has begun it."""

    __slots__ = ("id",)

    def __init__(self, number):
        self.id = number

    def text(self, key, value):
        if self.id and _sluice is not None:
            key, value = _bytes(key), _bytes(value)
            _sluice.text(self.id, key, len(key), value, len(value))

    def number(self, key, value):
        if self.id and _sluice is not None:
            key = _bytes(key)
            _sluice.number(self.id, key, len(key), int(value))

    def step(self, step):
        if self.id and _sluice is not None:
            _sluice.step(self.id, int(step))

    def data_bytes(self, count):
        if self.id and _sluice is not None:
            _sluice.data(self.id, int(count))

    def link(self, cause):
        """Another activity is the cause of this one."""
        if self.id and cause.id and _sluice is not None:
            _sluice.link(self.id, cause.id)

    def end(self, error=0):
        if self.id and _sluice is not None:
            _sluice.end(self.id, int(error))


def begin(name, component=0):
    """Begins an activity of a component: a name, or what register() has returned."""
    if _sluice is None:
        return Activity(0)
    if isinstance(component, str):
        component = register(component)
    name = _bytes(name)
    return Activity(_sluice.begin(component, name, len(name)))


@contextlib.contextmanager
def activity(name, component=0, step=None, data_bytes=None, cause=None, **attributes):
    """An activity for the time of a `with` statement. Other keywords are attributes."""
    begun = begin(name, component)
    if begun.id:
        if step is not None:
            begun.step(step)
        if data_bytes is not None:
            begun.data_bytes(data_bytes)
        if cause is not None:
            begun.link(cause)
        for key, value in attributes.items():
            begun.text(key, value)
    try:
        yield begun
    except BaseException:
        begun.end(1)
        raise
    begun.end()


def phase(name):
    """The process enters a phase, which lasts until the next one."""
    if _sluice is not None:
        name = _bytes(name)
        _sluice.phase(name, len(name))


def target(name):
    """The forecast of a storage target by its name or a path in it; None: no opinion."""
    if _sluice is None:
        return None
    name, answer = _bytes(name), Target()
    return answer if _sluice.target(name, len(name), ctypes.byref(answer)) else None


def targets():
    """The forecasts of all storage targets; an empty list: no opinion."""
    found, answer = [], Target()
    while _sluice is not None and _sluice.target_at(len(found), ctypes.byref(answer)):
        found.append(answer)
        answer = Target()
    return found


def advise(size):
    """How many of these bytes a step should write now; all of them without a forecast. See sluice_advise()."""
    speeds = [1 / (1 + (t.busy * (t.slowdown - 1) if t.busy >= 0 and t.slowdown > 1 else 0)) for t in targets() if t.share]
    return int(size * (sum(speeds) / len(speeds))) if size > 0 and sum(speeds) < len(speeds) else size


def best(parameter, file=None):
    """The best known value of a parameter for this program, and for a file of this name; None: no opinion."""
    if _sluice is None:
        return None
    parameter = _bytes(parameter)
    file = None if file is None else _bytes(file)
    value = ctypes.create_string_buffer(_VALUE_BYTES)
    known = _sluice.best(parameter, len(parameter), file, len(file or b""), value, _VALUE_BYTES)
    return value.value.decode(errors="replace") if known else None
