"""`serq capacity`: settings from flags, files and logs; answers as text and JSON; exit statuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from serq.oracle.questions import answers as module
from tests.cli.conftest import Done

Serq = Callable[..., Done]

SAFE = ("--num-gpu-blocks", 129, "--max-model-len", 2048)
EXACTLY = ("--num-gpu-blocks", 128, "--max-model-len", 2048)

OLD_LOG = """\
INFO 09-12 10:00:01 [utils.py:233] non-default args: {'model': 'm', 'max_model_len': 8192, 'max_num_seqs': 64}
INFO 09-12 10:00:02 [scheduler.py:222] Chunked prefill is enabled with max_num_batched_tokens=8192.
INFO [core.py:77] Initializing a V1 LLM engine with config: model='m', max_seq_len=262144, enable_prefix_caching=False
\x1b[1;36m(EngineCore pid=7)\x1b[0;0m INFO [kv_cache_utils.py:864] GPU KV cache size: 76,640 tokens
INFO [kv_cache_utils.py:868] Maximum concurrency for 262,144 tokens per request: 0.29x
"""


def data_of(done: Done) -> Any:
    """The JSON of a call."""
    return json.loads(done.out)


def values_of(done: Done) -> dict[str, Any]:
    """The settings in force, by name."""
    return {name: given["value"] for name, given in data_of(done)["settings"].items()}


def written(folder: Path, name: str, text: str) -> Path:
    """A file of a text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_safe_deployment_is_status_0(serq: Serq) -> None:
    done = serq("capacity", *SAFE)
    assert done.status == 0 and done.err == ""
    assert "verdict: safe" in done.out
    assert "128 usable blocks, 2,048 tokens: one block is the null block" in done.out
    assert "none is needed: 129 blocks are enough, 0 blocks to spare" in done.out


def test_a_deadlock_is_status_1(serq: Serq) -> None:
    done = serq("capacity", *EXACTLY)
    assert done.status == 1
    assert "verdict: deadlock" in done.out and "the server's log says 1.00x" in done.out
    assert "num_gpu_blocks 129 (now 128), or max_model_len 2,033 (now 2,048)" in done.out
    assert "a run of it agrees" in done.out and "DISAGREES" not in done.out


def test_a_livelock_is_status_1(serq: Serq) -> None:
    done = serq(
        "capacity", *EXACTLY, "--scheduler-reserve-full-isl", "false", "--enable-prefix-caching", "off",
        "--max-num-batched-tokens", 512,
    )  # fmt: skip
    assert done.status == 1 and "verdict: livelock" in done.out
    assert "preempts itself in step 3 and starts again, every 4 steps" in " ".join(done.out.split())


def test_starvation_is_status_0(serq: Serq) -> None:
    done = serq("capacity", *SAFE, "--policy", "priority", "--max-num-seqs", 4)
    assert done.status == 0 and "verdict: starvation" in done.out


def test_json_has_settings_answers_and_agreement(serq: Serq) -> None:
    done = serq("capacity", *EXACTLY, "--json")
    found = data_of(done)
    assert done.status == 1
    assert found["verdict"] == "deadlock"
    assert (found["usable_blocks"], found["capacity_tokens"]) == (127, 2032)
    assert found["settings"]["num_gpu_blocks"] == {"value": 128, "source": "flag"}
    assert found["settings"]["block_size"] == {"value": 16, "source": "assumed"}
    answers = {a["key"]: a for a in found["answers"]}
    assert answers["longest_answer"]["closed"] == {"outcome": "deadlock", "step": 1}
    assert answers["longest_answer"]["simulated"] == {"outcome": "deadlock", "step": 1}
    assert answers["repair"]["closed"] == {"num_gpu_blocks": 129, "max_model_len": 2033}
    assert all(a["agrees"] for a in found["answers"] if a["runnable"])
    assert [a["key"] for a in found["answers"] if not a["runnable"]] == ["start"]


def test_a_log_of_an_older_server(serq: Serq, tmp_path: Path) -> None:
    done = serq("capacity", "--log", written(tmp_path, "s.log", OLD_LOG), "--json")
    found = data_of(done)
    assert values_of(done) | {"policy": "fcfs"} == {
        "num_gpu_blocks": 4790,
        "max_model_len": 262_144,
        "block_size": 16,
        "max_num_seqs": 64,
        "max_num_batched_tokens": 8192,
        "long_prefill_token_threshold": 0,
        "policy": "fcfs",
        "enable_prefix_caching": False,
        "scheduler_reserve_full_isl": True,
        "watermark": 0.0,
        "long_prefill_token_threshold_adaptive": False,
        "vllm": "0.33",
    }
    assert found["settings"]["num_gpu_blocks"]["source"] == "s.log line 4"
    assert found["settings"]["max_model_len"]["source"] == "s.log line 5"
    assert found["settings"]["policy"]["source"] == "assumed"
    assert found["verdict"] == "deadlock"


@pytest.mark.parametrize(
    ("lines", "blocks"),
    [
        # Newer versions print the concurrency times the context, rounded down, in one line.
        ("GPU KV cache size: 5,000 tokens, Maximum concurrency for 1,000 tokens per request: 5.00x", 315),
        ("GPU KV cache size: 4,984 tokens, Maximum concurrency for 1,000 tokens per request: 4.98x", 314),
        ("CPU KV cache size: 2,048 tokens, Maximum concurrency for 1,024 tokens per request: 2.00x", 128),
        ("# GPU blocks: 7406, # CPU blocks: 2048\nmax_seq_len=1024", 7406),
        ("cache_config_info with initialization after num_gpu_blocks is: 900\nmax_seq_len=1024", 900),
        (
            "# GPU blocks: 7406\nOverriding num_gpu_blocks=7406 with num_gpu_blocks_override=50\nmax_seq_len=64",
            50,
        ),
        ("args: {'num_gpu_blocks_override': 70, 'max_model_len': 64}", 70),
    ],
)
def test_the_blocks_a_log_tells_of(serq: Serq, tmp_path: Path, lines: str, blocks: int) -> None:
    done = serq("capacity", "--log", written(tmp_path, "s.log", lines), "--json")
    assert values_of(done)["num_gpu_blocks"] == blocks


def test_a_log_that_contradicts_itself_is_noted(serq: Serq, tmp_path: Path) -> None:
    text = "GPU KV cache size: 1,600 tokens\nnum_gpu_blocks is: 90\nmax_seq_len=64\n"
    done = serq("capacity", "--log", written(tmp_path, "s.log", text))
    assert (
        "note: s.log line 1: 1,600 tokens would be 100 blocks of 16; s.log line 2 says 90, which is used"
        in done.out
    )


def test_values_that_say_nothing_are_not_read(serq: Serq, tmp_path: Path) -> None:
    text = "args: {'max_model_len': -1, 'num_gpu_blocks_override': None, 'max_num_seqs': 8}\nmax_seq_len=64\n"
    done = serq("capacity", "--log", written(tmp_path, "s.log", text), "--num-gpu-blocks", 20, "--json")
    assert (values_of(done)["max_model_len"], values_of(done)["max_num_seqs"]) == (64, 8)


def test_the_block_size_of_a_flag_holds_for_the_log(serq: Serq, tmp_path: Path) -> None:
    log = written(tmp_path, "s.log", "GPU KV cache size: 6,400 tokens\nmax_seq_len=64\n")
    done = serq("capacity", "--log", log, "--block-size", 64, "--json")
    assert values_of(done)["num_gpu_blocks"] == 100


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "d.json",
            '{"num_gpu_blocks": 129, "max-model-len": "2K", "scheduling_policy": "priority", "port": 1}',
        ),
        (
            "d.yaml",
            "# deployment\nnum-gpu-blocks-override: 129\nmax_model_len: 2K   # tokens\n"
            "policy: 'priority'\nno-enable-prefix-caching: false\nport: 1\nlora_modules:\n  - a\n  - b\n",
        ),
    ],
)
def test_a_file_of_settings(serq: Serq, tmp_path: Path, name: str, text: str) -> None:
    done = serq("capacity", written(tmp_path, name, text), "--json")
    values = values_of(done)
    assert (values["num_gpu_blocks"], values["max_model_len"], values["policy"]) == (129, 2048, "priority")
    assert f"{name}: `port` is not used" in data_of(done)["notes"]
    assert data_of(done)["settings"]["policy"]["source"] == name


