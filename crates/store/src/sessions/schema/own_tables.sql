-- Tables of our own beside the shared ones. No references into shared tables and no triggers, so
-- that the Python program can write, delete and vacuum without knowing about them.
CREATE TABLE IF NOT EXISTS hx_turns (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  seq INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
  owner TEXT NOT NULL,
  generation INTEGER NOT NULL,
  exit_reason TEXT,
  started_at REAL NOT NULL,
  ended_at REAL
);
CREATE INDEX IF NOT EXISTS hx_turns_open ON hx_turns(session) WHERE state = 'open';
CREATE UNIQUE INDEX IF NOT EXISTS hx_turns_seq ON hx_turns(session, seq);

CREATE TABLE IF NOT EXISTS hx_intents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  turn INTEGER NOT NULL,
  n INTEGER NOT NULL,
  session TEXT NOT NULL,
  tool TEXT NOT NULL,
  call_id TEXT NOT NULL,
  arguments TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  effect TEXT NOT NULL,
  decision TEXT NOT NULL,
  state TEXT NOT NULL,
  process_group INTEGER,
  process_started INTEGER,
  process_boot TEXT,
  change TEXT,
  created_at REAL NOT NULL,
  started_at REAL,
  ended_at REAL
);
CREATE INDEX IF NOT EXISTS hx_intents_turn ON hx_intents(turn);
CREATE INDEX IF NOT EXISTS hx_intents_session ON hx_intents(session);

CREATE TABLE IF NOT EXISTS hx_leases (
  session TEXT PRIMARY KEY,
  pid INTEGER NOT NULL,
  started INTEGER NOT NULL,
  boot TEXT NOT NULL,
  generation INTEGER NOT NULL,
  held INTEGER NOT NULL,
  taken_at REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS hx_outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id INTEGER NOT NULL,
  op TEXT NOT NULL CHECK (op IN ('put', 'drop'))
);

-- `plain` is 1 for text that happens to begin with the marker of structured content. `sum` is NULL for
-- messages from before it was kept. `made` is 1 for what a compaction wrote, and `copy_of` is the message
-- that somebody said of which it is a copy, if it is one.
CREATE TABLE IF NOT EXISTS hx_message_ext (
  message_id INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  seq INTEGER NOT NULL,
  turn INTEGER,
  issuer TEXT,
  anthropic_blocks TEXT,
  plain INTEGER NOT NULL DEFAULT 0,
  sum INTEGER,
  made INTEGER NOT NULL DEFAULT 0,
  copy_of INTEGER
);
CREATE UNIQUE INDEX IF NOT EXISTS hx_message_ext_seq ON hx_message_ext(session, seq);
CREATE INDEX IF NOT EXISTS hx_message_ext_copy ON hx_message_ext(copy_of) WHERE copy_of IS NOT NULL;

-- `ineffective` counts compactions in a row that did not help; `imported` is 1 until the user agreed to what
-- an imported session brought along.
CREATE TABLE IF NOT EXISTS hx_session_ext (
  session TEXT PRIMARY KEY,
  quirks TEXT,
  ineffective INTEGER NOT NULL DEFAULT 0,
  imported INTEGER NOT NULL DEFAULT 0
);

