"""Writes what every variant gives on this machine's emulator, for driver.c to compare on another processor.

``python tests/cross/write_cases.py FILE`` in the folder ``tests``, or with it on the path. Some shapes an operation,
every variant and type, every parameter at its ends. A case is a line of words, its parameters' values and the number of
its arrays; then for each array a line (type, number of axes, lengths) and its bytes, inputs before outputs.
"""

import sys

import cudakern
from cases import as_called, inputs_for, native, outputs_for, settings, variant_types
from cudakern.operations.registry import registry

SHAPES = 3  # an operation: those of the fewest elements are trivial ones
MOST_ELEMENTS = 20_000  # a case: the other processor is emulated too


def write(file, variant, values, inputs, outputs):
    words = [variant.operation, variant.name, len(values), *values, len(inputs) + len(outputs)]
    file.write(" ".join(map(str, words)).encode() + b"\n")
    for x in (*inputs, *outputs):
        file.write(" ".join(map(str, [x.dtype.name, x.ndim, *x.shape])).encode() + b"\n" + x.tobytes())


def main(path):
    count = 0
    with cudakern.use_backend("emulator"), open(path, "wb") as file:
        for operation, what in registry().items():
            for _, variant, dtype in variant_types(operation, host=False, types=None):
                on_emulator = "emulator" in variant.backends
                shapes = list(dict.fromkeys((*what.ragged[:1], *what.ragged[-SHAPES:])))
                runs = [(shape, {}) for shape in shapes]
                if dtype == variant.types[0]:
                    runs += [(shapes[-1], given) for given in settings(variant)]
                for shape, given in runs if on_emulator else []:
                    inputs = inputs_for(operation, dtype, shape, seed=count)
                    if sum(x.size for x in inputs) > MOST_ELEMENTS:
                        continue
                    outputs = outputs_for(variant, inputs)
                    values = variant.values(as_called(variant, given))
                    try:
                        native("emulator").execute(operation, variant.name, values, inputs, outputs, 0, False, 0)
                    except ValueError:  # a variant that says which sizes it takes
                        continue
                    write(file, variant, values, inputs, outputs)
                    count += 1
    print(count, "cases")


main(*sys.argv[1:])
