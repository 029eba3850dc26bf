-- The task type: a table with a row per file that is to be compressed.
create table tasks.compress_file (
  like tasks.template including defaults including identity including indexes,
  path text not null
);

-- A short lease: the tasks of a worker that was killed come back within two seconds.
select tasks.register('tasks', 'compress_file', timeout => '2 s', max_retries => 3, backoff_base => '200 ms');

-- What the work leaves behind. There is no unique key: if a file were recorded twice, it would show.
create table public.copies (
  path             text not null,
  bytes            bigint not null,
  sha256           text not null,
  compressed_bytes bigint not null,
  recorded_by      text not null,
  attempt          integer not null,
  recorded_at      timestamptz not null default now()
);
