# SPDX-FileCopyrightText: 2026 Tessera authors
# SPDX-License-Identifier: Apache-2.0
"""Computes gradients.jsonl by PyTorch's DTensor: `python3 make_gradients.py > gradients.jsonl`, with PyTorch installed.

Each line is one forward and one backward pass: `mesh`, the `inputs` that are watched, the `steps`, the `gradient` of the result where
that has dims, the `result`, the `gradients` of the inputs and `collectives`, the number of each kind in the backward pass. A tensor has
`shape`, `placements` and all `values`; a local value has `pieces`, one for each rank. Values are numbered: the inputs first, then the
results of steps, which name their operands by `of`. A step has the placements of its `result` where that is a tensor. Cases in which
DTensor raises an error, in which replicas of a gradient differ, or whose gradients differ from those of plain tensors, are left out, and
named on stderr.
"""
import itertools
import json
import os
import random
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from make_operators import placement_of, tensor_of, text_of, values_of
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode

UNARY = {"negate": torch.neg, "abs": torch.abs, "exp": torch.exp, "relu": torch.relu, "square": torch.square, "tanh": torch.tanh}
BINARY = {"add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "divide": torch.div, "mm": torch.mm}
SPLITS = ["R", "S(0)", "S(1)"]


def drawn(draw, size):
    """Returns small integers other than 0."""
    return [draw.choice([-1, 1]) * draw.randint(1, 4) for _ in range(size)]


def size_of(shape):
    """Returns the number of elements of a shape."""
    return torch.Size(shape).numel()


def pieces_of(draw, mesh, shape, placements):
    """Returns drawn pieces of all ranks: ranks along a mesh dim with R have the same one."""
    pieces, made = [], {}
    for at in itertools.product(*[range(extent) for extent in mesh]):
        key = tuple(0 if placement == "R" else k for k, placement in zip(at, placements))
        made.setdefault(key, drawn(draw, size_of(shape)))
        pieces.append({"shape": list(shape), "values": made[key]})
    return pieces


def local_shape(mesh, shape, placements):
    """Returns the shape of a piece; all pieces are equal."""
    result = list(shape)
    for extent, placement in zip(mesh, placements):
        if placement[0] == "S":
            result[int(placement[2])] //= extent
    return result


def with_whole(placements):
    """Returns placements with R for Partial."""
    return ["R" if text[0] == "P" else text for text in placements]


def step(case, values, entry):
    """Runs one step."""
    op, operands = entry["op"], [values[k] for k in entry["of"]]
    x, mesh = operands[0], case["torch_mesh"]
    placed = [placement_of(text) for text in entry.get("placements", [])]
    labels = [placement_of(text) for text in entry["grad_placements"]] if "grad_placements" in entry else None
    if op == "redistribute":
        return x if mesh is None else x.redistribute(mesh, placed)
    if op == "to_local":
        return x if mesh is None else x.to_local(grad_placements=labels)
    if op == "full_tensor":
        return x if mesh is None else x.full_tensor(grad_placements=labels)
    if op == "from_local":
        return DTensor.from_local(x, mesh, placed, run_check=False, grad_placements=labels)
    if op in UNARY:
        return UNARY[op](x)
    if op in BINARY:
        return BINARY[op](*operands)
    if op in ("add_number", "multiply_number"):
        return (torch.add if op == "add_number" else torch.mul)(x, entry["number"])
    if op in ("softmax", "log_softmax"):
        return getattr(torch, op)(x, entry["dim"])
    function = {"sum": torch.sum, "mean": torch.mean}[op]
    return function(x) if entry["dim"] is None else function(x, dim=entry["dim"], keepdim=True)


def gradient_of(case, draw, result):
    """Adds a drawn gradient of the result to a case, and returns it; None for a result of 0 dims."""
    if result.dim() == 0:
        return None
    if not isinstance(result, DTensor):
        case["gradient"] = {"pieces": pieces_of(draw, case["mesh"], list(result.shape), case["label"])}
        piece = case["gradient"]["pieces"][dist.get_rank()]
        return torch.tensor(piece["values"], dtype=torch.float64).reshape(piece["shape"])
    placements = with_whole([text_of(p) for p in result.placements])
    case["gradient"] = {"shape": list(result.shape), "placements": placements, "values": drawn(draw, result.numel())}
    return tensor_of(case["torch_mesh"], case["gradient"])


def described(value):
    """Returns a value of the file. Collective."""
    if isinstance(value, DTensor):
        full = value.full_tensor()
        return {"shape": list(value.shape), "placements": [text_of(p) for p in value.placements], "values": full.flatten().tolist()}
    pieces = [None] * dist.get_world_size()
    dist.all_gather_object(pieces, {"shape": list(value.shape), "values": value.flatten().tolist()})
    return {"pieces": pieces}


def require_equal_replicas(mesh, gradient):
    """Raises ValueError if ranks hold unlike replicas of a tensor."""
    if not isinstance(gradient, DTensor):
        return
    key = [0 if p.is_replicate() else mesh.get_local_rank(d) for d, p in enumerate(gradient.placements)]
    held = [None] * dist.get_world_size()
    dist.all_gather_object(held, (key, gradient.to_local().flatten().tolist()))
    if any(a[0] == b[0] and not torch.allclose(torch.tensor(a[1]), torch.tensor(b[1])) for a in held for b in held):
        raise ValueError("replicas of a gradient differ")


def require_plain_gradients(case, gradients):
    """Raises ValueError unless plain tensors give the same gradients, where all inputs and the gradient are tensors."""
    wholes = case["inputs"] + [case.get("gradient", {"shape": []})]
    if any("shape" not in value for value in wholes):
        return
    plain = {**case, "torch_mesh": None}
    values = [values_of(operand).requires_grad_() for operand in case["inputs"]]
    leaves = list(values)
    for entry in case["steps"]:
        values.append(step(plain, values, entry))
    values[-1].backward(values_of(case["gradient"]) if "gradient" in case else None)
    for leaf, gradient in zip(leaves, gradients):
        if not torch.allclose(leaf.grad.flatten(), torch.tensor(gradient["values"], dtype=torch.float64), rtol=1e-12, atol=1e-12):
            raise ValueError("DTensor gives other gradients than PyTorch on plain tensors")


def compute(case, seed):
    """Computes a case. Collective."""
    draw = random.Random(seed)
    mesh = case["torch_mesh"]
    values = []
    for operand in case["inputs"]:
        if "pieces" in operand:
            piece = operand["pieces"][dist.get_rank()]
            values.append(torch.tensor(piece["values"], dtype=torch.float64).reshape(piece["shape"]).requires_grad_())
        else:
            values.append(tensor_of(mesh, operand).detach().requires_grad_())
    leaves = list(values)
    for entry in case["steps"]:
        values.append(step(case, values, entry))
        if isinstance(values[-1], DTensor):
            entry["result"] = [text_of(p) for p in values[-1].placements]
    gradient = gradient_of(case, draw, values[-1])
    with CommDebugMode() as mode:
        values[-1].backward(gradient)
    case["collectives"] = {str(kind).rsplit(".", maxsplit=1)[-1]: count for kind, count in mode.get_comm_counts().items() if count}
    for leaf in leaves:
        require_equal_replicas(mesh, leaf.grad)
    case["result"] = described(values[-1].detach())
    case["gradients"] = [described(leaf.grad) for leaf in leaves]
    require_plain_gradients(case, case["gradients"])


def tensor(draw, shape, placements):
    """Returns a drawn tensor."""
    return {"shape": shape, "placements": placements, "values": drawn(draw, size_of(shape))}


def moving_cases(draw, mesh):
    """Returns cases of redistribute, to_local, from_local and full_tensor."""
    shape = [8, 4]
    kinds = SPLITS + ["P(sum)"]

    def any_of(names):
        return [draw.choice(names) for _ in mesh]

    def operand(names):
        return tensor(draw, shape, any_of(names))

    def local(placements):
        return {"pieces": pieces_of(draw, mesh, local_shape(mesh, shape, placements), placements)}

    cases = []
    for _ in range(10):
        cases.append({"inputs": [operand(kinds)], "steps": [{"op": "redistribute", "of": [0], "placements": any_of(SPLITS)}]})
    for _ in range(5):
        x = operand(SPLITS)  # of a Partial, ranks would square their contributions, which is no function of the tensor
        cases.append({"inputs": [x], "steps": [{"op": "to_local", "of": [0]}, {"op": "square", "of": [1]}], "label": x["placements"]})
        x = operand(kinds)
        label = [p if p[0] == "S" else draw.choice(["R", "P(sum)"]) for p in x["placements"]]
        cases.append({"inputs": [x], "steps": [{"op": "to_local", "of": [0], "grad_placements": label}], "label": label})
        placements = any_of(kinds)
        cases.append({"inputs": [local(placements)], "steps": [{"op": "from_local", "of": [0], "placements": placements},
                                                               {"op": draw.choice(sorted(UNARY)), "of": [1]}]})
        placements = any_of(kinds)
        entry = {"op": "from_local", "of": [0], "placements": placements}
        entry["grad_placements"] = [p if p[0] == "S" else "R" for p in placements]
        cases.append({"inputs": [local(placements)], "steps": [entry, {"op": "redistribute", "of": [1], "placements": any_of(SPLITS)}]})
        placements = any_of(["R", "S(1)"])
        placements[draw.randrange(len(mesh))] = "P(avg)"
        cases.append({"inputs": [local(placements)], "steps": [{"op": "from_local", "of": [0], "placements": placements},
                                                               {"op": draw.choice(["negate", "square"]), "of": [1]}]})
        label = any_of(["R", "P(sum)"])
        cases.append({"inputs": [operand(kinds)], "steps": [{"op": "full_tensor", "of": [0], "grad_placements": label}], "label": label})
        cases.append({"inputs": [operand(kinds)], "steps": [{"op": "full_tensor", "of": [0]}, {"op": "square", "of": [1]}],
                      "label": ["R"] * len(mesh)})
    return cases


def operator_cases(draw, mesh):
    """Returns cases of operators, alone and one after another."""
    cases = []

    def operand(shape, names):
        return tensor(draw, shape, [draw.choice(names) for _ in mesh])

    def shape():
        return draw.choice([[8, 4], [8, 8], [7, 5]])

    def reduction():
        return {"op": draw.choice(["sum", "mean"]), "dim": draw.choice([None, None, 0, 1])}

    for _ in range(6):
        cases.append({"inputs": [operand(shape(), SPLITS + ["P(sum)"])], "steps": [{"op": draw.choice(sorted(UNARY)), "of": [0]}]})
        extents = shape()
        cases.append({"inputs": [operand(extents, SPLITS), operand(extents, SPLITS)],
                      "steps": [{"op": draw.choice(["add", "subtract", "multiply", "divide"]), "of": [0, 1]}]})
        cases.append({"inputs": [operand(shape(), SPLITS + ["P(sum)"])], "steps": [{**reduction(), "of": [0]}]})
        cases.append({"inputs": [operand([8, 4], SPLITS), operand([4, 8], SPLITS)], "steps": [{"op": "mm", "of": [0, 1]}]})
        cases.append({"inputs": [operand(shape(), SPLITS)],
                      "steps": [{"op": draw.choice(["softmax", "log_softmax"]), "of": [0], "dim": draw.choice([0, 1])}]})
        cases.append({"inputs": [operand([8, 4], SPLITS), operand([4, 8], SPLITS)],
                      "steps": [{"op": "mm", "of": [0, 1]}, {"op": "relu", "of": [2]}, {"op": "square", "of": [3]},
                                {"op": "mean", "dim": None, "of": [4]}]})
        cases.append({"inputs": [operand([8, 4], SPLITS + ["P(sum)"])],
                      "steps": [{"op": draw.choice(["add_number", "multiply_number"]), "number": draw.randint(2, 5), "of": [0]},
                                {"op": "redistribute", "of": [1], "placements": [draw.choice(SPLITS) for _ in mesh]},
                                {"op": "square", "of": [2]}, {"op": "sum", "dim": None, "of": [3]}]})
    return cases


def run(rank, size, cases, path):
    """Computes the cases of `size` ranks; rank 0 writes them to `path`."""
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(29700 + size))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=size)
    meshes, lines = {}, []
    for seed, case in enumerate(cases):
        extents = tuple(case["mesh"])
        if extents not in meshes:
            meshes[extents] = init_device_mesh("cpu", extents)
        case["torch_mesh"] = meshes[extents]
        try:
            compute(case, seed)
        except (RuntimeError, ValueError, NotImplementedError, AssertionError) as error:
            if rank == 0:
                print(f"left out {[entry['op'] for entry in case['steps']]} on {case['mesh']}: {error}", file=sys.stderr)
            continue
        lines.append(json.dumps({key: value for key, value in case.items() if key not in ("torch_mesh", "label")}))
    if rank == 0:
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
    dist.barrier()
    dist.destroy_process_group()


def main():
    """Prints 220 cases, or fewer where some are left out: of 2 ranks, then of 4."""
    draw = random.Random(20261129)
    cases = {2: [], 4: []}
    for mesh, wanted in ([[2], 30], [[4], 95], [[2, 2], 95]):
        drawn_cases = []
        while len(drawn_cases) < wanted:
            drawn_cases += moving_cases(draw, mesh) + operator_cases(draw, mesh)
        draw.shuffle(drawn_cases)
        for case in drawn_cases[:wanted]:
            cases[int(torch.tensor(mesh).prod())].append({"mesh": mesh, **case})
    for size, mine in cases.items():
        path = f"gradients.{size}.tmp"
        multiprocessing.spawn(run, args=(size, mine, path), nprocs=size)
        with open(path, encoding="utf-8") as file:
            sys.stdout.write(file.read())
        os.remove(path)


if __name__ == "__main__":
    main()
