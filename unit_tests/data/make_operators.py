# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Computes operators.jsonl by PyTorch's DTensor: `python3 make_operators.py > operators.jsonl`, with PyTorch installed.

Each line is one call: `mesh`, `op`, `operands` (shape, placements and all values of each), `number`, `dim`, `keep_dim` and
`offset` where the operator has them, and the `result` (shape, placements and all values). All values are float64; those of an
operand with `type` int64 are integers. Cases in which DTensor raises an error, or differs from PyTorch on plain tensors, are left
out, and named on stderr.
"""
import contextlib
import itertools
import json
import os
import random
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
import torch.nn.functional
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import loss_parallel

MESHES = [[1], [2], [3], [4], [2, 2]]
SHAPES = [[8, 7], [7, 11], [12, 8]]  # no shard of them is empty, which amax and amin of DTensor do not take
BINARY = {"add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "divide": torch.div, "maximum": torch.maximum,
          "less": torch.lt}
UNARY = {"negate": torch.neg, "abs": torch.abs, "exp": torch.exp, "relu": torch.relu, "square": torch.square, "tanh": torch.tanh}
NUMBER = {"add_number": torch.add, "multiply_number": torch.mul}
REDUCTIONS = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}
TENSORS = {"mm": torch.mm, "mv": torch.mv, "bmm": torch.bmm, "outer": torch.outer, "trace": torch.trace}
ALONG_DIM = {"softmax": torch.softmax, "log_softmax": torch.log_softmax, "logsumexp": torch.logsumexp, "cumsum": torch.cumsum}
WITH_OFFSET = {"tril": torch.tril, "triu": torch.triu, "diag": torch.diag, "diagonal": torch.diagonal}


def placement_of(text):
    """Returns the placement that `text` names: R, S(0), P(sum)."""
    if text == "R":
        return Replicate()
    return Shard(int(text[2])) if text[0] == "S" else Partial(text[2:-1])


def text_of(placement):
    """Returns the text of a placement."""
    if placement.is_replicate():
        return "R"
    return f"S({placement.dim})" if placement.is_shard() else f"P({placement.reduce_op})"


def values_of(operand):
    """Returns the values of an operand as a plain tensor."""
    dtype = torch.int64 if operand.get("type") == "int64" else torch.float64
    return torch.tensor(operand["values"], dtype=dtype).reshape(operand["shape"])


def tensor_of(mesh, operand):
    """Makes the DTensor of an operand. Along a Partial, the first coordinate has the value and 5 for each other one; these have -5."""
    values = values_of(operand)
    placements = [placement_of(text) for text in operand["placements"]]
    whole = [Replicate() if p.is_partial() else p for p in placements]
    tensor = distribute_tensor(values, mesh, whole, src_data_rank=None)
    local = tensor.to_local()
    for mesh_dim, placement in enumerate(placements):
        if placement.is_partial():
            # The first coordinate has the value and 5 for each other one, which have -5.
            size, mine = mesh.size(mesh_dim), mesh.get_local_rank(mesh_dim)
            local = local + 5.0 * (size - 1) if mine == 0 else torch.full_like(local, -5.0)
    return DTensor.from_local(local, mesh, placements, run_check=False, shape=values.shape, stride=values.stride())


def is_loss_parallel(case):
    """Tells whether the cross entropy of a case is one that loss_parallel() takes: the classes are split, and nothing else is."""
    return [operand["placements"] for operand in case["operands"]] == [["S(1)"], ["R"]]


def call(case, operands):
    """Calls the operator of a case."""
    op = case["op"]
    if op in BINARY:
        return BINARY[op](*operands)
    if op in UNARY:
        return UNARY[op](*operands)
    if op in NUMBER:
        return NUMBER[op](operands[0], case["number"])
    if op in TENSORS:
        return TENSORS[op](*operands)
    if op in ALONG_DIM:
        return ALONG_DIM[op](operands[0], case["dim"])
    if op in WITH_OFFSET:
        return WITH_OFFSET[op](operands[0], case["offset"])
    if op == "embedding":
        return torch.nn.functional.embedding(operands[1], operands[0])
    if op == "index_select":
        return torch.index_select(operands[0], case["dim"], operands[1])
    if op == "cross_entropy":
        with loss_parallel() if is_loss_parallel(case) else contextlib.nullcontext():
            return torch.nn.functional.cross_entropy(*operands)
    if case["dim"] is None:
        return REDUCTIONS[op](operands[0])
    return REDUCTIONS[op](operands[0], dim=case["dim"], keepdim=case["keep_dim"])


def random_case(draw):
    """Returns a case without its result."""
    mesh = draw.choice(MESHES)
    shape = draw.choice(SHAPES)
    family = draw.choice([BINARY, BINARY, UNARY, NUMBER, REDUCTIONS, REDUCTIONS])
    case = {"mesh": mesh, "op": draw.choice(sorted(family)), "operands": []}
    for _ in range(2 if family is BINARY else 1):
        placements = [draw.choice(["R", "S(0)", "S(1)", "P(sum)"]) for _ in mesh]
        values = [draw.choice([-1, 1]) * draw.randint(1, 9) for _ in range(shape[0] * shape[1])]
        case["operands"].append({"shape": shape, "placements": placements, "values": values})
    if family is NUMBER:
        case["number"] = draw.randint(2, 9)
    if family is REDUCTIONS:
        case["dim"] = draw.choice([None, 0, 1])
        case["keep_dim"] = case["dim"] is not None and draw.random() < 0.5
    return case


def drawn_operand(draw, shape, placements, below=None):
    """Returns an operand with drawn values: numbers, or indices below a bound."""
    size = torch.Size(shape).numel()
    if below is not None:
        return {"shape": shape, "placements": placements, "type": "int64", "values": [draw.randrange(below) for _ in range(size)]}
    values = [draw.choice([-1, 1]) * draw.randint(1, 9) for _ in range(size)]
    return {"shape": shape, "placements": placements, "values": values}


def product_cases(draw):
    """Returns products of matrices and vectors: all placements of two matrices on 1-d meshes, and drawn ones."""
    cases = []

    def add(mesh, op, shapes, placements):
        operands = [drawn_operand(draw, shape, list(placed)) for shape, placed in zip(shapes, placements)]
        cases.append({"mesh": mesh, "op": op, "operands": operands})

    def splits(shape):
        return ["R"] + [f"S({dim})" for dim in range(len(shape))]

    def add_drawn(mesh, op, shapes):
        add(mesh, op, shapes, [[draw.choice(splits(shape)) for _ in mesh] for shape in shapes])

    matrices, vector, batches = [[8, 7], [7, 11]], [[8, 7], [7]], [[7, 8, 7], [7, 7, 8]]
    for mesh in [[1], [2], [3], [4]]:
        for pair in itertools.product(splits(matrices[0]), splits(matrices[1])):
            add(mesh, "mm", matrices, [[placement] for placement in pair])
    for grid in [["S(0)", "S(1)"], ["S(1)", "S(0)"]]:
        add([2, 2], "mm", matrices, [grid, grid])
    for _ in range(16):
        add_drawn([2, 2], "mm", matrices)
    for linear in [["P(sum)", "R"], ["R", "P(sum)"], ["P(sum)", "S(1)"], ["P(sum)", "P(sum)"]]:
        add([3], "mm", matrices, [[placement] for placement in linear])
    for pair in itertools.product(splits(vector[0]), splits(vector[1])):
        add([3], "mv", vector, [[placement] for placement in pair])
    for _ in range(5):
        add_drawn([2, 2], "mv", vector)
    for mesh in [[2], [3], [4], [2, 2]] * 2:
        add_drawn(mesh, "bmm", batches)
    return cases


def algebra_cases(draw):
    """Returns cases of the other operators of linear algebra, of softmax and its kin, and of indices."""
    cases = []

    def drawn_placements(mesh, shape, names):
        return [draw.choice(names + [f"S({dim})" for dim in range(len(shape))]) for _ in mesh]

    def add(op, shapes, below=None, **values):
        mesh = draw.choice([[2], [3], [4], [2, 2], [2, 2]])
        names = ["R"] if len(shapes) > 1 else ["R", "P(sum)"]
        bounds = [None] if below is None else [None, below]
        operands = [drawn_operand(draw, shape, drawn_placements(mesh, shape, names), bound)
                    for shape, bound in itertools.zip_longest(shapes, bounds)]
        cases.append({"mesh": mesh, "op": op, "operands": operands, **values})

    for op in sorted(ALONG_DIM):
        for _ in range(7):
            add(op, [draw.choice(SHAPES)], dim=draw.choice([0, 1]))
    for op in sorted(WITH_OFFSET):
        for _ in range(5):
            add(op, [draw.choice(SHAPES)], offset=draw.choice([0, 0, 1, -2]))
    for offset in [0, 0, 1, -2]:
        add("diag", [[7]], offset=offset)
    for _ in range(7):
        add("outer", [[8], [11]])
    for _ in range(5):
        add("trace", [[8, 8]])
    for _ in range(8):
        add("embedding", [[12, 8], [11]], below=12, dim=0)
    for dim in [0, 1] * 4:
        add("index_select", [[12, 8], [11]], below=8, dim=dim)
    for _ in range(10):
        add("cross_entropy", [[12, 8], [12]], below=8)
    for mesh in [[2], [3], [4]]:
        operands = [drawn_operand(draw, [12, 8], ["S(1)"]), drawn_operand(draw, [12], ["R"], 8)]
        cases.append({"mesh": mesh, "op": "cross_entropy", "operands": operands})
    return cases


def run(rank, size, cases, path):
    """Computes the cases of `size` ranks; rank 0 writes them to `path`."""
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(29600 + size))
    dist.init_process_group("gloo", rank=rank, world_size=size)
    lines = []
    for case in cases:
        mesh = init_device_mesh("cpu", tuple(case["mesh"]))
        try:
            result = call(case, [tensor_of(mesh, operand) for operand in case["operands"]])
            placements = [text_of(p) for p in result.placements]
            full = result.full_tensor().to(torch.float64)
        except (RuntimeError, ValueError, NotImplementedError, AssertionError) as error:
            print(f"left out {case['op']} on {case['mesh']}: {error}", file=sys.stderr)
            continue
        plain = call(case, [values_of(operand) for operand in case["operands"]]).to(torch.float64)
        if full.shape != plain.shape or not torch.allclose(full, plain, rtol=1e-12, atol=1e-12):
            print(f"left out {case['op']} on {case['mesh']}: DTensor gives other values than PyTorch", file=sys.stderr)
            continue
        case["result"] = {"shape": list(full.shape), "placements": placements, "values": full.flatten().tolist()}
        lines.append(json.dumps(case))
    if rank == 0:
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
    dist.barrier()
    dist.destroy_process_group()


def write(cases):
    """Prints cases by the number of ranks that they take."""
    for size in (1, 2, 3, 4):
        mine = [case for case in cases if torch.tensor(case["mesh"]).prod() == size]
        path = f"operators.{size}.tmp"
        multiprocessing.spawn(run, args=(size, mine, path), nprocs=size)
        with open(path, encoding="utf-8") as file:
            sys.stdout.write(file.read())
        os.remove(path)


def main():
    """Prints 300 cases of elementwise operators and reductions, then those of the other operators."""
    draw = random.Random(20261128)
    write([random_case(draw) for _ in range(300)])
    write(product_cases(draw) + algebra_cases(draw))


if __name__ == "__main__":
    main()
