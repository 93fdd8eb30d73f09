-- grandstand series ddl --engine postgres

-- table
CREATE TABLE IF NOT EXISTS trades (
    trade_id UUID NOT NULL,
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    price INTEGER NOT NULL,
    size BIGINT NOT NULL,
    taker_side BOOLEAN NOT NULL,
    sid BIGINT,
    is_block BOOLEAN NOT NULL,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (trade_id, exchange_ts)
) PARTITION BY RANGE (exchange_ts);

-- time index
CREATE INDEX IF NOT EXISTS trades_time_brin ON trades
    USING brin (exchange_ts);

-- index idx_trades_ticker
CREATE INDEX IF NOT EXISTS idx_trades_ticker ON trades (ticker, exchange_ts DESC);

-- index idx_trades_received
CREATE INDEX IF NOT EXISTS idx_trades_received ON trades (received_at DESC);

-- table
CREATE TABLE IF NOT EXISTS orderbook_deltas (
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    side BOOLEAN NOT NULL,
    price INTEGER NOT NULL,
    size_delta BIGINT NOT NULL,
    seq BIGINT,
    sid BIGINT,
    ord SMALLINT NOT NULL,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (exchange_ts, ticker, price, side, size_delta, ord)
) PARTITION BY RANGE (exchange_ts);

-- time index
CREATE INDEX IF NOT EXISTS orderbook_deltas_time_brin ON orderbook_deltas
    USING brin (exchange_ts);

-- index idx_deltas_ticker_time
CREATE INDEX IF NOT EXISTS idx_deltas_ticker_time ON orderbook_deltas (ticker, exchange_ts DESC);

-- index idx_deltas_received
CREATE INDEX IF NOT EXISTS idx_deltas_received ON orderbook_deltas (received_at DESC);

-- table
CREATE TABLE IF NOT EXISTS orderbook_snapshots (
    snapshot_ts BIGINT NOT NULL,
    exchange_ts BIGINT,
    ticker TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    yes_bids JSONB NOT NULL,
    yes_asks JSONB NOT NULL,
    no_bids JSONB NOT NULL,
    no_asks JSONB NOT NULL,
    best_yes_bid INTEGER,
    best_yes_ask INTEGER,
    spread INTEGER,
    sid BIGINT,
    seq BIGINT,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (snapshot_ts, ticker, source)
) PARTITION BY RANGE (snapshot_ts);

-- time index
CREATE INDEX IF NOT EXISTS orderbook_snapshots_time_brin ON orderbook_snapshots
    USING brin (snapshot_ts);

-- index idx_snapshots_ticker
CREATE INDEX IF NOT EXISTS idx_snapshots_ticker ON orderbook_snapshots (ticker, snapshot_ts DESC);

-- table
CREATE TABLE IF NOT EXISTS tickers (
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    yes_bid INTEGER,
    yes_ask INTEGER,
    last_price INTEGER,
    volume BIGINT,
    open_interest BIGINT,
    dollar_volume BIGINT,
    dollar_open_interest BIGINT,
    sid BIGINT,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (exchange_ts, ticker)
) PARTITION BY RANGE (exchange_ts);

-- time index
CREATE INDEX IF NOT EXISTS tickers_time_brin ON tickers
    USING brin (exchange_ts);

-- index idx_tickers_ticker_time
CREATE INDEX IF NOT EXISTS idx_tickers_ticker_time ON tickers (ticker, exchange_ts DESC);

-- index idx_tickers_received
CREATE INDEX IF NOT EXISTS idx_tickers_received ON tickers (received_at DESC);

-- table
CREATE TABLE IF NOT EXISTS gaps (
    detected_at BIGINT NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    sid BIGINT NOT NULL,
    expected_seq BIGINT NOT NULL,
    resolved BOOLEAN NOT NULL,
    got_seq BIGINT,
    resolved_at BIGINT,
    channel TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    tickers JSONB,
    from_ts BIGINT,
    to_ts BIGINT,
    PRIMARY KEY (detected_at, gatherer, conn, sid, expected_seq, resolved)
) PARTITION BY RANGE (detected_at);

-- time index
CREATE INDEX IF NOT EXISTS gaps_time_brin ON gaps
    USING brin (detected_at);