def test_flags_win_over_the_file_and_the_file_over_the_log(serq: Serq, tmp_path: Path) -> None:
    log = written(tmp_path, "s.log", OLD_LOG)
    file = written(tmp_path, "d.yaml", "max_model_len: 4096\nmax_num_seqs: 16\n")
    done = serq("capacity", file, "--log", log, "--max-num-seqs", 32, "--json")
    values = values_of(done)
    assert (values["max_num_seqs"], values["max_model_len"], values["num_gpu_blocks"]) == (32, 4096, 4790)


def test_a_name_near_a_setting_is_pointed_out(serq: Serq, tmp_path: Path) -> None:
    done = serq("capacity", written(tmp_path, "d.yaml", "max_num_seq: 4\n"), *SAFE)
    assert "note: d.yaml: `max_num_seq` is not used" in done.out and "max_num_seqs" in done.out


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ((), "SQ943"),
        (("--num-gpu-blocks", 9), "SQ944"),
        (("--num-gpu-blocks", "many", "--max-model-len", 9), "SQ941"),
        (("--num-gpu-blocks", 9, "--max-model-len", 9, "--enable-prefix-caching", 3), "SQ941"),
        (("--num-gpu-blocks", 9, "--max-model-len", 9, "--watermark", "x"), "SQ941"),
        (("--num-gpu-blocks", 0, "--max-model-len", 9), "SQ942"),
        (("--num-gpu-blocks", 9, "--max-model-len", 1), "SQ942"),
        (("--num-gpu-blocks", 9, "--max-model-len", 9, "--block-size", -1), "SQ942"),
        (("--num-gpu-blocks", 9, "--max-model-len", 9, "--watermark", 1), "SQ942"),
        (("--num-gpu-blocks", 9, "--max-model-len", 9, "--policy", "lifo"), "SQ942"),
        (("--num-gpu-blocks", 9, "--max-model-len", 9, "--max-num-seqs", 4096), "SQ945"),
        (("--num-gpu-blocks", 9, "--max-model-len", 9, "--long-prefill-token-threshold", 10), "SQ946"),
        (("--num-gpu-blocks", 9, "--max-model-len", 9, "--vllm", "0.32"), "SQ942"),
        (("--num-gpu-blocks", 9, "--max-model-len", 9, "--vllm", "latest"), "SQ942"),
        (
            (
                "--num-gpu-blocks",
                9,
                "--max-model-len",
                9,
                "--vllm",
                "0.30",
                "--long-prefill-token-threshold-adaptive",
                "true",
            ),
            "SQ948",
        ),
        (("none.yaml",), "SQ001"),
    ],
)
def test_bad_settings_are_status_2(serq: Serq, args: tuple[object, ...], code: str) -> None:
    done = serq("capacity", *args)
    assert done.status == 2 and f"error[{code}]" in done.err and done.out == ""


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("d.json", "{", "SQ940"),
        ("d.json", "[1]", "SQ940"),
        ("d.yaml", "max_model_len 9\n", "SQ940"),
        ("d.yaml", "max_model_len: [9]\n", "SQ941"),
        ("d.json", '{"max_num_seqs": true}', "SQ941"),
    ],
)
def test_bad_files_are_status_2(serq: Serq, tmp_path: Path, name: str, text: str, code: str) -> None:
    done = serq("capacity", written(tmp_path, name, text), *SAFE)
    assert done.status == 2 and f"error[{code}]" in done.err


