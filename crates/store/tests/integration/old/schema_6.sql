-- A small file of version 6: what the release wrote, with its one external-content search table.
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (6);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
  parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
  message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
  input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0,
  cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0,
  billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL, actual_cost_usd REAL,
  cost_status TEXT, cost_source TEXT, pricing_version TEXT,
  title TEXT,
  FOREIGN KEY (parent_session_id) REFERENCES sessions(id)
);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT,
  tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT,
  reasoning TEXT, reasoning_details TEXT, codex_reasoning_items TEXT
);
CREATE INDEX idx_sessions_source ON sessions(source);
CREATE INDEX idx_sessions_parent ON sessions(parent_session_id);
CREATE INDEX idx_sessions_started ON sessions(started_at DESC);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
CREATE VIRTUAL TABLE messages_fts USING fts5(content, content=messages, content_rowid=id);
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
  INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
  INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.id, old.content);
END;
CREATE TRIGGER messages_fts_update AFTER UPDATE ON messages BEGIN
  INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.id, old.content);
  INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
END;

INSERT INTO sessions (id, source, model, parent_session_id, started_at, ended_at, end_reason, message_count, tool_call_count, input_tokens, output_tokens) VALUES
  ('one', 'cli', 'm', NULL, 10, 19, 'user_exit', 4, 1, 7, 3),
  ('two', 'telegram', NULL, NULL, 20, 29, 'compression', 1, 0, 0, 5),
  ('three', 'cli', 'm', 'two', 30, NULL, NULL, 1, 0, 0, 0),
  ('four', 'cli', 'm', 'one', 15, NULL, NULL, 1, 0, 0, 0);
UPDATE sessions SET title = 'garden plan' WHERE id = 'one';
UPDATE sessions SET title = 'garden plan #2' WHERE id = 'two';
UPDATE sessions SET title = 'roof' WHERE id = 'three';
UPDATE sessions SET cache_read_tokens = 2, billing_provider = 'p', estimated_cost_usd = 0.5 WHERE id = 'one';
INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp) VALUES
  ('one', 'user', 'where do tomatoes grow?', NULL, NULL, NULL, 11),
  ('one', 'assistant', '', NULL, '[{"id":"c1","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls greenhouse\"}"}}]', NULL, 12),
  ('one', 'tool', 'seeds.txt', 'c1', NULL, 'terminal', 13),
  ('one', 'assistant', '温室里种番茄', NULL, NULL, NULL, 14),
  ('two', 'user', 'an old question', NULL, NULL, NULL, 21),
  ('three', 'user', 'a newer question', NULL, NULL, NULL, 31),
  ('four', 'user', 'a task for a helper', NULL, NULL, NULL, 16);
UPDATE messages SET finish_reason = 'tool_calls' WHERE id = 2;
UPDATE messages SET reasoning = 'they like warmth' WHERE id = 4;
