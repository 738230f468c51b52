"""The other program's side of the tests: writes and reads a database through its own release.

`PEER_SQLITE` names a folder with a `pysqlite3` that takes the place of the interpreter's own SQLite.
"""

import json
import os
import sys
import time
from pathlib import Path

if os.environ.get("PEER_SQLITE"):
    sys.path.insert(0, os.environ["PEER_SQLITE"])
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3

import hermes_state

CALL = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "ls greenhouse"}'}}


def make(db):
    db.create_session("py-1", "cli", model="m", system_prompt="be kind")
    db.append_message("py-1", "user", "where do tomatoes grow?")
    db.append_message("py-1", "assistant", "", tool_calls=[CALL], finish_reason="tool_calls",
                      reasoning="look first", reasoning_details=[{"type": "reasoning.text", "text": "look first"}])
    db.append_message("py-1", "tool", "seeds.txt", tool_name="terminal", tool_call_id="c1")
    db.append_message("py-1", "assistant", "温室里种番茄", finish_reason="stop")
    db.update_token_counts("py-1", input_tokens=7, output_tokens=3, model="m", billing_provider="p")
    db.set_session_title("py-1", "garden plan")
    # Went on under a new id after a compression.
    db.create_session("py-2", "telegram", model="m", user_id="u")
    db.append_message("py-2", "user", "an old question")
    db.set_session_title("py-2", "roof")
    db.end_session("py-2", "compression")
    db.create_session("py-3", "telegram", model="m", user_id="u", parent_session_id="py-2")
    db.append_message("py-3", "user", "a newer question about slates")
    db.set_session_title("py-3", db.get_next_title_in_lineage("roof"))
    can = {
        "archive": hasattr(db, "set_session_archived"),
        "rewind": hasattr(db, "rewind_to_message"),
        "compact": hasattr(db, "archive_and_compact"),
    }
    if can["archive"]:
        db.create_session("py-4", "cli", model="m")
        db.append_message("py-4", "user", "put away in a drawer")
        db.set_session_archived("py-4", True)
    if can["rewind"]:
        unsaid = db.append_message("py-1", "user", "never mind the zeppelin")
        db.append_message("py-1", "assistant", "a zeppelin it is")
        db.rewind_to_message("py-1", unsaid)
    if can["compact"]:
        db.create_session("py-5", "cli", model="m")
        db.append_message("py-5", "user", "the attic needs insulation")
        db.archive_and_compact("py-5", [{"role": "user", "content": "so far: the attic"}])
    return can


def read(db, session, *queries):
    found = {query: [[hit["session_id"], hit["role"]] for hit in db.search_messages(query)] for query in queries}
    row = db.get_session(session)
    return {
        "messages": db.get_messages(session),
        "conversation": db.get_messages_as_conversation(session),
        "found": found,
        "titles": {title: db.resolve_session_by_title(title) for title in ("garden plan", "roof", "from rust")},
        "listed": sorted(line["id"] for line in db.list_sessions_rich()),
        "counts": [row["message_count"], row["tool_call_count"], row["input_tokens"]],
    }


def say(db, session, text):
    return db.append_message(session, "user", text)


def compact(db, session, *texts):
    return db.archive_and_compact(session, [{"role": "user", "content": text} for text in texts])


def see(db, session, *queries):
    row = db.get_session(session)
    return {
        "messages": [[m["role"], m["content"]] for m in db.get_messages(session)],
        "all": [[m["content"], m["active"], m["compacted"]] for m in db.get_messages(session, include_inactive=True)],
        "found": {query: len(db.search_messages(query)) for query in queries},
        "session": {key: row[key] for key in ("message_count", "tool_call_count", "rewind_count", "archived", "end_reason")},
        "listed": sorted(line["id"] for line in db.list_sessions_rich()),
        "resumed": db.resolve_resume_session_id(session),
        "display": [m["content"] for m in db.get_messages_as_conversation(session, include_ancestors=True)],
    }


def export(db, file):
    Path(file).write_text("".join(json.dumps(session) + "\n" for session in db.export_all()), encoding="utf-8")
    return True


def take(db, file):
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    return db.import_sessions([json.loads(line) for line in lines])


def picture(db, session, text):
    """A new session with an image, text around a NUL byte, and a call."""
    db.create_session(session, "cli", model="m")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA"}}
    db.append_message(session, "user", [{"type": "text", "text": text}, image])
    db.append_message(session, "assistant", "", tool_calls=[CALL])
    db.append_message(session, "tool", f"before {text}\x00behind {text}", tool_name="terminal", tool_call_id="c1")
    db.append_message(session, "assistant", f"about {text}")
    return db._conn.execute("SELECT sqlite_version()").fetchone()[0]


def touch(db, session):
    """Fires the update triggers."""
    db._conn.execute("UPDATE messages SET observed = 1 WHERE session_id = ?", (session,))
    db._conn.commit()
    return True


def delete(db, session):
    return db.delete_session(session)


def prune(db, *sessions):
    long_ago = time.time() - 400 * 86400
    for session in sessions:
        db.end_session(session, "done")
        db._conn.execute("UPDATE sessions SET started_at = ? WHERE id = ?", (long_ago, session))
    db._conn.commit()
    return db.prune_sessions(older_than_days=200)


def integrity(db, *queries):
    """What SQLite says of the file and of both indexes, and the number of hits of some searches."""
    for table in ("messages_fts", "messages_fts_trigram"):
        db._conn.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
    said = [row[0] for row in db._conn.execute("PRAGMA integrity_check")]
    return {"file": said, "found": [len(db.search_messages(query)) for query in queries]}


if __name__ == "__main__":
    command, path, *rest = sys.argv[1:]
    database = hermes_state.SessionDB(db_path=Path(path))
    commands = {"make": make, "read": read, "say": say, "see": see, "compact": compact, "export": export, "import": take,
                "picture": picture, "touch": touch, "delete": delete, "prune": prune, "integrity": integrity}
    answer = commands[command](database, *rest)
    database.close()
    print(json.dumps(answer, default=str))