def test_a_log_without_settings(serq: Serq, tmp_path: Path) -> None:
    done = serq("capacity", "--log", written(tmp_path, "s.log", "hello\n"), *SAFE)
    assert done.status == 2 and "SQ947" in done.err


def test_a_disagreement_is_shown_and_is_status_1(serq: Serq, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.closed, "wait_behind_long", lambda s: 7)
    done = serq("capacity", *SAFE)
    assert done.status == 1 and "verdict: safe" in done.out
    assert "a run of it DISAGREES" in done.out and "closed form" in done.out


def test_a_run_that_is_too_long_says_so(serq: Serq) -> None:
    done = serq(
        "capacity", "--num-gpu-blocks", 70_000, "--max-model-len", "1m", "--max-num-batched-tokens", 16,
        "--max-num-seqs", 4,
    )  # fmt: skip
    assert done.status == 0 and "not run: too many steps" in done.out


def test_the_rules_are_those_of_the_version_asked_for(serq: Serq) -> None:
    args = (*SAFE, "--long-prefill-token-threshold", 64)
    steps = {}
    for version in ("0.30", "v0.31.0", "0.33"):
        done = serq("capacity", *args, "--vllm", version, "--json")
        found = data_of(done)
        assert done.status == 0 and found["vllm"] in version
        steps[found["vllm"]] = {a["key"]: a for a in found["answers"]}["longest_prompt"]["simulated"]["step"]
    assert steps == {"0.30": 31, "0.31": 0, "0.33": 0}
    assert "The rules are those of vLLM 0.33." in serq("capacity", *args).out


