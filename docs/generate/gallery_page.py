"""The page of the gallery: `python docs/generate/gallery_page.py > docs/gallery.md`."""

import sys

from policy_engine.cli.gallery_examples import GALLERY, GalleryExample

_INTRODUCTION = """\
# Gallery

Policies to start from, each with data that anybody can get. They come with the package:

```console
$ policy-engine example customer --output customer
```

writes the policy with its data, or prints the command that fetches them, and what to do next.
Without a name, `policy-engine example` lists them all.

- **Made up** data are written beside the policy: 10,000 rows, or as many as `--rows` says. They
  are the same every time, and of nobody.
- The [Adult](https://archive.ics.uci.edu/dataset/2/adult) data are from the census of the USA of
  1994, 32,561 rows, and the [diabetes](https://archive.ics.uci.edu/dataset/296) data are 101,766
  visits to hospitals, some by the same patients. Both are fetched from the UCI Machine Learning
  Repository, which has them under CC BY 4.0.
- The census file is the one on which maskings are compared in the literature: 1,080 records of
  the Current Population Survey of 1995. It is in the R package
  [sdcMicro](https://cran.r-project.org/package=sdcMicro), so you need R for it.
"""


def page() -> str:
    """Return the page on all policies of the gallery."""
    rows = [f"| [`{one.name}`](#{one.name}) | {one.title} | {_source(one)} |" for one in GALLERY]
    table = "\n".join(["| policy | what it shows | data |", "|---|---|---|", *rows, ""])
    return "\n".join([_INTRODUCTION, table, *map(_section, GALLERY)])


def _source(example: GalleryExample) -> str:
    return "made up" if example.make else "fetched"


def _section(example: GalleryExample) -> str:
    title = f"{example.title[0].upper()}{example.title[1:]}."
    policy = f"[{example.policy}](../policies/{example.policy})"
    lines = [f"policy-engine example {example.name} --output {example.name}", f"cd {example.name}"]
    if example.extra:
        lines.append(f"pip install 'policy-engine[{example.extra}]'")
    lines += [example.fetch] if example.fetch else []
    lines += example.commands
    console = "\n".join(["```console", *(f"$ {line}" for line in lines), "```"])
    return f"## {example.name}\n\n{title} The policy: {policy}.\n\n{console}\n"


if __name__ == "__main__":
    sys.stdout.write(page())
