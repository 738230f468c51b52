"""Works on the memory files of a home with the Python release's own code, for the tests beside it.

The release reads its settings with a module that is not installed here; what is used of it never does.
"""

import json
import sys
import types

yaml = types.ModuleType("yaml")
yaml.SafeDumper = yaml.Dumper = object
sys.modules["yaml"] = yaml

from tools.memory_tool import MemoryStore  # noqa: E402


def main(command, target, *arguments):
    store = MemoryStore(memory_char_limit=2200, user_char_limit=1375)
    store.load_from_disk()
    if command == "many":
        store = MemoryStore(memory_char_limit=1_000_000, user_char_limit=1_000_000)
        store.load_from_disk()
        prefix, count = arguments
        return [store.add(target, f"{prefix} {number}")["success"] for number in range(int(count))]
    if command == "entries":
        return store.user_entries if target == "user" else store.memory_entries
    if command == "snapshot":
        return store.format_for_system_prompt(target)
    return getattr(store, command)(target, *arguments)


print(json.dumps(main(*sys.argv[1:])))
