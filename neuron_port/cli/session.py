"""What ``check`` and ``fix`` share: the configuration, the rules, the files, and running the work on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_port.cli.errors import Refusal
from neuron_port.cli.progress import Progress
from neuron_port.cli.work import Checked, CheckFile, Fixed, FixFile, is_counted, line_reader, unreadable
from neuron_port.config import Config, ConfigError, Selection
from neuron_port.discovery import MissingPath, discover
from neuron_port.engine import Engine
from neuron_port.findings import Applicability, Finding, Severity
from neuron_port.project.connections import connected
from neuron_port.project.files import Project
from neuron_port.reporting.report import Report
from neuron_port.rules.loader import RuleError, RuleSet, load_rules
from neuron_port.runner import run

if TYPE_CHECKING:
    from neuron_port.baseline import Baseline
    from neuron_port.cache import Cache

STDIN = Path("-")
# With fewer files, reading the cache takes as long as the work.
_WORTH_CACHING = 16


def load_rule_set() -> RuleSet:
    """The shipped rules and those that the configuration of this folder adds.

    Raises:
        Refusal: a rule file or the configuration is wrong.
    """
    try:
        config = Config.load(Path.cwd())
        return load_rules(config.extend_rules, config.sdk)
    except (ConfigError, RuleError) as error:
        raise Refusal(str(error)) from None


@dataclass(frozen=True, slots=True)
class Session:
    """One run of a command: where the code is, and by which rules it is judged.

    ``stdin_name`` is the name that the code on standard input goes by, ``None`` when files are asked for.
    """

    config: Config
    engine: Engine
    paths: tuple[Path, ...]
    stdin_name: Path | None
    cached: bool

    @classmethod
    def open(
        cls,
        *,
        paths: Sequence[Path],
        select: tuple[str, ...],
        ignore: tuple[str, ...],
        extend_select: tuple[str, ...],
        target: str | None,
        config_file: Path | None,
        no_config: bool,
        baseline: Path | None,
        jobs: int | None,
        stdin_filename: Path | None,
        no_cache: bool = False,
        cache_dir: Path | None = None,
        sdk: str | None = None,
        rename_flags: bool | None = None,
        include_docs: bool | None = None,
    ) -> Session:
        """Work out configuration and rules from the options of a command.

        Raises:
            Refusal: the options contradict each other, or the configuration or a rule file is wrong.
        """
        places = tuple(paths) or (Path("."),)
        from_stdin = STDIN in places
        if from_stdin and len(places) > 1:
            raise Refusal("- (standard input) and other paths do not go together")
        if stdin_filename is not None and not from_stdin:
            raise Refusal("--stdin-filename needs - as the path")
        if no_config and config_file is not None:
            raise Refusal("--config and --no-config do not go together")
        stdin_name = (stdin_filename or STDIN) if from_stdin else None
        start = _common_folder(places if stdin_name is None else [stdin_name])
        options = {"target": target, "jobs": jobs, "baseline": baseline, "cache_dir": cache_dir, "sdk": sdk}
        options |= {"rename_flags": rename_flags, "include_docs": include_docs}
        try:
            config = Config(root=start) if no_config else Config.load(start, config_file)
            config = replace(config, **{key: value for key, value in options.items() if value is not None})
            config = config.with_selection(Selection(select or None, extend_select, ignore))
            rules = load_rules(config.extend_rules, config.sdk)
            config.check_selectors(rules.rules)
        except (ConfigError, RuleError) as error:
            raise Refusal(str(error)) from None
        return cls(config, Engine(rules, config.settings, Project(config.root)), places, stdin_name, not no_cache)

    def check(self, *, with_edits: bool, use_baseline: bool = True) -> Report:
        """Check all files; ``with_edits``: the fixes carry their text edits.

        Raises:
            Refusal: a path does not exist, or the baseline cannot be used.
        """
        baseline = self.baseline() if use_baseline else None
        files = self._files()
        cache = self._cache() if len(files) >= _WORTH_CACHING else None
        work = CheckFile(self.engine, self.config, with_edits, cache)
        with Progress("checking") as progress:
            results = run(files, work, on_crash=self._crashed, jobs=self.config.jobs, progress=progress)
        if cache is not None:
            for result in results:
                if result.key is not None:
                    cache.put(result.key, result.findings)
            cache.save()
        findings = [finding for result in results for finding in result.findings]
        found = in_order(connected(findings, files, jobs=self.config.jobs, base=os.getcwd()))
        number = sum(is_counted(path, result.findings) for path, result in zip(files, results))
        if baseline is None:
            return Report(number, found)
        kept, stale = baseline.filter(found, checked=map(str, files))
        return Report(number, tuple(kept), hidden=len(found) - len(kept), stale=stale)

    def fix(self, *, level: Applicability, annotate: bool, apply: bool) -> list[Fixed]:
        """Fix all files: write them when ``apply`` is set, else work out the diffs.

        Raises:
            Refusal: a path does not exist, or the baseline cannot be used.
        """
        work = FixFile(self.engine, self.config, level, annotate, apply, os.getcwd(), self.baseline())
        with Progress("fixing") as progress:
            return run(self._files(), work, on_crash=self._not_fixed, jobs=self.config.jobs, progress=progress)

    def fail_on(self, word: str | None) -> Severity:
        """The least severity that makes the exit status 1: ``word`` when the command line has one."""
        return self.config.fail_on if word is None else Severity.parse(word)

    def baseline(self) -> Baseline | None:
        """The accepted findings.

        Raises:
            Refusal: the baseline file cannot be used.
        """
        if self.config.baseline is None:
            return None
        from neuron_port.baseline import Baseline, BaselineError

        try:
            return Baseline.load(self.config.baseline)
        except BaselineError as error:
            raise Refusal(str(error)) from None

    def write_baseline(self, file: Path, report: Report, lines: Callable[[Finding], Sequence[str]]) -> int:
        """Write a file that accepts all findings of a report, and return their number.

        Raises:
            Refusal: it cannot be written.
        """
        from neuron_port.baseline import BaselineError, write

        try:
            return write(file, report.findings, line_of=line_reader(lines))
        except BaselineError as error:
            raise Refusal(str(error)) from None

    def _cache(self) -> Cache | None:
        if not self.cached:
            return None
        from neuron_port.cache import FOLDER, Cache

        folder = self.config.cache_dir or self.config.root / FOLDER
        cache = Cache(folder, rules=self.engine.rules.digest, settings=self.config.settings.digest)
        # Before the worker processes start, so that they share what was read.
        cache.load()
        return cache

    def _files(self) -> list[Path]:
        try:
            return list(
                discover(
                    self.paths,
                    exclude=self.config.all_excludes,
                    root=self.config.root,
                    docs=self.config.include_docs,
                )
            )
        except (MissingPath, ValueError) as error:
            raise Refusal(str(error)) from None

    def _crashed(self, path: Path, message: str) -> Checked:
        return Checked(unreadable(self.engine, path, message))

    def _not_fixed(self, path: Path, message: str) -> Fixed:
        return Fixed(path, remaining=unreadable(self.engine, path, message))


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in the order of reports."""
    return tuple(sorted(findings, key=lambda finding: finding.sort_key))


def _common_folder(paths: Sequence[Path]) -> Path:
    """The folder that holds all paths, where the search for the configuration starts."""
    folders = [path if path.is_dir() else path.parent for path in paths]
    try:
        return Path(os.path.commonpath([os.path.abspath(folder) for folder in folders]))
    except ValueError:
        return Path.cwd()  # paths on several drives
