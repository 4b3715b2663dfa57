"""How packages are installed at exact versions, and held: nothing is removed, and no other kernel comes along."""

from collections.abc import Iterable
from shlex import quote

from fleet.kernel.steps import InstallKernel

INSTALL_SECONDS = 3600
"""For all of it: some 300 MB of downloads, an initramfs for each kernel, modules that DKMS builds."""
LOCK_SECONDS = 120
"""How long another program may have dpkg; unattended upgrades take that long as a rule."""

_OPTIONS = " ".join(
    (
        "-q",
        "-y",
        "--no-remove",
        f"-o DPkg::Lock::Timeout={LOCK_SECONDS}",
        "-o Dpkg::Options::=--force-confdef",
        "-o Dpkg::Options::=--force-confold",
        "-o APT::Get::AutomaticRemove=false",
    )
)
"""A file that somebody has edited stays as it is; what is no more needed stays too."""

_QUIET = "export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 APT_LISTCHANGES_FRONTEND=none\n"
"""needrestart would restart services that use a library of these packages: what serves is not ours to restart here."""


def install(step: InstallKernel) -> str:
    """The script of a step: tried first, and refused where apt would do anything else; output goes to a file, so that
    a connection that ends does not end apt in the middle of a package."""
    named = " ".join(quote(f"{name}={version}") for name, version in step.packages.items())
    downgrades = " --allow-downgrades" if step.downgrades else ""
    what = f"{_OPTIONS} --allow-change-held-packages{downgrades} install {named}"
    names = quote(f" {' '.join(step.packages)} ")
    return f"""{_QUIET}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{_FAILED}
tried() {{ timeout 300 apt-get -s {what} >"$log" 2>&1; }}
tried || {{
  grep -qE 'was not found|Unable to locate' "$log" || failed "a trial of it"
  timeout 600 apt-get -q -o DPkg::Lock::Timeout={LOCK_SECONDS} update >"$log" 2>&1 || failed "apt-get update"
  tried || failed "a trial of it"
}}
for each in $(sed -nE 's/^Inst (linux-(image|modules)-[^ ]*[0-9][^ ]*) .*/\\1/p' "$log"); do
  case {names} in
    *" $each "*) ;;
    *) echo "apt: expected no other kernel than the policy names, found $each would come along" >&2; exit 69 ;;
  esac
done
if grep -q '^Remv ' "$log"; then
  echo "apt: expected nothing to be removed, found $(sed -n 's/^Remv //p' "$log" | head -n 1)" >&2
  exit 69
fi
timeout {INSTALL_SECONDS} apt-get {what} >"$log" 2>&1 </dev/null || failed "the installation"
{_marked(step.packages)}"""


def hold(packages: Iterable[str]) -> str:
    """The script that holds packages."""
    return f"log=$(mktemp)\ntrap 'rm -f \"$log\"' EXIT\n{_FAILED}\n{_marked(packages)}"


def _marked(packages: Iterable[str]) -> str:
    """apt-mark does not wait for dpkg's lock as apt-get does (2.6.1)."""
    return f"""waited=0
until timeout 120 apt-mark hold {" ".join(map(quote, packages))} >"$log" 2>&1; do
  if [ $waited -ge {LOCK_SECONDS} ] || ! grep -q 'lock was locked' "$log"; then failed "apt-mark hold"; fi
  sleep 5
  waited=$((waited + 5))
done
"""


_FAILED = """failed() {
  holder=$(sed -nE 's/.*It is held by (process [0-9]+ [(][^)]*[)]).*/\\1/p
    s/.*lock was locked by another (process) with (pid [0-9]+).*/\\1 \\2/p' "$log" | tail -n 1)
  if [ -n "$holder" ]; then
    echo "dpkg lock: expected it free within @SECONDS@ s, found it held by $holder; run again later" >&2
    exit 75
  fi
  said=$(grep -E '^E: |^dpkg: ' "$log" | head -n 1)
  [ -n "$said" ] || said=$(tail -n 1 "$log")
  echo "apt: expected $1 to end well, found: $(printf %s "$said" | cut -c 1-300)" >&2
  exit 70
}""".replace("@SECONDS@", str(LOCK_SECONDS))
