"""An MCP server without the MCP library, which does what servers should not do; words on its command line choose what.

Run as a program. Its tool `give` returns what it is told to, so that tests can make up any result.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

BAD_HABITS = sys.argv[1:]
OBJECT = {"type": "object", "properties": {}}
TOOLS = ["give", "die", "slow", "mutate", "spawn", "env", "ask", "roots", "leave_question", "log", "fault"]

writing = threading.Lock()
answers: dict[str, "threading.Event"] = {}
answered: dict[str, object] = {}
cancelled: set[object] = set()
extra: list[dict] = []


def send(*messages):
    with writing:
        sys.stdout.writelines(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
        sys.stdout.flush()


def complain(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def listed():
    own = [{"name": name, "description": f"Does {name}.", "inputSchema": OBJECT} for name in TOOLS]
    peaceful = {"name": "peaceful", "inputSchema": OBJECT, "annotations": {"readOnlyHint": True, "title": "Calm"}}
    many = [{"name": f"one_of_many_{number}", "inputSchema": OBJECT} for number in range(60 * ("many" in BAD_HABITS))]
    return {"tools": [*own, peaceful, *many, *extra]}


def text(value):
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def ask(message):
    key = f"question-{len(answers)}"
    answers[key] = threading.Event()
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    send({"id": key, "method": "elicitation/create", "params": params})
    return key


def call(request):  # noqa: PLR0911, PLR0912  one case a tool
    name, given = request["params"]["name"], request["params"].get("arguments") or {}
    token = request["params"].get("_meta", {}).get("progressToken")
    match name:
        case "give":
            return given["result"]
        case "die":
            complain("I die now")
            os._exit(7)
        case "slow":
            for step in range(int(given.get("steps", 1000))):
                if request["id"] in cancelled:
                    complain("the call was cancelled")
                    return text("cancelled")
                params = {"progressToken": token, "progress": step, "total": 1000, "message": f"step {step}"}
                send({"method": "notifications/progress", "params": params})
                time.sleep(0.01)
            return text("done")
        case "mutate":
            extra[:] = [{"name": "extra", "description": given.get("description", ""), "inputSchema": OBJECT}]
            if given.get("back"):
                extra.clear()
            send({"method": "notifications/tools/list_changed"})
            return text("mutated")
        case "spawn":
            ignoring = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)"
            return text(subprocess.Popen([sys.executable, "-c", ignoring]).pid)
        case "env":
            return text(dict(os.environ))
        case "ask":
            key = ask("Which colour?")
            answers[key].wait()
            return text(answered[key])
        case "roots":
            answers["question-roots"] = threading.Event()
            send({"id": "question-roots", "method": "roots/list"})
            answers["question-roots"].wait()
            return text(answered["question-roots"])
        case "leave_question":
            ask("Never mind?")
            return text("left")
        case "log":
            send({"method": "notifications/message", "params": {"level": "info", "logger": "me", "data": "halfway"}})
            return text("logged")
        case "peaceful":
            return text("calm")


def initialized(request):
    return {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {"listChanged": True}, "logging": {}},
        "serverInfo": {"name": "hostile", "version": "0.1"},
    }


def answer(request):
    match request["method"]:
        case "initialize":
            result = initialized(request)
        case "tools/list":
            result = listed()
        case "tools/call" if request["params"]["name"] == "fault":
            send({"id": request["id"], "error": {"code": -32000, "message": "out of order"}})
            return
        case "tools/call":
            result = call(request)
        case _:
            send({"id": request["id"], "error": {"code": -32601, "message": "no such method"}})
            return
    send({"id": request["id"], "result": result})


def flood():
    while True:
        sys.stderr.write("noise " * 2_000 + "\n")


def main():
    if "crash" in BAD_HABITS:
        complain("Traceback: no configuration found")
        sys.exit(3)
    if "deaf" in BAD_HABITS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "flood" in BAD_HABITS:
        threading.Thread(target=flood, daemon=True).start()
    if "silent" in BAD_HABITS:
        time.sleep(1000)
    for line in sys.stdin:
        message = json.loads(line)
        if "garbage" in BAD_HABITS:
            sys.stdout.write("Welcome to my server!\n{broken\n\n[1, 2]\n")
        if "nonsense" in BAD_HABITS:
            send(*[{"id": message.get("id"), "result": {"protocolVersion": 7}}] * (1 + ("twice" in BAD_HABITS)))
        elif "id" not in message:
            if message["method"] == "notifications/cancelled":
                cancelled.add(message["params"]["requestId"])
        elif "method" not in message:
            answered[message["id"]] = message.get("result", message.get("error"))
            answers[message["id"]].set()
        else:
            threading.Thread(target=answer, args=(message,), daemon=True).start()
    if "deaf" in BAD_HABITS:
        time.sleep(1000)


main()