-- table
CREATE TABLE IF NOT EXISTS market_events (
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C",
    event_ticker TEXT COLLATE "C",
    series_ticker TEXT COLLATE "C",
    title TEXT COLLATE "C",
    open_ts BIGINT,
    close_ts BIGINT,
    result TEXT COLLATE "C",
    details JSONB,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    sid BIGINT,
    seq BIGINT,
    PRIMARY KEY (received_at, ticker, kind)
) PARTITION BY RANGE (received_at);

-- time index
CREATE INDEX IF NOT EXISTS market_events_time_brin ON market_events
    USING brin (received_at);

-- table
CREATE TABLE IF NOT EXISTS sessions (
    at BIGINT NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    what TEXT COLLATE "C" NOT NULL,
    why TEXT COLLATE "C",
    PRIMARY KEY (at, gatherer, conn, what)
) PARTITION BY RANGE (at);

-- time index
CREATE INDEX IF NOT EXISTS sessions_time_brin ON sessions
    USING brin (at);

-- table
CREATE TABLE IF NOT EXISTS audits (
    audited_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    against TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    since BIGINT,
    difference JSONB,
    PRIMARY KEY (audited_at, ticker, gatherer, against)
) PARTITION BY RANGE (audited_at);

-- time index
CREATE INDEX IF NOT EXISTS audits_time_brin ON audits
    USING brin (audited_at);

-- table
CREATE TABLE IF NOT EXISTS keyframes (
    taken_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    yes_bids JSONB NOT NULL,
    no_bids JSONB NOT NULL,
    exchange_ts BIGINT,
    sid BIGINT,
    conn BIGINT,
    PRIMARY KEY (taken_at, ticker, gatherer)
) PARTITION BY RANGE (taken_at);

-- time index
CREATE INDEX IF NOT EXISTS keyframes_time_brin ON keyframes
    USING brin (taken_at);

-- table
CREATE TABLE IF NOT EXISTS followed (
    since BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    sid BIGINT NOT NULL,
    heard_at BIGINT NOT NULL,
    PRIMARY KEY (since, ticker, gatherer, heard_at)
) PARTITION BY RANGE (since);

-- time index
CREATE INDEX IF NOT EXISTS followed_time_brin ON followed
    USING brin (since);

-- grandstand series ddl --engine timescale

-- table
CREATE TABLE IF NOT EXISTS trades (
    trade_id UUID NOT NULL,
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    price INTEGER NOT NULL,
    size BIGINT NOT NULL,
    taker_side BOOLEAN NOT NULL,
    sid BIGINT,
    is_block BOOLEAN NOT NULL,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (trade_id, exchange_ts)
);

