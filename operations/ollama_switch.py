"""What is sent to a host to run another build of Ollama: its user, and a switch that goes back without an answer."""

from importlib.resources import files
from shlex import quote

from facts.look import called
from fleet.ollama.deployment import UNIT
from fleet.ollama.program import HOME, LINK, TREES, USER
from fleet.ollama.steps import ConfigureService

ANSWERS_SECONDS = 60
"""How long a build may take from its start to its first answer: it looks for GPUs meanwhile."""

USER_SCRIPT = f"""
id -u {USER} >/dev/null 2>&1 ||
  useradd --system --user-group --shell /bin/false --create-home --home-dir {HOME} {USER}
for group in render video; do ! getent group $group >/dev/null || usermod -a -G $group {USER}; done
"""
"""As upstream's installer does it: the GPU's device files are of these groups."""

RESTART = f"""
timeout 120 systemctl restart {UNIT} || {{
  echo "{UNIT}: expected it to restart, found it refused; see journalctl -u {UNIT}" >&2
  exit 69
}}
"""


def switch_script(step: ConfigureService, version: str, endpoint: str) -> str:
    """The link leads to the new build, its process starts and answers; else all is as it was, and the script fails."""
    answers = files("operations.remote").joinpath("ollama_answers.py").read_text(encoding="utf-8")
    asked = {"endpoint": endpoint, "version": version, "seconds": ANSWERS_SECONDS}
    kept = f"{TREES}/replaced"
    return f"""
to={quote(step.switch or "")}
old=$(readlink {LINK} || :)
[ -z "$to" ] || [ -x "$to" ] || {{ echo "$to: expected it unpacked, found it is not" >&2; exit 66; }}
lead() {{ ln -sfn "$1" {LINK}.sparks && mv -fT {LINK}.sparks {LINK} && sync {quote(LINK.rpartition("/")[0])}; }}
{f"cp -p {LINK} {kept}.new && mv -f {kept}.new {kept}" if step.kept else ":"}
[ -z "$to" ] || lead "$to"
said=$(timeout 120 systemctl restart {UNIT} 2>&1 && python3 -c {quote(called(answers, asked))} 2>&1) || {{
  back=
  if [ -n "$to" ] && [ -n "$old" ]; then lead "$old"; back="; $old is back"
  elif [ -e {kept} ]; then mv -fT {kept} {LINK}; back="; what was there before is back"
  fi
  [ -z "$back" ] || timeout 120 systemctl restart {UNIT} || back="$back and does not start"
  echo "$(printf '%s\\n' "$said" | tail -n 1)$back" >&2
  exit 69
}}
rm -f {kept}
"""