@pytest.mark.parametrize(
    ("line", "version", "note"),
    [
        ("INFO [core.py:140] Initializing a V1 LLM engine (v0.30.1) with config: model='m'", "0.30", None),
        ("INFO [startup.py:18] vLLM server version 0.33.0, serving model m", "0.33", None),
        ("INFO [api_server.py:9] vLLM API server version 0.31.0", "0.31", None),
        (
            "INFO vLLM API server version 0.32.0",
            "0.31",
            "the rules of 0.32 are not known; those of 0.31 are used",
        ),
        (
            "INFO vLLM API server version 0.11.0",
            "0.30",
            "the rules of 0.11 are not known; those of 0.30 are used",
        ),
        ("vllm:num_requests_running=3", "0.33", None),
    ],
)
def test_the_version_a_log_tells_of(
    serq: Serq, tmp_path: Path, line: str, version: str, note: str | None
) -> None:
    log = written(tmp_path, "s.log", f"max_seq_len=64\n{line}\n")
    done = serq("capacity", "--log", log, "--num-gpu-blocks", 20, "--json")
    assert values_of(done)["vllm"] == version
    assert data_of(done)["notes"] == ([f"s.log line 2: {note}"] if note else [])
    flag = serq("capacity", "--log", log, "--num-gpu-blocks", 20, "--vllm", "0.31", "--json")
    assert values_of(flag)["vllm"] == "0.31" and data_of(flag)["notes"] == []


def test_the_check_at_start_is_told_and_needs_no_run(serq: Serq) -> None:
    refused = " ".join(serq("capacity", *EXACTLY).out.split())
    assert "no: vLLM 0.33 asks for 128 blocks of 127 usable" in refused and "(nothing to run)" in refused
    assert "counts the null block as usable, as older ones do, starts with them" in refused
    far = serq("capacity", "--num-gpu-blocks", 100, "--max-model-len", 2048).out
    assert "asks for 128 blocks of 99 usable" in far and "older ones" not in far
    assert "yes: vLLM 0.33 asks for 128 blocks of 128 usable" in " ".join(serq("capacity", *SAFE).out.split())
