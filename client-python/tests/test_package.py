"""The wheel as a partner gets it: installed from the service, outside the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
from conftest import Service

from hourbank import __version__

FOLDER = Path(__file__).parents[1]
#: Kept between runs: most of what mypy reads are the packages beside the SDK.
MYPY_CACHE = {"MYPY_CACHE_DIR": str(FOLDER / ".mypy_cache" / "tests")}
PROGRAM = '''
import sys
from hourbank import ApiError, Hourbank
from hourbank.types import Member

with Hourbank(*sys.argv[1:]) as client:
    members: list[Member] = list(client.users.iterate(limit=100))
    credit = client.wallet.credit(user_id=members[0]["id"], hours=1.5, reference="consumer-1")
    try:
        client.users.get(999_999)
    except ApiError as error:
        print(len(members) > 100, credit["hours"], error.code)
'''
MISTAKES = '''
from hourbank import Hourbank

client = Hourbank("https://hours.example.org", "id", "secret")
client.wallet.credit(user_id=42, hours="1.5", reference="tx-1")
client.wallet.credit(user_id=42, hours=1.5)
client.users.list(surname="Lang")
'''


def test_a_project_installs_the_wheel_from_the_service_checks_and_runs(
    service: Service, credentials: dict[str, Any], tmp_path: Path
) -> None:
    url = httpx.get(f"{service.url}/docs/hourbank.whl").headers["location"]
    assert url == f"/docs/hourbank-{__version__}-py3-none-any.whl"
    installed = tmp_path / "installed"
    # What it depends on is in this environment already.
    pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", str(installed), service.url + url]
    subprocess.run([sys.executable, *pip], check=True)
    environment = {**os.environ, "PYTHONPATH": str(installed), "MYPYPATH": str(installed), **MYPY_CACHE}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True)

    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    arguments = [credentials["base_url"], credentials["client_id"], credentials["client_secret"]]
    done = run("program.py", *arguments)
    assert (done.stdout, done.stderr) == ("True 1.5 user_not_found\n", "")
    assert run("-m", "mypy", "--strict", "program.py").stdout.startswith("Success")
    assert "Found 3 errors" in run("-m", "mypy", "--strict", "mistakes.py").stdout
    assert (installed / "bin/hourbank").exists()


def test_the_examples_of_the_readme_check_against_the_types(tmp_path: Path) -> None:
    examples = re.findall(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL)
    assert len(examples) > 4
    program = tmp_path / "readme.py"
    # They build upon each other.
    program.write_text("\n".join(examples))
    environment = {**os.environ, "MYPYPATH": str(FOLDER), **MYPY_CACHE}
    command = [sys.executable, "-m", "mypy", "--strict", str(program)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("Success"), done.stdout
