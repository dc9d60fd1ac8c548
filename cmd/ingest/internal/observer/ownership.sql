-- Who owns the claim: the lease, its run, the issue that the run works on and
-- the workspace that it works in, all of one company and all active. Each id
-- is claimed, and each is joined besides, so that no two of them can be
-- claimed together that do not belong together. One row is the answer; the
-- second is only asked for to notice it.
SELECT l.execution_workspace_id::text, r.runner_profile_json::text
FROM heartbeat_runs r
JOIN issues i
  ON i.id = r.native_issue_id
 AND i.company_id = r.company_id
JOIN environment_leases l
  ON l.heartbeat_run_id = r.id
 AND l.company_id = r.company_id
 AND l.issue_id = i.id
JOIN execution_workspaces w
  ON w.id = l.execution_workspace_id
 AND w.id = i.execution_workspace_id
 AND w.company_id = r.company_id
 AND w.source_issue_id = i.id
 AND w.status = 'active'
WHERE l.id = $1
  AND l.environment_id = $2
  AND l.status = 'active'
  AND r.id = $3
  AND r.company_id = $4
  AND r.agent_id = $5
  AND r.native_issue_id = $6
  AND r.native_session_id = $7
  AND r.runner_instance_id = $8
  AND r.runtime_mode = 'native'
  AND r.status = 'running'
  AND i.execution_run_id = r.id
  AND i.assignee_agent_id = r.agent_id
  AND i.status = 'in_progress'
LIMIT 2
