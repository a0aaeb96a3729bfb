"""`maxproof monitor`: the reward-hacking dashboard on anyone's rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from maxproof.cli.errors import reporting

_ALARMS, _FOLLOW, _OUTPUT = "Alarms", "Following", "Output"
Demo = Literal["drift", "stationary"]


def monitor(
    rollouts: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="ROLLOUTS...", help="JSONL or Parquet files, or folders that hold them.", show_default=False
        ),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="NAME | COLUMN=FIELD",
            help="Whose field names: maxproof, trl, verl, slime, prime-rl, prime-rl-trace. Or where one column is: "
            "text=response, train_reward=score:0..7, step=extra.step. Repeatable; default: told by the fields.",
        ),
    ] = None,
    demo: Annotated[
        Demo | None,
        typer.Option("--demo", help="No ROLLOUTS: made ones, in which hacking sets in (drift) or nothing happens."),
    ] = None,
    baseline: Annotated[
        int | None,
        typer.Option(
            "--baseline",
            metavar="STEPS",
            help="How many readings, from the first, are the baseline. Default 20.",
            rich_help_panel=_ALARMS,
        ),
    ] = None,
    baseline_from: Annotated[
        Path | None,
        typer.Option(
            "--baseline-from",
            metavar="ROLLOUTS",
            help="Rollouts of a run that you trust: its first steps are the baseline, all of ROLLOUTS is watched.",
            rich_help_panel=_ALARMS,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="false_alarms=0.05: chance that a run without change raises any; run_steps=200: for how many steps; "
            "smallest_change=0.02; baseline_steps=0..29.",
            rich_help_panel=_ALARMS,
        ),
    ] = None,
    phrases: Annotated[
        Path | None,
        typer.Option(
            "--phrases",
            metavar="FOLDER",
            help="More phrases of hand-waving and self-correction, and templates.",
            rich_help_panel=_ALARMS,
        ),
    ] = None,
    fail_on: Annotated[
        Literal["alarm", "never"],
        typer.Option("--fail-on", help="never: exit 0 whatever the rollouts say.", rich_help_panel=_ALARMS),
    ] = "alarm",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html | FOLDER",
            help="The dashboard: one page that loads nothing. In a FOLDER: monitor.html.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            "--export",
            metavar="KIND=PLACE",
            help="tensorboard=FOLDER, trackio=PROJECT/RUN or wandb=PROJECT/RUN; each needs its extra. Repeatable.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="The report as JSON on stdout; with --follow, alarms as JSON lines on stderr.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no warnings.")] = False,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            "-f",
            help="Go on as the files grow, until Ctrl-C: a live view on a terminal, else a line for each new alarm.",
            rich_help_panel=_FOLLOW,
        ),
    ] = False,
    until_idle: Annotated[
        float | None,
        typer.Option(
            "--until-idle",
            metavar="SECONDS",
            min=0,
            help="With --follow: end when nothing came for so long.",
            rich_help_panel=_FOLLOW,
        ),
    ] = None,
) -> None:
    """Watch rollouts of proof RL for reward hacking: nine signals by step, alarms against a baseline, one dashboard.

    Needs problem, step and text of each rollout; rewards, oracle scores, judges and thinking switch further signals on.

    Exit codes: 0 quiet; 2 bad input; 3 an alarm was raised; 6 nothing can be said (too few steps for a baseline, or no
    signal has what it needs). With --follow the same, after Ctrl-C.
    """
    with reporting(as_json):
        from maxproof.cli.monitor_work import MonitorWork, monitor_settings, run_monitor

        work = MonitorWork(
            rollouts=tuple(rollouts or ()),
            map=tuple(map or ()),
            demo=demo,
            settings=monitor_settings(baseline, settings or ()),
            phrases=phrases,
            baseline_from=baseline_from,
            out=out,
            exports=tuple(export or ()),
            as_json=as_json,
            quiet=quiet,
            follow=follow,
            until_idle=until_idle,
        )
        code = run_monitor(work)
    raise typer.Exit(code if fail_on == "alarm" else 0)
