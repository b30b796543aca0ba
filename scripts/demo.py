"""The main job on made-up customers: from a policy to a verified release, and who may read it."""

import shutil
import subprocess
import sys

from environment import ROOT, Environment

OUT = "demo-output"
POLICY = "policies/customer.jsonld"
INPUT, OUTPUT = "http://example.com/Customer", "http://example/anonCustomer"
CUSTOMERS, RELEASE = f"{OUT}/customers.csv", f"{OUT}/release"
DATA = ("--data", f"{INPUT}={CUSTOMERS}")
BOTH = ("--data", f"{OUTPUT}={RELEASE}/anonCustomer.csv", *DATA)
COUNTED = (
    "SELECT StoreCategory, count(*) AS purchases FROM anonCustomer GROUP BY ALL ORDER BY 2 DESC"
)
JOINED = "SELECT a.Amount FROM anonCustomer a JOIN Customer c ON a.Amount = c.Amount"


def main() -> int:
    """Run the commands, each shown first; return 1 where one ends otherwise than expected."""
    shutil.rmtree(ROOT / OUT, ignore_errors=True)
    (ROOT / OUT).mkdir()
    run("sample", "customer", "--rows", "20000", "--seed", "1", "--output", CUSTOMERS)
    run("validate", POLICY)
    run("plan", POLICY, *DATA)
    run("show", CUSTOMERS)
    run("apply", POLICY, *DATA, "--output", RELEASE)
    run("show", f"{RELEASE}/anonCustomer.csv")
    run("certify", RELEASE, "--policy", POLICY)
    run("compare", CUSTOMERS, RELEASE)
    run("explore", POLICY, *DATA, "--k", "5,10,50", "--l", "3,5")
    tell("The marketing analyst reads the output:")
    decide(0, OUTPUT, "marketing", "--explain")
    tell("The same analyst reads the input:")
    decide(1, INPUT, "marketing")
    tell("The same analyst reads the output for another purpose:")
    decide(1, OUTPUT, "statistical")
    tell("A query on the output, and one that looks at the input as well:")
    ask(0, "query", COUNTED, *BOTH, "--purpose", "marketing")
    ask(1, "query", JOINED, *BOTH, "--purpose", "marketing")
    tell(f"The release and its certificate are in {RELEASE}.")
    return 0


def decide(expected: int, target: str, purpose: str, *more: str) -> None:
    """Ask whether the analyst may read an asset for a purpose."""
    ask(expected, "decide", "--action", "read", "--target", target, "--purpose", purpose, *more)


def ask(expected: int, command: str, *request: str) -> None:
    """Make a request of the analyst's, whose command ends with the expected status."""
    who = ("--certificate", RELEASE, "--assignee", "http://org/user")
    run(command, "--policy", POLICY, *who, *request, expected=expected)


def run(*words: str, expected: int = 0) -> None:
    """Show a command and run it. Raises SystemExit where it ends with another status."""
    shown = " ".join(f'"{word}"' if set(word) & {" ", "("} else word for word in words)
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    tell(f"{bold}$ policy-engine {shown}{plain}")
    status = subprocess.run([Environment().program("policy-engine"), *words], cwd=ROOT, check=False)
    if status.returncode != expected:
        sys.exit(f"the demo expected exit status {expected}, and it is {status.returncode}")


def tell(text: str) -> None:
    """Print a line behind an empty one, before what a command prints."""
    print(f"\n{text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
