# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Computes operators.jsonl by PyTorch's DTensor: `python3 make_operators.py > operators.jsonl`, with PyTorch installed.

Each line is one call: `mesh`, `op`, `operands` (shape, placements and all values of each), `number`, `dim` and `keep_dim`
where the operator has them, and the `result` (shape, placements and all values). All values are float64.
"""
import json
import os
import random
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

MESHES = [[1], [2], [3], [4], [2, 2]]
SHAPES = [[8, 7], [7, 11], [12, 8]]  # no shard of them is empty, which amax and amin of DTensor do not take
BINARY = {"add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "divide": torch.div, "maximum": torch.maximum,
          "less": torch.lt}
UNARY = {"negate": torch.neg, "abs": torch.abs, "exp": torch.exp, "relu": torch.relu, "square": torch.square, "tanh": torch.tanh}
NUMBER = {"add_number": torch.add, "multiply_number": torch.mul}
REDUCTIONS = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}


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


def tensor_of(mesh, operand):
    """Makes the DTensor of an operand. Along a Partial, the first coordinate has the value and 5 for each other one; these have -5."""
    values = torch.tensor(operand["values"], dtype=torch.float64).reshape(operand["shape"])
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


def call(case, operands):
    """Calls the operator of a case."""
    op = case["op"]
    if op in BINARY:
        return BINARY[op](*operands)
    if op in UNARY:
        return UNARY[op](*operands)
    if op in NUMBER:
        return NUMBER[op](operands[0], case["number"])
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
        case["result"] = {"shape": list(full.shape), "placements": placements, "values": full.flatten().tolist()}
        lines.append(json.dumps(case))
    if rank == 0:
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
    dist.barrier()
    dist.destroy_process_group()


def main():
    """Prints 300 cases."""
    draw = random.Random(20261128)
    cases = [random_case(draw) for _ in range(300)]
    for size in (1, 2, 3, 4):
        mine = [case for case in cases if torch.tensor(case["mesh"]).prod() == size]
        path = f"operators.{size}.tmp"
        multiprocessing.spawn(run, args=(size, mine, path), nprocs=size)
        with open(path, encoding="utf-8") as file:
            sys.stdout.write(file.read())
        os.remove(path)


if __name__ == "__main__":
    main()
