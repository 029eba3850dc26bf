-- What the scripts beside this file share: the columns of a task made from a JSON payload. Everything here is temporary and
-- goes with the session.

create or replace function pg_temp.payload_columns(p_table regclass, p_payload jsonb, p_rename jsonb) returns jsonb
language plpgsql stable
as $$
declare
  v_columns  text[] := array(
    select a.attname from pg_catalog.pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
      and a.attname not in (select t.attname from pg_catalog.pg_attribute t where t.attrelid = 'tasks.template'::regclass and t.attnum > 0));
  v_values   jsonb := '{}';
  v_unknown  text[] := '{}';
  v_key      text;
  v_column   text;
  v_value    jsonb;
begin
  if coalesce(jsonb_typeof(p_payload), 'null') = 'null' then
    return v_values;
  elsif jsonb_typeof(p_payload) <> 'object' then
    raise exception 'A payload is no object: %', left(p_payload::text, 200) using hint = 'Move such tasks by a statement of your own.';
  end if;
  for v_key, v_value in select * from jsonb_each(p_payload) loop
    -- Renamed, the same name, or userId for user_id. Renamed to null: left out.
    continue when p_rename -> v_key = 'null'::jsonb;
    v_column := coalesce(p_rename ->> v_key,
      case when v_key = any (v_columns) then v_key else lower(regexp_replace(v_key, '(?<!^)([A-Z])', '_\1', 'g')) end);
    if v_column = any (v_columns) then
      v_values := v_values || jsonb_build_object(v_column, v_value);
    else
      v_unknown := v_unknown || v_key;
    end if;
  end loop;
  if cardinality(v_unknown) > 0 then
    raise exception '% has no columns for these keys of a payload: %', p_table, array_to_string(v_unknown, ', ')
      using hint = 'Add the columns, or give p_rename: {"key": "column"}, or {"key": null} to leave it out.';
  end if;
  return v_values;
end
$$;

-- Of a column that the user's table may have.
create or replace function pg_temp.if_column(p_table regclass, p_column text, p_value text) returns jsonb
language sql stable
as $$
  select case when p_value is not null and exists (
      select from pg_catalog.pg_attribute a where a.attrelid = p_table and a.attname = p_column and not a.attisdropped)
    then jsonb_build_object(p_column, p_value) else '{}'::jsonb end
$$;