-- hypertable
SELECT create_hypertable('trades', 'exchange_ts',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => TRUE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('trades', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_trades_ticker
CREATE INDEX IF NOT EXISTS idx_trades_ticker ON trades (ticker, exchange_ts DESC);

-- index idx_trades_received
CREATE INDEX IF NOT EXISTS idx_trades_received ON trades (received_at DESC);

-- compression
ALTER TABLE trades SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'ticker',
    timescaledb.compress_orderby = 'exchange_ts DESC, trade_id'
);

-- compression policy
SELECT remove_compression_policy('trades', if_exists => TRUE);
SELECT add_compression_policy('trades',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('trades', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS orderbook_deltas (
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    side BOOLEAN NOT NULL,
    price INTEGER NOT NULL,
    size_delta BIGINT NOT NULL,
    seq BIGINT,
    sid BIGINT,
    ord SMALLINT NOT NULL,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (exchange_ts, ticker, price, side, size_delta, ord)
);

-- hypertable
SELECT create_hypertable('orderbook_deltas', 'exchange_ts',
    chunk_time_interval => 3600000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('orderbook_deltas', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_deltas_ticker_time
CREATE INDEX IF NOT EXISTS idx_deltas_ticker_time ON orderbook_deltas (ticker, exchange_ts DESC);

-- index idx_deltas_received
CREATE INDEX IF NOT EXISTS idx_deltas_received ON orderbook_deltas (received_at DESC);

-- compression
ALTER TABLE orderbook_deltas SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'ticker',
    timescaledb.compress_orderby = 'exchange_ts DESC, price, side, size_delta, ord'
);

-- compression policy
SELECT remove_compression_policy('orderbook_deltas', if_exists => TRUE);
SELECT add_compression_policy('orderbook_deltas',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('orderbook_deltas', if_exists => TRUE);
SELECT add_retention_policy('orderbook_deltas',
    drop_after => 604800000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- table
CREATE TABLE IF NOT EXISTS orderbook_snapshots (
    snapshot_ts BIGINT NOT NULL,
    exchange_ts BIGINT,
    ticker TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    yes_bids JSONB NOT NULL,
    yes_asks JSONB NOT NULL,
    no_bids JSONB NOT NULL,
    no_asks JSONB NOT NULL,
    best_yes_bid INTEGER,
    best_yes_ask INTEGER,
    spread INTEGER,
    sid BIGINT,
    seq BIGINT,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (snapshot_ts, ticker, source)
);

-- hypertable
SELECT create_hypertable('orderbook_snapshots', 'snapshot_ts',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('orderbook_snapshots', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_snapshots_ticker
CREATE INDEX IF NOT EXISTS idx_snapshots_ticker ON orderbook_snapshots (ticker, snapshot_ts DESC);

-- compression
ALTER TABLE orderbook_snapshots SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'ticker',
    timescaledb.compress_orderby = 'snapshot_ts DESC, source'
);

-- compression policy
SELECT remove_compression_policy('orderbook_snapshots', if_exists => TRUE);
SELECT add_compression_policy('orderbook_snapshots',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('orderbook_snapshots', if_exists => TRUE);
SELECT add_retention_policy('orderbook_snapshots',
    drop_after => 2592000000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- table
CREATE TABLE IF NOT EXISTS tickers (
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    yes_bid INTEGER,
    yes_ask INTEGER,
    last_price INTEGER,
    volume BIGINT,
    open_interest BIGINT,
    dollar_volume BIGINT,
    dollar_open_interest BIGINT,
    sid BIGINT,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (exchange_ts, ticker)
);

-- hypertable
SELECT create_hypertable('tickers', 'exchange_ts',
    chunk_time_interval => 3600000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('tickers', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_tickers_ticker_time
CREATE INDEX IF NOT EXISTS idx_tickers_ticker_time ON tickers (ticker, exchange_ts DESC);

-- index idx_tickers_received
CREATE INDEX IF NOT EXISTS idx_tickers_received ON tickers (received_at DESC);

-- compression
ALTER TABLE tickers SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'ticker',
    timescaledb.compress_orderby = 'exchange_ts DESC'
);

-- compression policy
SELECT remove_compression_policy('tickers', if_exists => TRUE);
SELECT add_compression_policy('tickers',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('tickers', if_exists => TRUE);
SELECT add_retention_policy('tickers',
    drop_after => 604800000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- table
CREATE TABLE IF NOT EXISTS gaps (
    detected_at BIGINT NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    sid BIGINT NOT NULL,
    expected_seq BIGINT NOT NULL,
    resolved BOOLEAN NOT NULL,
    got_seq BIGINT,
    resolved_at BIGINT,
    channel TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    tickers JSONB,
    from_ts BIGINT,
    to_ts BIGINT,
    PRIMARY KEY (detected_at, gatherer, conn, sid, expected_seq, resolved)
);

-- hypertable
SELECT create_hypertable('gaps', 'detected_at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('gaps', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE gaps SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'gatherer',
    timescaledb.compress_orderby = 'detected_at DESC, conn, sid, expected_seq, resolved'
);

-- compression policy
SELECT remove_compression_policy('gaps', if_exists => TRUE);
SELECT add_compression_policy('gaps',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('gaps', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS market_events (
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C",
    event_ticker TEXT COLLATE "C",
    series_ticker TEXT COLLATE "C",
    title TEXT COLLATE "C",
    open_ts BIGINT,
    close_ts BIGINT,
    result TEXT COLLATE "C",
    details JSONB,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    sid BIGINT,
    seq BIGINT,
    PRIMARY KEY (received_at, ticker, kind)
);

-- hypertable
SELECT create_hypertable('market_events', 'received_at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('market_events', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE market_events SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'ticker',
    timescaledb.compress_orderby = 'received_at DESC, kind'
);

-- compression policy
SELECT remove_compression_policy('market_events', if_exists => TRUE);
SELECT add_compression_policy('market_events',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('market_events', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS sessions (
    at BIGINT NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    what TEXT COLLATE "C" NOT NULL,
    why TEXT COLLATE "C",
    PRIMARY KEY (at, gatherer, conn, what)
);

-- hypertable
SELECT create_hypertable('sessions', 'at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('sessions', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE sessions SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'gatherer',
    timescaledb.compress_orderby = 'at DESC, conn, what'
);

-- compression policy
SELECT remove_compression_policy('sessions', if_exists => TRUE);
SELECT add_compression_policy('sessions',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('sessions', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS audits (
    audited_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    against TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    since BIGINT,
    difference JSONB,
    PRIMARY KEY (audited_at, ticker, gatherer, against)
);

-- hypertable
SELECT create_hypertable('audits', 'audited_at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('audits', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE audits SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'ticker',
    timescaledb.compress_orderby = 'audited_at DESC, gatherer, against'
);

-- compression policy
SELECT remove_compression_policy('audits', if_exists => TRUE);
SELECT add_compression_policy('audits',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('audits', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS keyframes (
    taken_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    yes_bids JSONB NOT NULL,
    no_bids JSONB NOT NULL,
    exchange_ts BIGINT,
    sid BIGINT,
    conn BIGINT,
    PRIMARY KEY (taken_at, ticker, gatherer)
);

-- hypertable
SELECT create_hypertable('keyframes', 'taken_at',
    chunk_time_interval => 3600000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('keyframes', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE keyframes SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'ticker',
    timescaledb.compress_orderby = 'taken_at DESC, gatherer'
);

-- compression policy
SELECT remove_compression_policy('keyframes', if_exists => TRUE);
SELECT add_compression_policy('keyframes',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('keyframes', if_exists => TRUE);
SELECT add_retention_policy('keyframes',
    drop_after => 604800000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- table
CREATE TABLE IF NOT EXISTS followed (
    since BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    sid BIGINT NOT NULL,
    heard_at BIGINT NOT NULL,
    PRIMARY KEY (since, ticker, gatherer, heard_at)
);

-- hypertable
SELECT create_hypertable('followed', 'since',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('followed', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE followed SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = 'ticker',
    timescaledb.compress_orderby = 'since DESC, gatherer, heard_at'
);

-- compression policy
SELECT remove_compression_policy('followed', if_exists => TRUE);
SELECT add_compression_policy('followed',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('followed', if_exists => TRUE);
SELECT add_retention_policy('followed',
    drop_after => 604800000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- grandstand series ddl --engine timescale --wide

-- table
CREATE TABLE IF NOT EXISTS trades (
    trade_id UUID NOT NULL,
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    price INTEGER NOT NULL,
    size BIGINT NOT NULL,
    taker_side BOOLEAN NOT NULL,
    sid BIGINT,
    is_block BOOLEAN NOT NULL,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (trade_id, exchange_ts)
);

-- hypertable
SELECT create_hypertable('trades', 'exchange_ts',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => TRUE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('trades', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_trades_ticker
CREATE INDEX IF NOT EXISTS idx_trades_ticker ON trades (ticker, exchange_ts DESC);

-- index idx_trades_received
CREATE INDEX IF NOT EXISTS idx_trades_received ON trades (received_at DESC);

-- compression
ALTER TABLE trades SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'ticker, exchange_ts, trade_id'
);

-- compression policy
SELECT remove_compression_policy('trades', if_exists => TRUE);
SELECT add_compression_policy('trades',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('trades', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS orderbook_deltas (
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    side BOOLEAN NOT NULL,
    price INTEGER NOT NULL,
    size_delta BIGINT NOT NULL,
    seq BIGINT,
    sid BIGINT,
    ord SMALLINT NOT NULL,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (exchange_ts, ticker, price, side, size_delta, ord)
);

-- hypertable
SELECT create_hypertable('orderbook_deltas', 'exchange_ts',
    chunk_time_interval => 3600000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('orderbook_deltas', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_deltas_ticker_time
CREATE INDEX IF NOT EXISTS idx_deltas_ticker_time ON orderbook_deltas (ticker, exchange_ts DESC);

-- index idx_deltas_received
CREATE INDEX IF NOT EXISTS idx_deltas_received ON orderbook_deltas (received_at DESC);

-- compression
ALTER TABLE orderbook_deltas SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'ticker, exchange_ts, price, side, size_delta, ord'
);

-- compression policy
SELECT remove_compression_policy('orderbook_deltas', if_exists => TRUE);
SELECT add_compression_policy('orderbook_deltas',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('orderbook_deltas', if_exists => TRUE);
SELECT add_retention_policy('orderbook_deltas',
    drop_after => 604800000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- table
CREATE TABLE IF NOT EXISTS orderbook_snapshots (
    snapshot_ts BIGINT NOT NULL,
    exchange_ts BIGINT,
    ticker TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    yes_bids JSONB NOT NULL,
    yes_asks JSONB NOT NULL,
    no_bids JSONB NOT NULL,
    no_asks JSONB NOT NULL,
    best_yes_bid INTEGER,
    best_yes_ask INTEGER,
    spread INTEGER,
    sid BIGINT,
    seq BIGINT,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (snapshot_ts, ticker, source)
);

-- hypertable
SELECT create_hypertable('orderbook_snapshots', 'snapshot_ts',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('orderbook_snapshots', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_snapshots_ticker
CREATE INDEX IF NOT EXISTS idx_snapshots_ticker ON orderbook_snapshots (ticker, snapshot_ts DESC);

-- compression
ALTER TABLE orderbook_snapshots SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'ticker, snapshot_ts, source'
);

-- compression policy
SELECT remove_compression_policy('orderbook_snapshots', if_exists => TRUE);
SELECT add_compression_policy('orderbook_snapshots',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('orderbook_snapshots', if_exists => TRUE);
SELECT add_retention_policy('orderbook_snapshots',
    drop_after => 2592000000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- table
CREATE TABLE IF NOT EXISTS tickers (
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    yes_bid INTEGER,
    yes_ask INTEGER,
    last_price INTEGER,
    volume BIGINT,
    open_interest BIGINT,
    dollar_volume BIGINT,
    dollar_open_interest BIGINT,
    sid BIGINT,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (exchange_ts, ticker)
);

-- hypertable
SELECT create_hypertable('tickers', 'exchange_ts',
    chunk_time_interval => 3600000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('tickers', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_tickers_ticker_time
CREATE INDEX IF NOT EXISTS idx_tickers_ticker_time ON tickers (ticker, exchange_ts DESC);

-- index idx_tickers_received
CREATE INDEX IF NOT EXISTS idx_tickers_received ON tickers (received_at DESC);

-- compression
ALTER TABLE tickers SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'ticker, exchange_ts'
);

-- compression policy
SELECT remove_compression_policy('tickers', if_exists => TRUE);
SELECT add_compression_policy('tickers',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('tickers', if_exists => TRUE);
SELECT add_retention_policy('tickers',
    drop_after => 604800000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- table
CREATE TABLE IF NOT EXISTS gaps (
    detected_at BIGINT NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    sid BIGINT NOT NULL,
    expected_seq BIGINT NOT NULL,
    resolved BOOLEAN NOT NULL,
    got_seq BIGINT,
    resolved_at BIGINT,
    channel TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    tickers JSONB,
    from_ts BIGINT,
    to_ts BIGINT,
    PRIMARY KEY (detected_at, gatherer, conn, sid, expected_seq, resolved)
);

-- hypertable
SELECT create_hypertable('gaps', 'detected_at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('gaps', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE gaps SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'gatherer, detected_at, conn, sid, expected_seq, resolved'
);

-- compression policy
SELECT remove_compression_policy('gaps', if_exists => TRUE);
SELECT add_compression_policy('gaps',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('gaps', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS market_events (
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C",
    event_ticker TEXT COLLATE "C",
    series_ticker TEXT COLLATE "C",
    title TEXT COLLATE "C",
    open_ts BIGINT,
    close_ts BIGINT,
    result TEXT COLLATE "C",
    details JSONB,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    sid BIGINT,
    seq BIGINT,
    PRIMARY KEY (received_at, ticker, kind)
);

-- hypertable
SELECT create_hypertable('market_events', 'received_at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('market_events', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE market_events SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'ticker, received_at, kind'
);

-- compression policy
SELECT remove_compression_policy('market_events', if_exists => TRUE);
SELECT add_compression_policy('market_events',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('market_events', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS sessions (
    at BIGINT NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    what TEXT COLLATE "C" NOT NULL,
    why TEXT COLLATE "C",
    PRIMARY KEY (at, gatherer, conn, what)
);

-- hypertable
SELECT create_hypertable('sessions', 'at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('sessions', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE sessions SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'gatherer, at, conn, what'
);

-- compression policy
SELECT remove_compression_policy('sessions', if_exists => TRUE);
SELECT add_compression_policy('sessions',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('sessions', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS audits (
    audited_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    against TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    since BIGINT,
    difference JSONB,
    PRIMARY KEY (audited_at, ticker, gatherer, against)
);

-- hypertable
SELECT create_hypertable('audits', 'audited_at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('audits', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE audits SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'ticker, audited_at, gatherer, against'
);

-- compression policy
SELECT remove_compression_policy('audits', if_exists => TRUE);
SELECT add_compression_policy('audits',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('audits', if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS keyframes (
    taken_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    yes_bids JSONB NOT NULL,
    no_bids JSONB NOT NULL,
    exchange_ts BIGINT,
    sid BIGINT,
    conn BIGINT,
    PRIMARY KEY (taken_at, ticker, gatherer)
);

-- hypertable
SELECT create_hypertable('keyframes', 'taken_at',
    chunk_time_interval => 3600000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('keyframes', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE keyframes SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'ticker, taken_at, gatherer'
);

-- compression policy
SELECT remove_compression_policy('keyframes', if_exists => TRUE);
SELECT add_compression_policy('keyframes',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('keyframes', if_exists => TRUE);
SELECT add_retention_policy('keyframes',
    drop_after => 604800000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- table
CREATE TABLE IF NOT EXISTS followed (
    since BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    sid BIGINT NOT NULL,
    heard_at BIGINT NOT NULL,
    PRIMARY KEY (since, ticker, gatherer, heard_at)
);

-- hypertable
SELECT create_hypertable('followed', 'since',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('followed', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- compression
ALTER TABLE followed SET (
    timescaledb.compress,
    timescaledb.compress_segmentby = '',
    timescaledb.compress_orderby = 'ticker, since, gatherer, heard_at'
);

-- compression policy
SELECT remove_compression_policy('followed', if_exists => TRUE);
SELECT add_compression_policy('followed',
    compress_after => 86400000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- retention policy
SELECT remove_retention_policy('followed', if_exists => TRUE);
SELECT add_retention_policy('followed',
    drop_after => 604800000000::bigint, if_not_exists => TRUE,
    schedule_interval => INTERVAL '1 hour');

-- grandstand series ddl --engine timescale-apache

-- table
CREATE TABLE IF NOT EXISTS trades (
    trade_id UUID NOT NULL,
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    price INTEGER NOT NULL,
    size BIGINT NOT NULL,
    taker_side BOOLEAN NOT NULL,
    sid BIGINT,
    is_block BOOLEAN NOT NULL,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (trade_id, exchange_ts)
);

-- hypertable
SELECT create_hypertable('trades', 'exchange_ts',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => TRUE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('trades', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_trades_ticker
CREATE INDEX IF NOT EXISTS idx_trades_ticker ON trades (ticker, exchange_ts DESC);

-- index idx_trades_received
CREATE INDEX IF NOT EXISTS idx_trades_received ON trades (received_at DESC);

-- table
CREATE TABLE IF NOT EXISTS orderbook_deltas (
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    side BOOLEAN NOT NULL,
    price INTEGER NOT NULL,
    size_delta BIGINT NOT NULL,
    seq BIGINT,
    sid BIGINT,
    ord SMALLINT NOT NULL,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (exchange_ts, ticker, price, side, size_delta, ord)
);

-- hypertable
SELECT create_hypertable('orderbook_deltas', 'exchange_ts',
    chunk_time_interval => 3600000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('orderbook_deltas', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_deltas_ticker_time
CREATE INDEX IF NOT EXISTS idx_deltas_ticker_time ON orderbook_deltas (ticker, exchange_ts DESC);

-- index idx_deltas_received
CREATE INDEX IF NOT EXISTS idx_deltas_received ON orderbook_deltas (received_at DESC);

-- table
CREATE TABLE IF NOT EXISTS orderbook_snapshots (
    snapshot_ts BIGINT NOT NULL,
    exchange_ts BIGINT,
    ticker TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    yes_bids JSONB NOT NULL,
    yes_asks JSONB NOT NULL,
    no_bids JSONB NOT NULL,
    no_asks JSONB NOT NULL,
    best_yes_bid INTEGER,
    best_yes_ask INTEGER,
    spread INTEGER,
    sid BIGINT,
    seq BIGINT,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (snapshot_ts, ticker, source)
);

-- hypertable
SELECT create_hypertable('orderbook_snapshots', 'snapshot_ts',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('orderbook_snapshots', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_snapshots_ticker
CREATE INDEX IF NOT EXISTS idx_snapshots_ticker ON orderbook_snapshots (ticker, snapshot_ts DESC);

-- table
CREATE TABLE IF NOT EXISTS tickers (
    exchange_ts BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    yes_bid INTEGER,
    yes_ask INTEGER,
    last_price INTEGER,
    volume BIGINT,
    open_interest BIGINT,
    dollar_volume BIGINT,
    dollar_open_interest BIGINT,
    sid BIGINT,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    PRIMARY KEY (exchange_ts, ticker)
);

-- hypertable
SELECT create_hypertable('tickers', 'exchange_ts',
    chunk_time_interval => 3600000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('tickers', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- index idx_tickers_ticker_time
CREATE INDEX IF NOT EXISTS idx_tickers_ticker_time ON tickers (ticker, exchange_ts DESC);

-- index idx_tickers_received
CREATE INDEX IF NOT EXISTS idx_tickers_received ON tickers (received_at DESC);

-- table
CREATE TABLE IF NOT EXISTS gaps (
    detected_at BIGINT NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    sid BIGINT NOT NULL,
    expected_seq BIGINT NOT NULL,
    resolved BOOLEAN NOT NULL,
    got_seq BIGINT,
    resolved_at BIGINT,
    channel TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    tickers JSONB,
    from_ts BIGINT,
    to_ts BIGINT,
    PRIMARY KEY (detected_at, gatherer, conn, sid, expected_seq, resolved)
);

-- hypertable
SELECT create_hypertable('gaps', 'detected_at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('gaps', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS market_events (
    received_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C",
    event_ticker TEXT COLLATE "C",
    series_ticker TEXT COLLATE "C",
    title TEXT COLLATE "C",
    open_ts BIGINT,
    close_ts BIGINT,
    result TEXT COLLATE "C",
    details JSONB,
    gatherer TEXT COLLATE "C",
    conn BIGINT,
    sid BIGINT,
    seq BIGINT,
    PRIMARY KEY (received_at, ticker, kind)
);

-- hypertable
SELECT create_hypertable('market_events', 'received_at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('market_events', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS sessions (
    at BIGINT NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    what TEXT COLLATE "C" NOT NULL,
    why TEXT COLLATE "C",
    PRIMARY KEY (at, gatherer, conn, what)
);

-- hypertable
SELECT create_hypertable('sessions', 'at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('sessions', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS audits (
    audited_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    against TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    since BIGINT,
    difference JSONB,
    PRIMARY KEY (audited_at, ticker, gatherer, against)
);

-- hypertable
SELECT create_hypertable('audits', 'audited_at',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('audits', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS keyframes (
    taken_at BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    yes_bids JSONB NOT NULL,
    no_bids JSONB NOT NULL,
    exchange_ts BIGINT,
    sid BIGINT,
    conn BIGINT,
    PRIMARY KEY (taken_at, ticker, gatherer)
);

-- hypertable
SELECT create_hypertable('keyframes', 'taken_at',
    chunk_time_interval => 3600000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('keyframes', 'grandstand_now_us',
    replace_if_exists => TRUE);

-- table
CREATE TABLE IF NOT EXISTS followed (
    since BIGINT NOT NULL,
    ticker TEXT COLLATE "C" NOT NULL,
    gatherer TEXT COLLATE "C" NOT NULL,
    conn BIGINT NOT NULL,
    sid BIGINT NOT NULL,
    heard_at BIGINT NOT NULL,
    PRIMARY KEY (since, ticker, gatherer, heard_at)
);

-- hypertable
SELECT create_hypertable('followed', 'since',
    chunk_time_interval => 86400000000::bigint,
    create_default_indexes => FALSE, if_not_exists => TRUE);

-- clock
CREATE OR REPLACE FUNCTION grandstand_now_us() RETURNS BIGINT LANGUAGE SQL STABLE AS
    $$ SELECT (extract(epoch FROM now()) * 1000000)::bigint $$;

-- clock of the table
SELECT set_integer_now_func('followed', 'grandstand_now_us',
    replace_if_exists => TRUE);

