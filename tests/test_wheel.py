"""The wheel: what `pip install .`, `pipx install .` and `uvx --from .` give somebody is a whole app."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    said = run(
        "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT), cwd=folder
    )
    assert said.returncode == 0, said.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_it_holds_every_file_that_the_app_needs(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    code = {
        path.relative_to(ROOT).as_posix() for path in ROOT.glob("app/**/*") if path.suffix in (".py", ".js", ".css")
    }
    assets = {f"app/{path.relative_to(ROOT).as_posix()}" for path in ROOT.glob("assets/**/*") if path.is_file()}
    assert code | assets <= held


def test_an_agent_answers_from_it_in_an_environment_without_the_repository(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    assert run("-m", "venv", "--without-pip", str(environment), cwd=tmp_path).returncode == 0
    python = environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    (site,) = environment.glob("**/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    answered = run("-m", "app", "--check", "--data", str(tmp_path / "data"), cwd=tmp_path, python=str(python))
    assert answered.returncode == 0, answered.stderr
    counting = "from app.workbench.samples import samples; print(len(samples('agents')))"
    listed = run("-c", counting, cwd=tmp_path, python=str(python))
    assert int(listed.stdout) == len([*ROOT.glob("assets/agents/*.json")]), listed.stderr


def run(*arguments: str, cwd: Path, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
