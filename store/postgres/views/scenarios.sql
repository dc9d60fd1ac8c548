CREATE OR REPLACE VIEW ledger.scenarios AS
SELECT
	campaign, position, scenario, label, definition_digest, grader_digest, cells, passed, failed, missing
FROM {scenarios};
COMMENT ON VIEW ledger.scenarios IS 'One row for each scenario of a campaign.';
COMMENT ON COLUMN ledger.scenarios.campaign IS 'campaign id';
COMMENT ON COLUMN ledger.scenarios.position IS 'place in the opening''s list, from 0';
COMMENT ON COLUMN ledger.scenarios.scenario IS 'scenario id';
COMMENT ON COLUMN ledger.scenarios.label IS 'for people';
COMMENT ON COLUMN ledger.scenarios.definition_digest IS 'SHA-256 of the definition that it was opened with, empty when it binds none';
COMMENT ON COLUMN ledger.scenarios.grader_digest IS 'likewise for the grader';
COMMENT ON COLUMN ledger.scenarios.cells IS 'selected slots';
COMMENT ON COLUMN ledger.scenarios.passed IS 'slots that passed';
COMMENT ON COLUMN ledger.scenarios.failed IS 'slots that failed';
COMMENT ON COLUMN ledger.scenarios.missing IS 'slots without an import that counts';
