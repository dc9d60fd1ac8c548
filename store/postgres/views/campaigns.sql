CREATE OR REPLACE VIEW ledger.campaigns AS
SELECT
	id, status, label, source_revision, verdict, reasons, scenarios, cells, passed, failed, missing,
	voided, voided_failed, refused, refused_failed, refused_after_seal, voids,
	spent_cost_usd, spent_tokens, spent_reported, spent_cells, effective_cost_usd, effective_tokens,
	effective_reported, effective_cells, budget_usd, accepted, opened_index, opened_at, last_index, last_at,
	sealed_index, sealed_at, sealed_by
FROM {campaigns};
COMMENT ON VIEW ledger.campaigns IS 'One row for each campaign: where it stands and what it cost.';
COMMENT ON COLUMN ledger.campaigns.id IS 'campaign id';
COMMENT ON COLUMN ledger.campaigns.status IS 'open or sealed';
COMMENT ON COLUMN ledger.campaigns.label IS 'for people';
COMMENT ON COLUMN ledger.campaigns.source_revision IS 'git commit that is measured';
COMMENT ON COLUMN ledger.campaigns.verdict IS 'qualified, not_qualified or incomplete: of now while open, frozen by the seal';
COMMENT ON COLUMN ledger.campaigns.reasons IS 'what the verdict stands on: code, count and the first slots';
COMMENT ON COLUMN ledger.campaigns.scenarios IS 'how many scenarios it has';
COMMENT ON COLUMN ledger.campaigns.cells IS 'selected slots: passed + failed + missing';
COMMENT ON COLUMN ledger.campaigns.passed IS 'slots whose status and cleanup passed';
COMMENT ON COLUMN ledger.campaigns.failed IS 'slots whose status or cleanup is anything else';
COMMENT ON COLUMN ledger.campaigns.missing IS 'slots without an import that counts';
COMMENT ON COLUMN ledger.campaigns.voided IS 'imports that were voided';
COMMENT ON COLUMN ledger.campaigns.voided_failed IS 'of them, those that had failed or not cleaned up';
COMMENT ON COLUMN ledger.campaigns.refused IS 'rejected cells up to the seal, a repeated arrival each time';
COMMENT ON COLUMN ledger.campaigns.refused_failed IS 'of them, those that claim a selected slot that did not pass; anybody may claim';
COMMENT ON COLUMN ledger.campaigns.refused_after_seal IS 'rejected cells behind the seal, which are in no verdict';
COMMENT ON COLUMN ledger.campaigns.voids IS 'the first 20 voids: slot, import key, index of the decision, whether it had failed, who and why';
COMMENT ON COLUMN ledger.campaigns.spent_cost_usd IS 'cost of all measurements (voided ones too) in US dollars, exactly; NULL when none of them reported one';
COMMENT ON COLUMN ledger.campaigns.spent_tokens IS 'tokens of all measurements (voided ones too); NULL when none of them reported any';
COMMENT ON COLUMN ledger.campaigns.spent_reported IS 'how many of all measurements (voided ones too) reported a cost';
COMMENT ON COLUMN ledger.campaigns.spent_cells IS 'number of all measurements (voided ones too)';
COMMENT ON COLUMN ledger.campaigns.effective_cost_usd IS 'cost of measurements that count (unvoided ones) in US dollars, exactly; NULL when none of them reported one';
COMMENT ON COLUMN ledger.campaigns.effective_tokens IS 'tokens of measurements that count (unvoided ones); NULL when none of them reported any';
COMMENT ON COLUMN ledger.campaigns.effective_reported IS 'how many of measurements that count (unvoided ones) reported a cost';
COMMENT ON COLUMN ledger.campaigns.effective_cells IS 'number of measurements that count (unvoided ones)';
COMMENT ON COLUMN ledger.campaigns.budget_usd IS 'shown beside the spend; NULL without one';
COMMENT ON COLUMN ledger.campaigns.accepted IS 'accepted decisions, the opening included';
COMMENT ON COLUMN ledger.campaigns.opened_index IS 'index of the decision that opened it';
COMMENT ON COLUMN ledger.campaigns.opened_at IS 'when that arrived';
COMMENT ON COLUMN ledger.campaigns.last_index IS 'index of its last decision, of any outcome';
COMMENT ON COLUMN ledger.campaigns.last_at IS 'when that arrived';
COMMENT ON COLUMN ledger.campaigns.sealed_index IS 'index of the seal, NULL while open';
COMMENT ON COLUMN ledger.campaigns.sealed_at IS 'when that arrived';
COMMENT ON COLUMN ledger.campaigns.sealed_by IS 'who sealed it';
