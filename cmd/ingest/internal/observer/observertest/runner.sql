-- What of a runner's database an observer reads. There are no keys: a test
-- breaks every relation.
CREATE TABLE heartbeat_runs (
  id text, company_id text, agent_id text, native_issue_id text, native_session_id text, runner_instance_id text,
  runtime_mode text, status text, runner_profile_json jsonb);
CREATE TABLE issues (
  id text, company_id text, execution_workspace_id text, execution_run_id text, assignee_agent_id text, status text);
CREATE TABLE environment_leases (
  id text, environment_id text, heartbeat_run_id text, company_id text, issue_id text, execution_workspace_id text, status text);
CREATE TABLE execution_workspaces (
  id text, company_id text, source_issue_id text, status text);
CREATE TABLE native_runner_checkpoints (
  company_id text, issue_id text, run_id text, recovery_evidence jsonb);
CREATE TABLE native_runner_checkpoint_records (
  company_id text, issue_id text, run_id text, position bigint, record_key text, record_text text);

CREATE SCHEMA other;
CREATE TABLE other.probe (seen int);
-- Tries to write with its owner's rights, which the reader lacks: only a
-- read-only transaction stops it.
CREATE FUNCTION other.write_probe() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO other.probe VALUES (1);
  RETURN '';
END $$;
CREATE VIEW other.writing AS
  SELECT company_id, issue_id, run_id, position, record_key || other.write_probe() AS record_key, record_text FROM public.native_runner_checkpoint_records;
CREATE VIEW other.slow AS
  SELECT company_id, issue_id, run_id, position, record_key, record_text || pg_sleep(60)::text AS record_text FROM public.native_runner_checkpoint_records;

CREATE ROLE %[1]s LOGIN;
GRANT USAGE ON SCHEMA other TO %[1]s;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO %[1]s;
GRANT SELECT ON ALL TABLES IN SCHEMA other TO %[1]s;