-- Which session mentions which kept file.
CREATE TABLE IF NOT EXISTS hx_artifacts (
  session TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (session, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hx_artifacts_name ON hx_artifacts(name);

-- What calls cost, by local day: amounts in millionths of a millionth of a dollar. `charged` is what counts
-- against budgets; `uncertain` is the part of it that was put aside for calls whose end nobody saw. Rows
-- outlive their session: what was spent was spent.
CREATE TABLE IF NOT EXISTS hx_ledger (
  session TEXT NOT NULL,
  day TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  task TEXT NOT NULL,
  calls INTEGER NOT NULL DEFAULT 0,
  input INTEGER NOT NULL DEFAULT 0,
  output INTEGER NOT NULL DEFAULT 0,
  cache_read INTEGER NOT NULL DEFAULT 0,
  cache_write INTEGER NOT NULL DEFAULT 0,
  reasoning INTEGER NOT NULL DEFAULT 0,
  charged INTEGER NOT NULL DEFAULT 0,
  uncertain INTEGER NOT NULL DEFAULT 0,
  unpriced INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (session, day, provider, model, task)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hx_ledger_day ON hx_ledger(day);

-- What is put aside for calls under way.
CREATE TABLE IF NOT EXISTS hx_reservations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  task TEXT NOT NULL,
  amount INTEGER NOT NULL,
  pid INTEGER NOT NULL,
  started INTEGER NOT NULL,
  boot TEXT NOT NULL,
  at REAL NOT NULL
);

-- What turns spent their time on beside tools, whose times are in hx_intents: `model` is a call of a model.
-- One tree and no index, because every model call adds a row.
CREATE TABLE IF NOT EXISTS hx_spans (
  turn INTEGER NOT NULL,
  n INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  started_at REAL NOT NULL,
  ended_at REAL NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (turn, n)
) WITHOUT ROWID;

-- What was said to a session while it was busy. `state` is waiting or delivered; `message` is the row it
-- joined, in that row's own transaction.
CREATE TABLE IF NOT EXISTS hx_mailbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  mode TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting',
  turn INTEGER,
  message INTEGER,
  delivered_at REAL
);
CREATE INDEX IF NOT EXISTS hx_mailbox_waiting ON hx_mailbox(session, id) WHERE state = 'waiting';

-- How far something has come; `artifacts` is the last message that was searched for files.
CREATE TABLE IF NOT EXISTS hx_marks (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

-- Which parts the system prompt of a session has, as JSON, for people who look at it.
CREATE TABLE IF NOT EXISTS hx_prompts (
  session TEXT PRIMARY KEY,
  outline TEXT NOT NULL
) WITHOUT ROWID;

-- Summaries, and the first and the last of the messages that each stands for. Numbers go on through the
-- sessions of one conversation.
CREATE TABLE IF NOT EXISTS hx_nodes (
  session TEXT NOT NULL,
  number INTEGER NOT NULL,
  level INTEGER NOT NULL,
  children TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (session, number)
);

-- One row per compaction, with its report as JSON.
CREATE TABLE IF NOT EXISTS hx_compactions (
  session TEXT NOT NULL,
  number INTEGER NOT NULL,
  at REAL NOT NULL,
  report TEXT NOT NULL,
  PRIMARY KEY (session, number)
) WITHOUT ROWID;

-- What no compaction may lose, as a person put it.
CREATE TABLE IF NOT EXISTS hx_pins (
  session TEXT NOT NULL,
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (session, number)
) WITHOUT ROWID;

-- Decisions about calls that a rule was about: the rules, who decided, and what the answer covers. Harmless calls have
-- no row.
CREATE TABLE IF NOT EXISTS hx_decisions (
  intent INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  at REAL NOT NULL,
  decision TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  scope TEXT,
  rules TEXT NOT NULL,
  asked INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS hx_decisions_session ON hx_decisions(session);

-- Calls that a script made while its own call, `parent`, ran. Each has a row in hx_intents, too. `result` is the
-- beginning of what the script got, for a crash before the script ends.
CREATE TABLE IF NOT EXISTS hx_inner_calls (
  intent INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL,
  number INTEGER NOT NULL,
  result TEXT
);
CREATE INDEX IF NOT EXISTS hx_inner_calls_parent ON hx_inner_calls(parent);

-- Commands that run in the background. The row exists before the first instruction of the command; `key` is that of the
-- supervisor. `mail` is the notice of its end. `ended_at` is NULL while nobody has seen the end.
CREATE TABLE IF NOT EXISTS hx_processes (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  key TEXT NOT NULL,
  command TEXT NOT NULL,
  cwd TEXT NOT NULL,
  pid INTEGER NOT NULL,
  terminal INTEGER NOT NULL,
  notifies INTEGER NOT NULL,
  patterns TEXT NOT NULL,
  started_at REAL NOT NULL,
  ended_at REAL,
  exit_code INTEGER,
  reason TEXT,
  mail INTEGER
);
CREATE INDEX IF NOT EXISTS hx_processes_session ON hx_processes(session);
CREATE INDEX IF NOT EXISTS hx_processes_running ON hx_processes(number) WHERE ended_at IS NULL;

-- Sub-agents that work in the background, for the session that gets their report. The row exists before they begin;
-- `child` is their own session, and `pid`, `started` and `boot` name the process they run in.
CREATE TABLE IF NOT EXISTS hx_delegations (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  call TEXT NOT NULL,
  child TEXT NOT NULL,
  goal TEXT NOT NULL,
  pid INTEGER NOT NULL,
  started INTEGER NOT NULL,
  boot TEXT NOT NULL,
  started_at REAL NOT NULL,
  ended_at REAL,
  status TEXT
);
CREATE INDEX IF NOT EXISTS hx_delegations_session ON hx_delegations(session);
