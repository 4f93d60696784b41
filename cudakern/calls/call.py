"""Every call of an operation, on host arrays and on device arrays, with "auto" and with named variants, goes this way.

    call --> C: is this kind of call known, and do the arrays fit together? --> the kernel
         '-> on_device: arrays are checked, converted, broadcast and arranged --> execute --> C
         '-> on_host: the same for host arrays, some of which are left to NumPy --> execute --> C

The Rule of an operation (rule.py) describes how it differs from others. The kind of a call is its operation, variant
and parameters, and the types of its arrays.
"""

from __future__ import annotations

from typing import Any

from .._backend import current
from ..arrays.array import DeviceArray
from ..arrays.streams import stream_handle
from . import checks
from .observer import observer
from .on_device import on_device
from .on_host import at_once_by_numpy, on_host
from .rule import Inputs, Named, Rule
from .table import AUTO, NUMPY, check_own

NOTHING: Named = {}
HOST = (AUTO, NUMPY)  #: variants that may need no device, on host arrays


def call(
    rule: Rule, inputs: Inputs, out: Any, variant: str, stream: Any, parameters: dict[str, Any], own: Named = NOTHING
) -> Any:
    """The result of a call: an array or NumPy scalar for host inputs, a DeviceArray for inputs on the device.

    ``own`` are keywords of the public function itself that are parameters of its kernel variants (``bitorder=``).
    """
    first = inputs[rule.first]
    if observer.get() is None:
        keywords = {**own, **parameters} if own else parameters
        result: Any = NotImplemented
        if type(first) is DeviceArray:
            module = first._native
            handle = 0 if stream is None else stream_handle(stream, module, first._view.device)
            result = module.call(rule.key, variant, keywords, inputs, out, handle, -1)
        elif stream is None and isinstance(variant, str):
            if variant not in HOST:
                module, device, _ = current()
                result = module.call(rule.key, variant, keywords, inputs, out, 0, device)
            elif variant == AUTO and rule.small is not None and out is None and not parameters:
                result = at_once_by_numpy(rule, inputs)
        if result is not NotImplemented:
            return result
    if own:
        own = check_own(rule.name, own)
    if rule.refuse is not None:
        rule.refuse(inputs)
    out = checks.only(rule.name, out)
    elsewhere = any(isinstance(x, DeviceArray) for x in (*inputs, out))
    return (on_device if elsewhere else on_host)(rule, inputs, out, variant, stream, parameters, own)
