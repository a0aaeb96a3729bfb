"""A card for people: sections for the terminal, Markdown and one HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from maxproof.evaluation.bootstrap import Mean
from maxproof.evaluation.calibrate.card import MEAN, MIN, Card, Slice
from maxproof.evaluation.calibrate.correlation import PanelErrors
from maxproof.evaluation.calibrate.rates import AtThreshold, Measured
from maxproof.report.blocks import Charts, Section, Table, Text
from maxproof.report.line_charts import Series, legend, line_chart
from maxproof.report.summary import count
from maxproof.statistics import Rate

KICKER = "Verifier's card"
FEW_PROBLEMS = 20
"""With fewer, percentiles over resampled problems are known to be too narrow (Cameron, Gelbach and Miller, Rev. Econ.
Stat. 90, 2008)."""


def card_sections(card: Card) -> tuple[Section, ...]:
    """All sections, in order; what was not measured is left out or said."""
    sections = [_summary(card), _rules(card)]
    if card.on_wrong is not None and card.on_right is not None:
        sections.append(_together(card.on_wrong, card.on_right))
    if card.counts.samples > 1:
        sections.append(_draws(card))
    sections.append(_thresholds(card))
    for title, slices, note in (
        ("By length", card.lengths, "The minimum over the judges, on groups of equal numbers of proofs."),
        (
            "By style",
            card.styles,
            "The minimum over the judges, by what layer 2 would take off the text. Proofs with and without a style may "
            "differ in more than that.",
        ),
        ("By label", card.labels, "The minimum over the judges, by the file's own labels."),
    ):
        if slices:
            sections.append(Section(title, (Text(note), _slices(slices))))
    return tuple(sections)


def title_of(card: Card) -> str:
    """How much was measured, in a line."""
    counts = card.counts
    proofs = f"{count(counts.wrong, 'wrong proof')}, {count(counts.right, 'right proof')}"
    return f"{proofs}, {count(counts.judgements, 'verification')}"


def _summary(card: Card) -> Section:
    counts, settings = card.counts, card.settings
    lines = [
        f"Verifier: {card.verifier}." if card.verifier else "",
        card.truth,
        card.caution,
        f"{count(counts.wrong, 'wrong proof')} and {count(counts.right, 'right proof')} of "
        f"{count(counts.problems, 'problem')}, up to {count(counts.samples, 'verification')} each.",
        f"A judge passes a proof from {settings.pass_at:g} points on; the mean over judges from {settings.mean_at:g}.",
    ]
    if counts.shared:
        lines.append(
            f"{count(counts.shared, 'problem')} with several proofs: judgements of one problem are alike, so the "
            "interval by problem counts where there is one."
        )
    if counts.problems < FEW_PROBLEMS:
        lines.append("So few problems make intervals by problem rough: take them as too narrow.")
    else:
        lines += [
            f"The {kind} proofs are of {count(problems, 'problem')}: so few make the intervals of their rates rough, "
            "take them as too narrow."
            for kind, problems in (("wrong", counts.wrong_problems), ("right", counts.right_problems))
            if 0 < problems < FEW_PROBLEMS
        ]
    if counts.filtered_wrong or counts.filtered_right:
        lines.append(
            f"Stopped by layer 1 without a judge: {counts.filtered_wrong} verifications of wrong proofs, "
            f"{counts.filtered_right} of right ones. They count for min, mean and majority and for no judge."
        )
    if counts.not_run:
        lines.append(f"{count(counts.not_run, 'proof')} without any verification: left out.")
    lines += [f"{number} {what}: left out." for what, number in card.unused.items()]
    return Section("What was measured", tuple(Text(line) for line in lines if line))


def _rules(card: Card) -> Section:
    share = f"{100 * card.settings.confidence:g} %"
    rows = [
        (
            rule.name,
            _measured(rule.false_positive),
            _measured(rule.false_negative),
            _measured(rule.wrong_passes),
            "none" if rule.auc is None else f"{rule.auc:.3f}",
            f"{rule.not_scored_wrong} / {rule.not_scored_right}",
        )
        for rule in card.rules
    ]
    caption = (
        f"Rate [{share} interval] of scored judgements. False positive: a wrong proof that passes. False negative: a "
        "right one that fails. Wrong passes: of all passes, those of wrong proofs, which depends on how many there are "
        "here. AUC: the chance that a right proof gets more points than a wrong one. Intervals: by problem where "
        "problems have several judgements, marked *, from resampling them or, for a rate of 0 or 1, Wilson's on their "
        "number; else Wilson's on the judgements, too narrow if those of a problem are alike. Not scored: judgements "
        "of wrong / of right proofs that were asked for."
    )
    if any(rule.not_scored_wrong or rule.not_scored_right for rule in card.rules):
        caption += (
            " One judge that fails decides the minimum, a pass needs all of them: with judgements not scored, its "
            "false positives come out too low and its false negatives too high; the numbers not scored say by how much "
            "at most."
        )
    headers = ("rule", "false positive", "false negative", "wrong passes", "AUC", "not scored")
    return Section("Error rates", (Table(headers, tuple(rows), caption),))


def _together(wrong: PanelErrors, right: PanelErrors) -> Section:
    rows = []
    for panel, what in ((wrong, "pass a wrong proof"), (right, "fail a right proof")):
        for pair in panel.pairs:
            phi = "undefined" if pair.phi is None else f"{pair.phi:.3f}"
            if pair.low is not None and pair.high is not None:
                phi += f" [{pair.low:.3f}, {pair.high:.3f}]"
            rows.append(
                (
                    f"{pair.first}, {pair.second}: {what}",
                    phi,
                    "undefined" if pair.rho is None else f"{pair.rho:.3f}",
                    _rate(pair.both),
                    _percent(pair.product) if pair.both.total else "none",
                )
            )
    pairs = Table(
        ("pair", "phi", "rho", "both", "if independent"),
        tuple(rows),
        "phi: correlation of two judges' errors, with an interval from leaving out one problem at a time. rho: the "
        "share of what they could have in common that they do; 0: independent, 1: the same draw. Undefined: a judge "
        "always or never errs.",
    )
    modelled = "none" if wrong.modelled_all is None else _percent(wrong.modelled_all)
    panel_table = Table(
        ("all judges", "observed", "if independent", "shared draws, mean rho"),
        (
            ("all pass a wrong proof", _rate(wrong.all_err), _maybe(wrong.independent_all, wrong.all_err), modelled),
            (
                "one at least fails a right proof",
                _rate(right.any_errs),
                _maybe(right.independent_any, right.any_errs),
                "-",
            ),
        ),
        "What correlation costs the minimum: it passes a wrong proof only if all judges do.",
    )
    return Section("Errors made together", (pairs, panel_table))


def _draws(card: Card) -> Section:
    found = card.draws
    rows = tuple(
        (
            str(row.k),
            _mean(row.min_positive),
            "none" if row.independent_positive is None else _percent(row.independent_positive),
            _mean(row.min_negative),
            _mean(row.majority_positive),
            _mean(row.majority_negative),
        )
        for row in found.rows
    )
    table = Table(
        (
            "k",
            "min: false positive",
            "if independent",
            "min: false negative",
            "majority: false positive",
            "majority: false negative",
        ),
        rows,
        f"Exact over all sets of k of each proof's {card.counts.samples} samples: {found.wrong} wrong and "
        f"{found.right} right proofs with all of them scored, {found.left_out} left out. Intervals by resampling "
        "problems; for a rate of 0 or 1 Wilson's on their number. If independent: the k-th power of the first row.",
    )
    series = [
        _curve("false positive, min", [(row.k, row.min_positive) for row in found.rows], 0),
        _curve("false negative, min", [(row.k, row.min_negative) for row in found.rows], 1),
        _curve("false positive, majority", [(row.k, row.majority_positive) for row in found.rows], 2),
        _curve("false negative, majority", [(row.k, row.majority_negative) for row in found.rows], 3),
    ]
    drawn = [line for line in series if line is not None]
    charts = Charts(
        (line_chart("Error rates by K", drawn, "K"), legend([(line.name, line.kind) for line in drawn])),
        "Error rates by number of verifications, with intervals.",
    )
    return Section("How the rates move with K", (table, charts))


def _thresholds(card: Card) -> Section:
    names = [name for name in (MIN, MEAN, *card.judges) if card.sweeps.get(name)]
    rows = [
        (f"{name} at {at.points:.3g}", _rate(at.false_positive), _rate(at.false_negative))
        for name in names
        for at in card.sweeps[name]
    ]
    table = Table(
        ("passes from points", "false positive", "false negative"),
        tuple(rows),
        "What the rates would be if another number of points passed. Wilson's intervals, too narrow if judgements of a "
        "problem are alike; on the number of problems for a rate of 0 or 1.",
    )
    charts = tuple(_sweep_chart(name, card.sweeps[name]) for name in names[:2])
    return Section("Where the threshold stands", (table, Charts(charts, "Rates by the points that pass.")))


def _sweep_chart(name: str, points: Sequence[AtThreshold]) -> str:
    def line(label: str, rates: Sequence[Rate], kind: int) -> Series:
        xs = [at.points for at in points]
        return Series(
            label,
            tuple(zip(xs, (rate.value for rate in rates), strict=True)),
            tuple(rate.low for rate in rates),
            tuple(rate.high for rate in rates),
            kind,
        )

    kept = [
        line(label, rates, kind)
        for label, rates, kind in (
            ("false positive", [at.false_positive for at in points], 0),
            ("false negative", [at.false_negative for at in points], 1),
        )
        if rates[0].total
    ]
    return line_chart(f"{name}: false positive, false negative (dashed)", kept, "points", 1.0)


def _slices(slices: Sequence[Slice]) -> Table:
    rows = tuple(
        (s.name, str(s.proofs), str(s.problems), _measured(s.false_positive), _measured(s.false_negative))
        for s in slices
    )
    few = any(s.problems < FEW_PROBLEMS for s in slices)
    caption = f"With fewer than {FEW_PROBLEMS} problems intervals are rough: take them as too narrow." if few else ""
    return Table(("proofs", "how many", "problems", "false positive", "false negative"), rows, caption)


def _curve(name: str, rows: Sequence[tuple[int, Mean]], kind: int) -> Series | None:
    known = [(k, mean.value, mean.low, mean.high) for k, mean in rows if mean.value is not None]
    if not known:
        return None
    banded = all(low is not None and high is not None for _, _, low, high in known)
    return Series(
        name,
        tuple((float(k), value) for k, value, _, _ in known),
        tuple(low for _, _, low, _ in known if low is not None) if banded else (),
        tuple(high for _, _, _, high in known if high is not None) if banded else (),
        kind,
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _rate(rate: Rate) -> str:
    if not rate.total:
        return "none"
    return f"{_percent(rate.value)} [{100 * rate.low:.1f}, {100 * rate.high:.1f}] ({rate.successes} of {rate.total})"


def _measured(measured: Measured) -> str:
    rate = measured.rate
    if measured.low is None or measured.high is None:
        return _rate(rate)
    low, high = 100 * measured.low, 100 * measured.high
    return f"{_percent(rate.value)} [{low:.1f}, {high:.1f}]* ({rate.successes} of {rate.total})"


def _mean(mean: Mean) -> str:
    if mean.value is None:
        return "none"
    bounds = mean.low is not None and mean.high is not None and mean.low < mean.high
    return _percent(mean.value) + (f" [{100 * (mean.low or 0):.1f}, {100 * (mean.high or 0):.1f}]" if bounds else "")


def _maybe(value: float, rate: Rate) -> str:
    return _percent(value) if rate.total else "none"
