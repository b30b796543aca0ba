"""Texts that differ a little from a signed one, and say something else."""

import json
import random


def mutants(text, count, seed):
    """Yield mutants: of its bytes and of its values, none of which means what the text means."""
    source, original, made = random.Random(seed), json.loads(text), 0
    while made < count:
        mutant = source.choice((_of_bytes, _of_values))(source, text)
        if _meaning(mutant) != original:
            made += 1
            yield mutant


def _meaning(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _of_bytes(source, text):
    data = bytearray(text.encode())
    for _ in range(source.randint(1, 3)):
        place = source.randrange(len(data))
        kind = source.randrange(3)
        if kind == 0:
            data[place] = source.randrange(256)
        elif kind == 1:
            del data[place : place + source.randint(1, 40)]
        else:
            data[place:place] = data[source.randrange(len(data)) :][: source.randint(1, 40)]
    return bytes(data)


def _of_values(source, text):
    document = json.loads(text)
    holder = document
    while True:
        names = [*holder] if isinstance(holder, dict) else [*range(len(holder))]
        name = source.choice(names)
        inner = holder[name]
        if isinstance(inner, dict | list) and inner and source.random() < 0.85:
            holder = inner
            continue
        _mutate(source, holder, name)
        return json.dumps(document)


def _mutate(source, holder, name):
    kind = source.randrange(4)
    if kind == 0:
        del holder[name]
    elif kind == 1 and isinstance(holder, dict):
        holder[f"{name}x"] = holder.pop(name)
    elif kind == 2 and isinstance(holder, list):
        holder.append(holder[name])
    else:
        holder[name] = _other(source, holder[name])


def _other(source, value):
    if isinstance(value, bool) or value is None:
        return source.choice((True, False, None, 0, "", []))
    if isinstance(value, int | float):
        return source.choice((value + 1, -value - 1, str(value), None, 2**70, 1e308))
    if isinstance(value, str):
        changed = (value + "x", value[:-1] + "-", value.upper() + " ")
        return source.choice((*changed, "", None, [value]))
    return source.choice(({}, [], None, "", [value], {"@value": value}))
