-- Fill the trigram table from the Python program's writes. They differ from the triggers that it makes itself
-- in one thing: text ends at its first NUL byte, with which structured content begins. The trigram tokenizer
-- of SQLite 3.40 stops there and the one of current versions reads on, and a deletion tokenizes the stored
-- text again. Text without NUL has the same terms in all versions.
CREATE TRIGGER messages_fts_trigram_insert AFTER INSERT ON messages BEGIN
  INSERT INTO messages_fts_trigram(rowid, content)
    SELECT id, CASE instr(text, char(0)) WHEN 0 THEN text
      ELSE CAST(substr(CAST(text AS BLOB), 1, instr(CAST(text AS BLOB), x'00') - 1) AS TEXT) END
    FROM (SELECT new.id AS id,
      COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || COALESCE(new.tool_calls, '') AS text);
END;
CREATE TRIGGER messages_fts_trigram_update AFTER UPDATE ON messages BEGIN
  DELETE FROM messages_fts_trigram WHERE rowid = old.id;
  INSERT INTO messages_fts_trigram(rowid, content)
    SELECT id, CASE instr(text, char(0)) WHEN 0 THEN text
      ELSE CAST(substr(CAST(text AS BLOB), 1, instr(CAST(text AS BLOB), x'00') - 1) AS TEXT) END
    FROM (SELECT new.id AS id,
      COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || COALESCE(new.tool_calls, '') AS text);
END;
