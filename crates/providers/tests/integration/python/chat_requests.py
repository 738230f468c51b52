"""Answers with the request that release 0.19 would build for each case.

Reads a JSON list of cases on standard input, each with provider, model, base_url, effort and messages, and
writes a list of request bodies in the same order. The release is installed without its dependencies, so
every third-party module is replaced by an empty one: the request builder itself uses none of them.
"""

import importlib.abc
import importlib.machinery
import json
import sys
import types


class Anything(types.ModuleType):
    """A module, class and function in one."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})


class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the dependencies of the release, and nothing in them."""

    NAMES = {"yaml", "requests", "dotenv", "openai", "httpx", "fire", "rich", "tenacity", "pydantic", "jinja2"}

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in self.NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Missing())

import socket  # noqa: E402


def refuse(*_args, **_kwargs):
    raise OSError("no network in this test")


socket.socket.connect = refuse
socket.getaddrinfo = refuse

from hermes_constants import parse_reasoning_effort  # noqa: E402
from run_agent import AIAgent  # noqa: E402


def agent_for(case):
    agent = AIAgent.__new__(AIAgent)
    agent.provider = case["provider"]
    agent.model = case["model"]
    agent.base_url = case["base_url"]
    agent.api_mode = "chat_completions"
    agent.tools = []
    agent.max_tokens = case.get("max_tokens")
    agent.reasoning_config = parse_reasoning_effort(case.get("effort"))
    agent.request_overrides = {}
    agent.session_id = None
    agent._ollama_num_ctx = None
    agent.providers_allowed = agent.providers_ignored = agent.providers_order = None
    agent.provider_sort = agent.provider_data_collection = None
    agent.provider_require_parameters = False
    agent.openrouter_min_coding_score = None
    agent._prepare_messages_for_non_vision_model = lambda messages: messages
    agent._resolved_api_call_timeout = lambda: None
    agent._ollama_thinking_cache = {(agent.model, agent.base_url): (case.get("thinks", False), 0.0)}
    agent._lm_reasoning_opts_cache = {(agent.model, agent.base_url): (case.get("options", []), 1e18)}
    return agent


def body(case):
    agent = agent_for(case)
    messages = []
    for message in case["messages"]:
        sent = dict(message)
        if message["role"] == "assistant":
            agent._copy_reasoning_content_for_api(message, sent)
        for internal in ("reasoning", "finish_reason"):
            sent.pop(internal, None)
        messages.append(sent)
    built = agent._build_api_kwargs(messages)
    # What the official client does with it: the members of `extra_body` become members of the body.
    built.update(built.pop("extra_body", {}))
    for option in ("timeout", "extra_headers"):
        built.pop(option, None)
    return built


if __name__ == "__main__":
    json.dump([body(case) for case in json.load(sys.stdin)], sys.stdout)
