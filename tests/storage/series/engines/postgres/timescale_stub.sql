-- Functions named like TimescaleDB's, which refuse what it refuses, for a server without it.
-- Chunks are not made: a hypertable stays an ordinary table, and its chunks are computed.

CREATE TABLE stub_hypertables (
    relation REGCLASS PRIMARY KEY,
    time_column NAME NOT NULL,
    chunk_us BIGINT NOT NULL,
    now_function REGPROC,
    segment_by TEXT,
    order_by TEXT
);

CREATE TABLE stub_policies (
    job_id INTEGER GENERATED ALWAYS AS IDENTITY (START WITH 1000),
    relation REGCLASS NOT NULL REFERENCES stub_hypertables,
    kind TEXT NOT NULL,
    lag BIGINT,
    schedule INTERVAL NOT NULL,
    by_creation BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (relation, kind)
);

CREATE TABLE stub_compressed (
    relation REGCLASS NOT NULL REFERENCES stub_hypertables,
    starts BIGINT NOT NULL,
    PRIMARY KEY (relation, starts)
);

CREATE FUNCTION stub_refuse_apache(called TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('timescaledb.license', TRUE) = 'apache' THEN
        RAISE 'function "%" is not supported under the current "apache" license', called
            USING ERRCODE = '0A000';
    END IF;
END $$;

CREATE FUNCTION stub_hypertable(asked REGCLASS) RETURNS stub_hypertables LANGUAGE plpgsql AS $$
DECLARE
    found stub_hypertables;
BEGIN
    SELECT * INTO found FROM stub_hypertables WHERE relation = asked;
    IF found IS NULL AND found.relation IS NULL THEN
        RAISE 'table "%" is not a hypertable', asked;
    END IF;
    RETURN found;
END $$;

CREATE FUNCTION create_hypertable(
    relation REGCLASS, time_column_name NAME, chunk_time_interval ANYELEMENT,
    create_default_indexes BOOLEAN DEFAULT TRUE, if_not_exists BOOLEAN DEFAULT FALSE
) RETURNS VOID LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    time_number SMALLINT;
    time_type REGTYPE;
BEGIN
    SELECT attnum, atttypid::regtype INTO time_number, time_type FROM pg_attribute
    WHERE attrelid = create_hypertable.relation AND attname = time_column_name;
    IF time_number IS NULL THEN
        RAISE 'column "%" does not exist', time_column_name;
    END IF;
    IF time_type = 'bigint'::regtype AND pg_typeof(chunk_time_interval) <> 'bigint'::regtype THEN
        RAISE 'invalid interval type for bigint dimension';
    END IF;
    IF EXISTS (
        SELECT FROM pg_index
        WHERE indrelid = create_hypertable.relation AND indisunique
            AND time_number <> ALL (indkey::smallint[])
    ) THEN
        RAISE 'cannot create a unique index without the column "%" (used in partitioning)',
            time_column_name;
    END IF;
    IF EXISTS (
        SELECT FROM pg_constraint JOIN stub_hypertables AS other ON other.relation = confrelid
        WHERE contype = 'f' AND conrelid = create_hypertable.relation
    ) THEN
        RAISE 'hypertables cannot be used as foreign key references of hypertables';
    END IF;
    IF EXISTS (SELECT FROM stub_hypertables WHERE relation = create_hypertable.relation) THEN
        IF NOT if_not_exists THEN
            RAISE 'table "%" is already a hypertable', create_hypertable.relation;
        END IF;
        RETURN;
    END IF;
    INSERT INTO stub_hypertables (relation, time_column, chunk_us)
    VALUES (create_hypertable.relation, time_column_name, chunk_time_interval);
END $$;

CREATE FUNCTION set_integer_now_func(
    hypertable REGCLASS, integer_now_func REGPROC, replace_if_exists BOOLEAN DEFAULT FALSE
) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF (stub_hypertable(hypertable)).now_function IS NOT NULL AND NOT replace_if_exists THEN
        RAISE 'custom time function already set for hypertable "%"', hypertable;
    END IF;
    IF NOT EXISTS (
        SELECT FROM pg_proc
        WHERE oid = integer_now_func AND pronargs = 0
            AND prorettype = 'bigint'::regtype AND provolatile IN ('s', 'i')
    ) THEN
        RAISE 'invalid custom time function';
    END IF;
    UPDATE stub_hypertables SET now_function = integer_now_func WHERE relation = hypertable;
END $$;

-- The server takes these settings from ALTER TABLE … SET, which no function can stand in for.
CREATE FUNCTION stub_compress(hypertable REGCLASS, segment_by TEXT, order_by TEXT)
RETURNS VOID LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    segments TEXT[] := array_remove(string_to_array(replace(segment_by, ' ', ''), ','), '');
    orders TEXT[];
    unknown TEXT;
BEGIN
    PERFORM stub_refuse_apache('compression');
    SELECT array_agg(split_part(trim(part), ' ', 1)) INTO orders
    FROM unnest(string_to_array(order_by, ',')) AS part;
    SELECT name INTO unknown FROM unnest(segments || orders) AS name
    WHERE name NOT IN (SELECT attname FROM pg_attribute WHERE attrelid = hypertable);
    IF unknown IS NOT NULL THEN
        RAISE 'column "%" does not exist', unknown;
    END IF;
    IF segments && orders THEN
        RAISE 'cannot use a column in both segment by and order by';
    END IF;
    IF NOT (stub_hypertable(hypertable)).time_column = ANY (orders) THEN
        RAISE 'the time column must be in the order';
    END IF;
    UPDATE stub_hypertables AS held SET segment_by = stub_compress.segment_by,
        order_by = stub_compress.order_by
    WHERE held.relation = hypertable;
END $$;

CREATE FUNCTION stub_compression_policy(
    asked REGCLASS, lag ANYELEMENT, lag_name TEXT, quietly BOOLEAN, schedule INTERVAL
) RETURNS INTEGER LANGUAGE plpgsql AS $$
DECLARE
    made INTEGER;
BEGIN
    IF (stub_hypertable(asked)).order_by IS NULL THEN
        RAISE 'compression not enabled on hypertable "%"', asked;
    END IF;
    IF pg_typeof(lag) <> 'bigint'::regtype THEN
        RAISE 'invalid value for parameter %', lag_name
            USING HINT = 'Integer duration in bigint is required.';
    END IF;
    IF EXISTS (SELECT FROM stub_policies WHERE relation = asked AND kind = 'compression') THEN
        IF NOT quietly THEN
            RAISE 'compression policy already exists for hypertable "%"', asked;
        END IF;
        RETURN -1;
    END IF;
    -- Without integer_now this is taken, and every run of the job fails.
    INSERT INTO stub_policies (relation, kind, lag, schedule)
    VALUES (asked, 'compression', lag, coalesce(schedule, '1 day'))
    RETURNING job_id INTO made;
    RETURN made;
END $$;

CREATE FUNCTION add_compression_policy(
    hypertable REGCLASS, compress_after ANYELEMENT, if_not_exists BOOLEAN DEFAULT FALSE,
    schedule_interval INTERVAL DEFAULT NULL
) RETURNS INTEGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM stub_refuse_apache('add_compression_policy');
    RETURN stub_compression_policy(
        hypertable, compress_after, 'compress_after', if_not_exists, schedule_interval
    );
END $$;

CREATE PROCEDURE add_columnstore_policy(
    hypertable REGCLASS, after ANYELEMENT, if_not_exists BOOLEAN DEFAULT FALSE,
    schedule_interval INTERVAL DEFAULT NULL
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM stub_refuse_apache('add_columnstore_policy');
    PERFORM stub_compression_policy(hypertable, after, 'after', if_not_exists, schedule_interval);
END $$;

CREATE FUNCTION stub_retention_policy(
    asked REGCLASS, lag BIGINT, by_creation BOOLEAN, quietly BOOLEAN, schedule INTERVAL
) RETURNS INTEGER LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    made INTEGER;
BEGIN
    PERFORM stub_refuse_apache('add_retention_policy');
    IF (stub_hypertable(asked)).now_function IS NULL THEN
        RAISE 'integer_now function not set on hypertable "%"', asked;
    END IF;
    IF EXISTS (
        SELECT FROM stub_policies AS held WHERE held.relation = asked AND held.kind = 'retention'
    ) THEN
        IF NOT quietly THEN
            RAISE 'retention policy already exists for hypertable "%"', asked;
        END IF;
        RETURN -1;
    END IF;
    INSERT INTO stub_policies AS held (relation, kind, lag, schedule, by_creation)
    VALUES (asked, 'retention', lag, coalesce(schedule, '1 day'), by_creation)
    RETURNING held.job_id INTO made;
    RETURN made;
END $$;

CREATE FUNCTION add_retention_policy(
    relation REGCLASS, drop_after ANYELEMENT, if_not_exists BOOLEAN DEFAULT FALSE,
    schedule_interval INTERVAL DEFAULT NULL
) RETURNS INTEGER LANGUAGE plpgsql AS $$
BEGIN
    IF pg_typeof(drop_after) <> 'bigint'::regtype THEN
        PERFORM stub_refuse_apache('add_retention_policy');
        RAISE 'invalid value for parameter drop_after'
            USING HINT = 'Integer duration in bigint is required.';
    END IF;
    RETURN stub_retention_policy(
        relation, drop_after, FALSE, if_not_exists, schedule_interval
    );
END $$;

-- With an integer time this is taken as well, and every run of the job fails.
CREATE FUNCTION add_retention_policy(
    relation REGCLASS, if_not_exists BOOLEAN DEFAULT FALSE,
    schedule_interval INTERVAL DEFAULT NULL, drop_created_before INTERVAL DEFAULT NULL
) RETURNS INTEGER LANGUAGE SQL AS $$
    SELECT stub_retention_policy(relation, NULL, TRUE, if_not_exists, schedule_interval)
$$;

CREATE FUNCTION stub_remove(asked REGCLASS, removed TEXT, quietly BOOLEAN)
RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    PERFORM stub_refuse_apache('remove_' || removed || '_policy');
    PERFORM stub_hypertable(asked);
    DELETE FROM stub_policies WHERE relation = asked AND kind = removed;
    IF NOT FOUND AND NOT quietly THEN
        RAISE '% policy not found for hypertable "%"', removed, asked;
    END IF;
END $$;

CREATE FUNCTION remove_compression_policy(hypertable REGCLASS, if_exists BOOLEAN DEFAULT FALSE)
RETURNS VOID LANGUAGE SQL AS $$ SELECT stub_remove(hypertable, 'compression', if_exists) $$;

CREATE FUNCTION remove_retention_policy(relation REGCLASS, if_exists BOOLEAN DEFAULT FALSE)
RETURNS VOID LANGUAGE SQL AS $$ SELECT stub_remove(relation, 'retention', if_exists) $$;

CREATE FUNCTION stub_chunks(asked REGCLASS)
RETURNS TABLE (starts BIGINT, ends BIGINT) LANGUAGE plpgsql AS $$
DECLARE
    held stub_hypertables := stub_hypertable(asked);
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT DISTINCT first, first + %2$s FROM
            (SELECT %1$I - mod(mod(%1$I, %2$s) + %2$s, %2$s) AS first FROM %3$s) AS held',
        held.time_column, held.chunk_us, asked
    );
END $$;

CREATE FUNCTION drop_chunks(relation REGCLASS, older_than ANYELEMENT)
RETURNS SETOF TEXT LANGUAGE plpgsql AS $$
DECLARE
    held stub_hypertables := stub_hypertable(relation);
    chunk RECORD;
BEGIN
    IF pg_typeof(older_than) <> 'bigint'::regtype THEN
        RAISE 'invalid time argument type "%"', pg_typeof(older_than)
            USING HINT = 'Try casting the argument to "bigint".';
    END IF;
    FOR chunk IN SELECT * FROM stub_chunks(relation) WHERE ends <= older_than LOOP
        EXECUTE format(
            'DELETE FROM %s WHERE %I >= %s AND %2$I < %4$s',
            relation, held.time_column, chunk.starts, chunk.ends
        );
        DELETE FROM stub_compressed AS packed
        WHERE packed.relation = drop_chunks.relation AND packed.starts = chunk.starts;
        RETURN NEXT '_hyper_' || chunk.starts;
    END LOOP;
END $$;

CREATE FUNCTION chunks_detailed_size(hypertable REGCLASS)
RETURNS TABLE (chunk_schema NAME, chunk_name NAME, total_bytes BIGINT) LANGUAGE SQL AS $$
    SELECT '_internal'::name, ('_hyper_' || starts)::name, 8192::bigint
    FROM stub_chunks(hypertable)
$$;

CREATE SCHEMA timescaledb_information;

CREATE VIEW timescaledb_information.chunks AS
SELECT nspname AS hypertable_schema, relname AS hypertable_name,
    '_internal'::name AS chunk_schema, ('_hyper_' || chunk.starts)::name AS chunk_name,
    chunk.starts AS range_start_integer, ends AS range_end_integer, EXISTS (
        SELECT FROM public.stub_compressed AS held
        WHERE held.relation = stub_hypertables.relation AND held.starts = chunk.starts
    ) AS is_compressed
FROM public.stub_hypertables
JOIN pg_class ON pg_class.oid = relation
JOIN pg_namespace ON pg_namespace.oid = relnamespace
CROSS JOIN LATERAL public.stub_chunks(relation) AS chunk;

CREATE VIEW timescaledb_information.jobs AS
SELECT job_id, 'policy_' || kind AS proc_name, schedule AS schedule_interval,
    nspname AS hypertable_schema, relname AS hypertable_name
FROM public.stub_policies
JOIN pg_class ON pg_class.oid = relation
JOIN pg_namespace ON pg_namespace.oid = relnamespace;

CREATE FUNCTION stub_now(asked REGCLASS) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    held stub_hypertables := stub_hypertable(asked);
    found BIGINT;
BEGIN
    IF held.now_function IS NULL THEN
        RAISE 'integer_now function not set';
    END IF;
    EXECUTE format('SELECT %s()', held.now_function) INTO found;
    RETURN found;
END $$;

CREATE PROCEDURE run_job(job_id INTEGER) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    job stub_policies;
    now_us BIGINT;
BEGIN
    SELECT * INTO job FROM stub_policies WHERE stub_policies.job_id = run_job.job_id;
    IF job.relation IS NULL THEN
        RAISE 'job % not found', run_job.job_id;
    END IF;
    now_us := stub_now(job.relation);
    IF job.by_creation THEN
        RAISE 'invalid time argument type "interval"';
    ELSIF job.kind = 'retention' THEN
        PERFORM drop_chunks(job.relation, now_us - job.lag);
    ELSE
        INSERT INTO stub_compressed
        SELECT job.relation, starts FROM stub_chunks(job.relation)
        WHERE ends <= now_us - job.lag
        ON CONFLICT DO NOTHING;
    END IF;
END $$;

CREATE FUNCTION time_bucket(bucket_width BIGINT, ts BIGINT) RETURNS BIGINT LANGUAGE SQL IMMUTABLE AS
    $$ SELECT ts - mod(mod(ts, bucket_width) + bucket_width, bucket_width) $$;

-- The server takes this from CREATE MATERIALIZED VIEW … WITH, which no function can stand in for.
CREATE FUNCTION stub_continuous_aggregate(hypertable REGCLASS) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    PERFORM stub_refuse_apache('continuous aggregate');
    IF (stub_hypertable(hypertable)).now_function IS NULL THEN
        RAISE 'custom time function required on hypertable "%"', hypertable;
    END IF;
END $$;

CREATE FUNCTION add_continuous_aggregate_policy(
    continuous_aggregate REGCLASS, start_offset ANYELEMENT, end_offset ANYELEMENT,
    schedule_interval INTERVAL
) RETURNS INTEGER LANGUAGE plpgsql AS $$
DECLARE
    held stub_hypertables := stub_hypertable(continuous_aggregate);
BEGIN
    PERFORM stub_refuse_apache('add_continuous_aggregate_policy');
    IF pg_typeof(start_offset) <> 'bigint'::regtype THEN
        RAISE 'invalid parameter value for start_offset';
    END IF;
    IF start_offset - end_offset < 2 * held.chunk_us THEN
        RAISE 'policy refresh window too small';
    END IF;
    RETURN 1;
END $$;

CREATE FUNCTION add_job(proc REGPROC, schedule_interval INTERVAL) RETURNS INTEGER LANGUAGE SQL AS
    $$ SELECT 1 FROM stub_refuse_apache('add_job') $$;

CREATE FUNCTION reorder_chunk(chunk TEXT, index TEXT) RETURNS VOID LANGUAGE SQL AS
    $$ SELECT stub_refuse_apache('reorder_chunk') $$;

CREATE FUNCTION move_chunk(chunk TEXT, destination NAME) RETURNS VOID LANGUAGE SQL AS
    $$ SELECT stub_refuse_apache('move_chunk') $$;

CREATE FUNCTION time_bucket_gapfill(bucket_width BIGINT, ts BIGINT) RETURNS BIGINT LANGUAGE SQL AS
    $$ SELECT stub_refuse_apache('time_bucket_gapfill'); SELECT time_bucket(bucket_width, ts) $$;

CREATE FUNCTION compress_chunk(chunk TEXT) RETURNS TEXT LANGUAGE SQL AS
    $$ SELECT stub_refuse_apache('compress_chunk'); SELECT chunk $$;

CREATE PROCEDURE convert_to_columnstore(chunk TEXT) LANGUAGE SQL AS
    $$ SELECT stub_refuse_apache('convert_to_columnstore') $$;

CREATE FUNCTION stub_watch() RETURNS EVENT_TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_index
        JOIN public.stub_hypertables ON relation = indrelid
        JOIN pg_attribute ON attrelid = indrelid AND attname = time_column
        WHERE indisunique AND attnum <> ALL (indkey::smallint[])
    ) THEN
        RAISE 'cannot create a unique index without the time column (used in partitioning)';
    END IF;
    IF EXISTS (
        SELECT FROM pg_constraint
        JOIN public.stub_hypertables AS one ON one.relation = conrelid
        JOIN public.stub_hypertables AS other ON other.relation = confrelid
        WHERE contype = 'f'
    ) THEN
        RAISE 'hypertables cannot be used as foreign key references of hypertables';
    END IF;
END $$;

CREATE EVENT TRIGGER stub_watch ON ddl_command_end
WHEN TAG IN ('CREATE INDEX', 'ALTER TABLE') EXECUTE FUNCTION public.stub_watch();
