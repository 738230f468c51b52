"""The Python side of python.rs: uses the pool of a real release and answers in JSON."""

import json
import sys
from unittest import mock

# The release is installed without what it depends on. Nothing of that is needed for the pool, so
# whatever is missing is stood in for.
for missing in ["yaml", "httpx", "dotenv", "rich", "prompt_toolkit", "requests", "openai", "pydantic"]:
    try:
        __import__(missing)
    except ImportError:
        sys.modules[missing] = mock.MagicMock()

from agent.credential_pool import PooledCredential, load_pool


def shown(entry):
    return {**entry.to_dict(), "runtime_key": entry.runtime_api_key, "priority": entry.priority}


def credential(provider, name):
    return PooledCredential(
        provider=provider,
        id=name,
        label="label of " + name,
        auth_type="api_key",
        priority=0,
        source="manual",
        access_token="python-key-" + name,
        base_url="https://p.example/v1",
    )


def main():
    command, provider, *rest = sys.argv[1:]
    if command == "entries":
        answer = [shown(entry) for entry in load_pool(provider).entries()]
    elif command == "add":
        for name in rest:
            load_pool(provider).add_entry(credential(provider, name))
        answer = True
    elif command == "mark":
        pool = load_pool(provider)
        pool.select()
        context = {"reason": rest[1], "message": "told so", "reset_at": float(rest[2])} if rest[1:] else {}
        after = pool.mark_exhausted_and_rotate(status_code=int(rest[0]), error_context=context)
        answer = after.id if after else None
    elif command == "select":
        chosen = load_pool(provider).select()
        answer = chosen.id if chosen else None
    else:
        raise SystemExit("unknown command " + command)
    print(json.dumps(answer))


main()
