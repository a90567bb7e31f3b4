-- catalogue.db: what a data directory holds. The traces themselves are files beside it (schema/trace).

-- A trace file, known by the hash of the bytes it was made from.
CREATE TABLE files (
    id TEXT PRIMARY KEY CHECK (length(id) = 32),
    bytes_in INTEGER NOT NULL,
    bytes_json INTEGER NOT NULL,
    bytes_stored INTEGER NOT NULL,
    bytes_original INTEGER, -- NULL: the original is not kept
    events INTEGER NOT NULL,
    quality TEXT NOT NULL CHECK (json_valid(quality)),
    created_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL
) STRICT;

-- The ranks of a run. One file may serve several runs, under another name and rank in each.
CREATE TABLE traces (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    file TEXT NOT NULL REFERENCES files (id),
    name TEXT NOT NULL,
    rank INTEGER NOT NULL,
    created_ns INTEGER NOT NULL,
    PRIMARY KEY (run, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX traces_by_file ON traces (file);
