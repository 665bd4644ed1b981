"""Finds the sites of a module and hands each to its codemod: one pass, whatever the number of rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import codemod, lineage
from neuron_port.codemods.base import Context, Report, Site
from neuron_port.findings import Severity
from neuron_port.rules.loader import RuleSet, is_about_arguments
from neuron_port.rules.model import Row, Rule
from neuron_port.semantics.module import chain_top
from neuron_port.semantics.scopes import Binding, BindingKind

# Modules that many a program has of its own, whatever else has rules for one of that name.
_ANYONES = frozenset({"utils"})
# Families about what Neuron does with code, and not about code that is bound to another platform.
_ABOUT_NEURON = frozenset({"unsupported", "shapes"})
_PLATFORM_MODULES = ("torch.cuda", "torch.backends.cudnn", "torch.backends.cuda", "torch.utils.cpp_extension.CUDA")


def inspect(context: Context, rules: RuleSet) -> list[Report]:
    """All reports about one module, in the order names, methods, attributes, keywords, strings."""
    reports: list[Report] = []
    for site in sites(context, rules):
        if id(site.node) in context.claimed:
            continue
        if site.form in ("import", "star"):
            reports.extend(codemod("imports")(site))
            continue
        found = list(codemod(_codemod_of(site))(site))
        if site.ambiguous:
            for report in found:
                report.leave("the name may also mean something else here")
        if found and context.guards.fallback(site.node):
            for report in found:
                report.severity = Severity.INFO
                report.leave("it only runs with an older torch and is left alone")
        if found and site.rule.family in _ABOUT_NEURON and context.guards.elsewhere(site.node):
            for report in found:
                report.severity = Severity.INFO
                report.leave("it only runs for other devices or kinds of tensors and is left alone")
        if found and site.rule.family in lineage.FAMILIES and lineage.optional_use(context, site.node):
            for report in found:
                report.severity = Severity.INFO
                report.leave("it only runs where the old packages are installed and is left alone")
        reports.extend(found)
    reports.extend(lineage.whole_file(context))
    return reports


def _codemod_of(site: Site) -> str:
    """The codemod in charge: the row's own, else the rule's."""
    own = site.row.options.get("codemod") if site.row is not None else None
    return own or site.rule.codemod or "name_table"


def sites(context: Context, rules: RuleSet) -> Iterator[Site]:
    """Every place that triggers a rule."""
    module = context.module
    yield from _import_sites(context, rules)
    yield from _name_sites(context, rules)
    found = module.found
    for call in found.methods:
        if not _is_module_name(context, call.func.value):
            for rule in rules.methods[call.func.attr]:
                yield Site(context, rule, call, "method")
    for name, definitions in found.functions.items():
        for rule in rules.functions.get(name, ()):
            for node in definitions:
                yield Site(context, rule, node, "definition")
    for attribute in found.attributes:
        if not _is_module_name(context, attribute.value):
            for rule in rules.attributes[attribute.attr]:
                yield Site(context, rule, attribute, "value")
    for keyword in found.keywords:
        for rule in rules.keywords[keyword.arg]:
            yield Site(context, rule, keyword, "keyword")
    for node in found.syntax:
        for rule in rules.syntax[type(node).__name__]:
            yield Site(context, rule, node, "syntax")
    for name, wanting in rules.builtins.items():
        for call in found.calls.get(name, ()):
            if not module.bindings(call.func):
                for rule in wanting:
                    yield Site(context, rule, call, "builtin")
    for node in found.strings:
        text = node.value if isinstance(node, ast.Constant) else node.values[0].value
        for word, wanting in rules.strings.items():
            if text.startswith(word):
                for rule in wanting:
                    yield Site(context, rule, node, "string")


def _is_module_name(context: Context, node: ast.expr) -> bool:
    """Whether the receiver is an imported module or class, so that the name rules are in charge."""
    qualname = context.module.qualname(node)
    root = qualname.partition(".")[0] if qualname is not None else None
    return root in context.module.watch.roots and root not in _ANYONES


def _import_sites(context: Context, rules: RuleSet) -> Iterator[Site]:
    for binding in context.module.found.imports:
        alias = binding.node
        qualname = alias.name if isinstance(binding.statement, ast.Import) else binding.qualname or ""
        matched = rules.modules.get(qualname) or rules.row(qualname)
        if matched is not None and _belongs_to_platform(*matched, qualname):
            yield Site(context, matched[0], alias, "import", matched[1], qualname, binding)
    for statement, name in context.module.found.stars:
        matched = rules.row(name)
        if matched is not None:
            rule, row = matched
            yield Site(context, rule, statement, "star", row, name)


def _belongs_to_platform(rule: Rule, row: Row, qualname: str) -> bool:
    """Whether importing the name is a sign of the old platform, and not only the use that the rule looks at."""
    if "import" in row.forms or qualname.startswith(_PLATFORM_MODULES):
        return True
    if rule.family in lineage.FAMILIES:
        return lineage.is_lineage_module(qualname)
    if rule.family == "unsupported":
        return row.to is not None  # the name that is imported becomes another one
    return rule.family == "libraries" and rule.codemod is None


def _name_sites(context: Context, rules: RuleSet) -> Iterator[Site]:
    module = context.module
    roots = module.watch.roots
    names = {binding.name for binding in module.found.imports if (binding.qualname or "").partition(".")[0] in roots}
    if module.torch_by_star:
        names.add("torch")
    pending = sorted(names)
    nodes: list[tuple[int, int, ast.Name]] = []
    while pending:
        name = pending.pop()
        for scope in module.found.scopes:
            for node in scope.references.get(name, ()):
                nodes.append((node.lineno, node.col_offset, node))
                for alias in _aliases(module, node):
                    if alias not in names:
                        names.add(alias)
                        pending.append(alias)
    nodes.sort(key=lambda item: item[:2])
    for _, _, node in nodes:
        if not isinstance(node.ctx, ast.Load):
            continue
        yield from _chain_sites(context, rules, node)


def _aliases(module, node: ast.Name) -> list[str]:
    """Names that an assignment makes mean the same as this chain: ``cuda = torch.cuda``."""
    top = chain_top(node)
    parent = getattr(top, "parent", None)
    if isinstance(parent, ast.Assign) and parent.value is top:
        return [target.id for target in parent.targets if isinstance(target, ast.Name)]
    if (
        isinstance(parent, (ast.AnnAssign, ast.NamedExpr))
        and parent.value is top
        and isinstance(parent.target, ast.Name)
    ):
        return [parent.target.id]
    return []


def _chain_sites(context: Context, rules: RuleSet, node: ast.Name) -> Iterator[Site]:
    module = context.module
    if id(node) in context.claimed:
        return
    bases = module.qualnames(node)
    if not any(_has_row(rules, base, node) for base in bases):
        return
    links: list[ast.expr] = [node]
    while isinstance(links[-1].parent, ast.Attribute) and links[-1].parent.value is links[-1]:
        links.append(links[-1].parent)
    matched: list[tuple[Rule, Row, ast.expr, str]] = []
    for base in bases:
        if base.partition(".")[0] in module.watch.roots:
            matched = list(_matched(rules, base, links))
        if matched:
            break
    for rule, row, link, name in matched:
        yield Site(
            context,
            rule,
            link,
            form_of(link),
            row,
            name,
            _import_binding(module, node) if link is node else None,
            ambiguous=len(bases) > 1,
        )


def _matched(rules: RuleSet, base: str, links: list[ast.expr]) -> Iterator[tuple[Rule, Row, ast.expr, str]]:
    """The rows for a chain: of the longest name that has one, and of shorter ones beside rows about arguments."""
    names = [base]
    for link in links[1:]:
        names.append(f"{names[-1]}.{link.attr}")
    decided = found_any = False
    for link, name in zip(reversed(links), reversed(names)):
        exact = rules.exact(name)
        if exact and link is not links[-1] and not found_any:
            longer = rules.row(names[-1])
            if longer is not None and longer[1].source == f"{name}.*":
                continue  # a name inside a module tells more than the module
        for rule, row in exact:
            about_arguments = is_about_arguments(row)
            if about_arguments or not decided:
                found_any = True
                decided = decided or not about_arguments
                yield rule, row, link, name
    if found_any:
        return
    for name in reversed(names):
        found = rules.row(name)
        if found is not None:
            # The place shown is the shortest chain that the prefix covers, or all of it.
            depth = name.count(".") if found[1].options.get("whole") else found[1].source.count(".")
            index = max(0, min(len(links) - 1, depth - base.count(".")))
            yield *found, links[index], names[index]
            return


def _has_row(rules: RuleSet, name: str, link: ast.expr) -> bool:
    """Whether the name, or one further along its chain, has a row; most names of torch have none."""
    if rules.row(name) is not None:
        return True
    by_member = name.partition(".")[0] in rules.member_roots
    while by_member or name in rules.heads:
        if name in rules.prefixes or rules.exact(name):
            return True
        parent = link.parent
        if not isinstance(parent, ast.Attribute) or parent.value is not link:
            return False
        name, link = f"{name}.{parent.attr}", parent
    return False


def _import_binding(module, node: ast.Name) -> Binding | None:
    bindings = module.bindings(node)
    if len(bindings) == 1 and bindings[0].kind is BindingKind.IMPORT:
        return bindings[0]
    return None


def form_of(node: ast.expr) -> str:
    """In which way a name is used."""
    parent = node.parent
    if not isinstance(node.ctx, ast.Load):
        return "assign"
    if isinstance(parent, ast.Call) and parent.func is node:
        around = parent.parent
        if isinstance(around, ast.withitem) and around.context_expr is parent:
            return "context"
        if (
            isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            and parent in around.decorator_list
        ):
            return "decorator"
        return "call"
    if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (
            "decorator"
            if node in parent.decorator_list
            else "annotation"
            if node is getattr(parent, "returns", None)
            else "attribute"
        )
    if isinstance(parent, ast.ExceptHandler) or (
        isinstance(parent, ast.Tuple) and isinstance(parent.parent, ast.ExceptHandler)
    ):
        return "except"
    if isinstance(parent, (ast.arg, ast.AnnAssign)) and node is parent.annotation:
        return "annotation"
    return "attribute"
