"""The written forms: every case of the kind, and laws for all others."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.ollama import grammar, units
from fleet.ollama.residency import parse_time
from fleet.ollama.values import Endpoint, KeepAlive
from virtual import ollama_standin

CASES = Path(__file__).resolve().parents[2] / "cases"
FORMS = (CASES / "088-ollama-host-keepalive-forms" / "input.txt").read_text().splitlines()
HOSTS = [line.removeprefix("OLLAMA_HOST=").split(" (")[0].split(" -> ") for line in FORMS if "HOST" in line]


@pytest.mark.parametrize(("value", "url"), HOSTS)
def test_host_forms_of_the_case(value: str, url: str) -> None:
    assert Endpoint.from_setting(value).url == url


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("  \"'0.0.0.0:80'\" ", "http://0.0.0.0:80"),
        ("::1", "http://[::1]:11434"),
        ("[fe80:0::1]:9", "http://[fe80:0::1]:9"),
        ("FE80::0001", "http://[fe80::1]:11434"),
        ("::ffff:10.0.0.1", "http://10.0.0.1:11434"),
        ("spark:", "http://spark:11434"),
        ("spark:-1", "http://spark:11434"),
        ("https://spark:99999", "https://spark:443"),
        ("http://[::1]/a/b", "http://[::1]:80/a/b"),
        ("tcp://spark", "tcp://spark:11434"),
        ("ollama.com", "https://ollama.com:443"),
    ],
)
def test_host_forms_as_envconfig_reads_them(value: str, url: str) -> None:
    assert Endpoint.from_setting(value).url == url


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":8080", "http://127.0.0.1:8080"),
        ("[::]:1", "http://[::1]:1"),
        ("10.0.0.1", "http://10.0.0.1:11434"),
    ],
)
def test_a_listen_address_is_not_a_connect_address(value: str, url: str) -> None:
    assert Endpoint.from_setting(value).connect.url == url
    assert grammar.connect_url(value) == url


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("-1", None),
        ("24h", 86400),
        ("600", 600),
        ("0", 0),
        ("abc", 300),
        ("-1m", None),
        ("", 300),
        ('"2m"', 120),
    ],
)
def test_keep_alive_settings(value: str, seconds: float | None) -> None:
    assert KeepAlive.from_setting(value).seconds == seconds


@pytest.mark.parametrize(("value", "seconds"), [(-1, None), ("-1m", None), (0, 0), ("1h2m3.5s", 3723.5), (2.5, 2.5)])
def test_keep_alive_in_requests(value: float | str, seconds: float | None) -> None:
    assert KeepAlive.from_request(value).seconds == seconds


@pytest.mark.parametrize("value", ["-1", "5", "soon", "", "1x", "1h 2m", "."])
def test_a_request_string_without_a_unit_is_an_error(value: str) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        KeepAlive.from_request(value)


@pytest.mark.parametrize("value", ["0", "-5m", "-1"])
def test_a_resident_is_kept_for_some_time(value: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        KeepAlive.from_word(value)


durations = st.lists(
    st.tuples(st.decimals(0, 9999, places=3).map(str), st.sampled_from(sorted(grammar.NANOSECONDS))),
    min_size=1,
).map(lambda parts: "".join(number + unit for number, unit in parts))


@given(durations)
def test_two_readers_agree_on_durations(text: str) -> None:
    assert grammar.parse_duration(text) == ollama_standin.parse_duration(text)


@given(st.integers(1, 2**62))
def test_what_is_requested_reads_back(nanoseconds: int) -> None:
    keep = KeepAlive(nanoseconds=nanoseconds)
    assert KeepAlive.from_request(keep.request) == keep


@given(st.text(alphabet="ab1.:[]/\"' h-", max_size=20))
def test_every_host_value_means_one_address(value: str) -> None:
    found = Endpoint.from_setting(value)
    again = Endpoint.from_setting(found.url)
    assert 0 <= found.port <= 65535
    if re.fullmatch(r"[a-z0-9.-]*", found.host):
        assert (again.host, again.port) == (found.host, found.port)


CASE_087 = CASES / "087-ollama-systemd-env"


def test_an_empty_environment_resets() -> None:
    texts = [(CASE_087 / name).read_text() for name in ("input.unit", "input.override.conf")]
    expected = {"OLLAMA_HOST": "127.0.0.1", "OLLAMA_ORIGINS": "http://a,https://b"}
    assert units.effective_environment(*texts) == expected
    shown = (CASE_087 / "input.show.txt").read_text().splitlines()[0]
    assert units.shown_environment(shown) == expected


def test_shown_values_keep_their_spaces() -> None:
    found = units.shown_environment((CASE_087 / "input.show2.txt").read_text())
    assert found == {"PATH": "/usr/bin", "OLLAMA_MODELS": "/data/my models", "OLLAMA_KEEP_ALIVE": "-1"}
    assert units.shown_environment(r'"A=b \$c \"d\""') == {"A": 'b $c "d"'}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("A=1 B=2", {"A": "1", "B": "2"}),
        ('"A=x y" \'B=z "q"\'', {"A": "x y", "B": 'z "q"'}),
        (r"A=\x41\101\u00e9\s", {"A": "AA\u00e9 "}),
        ("A=100%%", {"A": "100%"}),
        ('A="b c"d', {"A": "b cd"}),
        ("no-assignment 9=x A=1", {"A": "1"}),
        (r"A=\q", {}),
        ('A="open', {}),
        ("A=", {"A": ""}),
        ("A=1 \\\n  B=2", {"A": "1", "B": "2"}),
    ],
)
def test_environment_lines(line: str, expected: dict[str, str]) -> None:
    text = f"# A=0\n[Unit]\nEnvironment=Z=1\n[Service]\n; c\nEnvironment={line}\n[Install]\nEnvironment=Y=1\n"
    assert units.effective_environment(text) == expected


def test_environment_files() -> None:
    text = '# note\nA=b c \nB=\'d e\'\nC="f\\"g"\nnothing\n;D=1\nE=\n'
    assert units.environment_file(text) == {"A": "b c", "B": "d e", "C": 'f"g', "E": ""}


@given(st.text(alphabet=st.characters(exclude_categories=["C"]), max_size=30))
def test_what_is_quoted_reads_back(value: str) -> None:
    line = units.quoted_assignment("OLLAMA_MODELS", value)
    assert units.effective_environment(f"[Service]\nEnvironment={line}\n") == {"OLLAMA_MODELS": value}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-11-29T16:15:00.123456789Z", 1795968900),
        ("2026-11-29T11:15:00-05:00", 1795968900),
        ("2026-11-30T00:15:00+08:00", 1795968900),
        ("0001-01-01T00:00:00Z", None),
        ("0001-01-01T05:00:00+08:00", None),
    ],
)
def test_times(text: str, seconds: int | None) -> None:
    assert parse_time(text) == seconds


@given(st.integers(0, 250_000_000_000), st.integers(0, 10**9 - 1))
def test_the_standins_times_read_back(seconds: int, nanoseconds: int) -> None:
    assert parse_time(ollama_standin.rfc3339_nano(seconds * 10**9 + nanoseconds)) == seconds


@pytest.mark.parametrize("text", ["", "soon", "2026-11-29", "2026-13-01T00:00:00Z"])
def test_no_time_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|month"):
        parse_time(text)


def test_which_values_of_a_unit_file_have_a_specifier() -> None:
    lines = ("[Service]", "Environment=A=%h/x B=100%% C=%%h", "Environment=D=%%%n", "Environment=A=/plain")
    assert units.specified("\n".join(lines)) == ["D"]
    assert units.specified("\n".join([*lines[:3], "Environment=", "Environment=E=%i"])) == ["E"]
