"""Arguments -> open the workbench -> serve, or do one thing in the terminal."""

import argparse
import asyncio
import errno
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from app import __version__, paths
from app.domain.errors import WorkbenchError
from app.late import late

with late():
    from app import logs
    from app.api.door import envelopes
    from app.api.routes import experiment_bodies
    from app.export import exports
    from app.start import already_running, opening, proxies, serve, telling
    from app.start import port as start_port
    from app.store.folder import lock
    from app.terminal import evals as terminal_evals
    from app.terminal import export as terminal_export
    from app.terminal import figures as terminal_figures
    from app.terminal import keys as terminal_keys
    from app.terminal import mcp_bridge, terminal
    from app.tools.worker import child

if TYPE_CHECKING:
    from app.start.opening import Opening

_FORMATS = ("markdown", "html", "jsonl", "otel", "atif", "bundle")
"""As `app.export` has them, which `--version` does not need."""
_RIGHTS = ("approve", "variants", "evals")
"""As `app.domain.keys` has them."""
_MAY_HELP = (
    "what a key for certain agents may besides: decide what its runs wait for, choose variants, evaluate; repeatable"
)

_READ_ENOUGH = 141
"""As shells have it for a program whose reader, such as `head`, went away: no verdict of `eval` is that."""
_TAKES_NO_MORE = (errno.ENOSPC, errno.EFBIG, errno.EIO)
_EXITS = "exit codes: 0 fine, 1 worse or held back, 2 bad call, 3 cannot tell or too many errors, 130 stopped"


def main(arguments: list[str] | None = None) -> int:
    """Run the app; the exit code."""
    if (arguments or sys.argv[1:]) == ["--worker"]:
        child.main()
        return 0
    if os.name == "posix":
        _occupy_closed_streams()
    chosen = _parser().parse_args(arguments)
    proxies.spare_loopback()
    folder = paths.data_folder(chosen.data)
    try:
        return _done(chosen, folder)
    except WorkbenchError as error:
        telling.tell_trouble(str(error))
        return 1
    except BrokenPipeError:
        _print_no_more()
        return _READ_ENOUGH
    except OSError as error:
        if error.errno not in _TAKES_NO_MORE or error.filename is not None:
            raise
        _print_no_more()
        telling.tell_trouble(f"What is printed cannot be written: {error.strerror}. Let it go to another place.")
        return 1
    except KeyboardInterrupt:
        return 130


