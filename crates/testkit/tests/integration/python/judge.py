"""Judges request bodies by the parameter types of the official SDKs.

Reads lines of {"mode": ..., "body": ...} and prints one JSON object: how many were judged, and
what is wrong with the first few that were refused.
"""

import json
import sys
from typing import Any

import pydantic
from anthropic.types import message_create_params as anthropic_params
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params

MOST_SHOWN = 5



TYPES = {
    "chat_completions": (chat_params.CompletionCreateParamsStreaming, chat_params.CompletionCreateParamsNonStreaming),
    "codex_responses": (
        responses_params.ResponseCreateParamsStreaming,
        responses_params.ResponseCreateParamsNonStreaming,
    ),
    "anthropic_messages": (
        anthropic_params.MessageCreateParamsStreaming,
        anthropic_params.MessageCreateParamsNonStreaming,
    ),
}
ADAPTERS = {
    mode: {True: pydantic.TypeAdapter(streamed), False: pydantic.TypeAdapter(plain)}
    for mode, (streamed, plain) in TYPES.items()
}


def exhaust(value: Any) -> Any:
    """Iterables are only checked when somebody iterates."""
    if isinstance(value, dict):
        return {key: exhaust(item) for key, item in value.items()}
    if isinstance(value, (str, bytes, int, float, type(None))):
        return value
    return [exhaust(item) for item in value]


def unknown_keys(mode: str, body: dict) -> list:
    streamed, _ = TYPES[mode]
    return sorted(set(body) - set(streamed.__annotations__) - set(getattr(streamed, "__optional_keys__", ())) - set(getattr(streamed, "__required_keys__", ())))


def unnamed_outputs(body: dict) -> list:
    """Outputs must name a call that was made before them; the types cannot say that."""
    made, wrong = set(), []
    for item in body.get("input", []):
        if item.get("type") == "function_call":
            made.add(item["call_id"])
        if item.get("type") == "function_call_output" and item.get("call_id") not in made:
            wrong.append(item.get("call_id"))
    return wrong


def with_ids(body: dict) -> dict:
    """The types demand an id of replayed reasoning. The server refuses one that it has not stored,
    and with `store: false` it stores none; so we send none."""
    items = [{"id": "rs", **item} if item.get("type") == "reasoning" else item for item in body["input"]]
    return {**body, "input": items}


def judge(mode: str, body: dict) -> str:
    given = with_ids(body) if mode == "codex_responses" else body
    try:
        exhaust(ADAPTERS[mode][bool(body.get("stream"))].validate_python(given))
    except pydantic.ValidationError as error:
        return str(error)[:2000]
    unknown = unknown_keys(mode, body)
    if unknown:
        return f"unknown keys: {unknown}"
    if mode == "codex_responses" and unnamed_outputs(body):
        return f"outputs without a call: {unnamed_outputs(body)}"
    return ""


def main(path: str) -> None:
    judged, refused, shown = 0, 0, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            given = json.loads(line)
            words = judge(given["mode"], given["body"])
            judged += 1
            if words:
                refused += 1
                if len(shown) < MOST_SHOWN:
                    shown.append({"mode": given["mode"], "words": words, "body": given["body"]})
    print(json.dumps({"judged": judged, "refused": refused, "shown": shown}))


main(sys.argv[1])
