-- A trace file: one trace, written once, never changed (apart from migrations like this one).
-- application_id is 'HOLO'; user_version is the number of the last migration.
PRAGMA application_id = 1213156431;

-- id name rank world_size hta_rank has_base base_ns bare_array has_events_key events bytes_in bytes_json syms, and run:
-- the one it was imported to first, for a catalogue that was lost
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

-- struct hs_summary (server/trace/links.h), one row a member.
CREATE TABLE summary (
    key TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- Defects by kind (server/trace/quality.def), those that were found.
CREATE TABLE quality (
    kind TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    first INTEGER NOT NULL -- byte of the decompressed input, -1 unknown
) WITHOUT ROWID;

-- Every name, category, key, text and raw JSON value, in the order of their numbers.
CREATE TABLE symbols (
    first INTEGER PRIMARY KEY, -- number of the first one in this chunk
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,    -- of all texts of the chunk together
    lengths BLOB NOT NULL,     -- column of `count` lengths (server/store/codec.h)
    text BLOB NOT NULL         -- the texts one behind the other, zlib
);

-- Columns of numbers, cut into segments of at most 65 536 rows.
-- key = tbl << 48 | col << 24 | segment; the numbers of tables and columns stand in `layout`.
CREATE TABLE segments (
    key INTEGER PRIMARY KEY,
    rows INTEGER NOT NULL,
    min INTEGER, -- over the rows that have a value; NULL where none has
    max INTEGER,
    data BLOB NOT NULL -- server/store/codec.h
);

-- What the numbers mean: for people who read a file without the program, and for its tests.
CREATE TABLE layout (
    tbl INTEGER NOT NULL,
    col INTEGER NOT NULL,
    tbl_name TEXT NOT NULL,
    col_name TEXT NOT NULL,
    PRIMARY KEY (tbl, col)
) WITHOUT ROWID;
INSERT INTO layout VALUES
    (1, 0, 'events', 'ts'), (1, 1, 'events', 'dur'), (1, 2, 'events', 'name'), (1, 3, 'events', 'cat'),
    (1, 4, 'events', 'lane'), (1, 5, 'events', 'ph'), (1, 6, 'events', 'event - parent, 0: none'),
    (1, 7, 'events', 'depth'), (1, 8, 'events', 'step'), (1, 9, 'events', 'shape'), (1, 10, 'events', 'digits'),
    (2, 0, 'args', 'col: number of the argument column; segment * 256 + part'),
    (3, 0, 'gpu', 'ts'), (3, 1, 'gpu', 'dur'), (3, 2, 'gpu', 'stream'), (3, 3, 'gpu', 'corr'), (3, 4, 'gpu', 'bytes'),
    (3, 5, 'gpu', 'ts - launch_ts'), (3, 6, 'gpu', 'launch_dur'), (3, 7, 'gpu', 'event'),
    (3, 8, 'gpu', 'event - launch, 0: none'), (3, 9, 'gpu', 'name'), (3, 10, 'gpu', 'lane'), (3, 11, 'gpu', 'device'),
    (3, 12, 'gpu', 'step'), (3, 13, 'gpu', 'cls'),
    (4, 0, 'launches', 'ts'), (4, 1, 'launches', 'dur'), (4, 2, 'launches', 'corr'), (4, 3, 'launches', 'event'),
    (4, 4, 'launches', 'name'), (4, 5, 'launches', 'lane'), (4, 6, 'launches', 'kernels'), (4, 7, 'launches', 'step'),
    (5, 0, 'steps', 'ts'), (5, 1, 'steps', 'dur'), (5, 2, 'steps', 'number'), (5, 3, 'steps', 'event'),
    (5, 4, 'steps', 'lane'),
    (6, 0, 'categories', 'cat'), (6, 1, 'categories', 'ph'), (6, 2, 'categories', 'count'), (6, 3, 'categories', 'dur'),
    (7, 0, 'lanes', 'pid kind'), (7, 1, 'lanes', 'pid'), (7, 2, 'lanes', 'tid kind'), (7, 3, 'lanes', 'tid'),
    (7, 4, 'lanes', 'process name'), (7, 5, 'lanes', 'process labels'), (7, 6, 'lanes', 'thread name'),
    (8, 0, 'shapes', 'number of fields'),
    (9, 0, 'fields', 'key'), (9, 1, 'fields', 'column'), (9, 2, 'fields', 'level'), (9, 3, 'fields', 'type'),
    (10, 0, 'columns', 'key'), (10, 1, 'columns', 'level'), (10, 2, 'columns', 'type'), (10, 3, 'columns', 'scale'),
    (11, 0, 'header', 'key'), (11, 1, 'header', 'json'),
    (12, 0, 'ended', 'event of phase B or b'), (12, 1, 'ended', 'dur until its end');
