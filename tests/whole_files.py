"""Tests that several processes share are given out by their files, which only who runs one reads.

Each process would else import all files of tests and list all tests in them, to run a third.
"""

import pytest
from _pytest.runner import runtestprotocol


def are_given_out(config):
    """Return whether a process of several is given files, none of whose tests are chosen by name.

    Where some are chosen, each process lists all tests, as it is usual.
    """
    options = config.option
    chosen = (options.keyword, options.markexpr, getattr(options, "lf", None), options.deselect)
    is_one_of_several = hasattr(config, "workerinput")
    return is_one_of_several and not any(chosen) and not any("::" in one for one in config.args)


class GivenOut:
    """The plugin of a process that is given files."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path, parent):
        """Do not import a file in order to list it."""
        return UnreadFile.from_parent(parent, path=module_path)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Run a test, or all of a file.

        Of one that passes, that alone is told: to tell of each of its steps takes as long as many
        tests, here and in the process that is told.
        """
        if isinstance(item, WholeFile):
            item.run(nextitem)
            return True
        options = item.config.option
        tells_all = options.durations is not None or getattr(options, "xmlpath", None)
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if tells_all or report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        return True


class UnreadFile(pytest.File):
    """A file of which nothing is known but that it has tests."""

    def collect(self):
        """Return one for all its tests."""
        return [WholeFile.from_parent(self, name="all")]


class WholeFile(pytest.Item):
    """Stands for all tests of a file."""

    def runtest(self):
        """Raise an error: its tests are run, each by itself."""
        raise NotImplementedError

    def run(self, following):
        """List the tests of the file and run them; `following` is what is run after them."""
        session, hook = self.session, self.config.hook
        place = session.items.index(self)
        module = pytest.Module.from_parent(self.parent.parent, path=self.path)
        tests = list(session.genitems(module))
        hook.pytest_collection_modifyitems(session=session, config=self.config, items=tests)
        if not tests:  # What was left for this file, as its folder, is not for the next one.
            session._setupstate.teardown_exact(following)
        for test, after in zip(tests, [*tests[1:], following], strict=False):
            session.items[place] = test  # who reports of a test looks for it there
            hook.pytest_runtest_protocol(item=test, nextitem=after)
            if session.shouldfail or session.shouldstop:
                break
        session.items[place] = self