def _print_no_more() -> None:
    """Drop what is left to write, which Python tries once more as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _occupy_closed_streams() -> None:
    """Where whoever started the app closed one of its three streams, nothing is in its place.

    Else a file that the app opens would have the stream's number, and in it what any library prints.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _done(chosen: argparse.Namespace, folder: Path) -> int:
    if (path := str(folder)) != path.encode(errors="replace").decode():
        raise WorkbenchError(f"The path of the data folder is no UTF-8 text: {path!a}. Name another one with --data.")
    if chosen.check:
        return _check(folder if chosen.data else None)
    if chosen.command is not None:
        sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as it prints
        sys.stderr = sys.stderr or sys.stdout
        code = _COMMANDS[chosen.command](folder, chosen)
        sys.stdout.flush()  # a reader that went away is met here, and not as Python ends
        return code
    how: Opening = "nothing" if chosen.no_browser else "window" if chosen.window else "tab"
    return _serve(folder, chosen.port, how, trust_tools=chosen.trust_tools)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agent-playground", description="Try out, watch and improve AI agents.")
    parser.add_argument("--port", type=int, help="the port to serve at; 8765 or the next free one otherwise")
    parser.add_argument("--data", metavar="DIR", help=f"the data folder; also {paths.DATA_VARIABLE} in the environment")
    parser.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    parser.add_argument("--window", action="store_true", help="open a window of Chrome, Edge or Chromium for the app")
    parser.add_argument("--trust-tools", action="store_true", help="let every file in the tools folder run unasked")
    parser.add_argument("--check", action="store_true", help="run one agent with a tool, print ok, and end")
    parser.add_argument("--version", action="version", version=f"Agent Playground {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser("run", help="run an agent here and print its answer")
    run.add_argument("slug", help="the agent's short name, such as assistant")
    run.add_argument("text", help="what to ask it")
    run.add_argument("--json", action="store_true", help="print the whole reply as JSON")
    export = commands.add_parser("export", help="write runs as files that others can read")
    export.add_argument("runs", nargs="+", metavar="RUN", help="the id of a run; several become one zip file")
    export.add_argument("--format", choices=_FORMATS, default="markdown", help="what to write; markdown otherwise")
    export.add_argument("--output", metavar="FILE", default="", help="where to write it; - for the terminal")
    export.add_argument("--no-attachments", action="store_true", help="leave images and files out")
    export.add_argument("--data", metavar="DIR", default=argparse.SUPPRESS, help="the data folder to read")
    _add_eval_options(commands.add_parser("eval", help="try an agent on a dataset and say how it does", epilog=_EXITS))
    mcp = commands.add_parser("mcp", help="offer the agents to an MCP client that started this: over stdin and stdout")
    mcp.add_argument("--data", metavar="DIR", default=argparse.SUPPRESS, help="the data folder of the agents")
    figures = commands.add_parser("figures", help="make the figures of all runs again from their traces")
    figures.add_argument("--data", metavar="DIR", default=argparse.SUPPRESS, help="the data folder of the runs")
    _add_key_commands(commands.add_parser("key", help="make, list and revoke the API keys of programs"))
    return parser


def _add_eval_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("dataset", help="the dataset's short name")
    command.add_argument("--agent", required=True, metavar="SLUG", help="the agent's short name")
    command.add_argument("--variant", action="append", type=int, metavar="N", help="what to try; the first is compared")
    command.add_argument("--model", action="append", default=[], help="try each variant with it, in place of its own")
    command.add_argument("--beside", action="append", default=[], metavar="SLUG", help="another agent to try as well")
    command.add_argument("--repeats", type=int, default=1, metavar="K", help="tries of each case; one otherwise")
    command.add_argument("--tools", choices=("recorded", "live"), default="recorded", help="recorded otherwise")
    command.add_argument("--gate", action="store_true", help="ask the agent's gate about the variant")
    command.add_argument("--workers", metavar="tcp://…", default="", help="a Dask scheduler whose machines try it")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print all of it as JSON")
    how.add_argument("--junit", metavar="FILE", default="", help="write the cells for a build server")
    command.add_argument("--data", metavar="DIR", default=argparse.SUPPRESS, help="the data folder")


def _add_key_commands(key: argparse.ArgumentParser) -> None:
    commands = key.add_subparsers(dest="key_command", metavar="COMMAND", required=True)
    create = commands.add_parser("create", help="make a key and print it, once")
    create.add_argument("name", help="what it is called, such as the program that will use it")
    create.add_argument("--agents", metavar="A,B", help="short names of the agents it opens; all of them otherwise")
    create.add_argument("--may", action="append", choices=_RIGHTS, default=[], help=_MAY_HELP)
    create.add_argument("--expires", metavar="DAYS", type=float, help="days until it expires; never otherwise")
    listed = commands.add_parser("list", help="print all keys, without what opens anything")
    revoke = commands.add_parser("revoke", help="let a key open nothing any more")
    revoke.add_argument("name", help="what it is called")
    for command in (create, listed, revoke):
        command.add_argument("--data", metavar="DIR", default=argparse.SUPPRESS, help="the data folder of the keys")


def _serve(folder: Path, port: int | None, how: "Opening", *, trust_tools: bool) -> int:
    if port is not None and not 0 < port < 65_536:
        raise WorkbenchError(f"There is no port {port}: ports go from 1 to 65535. Choose another one with --port.")
    gc.disable()  # a start only makes what stays; `serve` turns it on again when the app is up
    found = already_running.opened_or_running(folder, trust_tools=trust_tools)
    if isinstance(found, lock.Announcement):
        telling.say(f"Agent Playground is already running at {found.address}")
        for sentence in opening.open_page(found, how, folder):
            telling.say(sentence)
        return 0
    if found.data.read_only:
        telling.say(f"It is only looked at, and nothing can be changed. {found.data.read_only}")
    if found.data.open_to_others:
        telling.say(found.data.open_to_others)
    logs.start_logs(found.data.aside / "logs", found.secrets)
    serve.serve(found, start_port.open_port(port), how)
    return 0


def _run(folder: Path, chosen: argparse.Namespace) -> int:
    running, slug, text = already_running.running_app(folder), chosen.slug, chosen.text
    reply = terminal.run_there(running, slug, text) if running else asyncio.run(terminal.run_here(folder, slug, text))
    return terminal.print_reply(reply, as_json=chosen.json)


def _export(folder: Path, chosen: argparse.Namespace) -> int:
    runs, format = chosen.runs, next(one for one in exports.FORMATS if one == chosen.format)
    choice = exports.Choice(attachments=not chosen.no_attachments)
    if not folder.is_dir():
        raise WorkbenchError(f"There is no data folder {folder}. Name another one with --data.")
    if (running := already_running.running_app(folder)) is not None:
        exported = terminal_export.export_there(running, runs, format, choice)
    else:
        exported = asyncio.run(terminal_export.export_here(folder, runs, format, choice))
    if written := terminal_export.save(exported, chosen.output):
        sys.stdout.write(f"{written}\n")
    return 0


def _eval(folder: Path, chosen: argparse.Namespace) -> int:
    try:
        draft = experiment_bodies.ExperimentRequest(
            dataset=chosen.dataset,
            agent=chosen.agent,
            variants=tuple(chosen.variant or ()),
            models=tuple(chosen.model),
            beside=tuple(chosen.beside),
            repeats=chosen.repeats,
            tools=chosen.tools,
            workers=chosen.workers,
        )
    except ValidationError as error:
        faults = envelopes.faults_in_words(error.errors(include_url=False))
        sys.stderr.write(f"The call does not fit: {faults}.\n")
        return 2
    asked = terminal_evals.Asked(draft, gate=chosen.gate, as_json=chosen.json, junit=chosen.junit)
    return terminal_evals.evaluate(folder, asked)


def _key(folder: Path, chosen: argparse.Namespace) -> int:
    match chosen.key_command:
        case "create":
            agents = None if chosen.agents is None else [slug.strip() for slug in chosen.agents.split(",")]
            return terminal_keys.create_key(folder, chosen.name, agents, chosen.may, chosen.expires)
        case "revoke":
            return terminal_keys.revoke_key(folder, chosen.name)
        case _:
            return terminal_keys.list_keys(folder)


def _mcp(folder: Path, _chosen: argparse.Namespace) -> int:
    asyncio.run(mcp_bridge.serve_stdio(folder))
    return 0


def _figures(folder: Path, _chosen: argparse.Namespace) -> int:
    return terminal_figures.make_figures_again(folder)


_COMMANDS = {"run": _run, "export": _export, "eval": _eval, "figures": _figures, "key": _key, "mcp": _mcp}


def _check(folder: Path | None) -> int:
    said = asyncio.run(terminal.check(folder))
    sys.stdout.write(f"{said}\n")
    return 0 if said == "ok" else 1


if __name__ == "__main__":
    sys.exit(main())
