"""Which engine a command line is, and that nothing of it leaves but what is named."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.engine_argv import (
    LLAMA_FLAGS,
    LLAMA_VALUES,
    REDACTED,
    RPC_FLAGS,
    RPC_VALUES,
    VLLM_FLAGS,
    VLLM_VALUES,
    engine_of,
    options_of,
)

OLLAMA_LIB = "/usr/local/lib/ollama/llama-server"
ENGINES = [
    ("ollama serve", ("ollama", "server")),
    ("/usr/local/bin/ollama start", ("ollama", "server")),
    ("/usr/bin/python3 -S /usr/local/bin/ollama serve", ("ollama", "server")),
    ("/usr/local/bin/ollama runner --ollama-engine --model /m/blobs/sha256-0 --port 40777", ("ollama", "runner")),
    ("/tmp/x/ollama_llama_server --model /m/blobs/sha256-0 --port 40777", ("ollama", "runner")),
    ("ollama run qwen3:0.6b", None),
    ("ollama ps", None),
    ("vllm serve Qwen/Qwen3-8B", ("vllm", "server")),
    ("/opt/v/bin/python3.12 /opt/v/bin/vllm serve Qwen/Qwen3-8B --headless", ("vllm", "server")),
    ("python3 -m vllm.entrypoints.openai.api_server --model Qwen/Qwen3-8B", ("vllm", "server")),
    ("python -u -m vllm.entrypoints.cli.main serve Qwen/Qwen3-8B", ("vllm", "server")),
    ("vllm bench serve --model Qwen/Qwen3-8B", None),
    ("VLLM::EngineCore", ("vllm", "engine")),
    ("VLLM::EngineCore_DP0", ("vllm", "engine")),
    ("VLLM::Worker_TP1", ("vllm", "worker")),
    ("VLLM::APIServer_0", ("vllm", "server")),
    ("VLLM::DPCoordinator", ("vllm", "child")),
    ("LANE1::EngineCore", ("vllm", "engine")),
    ("lane::Worker_DP0_TP1", ("vllm", "worker")),
    ("ray::Worker.run", None),
    ("std::EngineX", None),
    ("/opt/v/lib/vllm/vllm-rs frontend --listen-fd 7", ("vllm", "server")),
    ("vllm-rs bench", None),
    ("ray::RayWorkerWrapper.execute_method", ("vllm", "ray_worker")),
    ("/opt/llama.cpp/build/bin/llama-server -m /m/a.gguf", ("llama.cpp", "server")),
    ("ggml-rpc-server -H 192.168.102.10", ("llama.cpp", "rpc")),
    ("./rpc-server", ("llama.cpp", "rpc")),
    ("bash -c 'vllm serve Qwen/Qwen3-8B'", None),
    ("docker run --rm image vllm serve Qwen/Qwen3-8B", None),
    ("tini -- vllm serve Qwen/Qwen3-8B", None),
    ("grep rpc-server", None),
    ("python3 -c 'import vllm'", None),
    ("python3", None),
    ("", None),
]


@pytest.mark.parametrize(("line", "engine"), ENGINES)
def test_an_engine_is_known_by_its_words(line: str, engine: tuple[str, str] | None) -> None:
    assert engine_of("python3", shlex.split(line), "/usr/bin/python3.12") == engine


@pytest.mark.parametrize(
    ("comm", "role"), [("VLLM::EngineCor", "engine"), ("VLLM::Worker_TP", "worker"), ("VLLM::APIServer", "server")]
)
def test_one_without_arguments_is_known_by_what_the_kernel_kept_of_its_name(comm: str, role: str) -> None:
    assert engine_of(comm, [], "") == engine_of(comm, [""], "") == ("vllm", role)


def test_what_ollama_brings_along_is_ollamas() -> None:
    assert engine_of("llama-server", [OLLAMA_LIB, "-m", "/m"], OLLAMA_LIB) == ("ollama", "runner")


def vllm(line: str) -> dict[str, str]:
    return options_of("vllm", "server", shlex.split(line))


@pytest.mark.parametrize(
    "line",
    [
        "vllm serve org/model --max_model_len 8192 -tp 2 --served-model-name fast default --headless",
        "python3 -m vllm.entrypoints.openai.api_server --model=org/model --max-model-len=8192 -tp=2 --headless"
        " --served-model-name fast default",
    ],
)
def test_an_option_has_one_name_however_it_is_written(line: str) -> None:
    assert vllm(line) == {
        "model": "org/model", "max-model-len": "8192", "tensor-parallel-size": "2", "headless": "true",
        "served-model-name": "fast,default",
    }  # fmt: skip


def test_of_a_draft_only_what_says_which_it_is() -> None:
    whole = '{"method": "dspark", "num_speculative_tokens": 5, "model": "org/draft", "hf_token": "s3cr3t"}'
    expected = '{"method": "dspark", "model": "org/draft", "num_speculative_tokens": "5"}'
    assert vllm(f"vllm serve m --speculative-config '{whole}'")["speculative-config"] == expected
    dotted = "--speculative-config.method dspark --speculative-config.num_speculative_tokens 5"
    assert vllm(f"vllm serve m {dotted} --speculative-config.model org/draft")["speculative-config"] == expected
    for other in ("[1]", "s3cr3t"):
        assert vllm(f"vllm serve m --speculative-config {other}")["speculative-config"] == REDACTED


def test_how_a_server_is_reached_may_be_told() -> None:
    assert vllm("vllm serve m --uds /run/v.sock") == {"model": "m", "uds": "/run/v.sock"}
    told = options_of("llama.cpp", "server", shlex.split("llama-server --api-prefix /llm -kvu --host /run/l.sock"))
    assert told == {"api-prefix": "/llm", "kv-unified": "true", "host": "/run/l.sock"}


def test_options_of_llama_cpp() -> None:
    server = "llama-server -m /m/a.gguf -c 16384 -np 4 -ngl 99 --api-key s3cr3t --rpc 10.0.0.1:50052,10.0.0.2:50052"
    assert options_of("llama.cpp", "server", server.split()) == {
        "model": "/m/a.gguf", "ctx-size": "16384", "parallel": "4", "n-gpu-layers": "99",
        "rpc": "10.0.0.1:50052,10.0.0.2:50052",
    }  # fmt: skip
    assert options_of("llama.cpp", "rpc", ["rpc-server", "-H", "192.168.102.10", "-p", "50052", "-c"]) == {
        "host": "192.168.102.10", "port": "50052", "cache": "true",
    }  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "vllm serve m --api-key s3cr3t", "vllm serve m --api-key=s3cr3t", "vllm serve m --hf-token s3cr3t",
        "vllm serve https://u:s3cr3t@h/m", "vllm serve m --chat-template s3cr3t", "vllm serve m --ssl-keyfile s3cr3t",
        "vllm serve m --middleware s3cr3t", "vllm serve m --host 'a s3cr3t'", "VLLM::EngineCore s3cr3t",
    ],
)  # fmt: skip
def test_a_secret_is_no_option(line: str) -> None:
    assert "s3cr3t" not in str(vllm(line))


WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            ["vllm", "serve", "llama-server", "rpc-server", "--api-key", "--model", "-m", "-H", "--headless"]
        ),
        st.text(min_size=1, max_size=12).map(lambda text: f"--{text}"),
        st.just("hunter2://s3cr3t@"),
    ),
    max_size=8,
)


@settings(max_examples=50)
@given(words=WORDS, role=st.sampled_from(["server", "rpc", "runner", "engine"]))
def test_nothing_leaves_but_options_that_are_named_and_values_that_cannot_log_in(words: list[str], role: str) -> None:
    named = VLLM_VALUES | VLLM_FLAGS | LLAMA_VALUES | LLAMA_FLAGS | RPC_VALUES | RPC_FLAGS
    for runtime in ("vllm", "llama.cpp", "ollama"):
        told = options_of(runtime, role, words)
        assert set(told) <= named
        assert "s3cr3t" not in str(told)
    engine_of("x", words, "")
